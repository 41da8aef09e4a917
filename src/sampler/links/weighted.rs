//! Pair likelihoods in which rows count with survey weights: l(i, j) = alpha * w * log p(`y[i]` | `X[j]`, theta), where the
//! weight w is that of the place j or that of the response i.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::family::{FamilyLogLik, PairFamily};
use super::pair::PairLogLik;
use super::permutation::{NOBODY, Permutation};

/// What a survey weight belongs to, and so stays with when a link changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WeightSide {
    /// The weight stays with the predictors: the survey drew them.
    #[default]
    Predictors,
    /// The weight moves with the response: the survey drew it.
    Response,
}

impl fmt::Display for WeightSide {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            WeightSide::Predictors => "stay with the predictors",
            WeightSide::Response => "move with the response",
        })
    }
}

/// The survey weights of the rows: powers of their likelihoods.
#[derive(Debug, Clone, PartialEq)]
pub struct SurveyWeights {
    values: Vec<f64>,
    side: WeightSide,
}

impl SurveyWeights {
    /// One weight for each row of the data: finite, 0 or more.
    pub fn new(values: Vec<f64>, side: WeightSide) -> SurveyWeights {
        let is_weight = |w: &f64| w.is_finite() && *w >= 0.0;
        assert!(values.iter().all(is_weight), "weights are 0 or more");
        SurveyWeights { values, side }
    }

    /// The weights in the order of the data.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub fn side(&self) -> WeightSide {
        self.side
    }

    /// How many rows of weight 1 the rows count as.
    pub fn sum(&self) -> f64 {
        self.values.iter().sum()
    }

    /// Kish's effective sample size: the number of equally weighted rows of which a mean has the same variance.
    pub fn effective_sample_size(&self) -> f64 {
        let squares: f64 = self.values.iter().map(|weight| weight * weight).sum();
        self.sum().powi(2) / squares
    }

    /// The weights after the links of the data themselves changed: row j has the response that was in row `source[j]`.
    pub fn with_responses_of(&self, source: &[usize]) -> SurveyWeights {
        match self.side {
            WeightSide::Predictors => self.clone(),
            WeightSide::Response => SurveyWeights {
                values: source.iter().map(|&row| self.values[row]).collect(),
                side: self.side,
            },
        }
    }

    /// The weight of the response of `row` at the predictors of `column`.
    #[inline]
    pub fn of_pair(&self, row: usize, column: usize) -> f64 {
        match self.side {
            WeightSide::Predictors => self.values[column],
            WeightSide::Response => self.values[row],
        }
    }

    /// The weight of the likelihood at each row of predictors; 0 where no response belongs to it.
    pub fn at_place(&self, pi: &Permutation, place: usize) -> f64 {
        match pi.row_of(place) {
            NOBODY => 0.0,
            row => self.of_pair(row, place),
        }
    }
}

/// A pair likelihood that gives the log density itself: where weights differ, terms that only the row or only the column
/// changes do not cancel.
pub trait CompleteLogLik: PairLogLik {
    /// The tempered and normalised log density of the response of `row` at the predictors of `column`.
    fn complete(&self, row: usize, column: usize) -> f64;
}

impl<F: PairFamily> CompleteLogLik for FamilyLogLik<F> {
    fn complete(&self, row: usize, column: usize) -> f64 {
        self.temperature() * self.log_density(row, column)
    }
}

/// The pair likelihood with weights.
pub struct WeightedLogLik<'a, P> {
    pub pair: &'a P,
    pub weights: &'a SurveyWeights,
}

impl<P: CompleteLogLik> PairLogLik for WeightedLogLik<'_, P> {
    fn len(&self) -> usize {
        self.pair.len()
    }

    #[inline]
    fn pair(&self, row: usize, column: usize) -> f64 {
        match self.weights.of_pair(row, column) {
            // Also where the response is impossible there.
            0.0 => 0.0,
            weight => weight * self.pair.complete(row, column),
        }
    }

    fn log_mislink_ratio(&self, row: usize) -> f64 {
        match self.weights.of_pair(row, row) {
            0.0 => 0.0,
            weight => weight * self.pair.log_mislink_ratio(row),
        }
    }
}
