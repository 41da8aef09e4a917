//! Pair likelihoods of a linear predictor and, for some families, a scale, in O(n) memory.

use super::marginal::Marginal;
use super::pair::{Locations, PairLogLik};
use std::f64::consts::PI;
use std::fmt::Debug;
use std::sync::Arc;

/// A family of laws of a response, as far as the permutation step needs it.
///
/// Either log p = base(y) + constant(scale) + kernel(location(y) - fitted), or, for an exponential family with its
/// canonical link, log p = base(y) + y * fitted - partition(fitted).
pub trait PairFamily: Copy + Debug {
    /// Whether a response can be one of the family.
    fn allows(self, response: f64) -> bool;

    /// The law of a response of which nothing is known but the file.
    fn marginal(self) -> Marginal;

    /// Whether log p = base(y) + y * fitted - partition(fitted). Such a family has no scale.
    fn is_exponential(self) -> bool;

    /// The fitted value at which a response is most likely; infinite at the end of the possible ones.
    fn location(self, response: f64) -> f64;

    /// The part of the log density that only the response changes.
    fn log_base(self, response: f64) -> f64;

    /// The part of an exponential family's log density that only the fitted value changes.
    fn log_partition(self, fitted: f64) -> f64;

    /// The part of the log density that no residual changes.
    fn log_constant(self, scale: f64) -> f64;

    /// What multiplies the loss inside `log_kernel`.
    fn precision(self, scale: f64) -> f64;

    /// The part of the log density that the residual changes.
    fn log_kernel(self, residual: f64, precision: f64) -> f64;

    /// Whether pairing sorted responses with sorted fitted values is the best assignment. A convex loss of the residual is
    /// sorted best; so is the sum of y * fitted, by the rearrangement inequality, and the rest of an exponential family's
    /// log likelihood is the same for every permutation.
    fn is_best_sorted(self) -> bool;
}

/// The normal law, whose scale is its standard deviation.
#[derive(Clone, Copy, Debug)]
pub struct Normal;

impl Normal {
    pub(super) fn log_density(self, residual: f64, scale: f64) -> f64 {
        self.log_constant(scale) + self.log_kernel(residual, self.precision(scale))
    }
}

impl PairFamily for Normal {
    fn allows(self, _: f64) -> bool {
        true
    }

    fn marginal(self) -> Marginal {
        Marginal::Real
    }

    fn is_exponential(self) -> bool {
        false
    }

    fn location(self, response: f64) -> f64 {
        response
    }

    fn log_base(self, _: f64) -> f64 {
        0.0
    }

    fn log_partition(self, _: f64) -> f64 {
        0.0
    }

    fn log_constant(self, scale: f64) -> f64 {
        -0.5 * (2.0 * PI).ln() - scale.ln()
    }

    fn precision(self, scale: f64) -> f64 {
        0.5 / (scale * scale)
    }

    #[inline]
    fn log_kernel(self, residual: f64, precision: f64) -> f64 {
        -precision * residual * residual
    }

    fn is_best_sorted(self) -> bool {
        true
    }
}

/// The scale at one row of X: it belongs to the place, not to the response that comes there.
#[derive(Clone, Copy, Debug)]
struct Column {
    precision: f64,
    log_scale: f64,
}

/// What a pair likelihood knows of the responses alone, whatever theta is: one serves all chains, since a large file has many
/// rows.
#[derive(Debug)]
pub struct PairResponses {
    response: Vec<f64>,
    /// Rows in increasing order of their response, in 32 bits.
    order: Vec<u32>,
    /// Each response on the scale of the fitted values.
    location: Vec<f64>,
    log_base: Vec<f64>,
    /// The log density of each response when nothing is known of its predictors.
    log_marginal: Vec<f64>,
}

