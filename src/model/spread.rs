//! The spread of errors whose log scale is linear in the predictors, as in the shipped program `robust`.

use ndarray::{Array2, ArrayView1, ArrayView2};

/// Predictors of the log scale: the columns of X that vary, centred and in units of their standard deviations.
pub(crate) struct Spread {
    predictors: Array2<f64>,
}

impl Spread {
    pub fn new(x: ArrayView2<f64>) -> Spread {
        let columns = x.columns();
        let varying: Vec<Vec<f64>> = columns.into_iter().filter_map(standardised).collect();
        let shape = (x.nrows(), varying.len());
        Spread {
            predictors: Array2::from_shape_fn(shape, |(i, j)| varying[j][i]),
        }
    }

    pub fn num_columns(&self) -> usize {
        self.predictors.ncols()
    }

    /// Writes the scale of the errors of each row of X.
    pub fn fill(&self, sigma: f64, gamma: &[f64], scales: &mut [f64]) {
        let rows = self.predictors.rows();
        for (scale, row) in scales.iter_mut().zip(rows) {
            let log_scale: f64 = row.iter().zip(gamma).map(|(z, g)| z * g).sum();
            *scale = sigma * log_scale.exp();
        }
    }
}

/// Columns of X that take part in the log scale.
pub(crate) fn varying_columns(x: ArrayView2<f64>) -> Vec<usize> {
    let columns = x.columns().into_iter().enumerate();
    let varying = columns.filter(|(_, column)| standardised(*column).is_some());
    varying.map(|(index, _)| index).collect()
}

/// None for a column that does not vary; by the same rule as the program's.
fn standardised(column: ArrayView1<f64>) -> Option<Vec<f64>> {
    let num_rows = column.len() as f64;
    let mean = column.sum() / num_rows;
    let squares: f64 = column.iter().map(|x| (x - mean).powi(2)).sum();
    let sd = (squares / (num_rows - 1.0).max(1.0)).sqrt();
    let largest = column.fold(0.0, |largest: f64, x| largest.max(x.abs()));
    let varies = sd > 1e-10 * largest;
    varies.then(|| column.iter().map(|x| (x - mean) / sd).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn the_intercept_has_no_part_in_the_spread() {
        let x = array![[1.0, 2000.0, 0.1], [1.0, 2010.0, 0.1], [1.0, 2020.0, 0.1]];
        let spread = Spread::new(x.view());
        assert_eq!(spread.num_columns(), 1);
        let mut scales = [0.0; 3];
        spread.fill(2.0, &[0.5], &mut scales);
        for (found, z) in scales.iter().zip([-1.0f64, 0.0, 1.0]) {
            assert!((found - 2.0 * (0.5 * z).exp()).abs() < 1e-12, "{found}");
        }
    }
}
