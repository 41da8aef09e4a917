//! Native families: pair likelihoods of one location and one scale, in O(n) memory.

use super::pair::{Locations, PairLogLik};
use super::special::log_gamma;
use std::f64::consts::PI;

/// The law of a response around its fitted value, with scale sigma.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// sigma is the standard deviation.
    Gaussian,
    /// Density tau (1 - tau) / sigma * exp(-rho_tau(u) / sigma), rho_tau(u) = u (tau - 1{u < 0}).
    AsymmetricLaplace {
        tau: f64,
    },
    StudentT {
        nu: f64,
    },
}

impl Family {
    /// log p(y | fitted value, scale), normalised and not tempered.
    pub fn log_density(self, response: f64, fitted: f64, scale: f64) -> f64 {
        self.log_constant(scale) + self.log_kernel(response - fitted, self.precision(scale))
    }

    /// The part of the log density that no residual changes.
    fn log_constant(self, scale: f64) -> f64 {
        match self {
            Self::Gaussian => -0.5 * (2.0 * PI).ln() - scale.ln(),
            Self::AsymmetricLaplace { tau } => (tau * (1.0 - tau)).ln() - scale.ln(),
            Self::StudentT { nu } => {
                log_gamma(0.5 * (nu + 1.0))
                    - log_gamma(0.5 * nu)
                    - 0.5 * (nu * PI).ln()
                    - scale.ln()
            }
        }
    }

    /// What multiplies the loss inside `log_kernel`.
    fn precision(self, scale: f64) -> f64 {
        match self {
            Self::Gaussian => 0.5 / (scale * scale),
            Self::AsymmetricLaplace { .. } => 1.0 / scale,
            Self::StudentT { nu } => 1.0 / (nu * scale * scale),
        }
    }

    #[inline]
    fn log_kernel(self, residual: f64, precision: f64) -> f64 {
        match self {
            Self::Gaussian => -precision * residual * residual,
            Self::AsymmetricLaplace { tau } => {
                let slope = if residual < 0.0 { tau - 1.0 } else { tau };
                -precision * residual * slope
            }
            Self::StudentT { nu } => -0.5 * (nu + 1.0) * (precision * residual * residual).ln_1p(),
        }
    }

    fn is_convex(self) -> bool {
        match self {
            Self::Gaussian | Self::AsymmetricLaplace { .. } => true,
            Self::StudentT { .. } => false,
        }
    }

    fn assert_valid(self) {
        match self {
            Self::Gaussian => {}
            Self::AsymmetricLaplace { tau } => {
                assert!(tau > 0.0 && tau < 1.0, "tau must lie in (0, 1), got {tau}");
            }
            Self::StudentT { nu } => assert!(nu > 0.0, "nu must be positive, got {nu}"),
        }
    }
}

/// The pair likelihood of a family at the current fitted values and scale.
#[derive(Clone, Debug)]
pub struct FamilyLogLik {
    family: Family,
    temperature: f64,
    response: Vec<f64>,
    response_order: Vec<usize>,
    fitted: Vec<f64>,
    precision: f64,
    log_constant: f64,
    /// log density of each response when nothing is known of its predictors.
    log_marginal: Vec<f64>,
}

impl FamilyLogLik {
    /// Fitted values start at zero and the scale at one: call `update` before use.
    pub fn new(family: Family, response: Vec<f64>, temperature: f64) -> Self {
        family.assert_valid();
        assert!(
            temperature > 0.0 && temperature <= 1.0,
            "the temperature must lie in (0, 1], got {temperature}"
        );
        assert!(
            response.iter().all(|value| value.is_finite()),
            "responses must be finite"
        );
        let num_rows = response.len();
        let mut response_order: Vec<usize> = (0..num_rows).collect();
        response_order.sort_by(|&i, &j| response[i].total_cmp(&response[j]));
        let log_marginal = log_marginal(&response);
        Self {
            family,
            temperature,
            response,
            response_order,
            fitted: vec![0.0; num_rows],
            precision: family.precision(1.0),
            log_constant: family.log_constant(1.0),
            log_marginal,
        }
    }

    /// Moves to a new theta in place: `fill` writes the fitted values, one for each row of X.
    pub fn update(&mut self, scale: f64, fill: impl FnOnce(&mut [f64])) {
        assert!(scale > 0.0, "the scale must be positive, got {scale}");
        fill(&mut self.fitted);
        self.precision = self.family.precision(scale);
        self.log_constant = self.family.log_constant(scale);
    }

    pub fn family(&self) -> Family {
        self.family
    }

    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    pub fn response(&self) -> &[f64] {
        &self.response
    }

