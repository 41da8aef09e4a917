//! The spread of errors whose log scale is linear in the predictors, as in the shipped program `robust`.

use ndarray::{ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

/// Predictors of the log scale: the columns of X that vary, centred and in units of their standard deviations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogSpread {
    columns: Vec<Standardisation>,
}

/// How the file that was fitted standardises a column of X.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Standardisation {
    /// Index of the column in X.
    column: usize,
    mean: f64,
    sd: f64,
}

impl LogSpread {
    /// As the program sees it, from the predictors of the fit.
    pub fn new(x: ArrayView2<f64>) -> LogSpread {
        let columns = x.columns().into_iter().enumerate();
        LogSpread {
            columns: columns
                .filter_map(|(column, values)| Standardisation::new(column, values))
                .collect(),
        }
    }

    pub fn num_columns(&self) -> usize {
        self.columns.len()
    }

    /// Columns of X that take part.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.columns
            .iter()
            .map(|standardisation| standardisation.column)
    }

    /// Writes the scale of the errors at each row of `x`, which may be rows that were not fitted.
    pub fn fill(&self, x: ArrayView2<f64>, sigma: f64, gamma: &[f64], scales: &mut [f64]) {
        for (scale, row) in scales.iter_mut().zip(x.rows()) {
            let terms = self.columns.iter().zip(gamma);
            let log_scale: f64 = terms
                .map(|(c, g)| (row[c.column] - c.mean) / c.sd * g)
                .sum();
            *scale = sigma * log_scale.exp();
        }
    }
}

impl Standardisation {
    /// None for a column that does not vary; by the same rule as the program's.
    fn new(column: usize, values: ArrayView1<f64>) -> Option<Standardisation> {
        let num_rows = values.len() as f64;
        let mean = values.sum() / num_rows;
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        let sd = (squares / (num_rows - 1.0).max(1.0)).sqrt();
        let largest = values.fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let varies = sd > 1e-10 * largest;
        varies.then_some(Standardisation { column, mean, sd })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_intercept_has_no_part_in_the_spread() {
        let x = array![[1.0, 2000.0, 0.1], [1.0, 2010.0, 0.1], [1.0, 2020.0, 0.1]];
        let spread = LogSpread::new(x.view());
        assert_eq!(spread.columns().collect::<Vec<_>>(), [1]);
        let mut scales = [0.0; 3];
        spread.fill(x.view(), 2.0, &[0.5], &mut scales);
        for (found, z) in scales.iter().zip([-1.0f64, 0.0, 1.0]) {
            assert!((found - 2.0 * (0.5 * z).exp()).abs() < 1e-12, "{found}");
        }
    }

    #[test]
    fn new_rows_are_standardised_by_the_file_that_was_fitted() {
        let spread = LogSpread::new(array![[1.0, 2000.0], [1.0, 2010.0], [1.0, 2020.0]].view());
        let mut scales = [0.0];
        spread.fill(array![[1.0, 2030.0]].view(), 2.0, &[0.5], &mut scales);
        assert!(
            (scales[0] - 2.0 * 1.0f64.exp()).abs() < 1e-12,
            "{}",
            scales[0]
        );
    }
}
