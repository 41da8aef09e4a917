//! Traces: the draws in the order in which they came, by chain, with divergent transitions marked.

use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::posterior::diagnostics::SummaryRow;
use crate::posterior::draws::ChainDraws;
use crate::report::by_chain::{
    bare_axis, draws, largest_r_hat, listed, reference_series, shown_r_hat, with_legend,
};
use crate::report::format::count;
use crate::report::page::Picture;

/// Points of all chains in one panel, and the fewest and most of one chain.
const NUM_POINTS: usize = 1000;
const POINTS_PER_CHAIN: std::ops::RangeInclusive<usize> = 60..=250;
/// More crosses than these hide the traces.
const MOST_MARKED: usize = 200;

pub fn picture(fit: &Posterior, selected: &[&SummaryRow]) -> Result<Picture, String> {
    let longest = fit.chains.iter().map(ChainDraws::num_draws).max();
    let longest = longest.unwrap_or(0);
    if selected.is_empty() || longest == 0 {
        return Err("There are no traces: nothing varied between the draws.".into());
    }
    let per_chain =
        (NUM_POINTS / fit.chains.len()).clamp(*POINTS_PER_CHAIN.start(), *POINTS_PER_CHAIN.end());
    let every = longest.div_ceil(per_chain);
    let divergent = divergent_draws(&fit.chains);
    let marked: Vec<(usize, usize)> = divergent
        .iter()
        .copied()
        .step_by(divergent.len().div_ceil(MOST_MARKED).max(1))
        .collect();

    let names: Vec<String> = selected.iter().map(|row| fit.name_of(&row.name)).collect();
    let description = format!(
        "Traces of {} over {} a chain, in {}: {}; {}.",
        listed(&names, selected.len()),
        count(longest, "draw"),
        count(fit.chains.len(), "chain"),
        largest_r_hat(selected),
        match divergent.len() {
            0 => "no divergent transitions".into(),
            some => format!(
                "{} marked with crosses",
                count(some, "divergent transition")
            ),
        }
    );
    let mut figure = Figure::new("Traces", description);
    for (k, row) in selected.iter().enumerate() {
        let by_chain = draws(fit, &row.name);
        let ends = (1.0 - 0.005 * longest as f64, 1.005 * longest as f64);
        let x = if k + 1 == selected.len() {
            Axis::linear("draw").range(ends.0, ends.1)
        } else {
            bare_axis(ends.0, ends.1)
        };
        let title = match row.r_hat {
            Some(r_hat) => format!("{} (R-hat {})", names[k], shown_r_hat(r_hat)),
            None => names[k].clone(),
        };
        let lines = by_chain.iter().enumerate().map(|(chain, draws)| {
            let thinned = draws.iter().enumerate().step_by(every);
            let points = thinned.map(|(draw, value)| ((draw + 1) as f64, *value));
            Mark::fine(Series(chain), points.collect())
        });
        let mut panel = Panel::new(title).x(x).height(72.0).marks(lines);
        if !marked.is_empty() {
            let points = marked.iter().filter_map(|(chain, draw)| {
                let value = by_chain[*chain].get(*draw)?;
                Some(((draw + 1) as f64, *value))
            });
            panel = panel.mark(Mark::points(reference_series(fit), points.collect()));
        }
        figure = figure.panel(panel);
    }
    let mut figure = with_legend(figure, fit);
    if !marked.is_empty() {
        figure = figure.legend(reference_series(fit), "divergent transition");
    }
    Ok(Picture::new(
        &figure,
        caption(fit, every, divergent.len(), marked.len()),
    ))
}

fn caption(fit: &Posterior, every: usize, num_divergent: usize, num_marked: usize) -> String {
    let mut caption = String::from(
        "The draws in the order in which they came, of the quantities that are worst off. Good traces look like noise around one level, \
         the same for all chains: no slopes, no long stays, no chain apart.",
    );
    if every > 1 {
        caption += &format!(" One draw in {every} is shown.");
    }
    if num_divergent > 0 {
        caption += &format!(
            " Crosses are divergent transitions{}; where they gather, the sampler could not follow the posterior.",
            match num_marked < num_divergent {
                true => format!(" ({num_marked} of {num_divergent})"),
                false => String::new(),
            }
        );
    }
    let lengths: Vec<usize> = fit.chains.iter().map(ChainDraws::num_draws).collect();
    if lengths.iter().any(|length| *length != lengths[0]) {
        caption += " The chains are of different length because the fit was interrupted; R-hat and ESS use as many draws of each as the shortest has.";
    }
    caption
}

/// Chain and draw, both from 0.
fn divergent_draws(chains: &[ChainDraws]) -> Vec<(usize, usize)> {
    let of_chain = |(k, chain): (usize, &ChainDraws)| {
        let divergent = chain.column("divergent__").unwrap_or_default();
        let draws = divergent.iter().enumerate();
        let hits = draws.filter(|(_, value)| **value > 0.0);
        hits.map(|(draw, _)| (k, draw)).collect::<Vec<_>>()
    };
    chains.iter().enumerate().flat_map(of_chain).collect()
}
