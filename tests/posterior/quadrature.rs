//! The joint posterior of links, one coefficient and at most one positive parameter of the shipped models for counts, 0/1
//! responses and amounts: links enumerated, parameters by quadrature.

use crate::study::all_permutations;
use unshuffle::internals::numerics::log_gamma;
use unshuffle::links::Prior;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    Poisson,
    Logistic,
    NegativeBinomial,
    Gamma,
    LogNormal,
}

/// Range and number of points of beta, whose prior is normal...
const BETA: (f64, f64, usize) = (-28.0, 28.0, 2400);
/// ...and of the log of phi or shape, whose prior is gamma(2, 0.1), or of sigma, whose prior is half-normal(0, 2.5).
const LOG_OTHER: (f64, f64, usize) = (-9.0, 6.0, 240);

/// Posterior probabilities and means.
pub struct Posterior {
    permutations: Vec<Vec<usize>>,
    probability: Vec<f64>,
    pub beta: f64,
    /// The name and the mean of the positive parameter, where the law has one.
    pub other: Option<(&'static str, f64)>,
}

impl Law {
    fn prior_sd(self) -> f64 {
        if self == Law::Logistic { 2.5 } else { 5.0 }
    }

    fn other(self) -> Option<&'static str> {
        match self {
            Law::Poisson | Law::Logistic => None,
            Law::NegativeBinomial => Some("phi"),
            Law::Gamma => Some("shape"),
            Law::LogNormal => Some("sigma"),
        }
    }

    /// Written otherwise than in the programs, where that is possible.
    fn log_mass(self, y: f64, eta: f64, other: f64) -> f64 {
        match self {
            Law::Poisson => y * eta - eta.exp() - log_gamma(y + 1.0),
            Law::Logistic => {
                let sign = if y == 1.0 { -1.0 } else { 1.0 };
                -(sign * eta).exp().ln_1p()
            }
            Law::NegativeBinomial => {
                let ways = log_gamma(y + other) - log_gamma(other) - log_gamma(y + 1.0);
                ways - other * (eta.exp() / other).ln_1p() - y * ((-eta).exp() * other).ln_1p()
            }
            Law::Gamma => {
                let rate = other * (-eta).exp();
                other * rate.ln() - log_gamma(other) + (other - 1.0) * y.ln() - rate * y
            }
            Law::LogNormal => -0.5 * ((y.ln() - eta) / other).powi(2) - other.ln(),
        }
    }
}

impl Posterior {
    /// `y[i]` belongs to `x[pi(i)]`; the likelihood is raised to the power `alpha`; the prior of the links is
    /// beta_binomial(1, 1).
    pub fn new(law: Law, x: &[f64], y: &[f64], alpha: f64) -> Posterior {
        Posterior::with_offset(law, x, y, alpha, &|_, _| 0.0)
    }

    /// `offset` is added to the linear predictor of `y[i]` at `x[j]`.
    pub fn with_offset(
        law: Law,
        x: &[f64],
        y: &[f64],
        alpha: f64,
        offset: &dyn Fn(usize, usize) -> f64,
    ) -> Posterior {
        let n = x.len();
        let prior = Prior::beta_binomial(n, 1.0, 1.0);
        let permutations: Vec<Vec<usize>> = all_permutations(n)
            .into_iter()
            .filter(|pi| num_moved(pi) != 1)
            .collect();
        let log_links = |pi: &Vec<usize>| prior.log_weight(num_moved(pi));
        let log_links: Vec<f64> = permutations.iter().map(log_links).collect();
        // Sums are kept relative to the largest weight so far.
        let mut largest = f64::MIN;
        let mut posterior = Posterior {
            probability: vec![0.0; permutations.len()],
            permutations,
            beta: 0.0,
            other: None,
        };
        let (mut total, mut other_sum) = (0.0, 0.0);
        let mut matrix = vec![0.0; n * n];
        for (other, log_other) in others(law) {
            for beta in grid(BETA) {
                for i in 0..n {
                    for j in 0..n {
                        let eta = x[j] * beta + offset(i, j);
                        matrix[i * n + j] = alpha * law.log_mass(y[i], eta, other);
                    }
                }
                let common = log_other - 0.5 * (beta / law.prior_sd()).powi(2);
                for (k, pi) in posterior.permutations.iter().enumerate() {
                    let sum: f64 = pi.iter().enumerate().map(|(i, j)| matrix[i * n + j]).sum();
                    let log_weight = common + sum + log_links[k];
                    if log_weight > largest {
                        let shrink = (largest - log_weight).exp();
                        largest = log_weight;
                        total *= shrink;
                        other_sum *= shrink;
                        posterior.beta *= shrink;
                        posterior.probability.iter_mut().for_each(|p| *p *= shrink);
                    }
                    let weight = (log_weight - largest).exp();
                    total += weight;
                    other_sum += weight * other;
                    posterior.beta += weight * beta;
                    posterior.probability[k] += weight;
                }
            }
        }
        posterior.probability.iter_mut().for_each(|p| *p /= total);
        posterior.beta /= total;
        posterior.other = law.other().map(|name| (name, other_sum / total));
        posterior
    }

    pub fn probability_of(&self, event: impl Fn(&[usize]) -> bool) -> f64 {
        let cells = self.permutations.iter().zip(&self.probability);
        cells.filter(|(pi, _)| event(pi)).map(|(_, p)| p).sum()
    }
}

/// Values of the positive parameter and the logs of their prior weights, the Jacobian of the log included.
fn others(law: Law) -> Vec<(f64, f64)> {
    if law.other().is_none() {
        return vec![(1.0, 0.0)];
    }
    let weight = |log: f64| match law {
        Law::LogNormal => (log.exp(), log - 0.5 * (log.exp() / 2.5).powi(2)),
        _ => (log.exp(), 2.0 * log - 0.1 * log.exp()),
    };
    grid(LOG_OTHER).map(weight).collect()
}

fn grid((low, high, steps): (f64, f64, usize)) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |k| low + (high - low) * k as f64 / steps as f64)
}

pub fn num_moved(pi: &[usize]) -> usize {
    pi.iter().enumerate().filter(|(i, j)| i != *j).count()
}
