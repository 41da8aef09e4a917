//! Effective sample sizes of the mean, quantiles, the bulk and the tails.

use super::chains::{can_be_judged, is_constant, map_draws, pool, split};
use super::ranks::normal_scores;
use crate::numerics::fft::autocovariance;
use crate::numerics::stats::{finite, mean, quantile, variance};

/// ESS of rank-normalised draws: how well the location of the distribution is known.
pub fn ess_bulk(chains: &[&[f64]]) -> Option<f64> {
    can_be_judged(chains).then(|| ess(&normal_scores(&split(chains))))?
}

/// The smaller ESS of the 5% and 95% quantiles.
///
/// An indicator `x <= quantile` that is always true, as when many draws of a count share its largest value, says nothing; the
/// other one then decides.
pub fn ess_tail(chains: &[&[f64]]) -> Option<f64> {
    [0.05, 0.95]
        .into_iter()
        .filter_map(|probability| ess_quantile(chains, probability))
        .reduce(f64::min)
}

pub fn ess_mean(chains: &[&[f64]]) -> Option<f64> {
    can_be_judged(chains).then(|| ess(&split(chains)))?
}

/// ESS of the indicator of draws up to the quantile.
pub fn ess_quantile(chains: &[&[f64]], probability: f64) -> Option<f64> {
    if !can_be_judged(chains) {
        return None;
    }
    let quantile = quantile(&pool(chains), probability)?;
    ess(&split(&map_draws(chains, |x| f64::from(x <= quantile))))
}

/// ESS of chains as they are, by Geyer's initial monotone sequence over all of them (Vehtari et al. 2021, section 3.2).
fn ess(chains: &[Vec<f64>]) -> Option<f64> {
    if is_constant(chains) {
        return None;
    }
    let num_draws = chains[0].len();
    let n = num_draws as f64;
    let means = chains
        .iter()
        .map(|chain| mean(chain))
        .collect::<Option<Vec<_>>>()?;
    let mut autocovariances = vec![0.0; num_draws];
    for (chain, &mean) in chains.iter().zip(&means) {
        for (total, lag) in autocovariances.iter_mut().zip(autocovariance(chain, mean)) {
            *total += lag / chains.len() as f64;
        }
    }
    let within = autocovariances[0] * n / (n - 1.0);
    let total = autocovariances[0] + variance(&means).unwrap_or(0.0);
    // Draws so close or so far apart that their squares under- or overflow have no correlations.
    if !total.is_normal() {
        return None;
    }
    let rho = |lag: usize| 1.0 - (within - autocovariances[lag]) / total;

    let size = (chains.len() * num_draws) as f64;
    // Antithetic chains can beat independent draws, but an estimate beyond this is noise.
    let autocorrelation_time = geyer_sum(num_draws, rho).max(1.0 / size.log10());
    finite(size / autocorrelation_time)
}

/// Integrated autocorrelation time -1 + 2 Σ rho, truncated where pairs of lags turn negative and made monotone before it.
fn geyer_sum(num_draws: usize, rho: impl Fn(usize) -> f64) -> f64 {
    let mut rhos = vec![0.0; num_draws];
    (rhos[0], rhos[1]) = (1.0, rho(1));
    let (mut even, mut odd) = (rhos[0], rhos[1]);
    // Lags (end, end + 1) are the next pair to be looked at.
    let mut end = 2;
    while end + 2 < num_draws && even + odd > 0.0 {
        (even, odd) = (rho(end), rho(end + 1));
        if even + odd >= 0.0 {
            (rhos[end], rhos[end + 1]) = (even, odd);
        }
        end += 2;
    }
    // The last pair enters by its even lag alone and once: this steadies the estimate for antithetic chains.
    let last = end - 2;
    if even > 0.0 {
        rhos[last] = even;
    }
    for pair in (2..last.saturating_sub(1)).step_by(2) {
        let before = rhos[pair - 2] + rhos[pair - 1];
        if rhos[pair] + rhos[pair + 1] > before {
            (rhos[pair], rhos[pair + 1]) = (before / 2.0, before / 2.0);
        }
    }
    -1.0 + 2.0 * rhos[..last].iter().sum::<f64>() + rhos[last]
}