impl PairResponses {
    /// The responses of a family, which must be possible ones.
    pub fn new<F: PairFamily>(family: F, response: Vec<f64>) -> Self {
        let is_possible = |&y: &f64| y.is_finite() && family.allows(y);
        assert!(
            response.iter().all(is_possible),
            "{family:?} has no such responses"
        );
        let num_rows = response.len();
        let last = u32::try_from(num_rows).expect("fewer than 2^32 rows");
        let mut order: Vec<u32> = (0..last).collect();
        order.sort_by(|&i, &j| response[i as usize].total_cmp(&response[j as usize]));
        let of_responses = |value: &dyn Fn(f64) -> f64| -> Vec<f64> {
            response.iter().map(|&y| value(y)).collect()
        };
        Self {
            location: of_responses(&|y| family.location(y)),
            log_base: of_responses(&|y| family.log_base(y)),
            log_marginal: family.marginal().log_density(&response, num_rows),
            response,
            order,
        }
    }
}

/// The pair likelihood of a family at the current fitted values and scale, or scales.
#[derive(Clone, Debug)]
pub struct FamilyLogLik<F> {
    family: F,
    temperature: f64,
    responses: Arc<PairResponses>,
    fitted: Vec<f64>,
    /// The log partition function at each fitted value; empty but for exponential families.
    log_partition: Vec<f64>,
    precision: f64,
    log_constant: f64,
    /// Empty while all rows of X have one scale.
    columns: Vec<Column>,
}

impl<F: PairFamily> FamilyLogLik<F> {
    /// Fitted values start at zero and the scale at one: call `update` before use.
    pub fn new(family: F, response: Vec<f64>, temperature: f64) -> Self {
        Self::of(
            family,
            Arc::new(PairResponses::new(family, response)),
            temperature,
        )
    }

    /// As `new`, with responses that others share, whose family has the same locations, base and marginal law.
    pub fn of(family: F, responses: Arc<PairResponses>, temperature: f64) -> Self {
        assert!(
            temperature > 0.0 && temperature <= 1.0,
            "the temperature must lie in (0, 1], got {temperature}"
        );
        let num_rows = responses.response.len();
        let num_partitions = if family.is_exponential() { num_rows } else { 0 };
        Self {
            family,
            temperature,
            responses,
            fitted: vec![0.0; num_rows],
            log_partition: vec![family.log_partition(0.0); num_partitions],
            precision: family.precision(1.0),
            log_constant: family.log_constant(1.0),
            columns: Vec::new(),
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
    pub fn update_by_column(&mut self, family: F, fill: impl FnOnce(&mut [f64], &mut [f64])) {
        assert!(!family.is_exponential(), "{family:?} has no scale");
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

    /// The density of a response given its predictors.
    pub fn family(&self) -> F {
        self.family
    }

    /// The power of the likelihood.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// The responses, in the order of the data.
    pub fn response(&self) -> &[f64] {
        &self.responses.response
    }

    /// The linear predictor of every row of X.
    pub fn fitted(&self) -> &[f64] {
        &self.fitted
    }

    /// log p(y[row] | X[column], theta), normalised and not tempered.
    pub fn log_density(&self, row: usize, column: usize) -> f64 {
        self.responses.log_base[row] + self.log_constant + self.log_kernel(row, column)
    }

    /// The part of the log density that row and column change together.
    #[inline]
    fn log_kernel(&self, row: usize, column: usize) -> f64 {
        let fitted = self.fitted[column];
        if self.family.is_exponential() {
            return self.responses.response[row] * fitted - self.log_partition[column];
        }
        let residual = self.responses.location[row] - fitted;
        match self.columns.get(column) {
            None => self.family.log_kernel(residual, self.precision),
            Some(at) => self.family.log_kernel(residual, at.precision) - at.log_scale,
        }
    }
}

impl<F: PairFamily> PairLogLik for FamilyLogLik<F> {
    fn len(&self) -> usize {
        self.responses.response.len()
    }

    #[inline]
    fn pair(&self, row: usize, column: usize) -> f64 {
        self.temperature * self.log_kernel(row, column)
    }

    fn log_mislink_ratio(&self, row: usize) -> f64 {
        self.temperature * (self.responses.log_marginal[row] - self.log_density(row, row))
    }

    fn locations(&self) -> Option<Locations<'_>> {
        Some(Locations {
            response: &self.responses.location,
            response_order: &self.responses.order,
            fitted: &self.fitted,
            is_best_sorted: self.family.is_best_sorted() && self.columns.is_empty(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Family;

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
