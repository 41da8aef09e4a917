//! The joint posterior of links, slope and variance for one predictor: links enumerated, the slope integrated in closed
//! form, the variance by quadrature on the log scale.
// Every test uses its own part.
#![allow(dead_code)]

use crate::study::all_permutations;

/// Normal priors of the slope and, truncated at zero and with mean zero, of the variance.
#[derive(Clone, Copy)]
pub struct ThetaPrior {
    pub slope_mean: f64,
    pub slope_variance: f64,
    pub variance_variance: f64,
}

/// The priors of the shipped linear model.
pub const SHIPPED: ThetaPrior = ThetaPrior {
    slope_mean: 0.0,
    slope_variance: 1000.0,
    variance_variance: 1000.0,
};
/// Range and number of points of log sigma2; the ends hold less than 1e-9 of the mass.
const LOG_VARIANCE: (f64, f64) = (-16.0, 5.4);
const NUM_POINTS: usize = 1500;

/// Posterior probabilities and means.
pub struct Enumeration {
    pub permutations: Vec<Vec<usize>>,
    pub probability: Vec<f64>,
    pub slope: f64,
    pub variance: f64,
}

impl Enumeration {
    /// `y[i]` belongs to `x[pi(i)]`; the likelihood is raised to the power `alpha`. Permutations without prior mass are left out.
    pub fn new(
        x: &[f64],
        y: &[f64],
        alpha: f64,
        log_prior: impl Fn(&[usize]) -> f64,
    ) -> Enumeration {
        Enumeration::with_prior(SHIPPED, x, y, alpha, log_prior)
    }

    pub fn with_prior(
        theta: ThetaPrior,
        x: &[f64],
        y: &[f64],
        alpha: f64,
        log_prior: impl Fn(&[usize]) -> f64,
    ) -> Enumeration {
        Enumeration::with_weights(theta, x, y, alpha, |_, _| 1.0, log_prior)
    }

    /// `weight` is the power of the density of `y[i]` at `x[j]`, besides `alpha`.
    pub fn with_weights(
        theta: ThetaPrior,
        x: &[f64],
        y: &[f64],
        alpha: f64,
        weight: impl Fn(usize, usize) -> f64,
        log_prior: impl Fn(&[usize]) -> f64,
    ) -> Enumeration {
        Enumeration::of_pairs(theta, x, |i, _| y[i], alpha, weight, log_prior)
    }

    /// `response` is what is explained by the slope where the response of row i belongs to the predictors of row j.
    pub fn of_pairs(
        theta: ThetaPrior,
        x: &[f64],
        response: impl Fn(usize, usize) -> f64,
        alpha: f64,
        weight: impl Fn(usize, usize) -> f64,
        log_prior: impl Fn(&[usize]) -> f64,
    ) -> Enumeration {
        let mut permutations = all_permutations(x.len());
        permutations.retain(|pi| log_prior(pi) > f64::NEG_INFINITY);
        // Under each permutation: the sums of w, w x x, w x y and w y y.
        let sums = permutations.iter().map(|pi| {
            let mut sums = [0.0; 4];
            for (i, &j) in pi.iter().enumerate() {
                let y = response(i, j);
                let terms = [1.0, x[j] * x[j], x[j] * y, y * y];
                for (sum, term) in sums.iter_mut().zip(terms) {
                    *sum += weight(i, j) * term;
                }
            }
            sums
        });
        let sums: Vec<[f64; 4]> = sums.collect();
        let log_prior: Vec<f64> = permutations.iter().map(|pi| log_prior(pi)).collect();
        let (low, high) = LOG_VARIANCE;
        let points = (0..=NUM_POINTS).map(|k| low + (high - low) * k as f64 / NUM_POINTS as f64);
        let mut cells = Vec::with_capacity((NUM_POINTS + 1) * sums.len());
        for log_variance in points {
            let variance = log_variance.exp();
            // Jacobian and prior.
            let common = log_variance - variance * variance / (2.0 * theta.variance_variance);
            for (k, ([sw, sxx, sxy, syy], log_prior)) in sums.iter().zip(&log_prior).enumerate() {
                // The slope given the links and the variance is normal with this precision and mean b / precision.
                let precision = alpha * sxx / variance + 1.0 / theta.slope_variance;
                let b = alpha * sxy / variance + theta.slope_mean / theta.slope_variance;
                let rest = 0.5 * alpha * (sw * log_variance + syy / variance);
                let log_weight =
                    common - rest - 0.5 * precision.ln() + 0.5 * b * b / precision + log_prior;
                cells.push((k, log_weight, b / precision, variance));
            }
        }
        let largest = cells.iter().map(|cell| cell.1).fold(f64::MIN, f64::max);
        let mut posterior = Enumeration {
            probability: vec![0.0; permutations.len()],
            permutations,
            slope: 0.0,
            variance: 0.0,
        };
        let mut total = 0.0;
        for (k, log_weight, slope, variance) in cells {
            let weight = (log_weight - largest).exp();
            total += weight;
            posterior.probability[k] += weight;
            posterior.slope += weight * slope;
            posterior.variance += weight * variance;
        }
        posterior.probability.iter_mut().for_each(|p| *p /= total);
        posterior.slope /= total;
        posterior.variance /= total;
        posterior
    }

    pub fn probability_of(&self, event: impl Fn(&[usize]) -> bool) -> f64 {
        let cells = self.permutations.iter().zip(&self.probability);
        cells.filter(|(pi, _)| event(pi)).map(|(_, p)| p).sum()
    }

    /// The `count` most probable permutations.
    pub fn most_probable(&self, count: usize) -> Vec<&[usize]> {
        let mut order: Vec<usize> = (0..self.permutations.len()).collect();
        order.sort_by(|a, b| self.probability[*b].total_cmp(&self.probability[*a]));
        let best = order.into_iter().take(count);
        best.map(|k| self.permutations[k].as_slice()).collect()
    }
}

pub fn num_moved(pi: &[usize]) -> usize {
    pi.iter().enumerate().filter(|(i, j)| i != *j).count()
}
