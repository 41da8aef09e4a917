//! Pairs of quantities with the divergent draws marked, where there are some: divergences crowd where the posterior is narrow.

use crate::numerics::{mean, sd};
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::report::by_chain::draws;
use crate::report::format::count;
use crate::report::page::Picture;

/// Quantities paired with each other.
const MOST_QUANTITIES: usize = 4;
/// Draws without divergence that each panel shows.
const MOST_POINTS: usize = 600;
const MOST_DIVERGENT: usize = 300;
/// A positive quantity that spans a larger factor has a log axis.
const WIDE: f64 = 20.0;

const PLAIN: Series = Series(5);
const DIVERGENT: Series = Series(1);

/// The draws of one quantity, all chains together.
struct Quantity {
    name: String,
    draws: Vec<f64>,
}

/// None where no draw diverged.
pub fn picture(fit: &Posterior) -> Option<Picture> {
    let divergent: Vec<bool> = fit
        .chains
        .iter()
        .flat_map(|chain| {
            let known = chain.column("divergent__").unwrap_or_default();
            (0..chain.num_draws()).map(move |draw| known.get(draw).is_some_and(|d| *d > 0.0))
        })
        .collect();
    let num_divergent = divergent.iter().filter(|is| **is).count();
    if num_divergent == 0 {
        return None;
    }
    let quantities = selected(fit, &divergent);
    if quantities.len() < 2 {
        return None;
    }
    let plain = places(&divergent, false, MOST_POINTS);
    let marked = places(&divergent, true, MOST_DIVERGENT);
    let mut figure =
        Figure::new("Pairs of quantities, with divergent draws", String::new()).columns(3);
    for (k, y) in quantities.iter().enumerate() {
        for x in &quantities[..k] {
            let points = |at: &[usize]| at.iter().map(|&d| (x.draws[d], y.draws[d])).collect();
            let panel = Panel::new("")
                .x(axis(x))
                .y(axis(y))
                .height(170.0)
                .mark(Mark::points(PLAIN, points(&plain)))
                .mark(Mark::points(DIVERGENT, points(&marked)));
            figure = figure.panel(panel);
        }
    }
    let names: Vec<&str> = quantities.iter().map(|q| q.name.as_str()).collect();
    figure.description = format!(
        "{} among the draws of {}.",
        count(num_divergent, "divergent draw"),
        names.join(", ")
    );
    let figure = figure
        .legend(PLAIN, "draws")
        .legend(DIVERGENT, "divergent draws");
    Some(Picture::new(
        &figure,
        "The quantities whose divergent draws lie furthest from the others, in pairs. Divergences that crowd in one corner show where the posterior is too narrow for the step size; \
         spread over all draws, they are more likely chance, and a larger sampler.target_accept removes them.",
    ))
}

fn axis(quantity: &Quantity) -> Axis {
    let low = quantity.draws.iter().copied().fold(f64::INFINITY, f64::min);
    let high = quantity
        .draws
        .iter()
        .copied()
        .fold(f64::NEG_INFINITY, f64::max);
    match low > 0.0 && high > WIDE * low {
        true => Axis::log(quantity.name.as_str()),
        false => Axis::linear(quantity.name.as_str()),
    }
}

/// The quantities whose divergent draws differ most from the others, in standard deviations.
fn selected(fit: &Posterior, divergent: &[bool]) -> Vec<Quantity> {
    let varying = fit
        .summary()
        .iter()
        .filter(|row| !row.is_constant() && row.name != "lp__");
    let mut ranked: Vec<(f64, Quantity)> = varying
        .filter_map(|row| {
            let draws = draws(fit, &row.name).concat();
            (draws.len() == divergent.len()).then_some(())?;
            let with: Vec<f64> = draws
                .iter()
                .zip(divergent)
                .filter(|d| *d.1)
                .map(|d| *d.0)
                .collect();
            let distance = (mean(&with)? - mean(&draws)?).abs() / sd(&draws)?;
            let name = fit.name_of(&row.name);
            distance
                .is_finite()
                .then_some((distance, Quantity { name, draws }))
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.truncate(MOST_QUANTITIES);
    ranked.into_iter().map(|(_, quantity)| quantity).collect()
}

/// The numbers of an even selection of the draws that did, or did not, diverge.
fn places(divergent: &[bool], wanted: bool, most: usize) -> Vec<usize> {
    let all: Vec<usize> = (0..divergent.len())
        .filter(|&d| divergent[d] == wanted)
        .collect();
    let room = all.len().min(most);
    (0..room).map(|k| all[k * all.len() / room]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fit_with_divergences_has_pairs_and_the_worst_quantity_is_among_them() {
        let fit = Posterior::example(&[400; 2], 7);
        assert!(picture(&fit).is_none());
        let fit = fit
            .with_column("divergent__", |_, draw| f64::from(u8::from(draw % 40 == 0)))
            .with_column("beta.6", |chain, draw| {
                let jitter = ((draw * 37 + chain * 11) % 100) as f64 / 100.0;
                if draw % 40 == 0 {
                    0.01 + jitter / 100.0
                } else {
                    1.0 + jitter
                }
            });
        let picture = picture(&fit).unwrap();
        assert_eq!(picture.svg.matches("us-frame").count(), 6);
        assert!(
            picture
                .svg
                .contains("20 divergent draws among the draws of x&lt;5&gt;,")
        );
    }

    #[test]
    fn selections_are_even_and_complete_where_there_is_room() {
        let divergent: Vec<bool> = (0..1000).map(|k| k % 100 == 0).collect();
        assert_eq!(places(&divergent, true, 300).len(), 10);
        let plain = places(&divergent, false, 600);
        assert_eq!(plain.len(), 600);
        assert!(plain.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
