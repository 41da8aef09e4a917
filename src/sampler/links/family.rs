//! Native families: pair likelihoods of a linear predictor and, for some, a scale, in O(n) memory.

use super::marginal::Marginal;
use super::pair::{Locations, PairLogLik};
use crate::numerics::gamma::log_gamma;
use std::f64::consts::PI;

/// The law of a response given its fitted value x'beta and, for the first three, a scale sigma.
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
    /// Counts with mean exp(fitted).
    Poisson,
    /// 0 or 1, with log odds fitted of a 1.
    Logistic,
}

impl Family {
    /// log p(y | fitted value, scale), normalised and not tempered.
    pub fn log_density(self, response: f64, fitted: f64, scale: f64) -> f64 {
        let kernel = match self {
            Self::Poisson | Self::Logistic => response * fitted - self.log_partition(fitted),
            _ => self.log_kernel(response - fitted, self.precision(scale)),
        };
        self.log_base(response) + self.log_constant(scale) + kernel
    }

    /// Whether the law has a scale besides its fitted value.
    pub fn has_scale(self) -> bool {
        !self.is_exponential()
    }

    /// log p = base(y) + y * fitted - partition(fitted): an exponential family with its canonical link.
    fn is_exponential(self) -> bool {
        matches!(self, Self::Poisson | Self::Logistic)
    }

    /// The part of the log density that only the response changes.
    fn log_base(self, response: f64) -> f64 {
        match self {
            Self::Poisson => -log_gamma(response + 1.0),
            _ => 0.0,
        }
    }

    /// The part of an exponential family's log density that only the fitted value changes.
    fn log_partition(self, fitted: f64) -> f64 {
        match self {
            Self::Poisson => fitted.exp(),
            Self::Logistic => fitted.max(0.0) + (-fitted.abs()).exp().ln_1p(),
            _ => 0.0,
        }
    }

    /// The fitted value at which a response is most likely; infinite at the end of the possible ones.
    fn location(self, response: f64) -> f64 {
        match self {
            Self::Poisson => response.ln(),
            Self::Logistic => (response / (1.0 - response)).ln(),
            _ => response,
        }
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
            Self::Poisson | Self::Logistic => 0.0,
        }
    }

    /// What multiplies the loss inside `log_kernel`.
    fn precision(self, scale: f64) -> f64 {
        match self {
            Self::Gaussian => 0.5 / (scale * scale),
            Self::AsymmetricLaplace { .. } => 1.0 / scale,
            Self::StudentT { nu } => 1.0 / (nu * scale * scale),
            Self::Poisson | Self::Logistic => 1.0,
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
            Self::Poisson | Self::Logistic => unreachable!("no function of a residual"),
        }
    }

    /// A convex loss of the residual is sorted best; so is the sum of y * fitted, by the rearrangement inequality, and
    /// the rest of an exponential family's log likelihood is the same for every permutation.
    fn is_best_sorted(self) -> bool {
        !matches!(self, Self::StudentT { .. })
    }

    /// The law of a response of which nothing is known but the file.
    pub fn marginal(self) -> Marginal {
        match self {
            Self::Poisson => Marginal::Count,
            Self::Logistic => Marginal::ZeroOne,
            _ => Marginal::Real,
        }
    }

    fn assert_valid(self, response: &[f64]) {
        let all = |allowed: fn(f64) -> bool| response.iter().all(|&value| allowed(value));
        assert!(all(f64::is_finite), "responses must be finite");
        match self {
            Self::Gaussian => {}
            Self::Poisson => assert!(
                all(|y| y >= 0.0 && y.fract() == 0.0),
                "counts must be 0, 1, 2, ..."
            ),
            Self::Logistic => assert!(all(|y| y == 0.0 || y == 1.0), "responses must be 0 or 1"),
            Self::AsymmetricLaplace { tau } => {
                assert!(tau > 0.0 && tau < 1.0, "tau must lie in (0, 1), got {tau}");
            }
            Self::StudentT { nu } => assert!(nu > 0.0, "nu must be positive, got {nu}"),
        }
    }
}

/// The scale at one row of X: it belongs to the place, not to the response that comes there.
#[derive(Clone, Copy, Debug)]
struct Column {
    precision: f64,
    log_scale: f64,
}

/// The pair likelihood of a family at the current fitted values and scale, or scales.
#[derive(Clone, Debug)]
pub struct FamilyLogLik {
    family: Family,
    temperature: f64,
    response: Vec<f64>,
    response_order: Vec<usize>,
    /// Each response on the scale of the fitted values.
    location: Vec<f64>,
    log_base: Vec<f64>,
    fitted: Vec<f64>,
    /// Of each fitted value; used by exponential families alone.
    log_partition: Vec<f64>,
    precision: f64,
    log_constant: f64,
    /// Empty while all rows of X have one scale.
    columns: Vec<Column>,
    /// log density of each response when nothing is known of its predictors.
    log_marginal: Vec<f64>,
}

impl FamilyLogLik {
    /// Fitted values start at zero and the scale at one: call `update` before use.
    pub fn new(family: Family, response: Vec<f64>, temperature: f64) -> Self {
        family.assert_valid(&response);
        assert!(
            temperature > 0.0 && temperature <= 1.0,
            "the temperature must lie in (0, 1], got {temperature}"
        );
        let num_rows = response.len();
        let mut response_order: Vec<usize> = (0..num_rows).collect();
        response_order.sort_by(|&i, &j| response[i].total_cmp(&response[j]));
        let of_responses = |value: &dyn Fn(f64) -> f64| -> Vec<f64> {
            response.iter().map(|&y| value(y)).collect()
        };
        let log_marginal = family.marginal().log_density(&response, num_rows);
        Self {
            location: of_responses(&|y| family.location(y)),
            log_base: of_responses(&|y| family.log_base(y)),
            family,
            temperature,
            response,
            response_order,
            fitted: vec![0.0; num_rows],
            log_partition: vec![family.log_partition(0.0); num_rows],
            precision: family.precision(1.0),
            log_constant: family.log_constant(1.0),
            columns: Vec::new(),
            log_marginal,
        }
    }

