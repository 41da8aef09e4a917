//! How likely one response is under one row of predictors: what the permutation step knows of a model.

use super::permutation::Permutation;
use ndarray::Array2;

/// l(row, column) = alpha * log p(`y[row]` | `X[column]`, theta), at the current theta.
///
/// Terms that only the row or only the column changes may be left out: they cancel for every permutation.
pub trait PairLogLik {
    /// The number of rows.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tempered log density of the response of `row` at the predictors of `column`.
    fn pair(&self, row: usize, column: usize) -> f64;

    /// Tempered log density of `y[row]` under a random link less that under its own link.
    ///
    /// Large when the row looks mislinked. It chooses which rows are proposed, never what is
    /// accepted, so it may be rough; it must not depend on the permutation.
    fn log_mislink_ratio(&self, row: usize) -> f64;

    /// Responses and fitted values on one scale, where the model has such a thing.
    fn locations(&self) -> Option<Locations<'_>> {
        None
    }

    /// The sum of l(i, pi(i)).
    fn total(&self, pi: &Permutation) -> f64 {
        (0..self.len()).map(|i| self.pair(i, pi.column_of(i))).sum()
    }
}

/// One-dimensional positions: a pair fits well when its response is near its fitted value.
#[derive(Clone, Copy, Debug)]
pub struct Locations<'a> {
    /// May be infinite: beyond all fitted values.
    pub response: &'a [f64],
    /// Rows in increasing order of their response, in 32 bits.
    pub response_order: &'a [u32],
    pub fitted: &'a [f64],
    /// Whether pairing sorted responses with sorted fitted values is the best assignment, as where -l is a convex
    /// function of response - fitted.
    pub is_best_sorted: bool,
}

/// A pair likelihood held as an n x n matrix.
#[derive(Clone, Debug)]
pub struct DenseLogLik {
    matrix: Array2<f64>,
    log_mislink_ratio: Vec<f64>,
}

impl DenseLogLik {
    /// `matrix[(i, j)]` is l(i, j).
    pub fn new(matrix: Array2<f64>) -> Self {
        let num_rows = matrix.nrows();
        assert_eq!(num_rows, matrix.ncols(), "the pair matrix must be square");
        let log_mislink_ratio = (0..num_rows)
            .map(|i| {
                let row = matrix.row(i);
                let max = row.fold(f64::NEG_INFINITY, |max, &value| max.max(value));
                let sum: f64 = row.iter().map(|value| (value - max).exp()).sum();
                max + (sum / num_rows as f64).ln() - matrix[(i, i)]
            })
            .collect();
        Self {
            matrix,
            log_mislink_ratio,
        }
    }
}

impl PairLogLik for DenseLogLik {
    fn len(&self) -> usize {
        self.matrix.nrows()
    }

    #[inline]
    fn pair(&self, row: usize, column: usize) -> f64 {
        self.matrix[(row, column)]
    }

    fn log_mislink_ratio(&self, row: usize) -> f64 {
        self.log_mislink_ratio[row]
    }
}
