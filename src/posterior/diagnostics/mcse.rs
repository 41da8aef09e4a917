//! Monte Carlo standard error of the mean.

use super::chains::pool;
use super::ess::ess_mean;
use crate::numerics::stats::sd;

/// The Monte Carlo standard error of the mean of the draws.
pub fn mcse_mean(chains: &[&[f64]]) -> Option<f64> {
    let ess = ess_mean(chains)?;
    Some(sd(&pool(chains))? / ess.sqrt())
}
