//! Rank plots (Vehtari et al. 2021, section 4.2): where each chain's draws stand among the draws of all chains.

use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::posterior::diagnostics::SummaryRow;
use crate::report::by_chain::{bare_axis, draws, listed, with_legend};
use crate::report::format::{count, significant};
use crate::report::page::Picture;

const MOST_BINS: usize = 20;
/// Fewer draws than these in a bin are noise.
const DRAWS_PER_BIN: usize = 10;
const FEWEST_BINS: usize = 4;

pub fn picture(fit: &Posterior, selected: &[&SummaryRow]) -> Result<Picture, String> {
    if fit.chains.len() < 2 {
        return Err(
            "Rank plots compare chains, and there is one only: set sampler.chains to 4.".into(),
        );
    }
    let lengths = fit.chains.iter().map(|chain| chain.num_draws());
    let shortest = lengths.min().unwrap_or(0);
    let num_bins = (shortest / DRAWS_PER_BIN).min(MOST_BINS);
    if num_bins < FEWEST_BINS {
        return Err(format!(
            "Rank plots need at least {} a chain, and the shortest chain has {shortest}.",
            count(FEWEST_BINS * DRAWS_PER_BIN, "draw")
        ));
    }
    let (mut panels, mut names, mut farthest) = (Vec::new(), Vec::new(), None::<Farthest>);
    for row in selected {
        let Some(heights) = heights(&draws(fit, &row.name), num_bins) else {
            continue;
        };
        let name = fit.name_of(&row.name);
        for (of_chain, chain) in heights.iter().zip(&fit.chains) {
            for height in of_chain {
                if farthest
                    .as_ref()
                    .is_none_or(|f| (height - 1.0).abs() > (f.height - 1.0).abs())
                {
                    farthest = Some(Farthest {
                        height: *height,
                        name: name.clone(),
                        chain: chain.chain,
                    });
                }
            }
        }
        panels.push(panel(&name, &heights));
        names.push(name);
    }
    let Some(farthest) = farthest else {
        return Err(
            "There are no rank plots: no quantity varied and was finite in all draws.".into(),
        );
    };
    let farthest = format!(
        "Farthest from 1 is a bin at {}, of {} in chain {}",
        significant(farthest.height, 2),
        farthest.name,
        farthest.chain
    );
    let description = format!(
        "Histograms of ranks, one outline a chain, of {}; even chains stay near 1. {farthest}.",
        listed(&names, names.len())
    );
    let figure = Figure::new("Ranks by chain", description).columns(3);
    let figure = with_legend(panels.into_iter().fold(figure, Figure::panel), fit);
    let noise = 2.0 * ((num_bins - 1) as f64 / shortest as f64).sqrt();
    let caption = format!(
        "Each chain's draws by their rank among the draws of all chains, in {num_bins} bins. Where chains agree, each has as many low, middle \
         and high ranks as any other, and its outline stays near 1, within about {} for independent draws and farther for dependent \
         ones. A slope means a chain that lies lower or higher than the others, a hump or a bowl one that is narrower or wider. {farthest}.",
        significant(noise, 1)
    );
    Ok(Picture::new(&figure, caption))
}

/// The bin that is farthest from even.
struct Farthest {
    height: f64,
    name: String,
    chain: usize,
}

fn panel(name: &str, heights: &[Vec<f64>]) -> Panel {
    let largest = heights.iter().flatten().copied().fold(2.0, f64::max);
    let outlines = heights.iter().enumerate().map(|(chain, heights)| {
        let width = 1.0 / heights.len() as f64;
        let bins = heights.iter().enumerate();
        let bars = bins.map(|(k, height)| (k as f64 * width, (k + 1) as f64 * width, *height));
        Mark::fine(Series(chain), outline(bars))
    });
    Panel::new(name)
        .x(Axis {
            label: "low to high ranks".into(),
            ..bare_axis(0.0, 1.0)
        })
        .y(Axis::linear("").range(0.0, 1.05 * largest))
        .height(110.0)
        .marks(outlines)
        .mark(Mark::rule_at_y(1.0, ""))
}

/// Both upper corners of each bar.
fn outline(bars: impl Iterator<Item = (f64, f64, f64)>) -> Vec<(f64, f64)> {
    bars.flat_map(|(low, high, height)| [(low, height), (high, height)])
        .collect()
}

/// For each chain and bin of ranks, the number of draws over what it is when all chains agree; None where a draw is not finite.
/// Equal draws share the ranks that they take together evenly, so that whole numbers do not make bins uneven.
fn heights(by_chain: &[&[f64]], num_bins: usize) -> Option<Vec<Vec<f64>>> {
    let mut pooled: Vec<(f64, usize)> = Vec::new();
    for (chain, draws) in by_chain.iter().enumerate() {
        pooled.extend(draws.iter().map(|draw| (*draw, chain)));
    }
    if pooled.is_empty() || pooled.iter().any(|(draw, _)| !draw.is_finite()) {
        return None;
    }
    pooled.sort_by(|a, b| a.0.total_cmp(&b.0));
    let bin_size = pooled.len() as f64 / num_bins as f64;
    let mut heights = vec![vec![0.0; num_bins]; by_chain.len()];
    let mut before = 0;
    for ties in pooled.chunk_by(|a, b| a.0 == b.0) {
        let (from, to) = (before as f64, (before + ties.len()) as f64);
        let first = (from / bin_size) as usize;
        let bins = first..((to / bin_size).ceil() as usize).clamp(first + 1, num_bins);
        for bin in bins {
            let low = from.max(bin as f64 * bin_size);
            let high = to.min((bin + 1) as f64 * bin_size);
            let share = (high - low).max(0.0) / ties.len() as f64;
            ties.iter()
                .for_each(|(_, chain)| heights[*chain][bin] += share);
        }
        before += ties.len();
    }
    for (heights, draws) in heights.iter_mut().zip(by_chain) {
        let expected = draws.len() as f64 / num_bins as f64;
        heights.iter_mut().for_each(|height| *height /= expected);
    }
    Some(heights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_apart_have_ranks_apart() {
        let low: Vec<f64> = (0..40).map(f64::from).collect();
        let high: Vec<f64> = (40..80).map(f64::from).collect();
        let heights = heights(&[&low, &high], 4).unwrap();
        assert_eq!(heights, [[2.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 2.0]]);
    }

    #[test]
    fn ties_are_even_and_lengths_do_not_matter() {
        let some: Vec<f64> = (0..60).map(|k| f64::from(k % 3)).collect();
        let heights = heights(&[&some, &some[..30]], 7).unwrap();
        for height in heights.iter().flatten() {
            assert!((height - 1.0).abs() < 1e-12, "{heights:?}");
        }
        assert_eq!(super::heights(&[&[1.0, f64::NAN]], 2), None);
    }
}