    /// Moves to a new theta in place: `fill` writes the fitted values, one for each row of X. Families without a scale
    /// ignore it.
    pub fn update(&mut self, scale: f64, fill: impl FnOnce(&mut [f64])) {
        assert!(scale > 0.0, "the scale must be positive, got {scale}");
        fill(&mut self.fitted);
        if self.family.is_exponential() {
            for (partition, &fitted) in self.log_partition.iter_mut().zip(&self.fitted) {
                *partition = self.family.log_partition(fitted);
            }
        }
        self.columns.clear();
        self.precision = self.family.precision(scale);
        self.log_constant = self.family.log_constant(scale);
    }

    /// Moves to a new theta with a scale for each row of X: `fill` writes the fitted values and the scales. `family`, which
    /// must have a scale, may differ from the last in its parameters.
    pub fn update_by_column(&mut self, family: Family, fill: impl FnOnce(&mut [f64], &mut [f64])) {
        assert!(family.has_scale(), "{family:?} has no scale");
        let mut scales = vec![1.0; self.fitted.len()];
        fill(&mut self.fitted, &mut scales);
        self.family = family;
        self.log_constant = family.log_constant(1.0);
        self.columns.clear();
        self.columns.extend(scales.iter().map(|&scale| Column {
            precision: family.precision(scale),
            log_scale: scale.ln(),
        }));
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
        self.log_base[row] + self.log_constant + self.log_kernel(row, column)
    }

    /// The part of the log density that row and column change together.
    #[inline]
    fn log_kernel(&self, row: usize, column: usize) -> f64 {
        let (response, fitted) = (self.response[row], self.fitted[column]);
        match self.family {
            Family::Poisson | Family::Logistic => response * fitted - self.log_partition[column],
            family => match self.columns.get(column) {
                None => family.log_kernel(response - fitted, self.precision),
                Some(at) => family.log_kernel(response - fitted, at.precision) - at.log_scale,
            },
        }
    }
}

impl PairLogLik for FamilyLogLik {
    fn len(&self) -> usize {
        self.response.len()
    }

    #[inline]
    fn pair(&self, row: usize, column: usize) -> f64 {
        self.temperature * self.log_kernel(row, column)
    }

    fn log_mislink_ratio(&self, row: usize) -> f64 {
        self.temperature * (self.log_marginal[row] - self.log_density(row, row))
    }

    fn locations(&self) -> Option<Locations<'_>> {
        Some(Locations {
            response: &self.location,
            response_order: &self.response_order,
            fitted: &self.fitted,
            is_best_sorted: self.family.is_best_sorted() && self.columns.is_empty(),
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
    fn masses_sum_to_one() {
        for fitted in [-3.0, 0.2, 2.5] {
            let poisson: f64 = (0..200)
                .map(|y| Family::Poisson.log_density(f64::from(y), fitted, 1.0).exp())
                .sum();
            assert!((poisson - 1.0).abs() < 1e-12, "{poisson}");
            let logistic: f64 = [0.0, 1.0]
                .map(|y| Family::Logistic.log_density(y, fitted, 1.0).exp())
                .iter()
                .sum();
            assert!((logistic - 1.0).abs() < 1e-14, "{logistic}");
        }
        // R: dpois(3, exp(0.7), log = TRUE); plogis(-1.2, log.p = TRUE).
        let poisson = Family::Poisson.log_density(3.0, 0.7, 1.0);
        assert!((poisson - (2.1 - 0.7f64.exp() - 6.0f64.ln())).abs() < 1e-13);
        let logistic = Family::Logistic.log_density(1.0, -1.2, 1.0);
        assert!((logistic - (1.0 / (1.0 + 1.2f64.exp())).ln()).abs() < 1e-14);
    }

    #[test]
    fn counts_and_zero_one_responses_look_mislinked_where_they_do_not_fit() {
        let counts = vec![0.0, 1.0, 2.0, 9.0, 25.0, 1.0];
        let mut pair = FamilyLogLik::new(Family::Poisson, counts, 1.0);
        // Rows 4 and 6 have each other's fitted value.
        let fitted = [0.1, 0.5, 1.5, 0.3, 25.0, 9.0].map(f64::ln);
        pair.update(1.0, |eta| eta.copy_from_slice(&fitted));
        for row in 0..6 {
            let ratio = pair.log_mislink_ratio(row);
            assert_eq!(ratio > 0.0, row == 3 || row == 5, "row {row}: {ratio}");
        }
        let mut pair = FamilyLogLik::new(Family::Logistic, vec![0.0, 1.0, 1.0, 0.0], 1.0);
        pair.update(1.0, |eta| eta.copy_from_slice(&[-2.0, 3.0, -3.0, 2.0]));
        let found = [0, 1, 2, 3].map(|row| pair.log_mislink_ratio(row) > 0.0);
        assert_eq!(found, [false, false, true, true]);
        // A constant response has a finite marginal.
        let zeros = FamilyLogLik::new(Family::Poisson, vec![0.0; 3], 1.0);
        assert!(zeros.log_mislink_ratio(0).is_finite());
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
