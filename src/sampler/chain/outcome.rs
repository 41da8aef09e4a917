//! Counts and times of a chain, finished or interrupted.

use serde::{Deserialize, Serialize};

use crate::numerics::floats;
use crate::sampler::hmc::StepInfo;

/// Counts and times of one chain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChainOutcome {
    pub chain: usize,
    pub num_draws: usize,
    pub num_divergences: usize,
    pub num_divergences_warmup: usize,
    pub num_treedepth_hits: usize,
    pub num_gradients: u64,
    pub step_size: f64,
    pub warmup_seconds: f64,
    pub sampling_seconds: f64,
    /// Time in theta given the links, and in the links given theta, warm-up included.
    pub step_one_seconds: f64,
    pub step_two_seconds: f64,
    /// How the links started, where they are updated at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links_start: Option<LinksStart>,
    /// The number of moved rows was still on its way when warm-up ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// The largest certified distance of a mode from the best one, where modes were sought.
    #[serde(
        default,
        with = "floats::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub largest_mode_gap: Option<f64>,
    /// Share of the moves with theta integrated out that were accepted after warm-up, where there are such moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collapsed_accept_rate: Option<f64>,
    pub interrupted: bool,
}

/// How the links of a chain started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinksStart {
    /// As given.
    Identity,
    /// The links start at the mode given the starting values of theta.
    Mode,
    /// With some rows moved at random.
    Random,
}

impl LinksStart {
    /// The name in diagnostics.json.
    pub fn name(self) -> &'static str {
        match self {
            LinksStart::Identity => "identity",
            LinksStart::Mode => "mode",
            LinksStart::Random => "random",
        }
    }
}

impl ChainOutcome {
    pub(super) fn count(&mut self, info: &StepInfo, warming_up: bool, max_depth: u32) {
        let divergent = usize::from(info.divergent);
        if warming_up {
            self.num_divergences_warmup += divergent;
        } else {
            self.num_divergences += divergent;
            self.num_treedepth_hits += usize::from(info.tree_depth >= max_depth);
        }
    }
}

/// Means of the number of moved rows in the third and the fourth quarter of warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    pub before: f64,
    pub after: f64,
}

/// Whether the two last quarters of a warm-up differ by more than their own wandering explains.
pub(super) fn drift(num_moved: &[usize]) -> Option<Drift> {
    const BATCHES: usize = 5;
    let quarter = num_moved.len() / 4;
    if quarter < 4 * BATCHES {
        return None;
    }
    let num_moved: Vec<f64> = num_moved.iter().map(|&d| d as f64).collect();
    let mean = |draws: &[f64]| draws.iter().sum::<f64>() / draws.len() as f64;
    // From neighbouring batches, so that the trend itself does not pass for wandering.
    let spread = |draws: &[f64]| {
        let batches = draws.chunks_exact(draws.len() / BATCHES);
        let means: Vec<f64> = batches.map(mean).collect();
        let steps = means.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
        steps.sum::<f64>() / (2 * (means.len() - 1) * means.len()) as f64
    };
    let (before, after) = num_moved[num_moved.len() - 2 * quarter..].split_at(quarter);
    let standard_error = (spread(before) + spread(after)).sqrt();
    let (before, after) = (mean(before), mean(after));
    let difference = (after - before).abs();
    // Batches of a slow chain wander less than the chain does, hence five standard errors and one row besides.
    (difference > 5.0 * standard_error + 1.0).then_some(Drift { before, after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_noticed_and_wandering_is_not() {
        let climbing: Vec<usize> = (0..1000).map(|k| k / 10).collect();
        assert!(drift(&climbing).is_some());
        let level: Vec<usize> = (0..1000).map(|k| 40 + (k * 7919) % 13).collect();
        assert_eq!(drift(&level), None);
        assert_eq!(drift(&climbing[..50]), None);
    }
}