    pub fn fitted(&self) -> &[f64] {
        &self.fitted
    }

    /// log p(y[row] | X[column], theta), normalised and not tempered.
    pub fn log_density(&self, row: usize, column: usize) -> f64 {
        let residual = self.response[row] - self.fitted[column];
        self.log_constant + self.family.log_kernel(residual, self.precision)
    }
}

/// A normal law with the mean and variance of all responses: rough, but it only steers proposals.
fn log_marginal(response: &[f64]) -> Vec<f64> {
    let num_rows = response.len().max(1) as f64;
    let mean = response.iter().sum::<f64>() / num_rows;
    let squares: f64 = response.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / num_rows;
    // A constant response has no spread; any positive one keeps the density finite.
    let sd = if variance > 0.0 { variance.sqrt() } else { 1.0 };
    let density = |&value: &f64| Family::Gaussian.log_density(value, mean, sd);
    response.iter().map(density).collect()
}

impl PairLogLik for FamilyLogLik {
    fn len(&self) -> usize {
        self.response.len()
    }

    #[inline]
    fn pair(&self, row: usize, column: usize) -> f64 {
        let residual = self.response[row] - self.fitted[column];
        self.temperature * self.family.log_kernel(residual, self.precision)
    }

    fn log_mislink_ratio(&self, row: usize) -> f64 {
        self.temperature * (self.log_marginal[row] - self.log_density(row, row))
    }

    fn locations(&self) -> Option<Locations<'_>> {
        Some(Locations {
            response: &self.response,
            response_order: &self.response_order,
            fitted: &self.fitted,
            is_convex: self.family.is_convex(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_densities_agree_with_reference_numbers() {
        // R: dnorm(1.3, 0.4, 0.7, log = TRUE); dt(0.9 / 0.7, 4, log = TRUE) - log(0.7);
        // log(tau (1 - tau) / s) - rho / s by hand.
        let normal = Family::Gaussian.log_density(1.3, 0.4, 0.7);
        assert!(
            (normal - (-1.388_794_201_510_838)).abs() < 1e-12,
            "{normal}"
        );
        let student = Family::StudentT { nu: 4.0 }.log_density(1.3, 0.4, 0.7);
        let by_hand =
            (0.375f64).ln() - 2.5 * (1.0 + (0.9f64 / 0.7).powi(2) / 4.0).ln() - 0.7f64.ln();
        assert!((student - by_hand).abs() < 1e-12, "{student}");
        let laplace = Family::AsymmetricLaplace { tau: 0.25 };
        let expected = (0.25f64 * 0.75 / 0.7).ln();
        let above = laplace.log_density(1.3, 0.4, 0.7);
        let below = laplace.log_density(0.4, 1.3, 0.7);
        assert!((above - (expected - 0.9 * 0.25 / 0.7)).abs() < 1e-12);
        assert!((below - (expected - 0.9 * 0.75 / 0.7)).abs() < 1e-12);
    }

    #[test]
    fn densities_integrate_to_one() {
        for family in [
            Family::Gaussian,
            Family::AsymmetricLaplace { tau: 0.3 },
            Family::StudentT { nu: 3.0 },
        ] {
            // y = t / (1 - t^2) maps (-1, 1) to the line; midpoints.
            let steps = 20_000;
            let sum: f64 = (0..steps)
                .map(|k| {
                    let t = -1.0 + (f64::from(k) + 0.5) * 2.0 / f64::from(steps);
                    let rest = 1.0 - t * t;
                    let jacobian = (1.0 + t * t) / (rest * rest);
                    family.log_density(t / rest, 0.2, 0.6).exp() * jacobian
                })
                .sum::<f64>()
                * 2.0
                / f64::from(steps);
            assert!((sum - 1.0).abs() < 1e-6, "{family:?}: {sum}");
        }
    }

    #[test]
    fn pair_differences_are_tempered_density_differences() {
        let mut pair = FamilyLogLik::new(Family::StudentT { nu: 4.0 }, vec![0.3, -1.0, 2.0], 0.5);
        pair.update(0.8, |fitted| fitted.copy_from_slice(&[0.1, 1.9, -0.7]));
        for (i, j) in [(0, 1), (1, 2), (2, 2)] {
            let difference = pair.pair(i, j) - pair.pair(0, 0);
            let full = 0.5 * (pair.log_density(i, j) - pair.log_density(0, 0));
            assert!((difference - full).abs() < 1e-12);
        }
        assert!(pair.log_mislink_ratio(1) > pair.log_mislink_ratio(0));
    }
}
