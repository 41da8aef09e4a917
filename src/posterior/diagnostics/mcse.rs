//! Monte Carlo standard errors of the mean, the standard deviation and quantiles.

use super::chains::pool;
use super::ess::{ess_mean, ess_quantile, ess_sd};
use crate::numerics::special::beta_quantile;
use crate::numerics::stats::{finite, mean, sd, sorted};

/// Standard normal probabilities of -1 and 1, with the digits of ArviZ and posterior.
const ONE_SIGMA: [f64; 2] = [0.1586553, 0.8413447];

pub fn mcse_mean(chains: &[&[f64]]) -> Option<f64> {
    let ess = ess_mean(chains)?;
    Some(sd(&pool(chains))? / ess.sqrt())
}

/// By the delta method on the variance, whose own variance is that of the squared deviations.
pub fn mcse_sd(chains: &[&[f64]]) -> Option<f64> {
    let ess = ess_sd(chains)?;
    let pooled = pool(chains);
    let centre = mean(&pooled)?;
    let moment =
        |power| pooled.iter().map(|x| (x - centre).powi(power)).sum::<f64>() / pooled.len() as f64;
    let (second, fourth) = (moment(2), moment(4));
    let variance_of_variance = (fourth - second * second) / ess;
    finite((variance_of_variance / second / 4.0).sqrt())
}

/// Half the width of a one-sigma interval of the order statistics around the quantile.
pub fn mcse_quantile(chains: &[&[f64]], probability: f64) -> Option<f64> {
    let ess = ess_quantile(chains, probability)?;
    let sorted = sorted(&pool(chains))?;
    let [low, high] = ONE_SIGMA.map(|level| {
        let share = beta_quantile(
            level,
            ess * probability + 1.0,
            ess * (1.0 - probability) + 1.0,
        );
        share * sorted.len() as f64 - 1.0
    });
    let last = sorted.len() - 1;
    // `as usize` takes what lies below zero to zero.
    let (low, high) = (low.floor() as usize, high.ceil() as usize);
    finite((sorted[high.min(last)] - sorted[low]) / 2.0)
}
