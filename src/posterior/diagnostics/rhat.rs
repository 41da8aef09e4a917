//! Rank-normalised split R-hat: do the chains, and both halves of each, agree in location and in spread.

use super::chains::{can_be_judged, is_constant, map_draws, split};
use super::ranks::normal_scores;
use crate::numerics::stats::{mean, quantile, variance};

/// The larger R-hat of the draws and of their distances from the median; infinite when no chain ever moves but they differ.
pub fn r_hat(chains: &[&[f64]]) -> Option<f64> {
    if !can_be_judged(chains) {
        return None;
    }
    let halves = split(chains);
    let median = quantile(&halves.concat(), 0.5)?;
    let folded = map_draws(&halves, |x| (x - median).abs());
    // Folding can make draws constant, for instance an even mixture of 0 and 1; the unfolded R-hat then stands alone.
    [halves, folded]
        .iter()
        .filter_map(|chains| basic(&normal_scores(chains)))
        .reduce(f64::max)
}

fn basic(chains: &[Vec<f64>]) -> Option<f64> {
    if is_constant(chains) {
        return None;
    }
    let n = chains[0].len() as f64;
    let means = chains
        .iter()
        .map(|chain| mean(chain))
        .collect::<Option<Vec<_>>>()?;
    let variances = chains
        .iter()
        .map(|chain| variance(chain))
        .collect::<Option<Vec<_>>>()?;
    let (between, within) = (n * variance(&means)?, mean(&variances)?);
    Some(((between / within + n - 1.0) / n).sqrt())
}
