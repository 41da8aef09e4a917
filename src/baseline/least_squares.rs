//! Ordinary least squares with the links as given, by Gram-Schmidt orthogonalisation.

use ndarray::ArrayView2;

use crate::numerics::{Qr, dot};

#[derive(Debug, Clone)]
pub struct LeastSquares {
    pub beta: Vec<f64>,
    pub standard_error: Vec<f64>,
    /// Residual sum of squares over N - D.
    pub sigma2: f64,
}

/// `x` must have full column rank and more rows than columns, as a `Dataset` guarantees.
pub fn least_squares(x: ArrayView2<f64>, y: &[f64]) -> LeastSquares {
    let (num_rows, dim) = x.dim();
    assert_eq!(y.len(), num_rows, "one response for each row");
    let qr = Qr::new(x);
    let (gamma, residual) = qr.project(y);
    let sigma2 = dot(&residual, &residual) / (num_rows - dim) as f64;
    let diagonal = qr.inverse_diagonal();
    LeastSquares {
        beta: qr.beta(&gamma),
        standard_error: diagonal.iter().map(|d| (sigma2 * d).sqrt()).collect(),
        sigma2,
    }
}

/// Weighted least squares: a weight of 2 counts a row twice. None where the weights leave no residual degree of freedom, or
/// no estimate.
pub fn weighted_least_squares(
    x: ArrayView2<f64>,
    y: &[f64],
    weights: &[f64],
) -> Option<LeastSquares> {
    let dim = x.ncols();
    let total: f64 = weights.iter().sum();
    let num_counted = weights.iter().filter(|w| **w > 0.0).count();
    if total <= dim as f64 || num_counted < dim {
        return None;
    }
    let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    let mut scaled = x.to_owned();
    for (mut row, root) in scaled.rows_mut().into_iter().zip(&roots) {
        row.mapv_inplace(|value| value * root);
    }
    let y: Vec<f64> = y.iter().zip(&roots).map(|(y, root)| y * root).collect();
    let fit = least_squares(scaled.view(), &y);
    let factor = (x.nrows() - dim) as f64 / (total - dim as f64);
    let errors = fit.standard_error.iter();
    let fit = LeastSquares {
        standard_error: errors.map(|error| error * factor.sqrt()).collect(),
        sigma2: fit.sigma2 * factor,
        beta: fit.beta,
    };
    let mut numbers = fit.beta.iter().chain(&fit.standard_error);
    numbers.all(|value| value.is_finite()).then_some(fit)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    /// Anscombe's first data set: intercept 3.0001, slope 0.5001, standard errors 1.1247 and 0.1179, sigma 1.2366.
    #[test]
    fn matches_anscombe() {
        let x = [10., 8., 13., 9., 11., 14., 6., 4., 12., 7., 5.];
        let y = [
            8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68,
        ];
        let mut design = ndarray::Array2::ones((11, 2));
        design.column_mut(1).assign(&ndarray::arr1(&x));
        let fit = least_squares(design.view(), &y);
        let expected = [3.00009, 0.50009, 1.12475, 0.11791, 1.23660];
        let found = [
            fit.beta[0],
            fit.beta[1],
            fit.standard_error[0],
            fit.standard_error[1],
            fit.sigma2.sqrt(),
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }

    /// Whole weights are repeated rows, and rows of weight 0 are left out.
    #[test]
    fn whole_weights_are_repeated_rows() {
        let x = array![[1.0, 0.3], [1.0, 1.1], [1.0, 2.4], [1.0, 3.0], [1.0, 9.0]];
        let y = [1.0, 2.5, 2.0, 4.4, -7.0];
        let weights = [2.0, 1.0, 3.0, 1.0, 0.0];
        let repeated: Vec<usize> = vec![0, 0, 1, 2, 2, 2, 3];
        let x_repeated = x.select(ndarray::Axis(0), &repeated);
        let y_repeated: Vec<f64> = repeated.iter().map(|&row| y[row]).collect();
        let expected = least_squares(x_repeated.view(), &y_repeated);
        let found = weighted_least_squares(x.view(), &y, &weights).unwrap();
        for k in 0..2 {
            assert!((found.beta[k] - expected.beta[k]).abs() < 1e-12);
            assert!((found.standard_error[k] - expected.standard_error[k]).abs() < 1e-12);
        }
        assert!((found.sigma2 - expected.sigma2).abs() < 1e-12);
        assert!(weighted_least_squares(x.view(), &y, &[0.1; 5]).is_none());
        let one_row = [5.0, 0.0, 0.0, 0.0, 0.0];
        assert!(weighted_least_squares(x.view(), &y, &one_row).is_none());
    }

    #[test]
    fn survives_columns_of_very_different_scales() {
        let x = array![
            [1.0, 1e8],
            [1.0, 1e8 + 1.0],
            [1.0, 1e8 + 2.0],
            [1.0, 1e8 + 4.0]
        ];
        let y: Vec<f64> = x
            .rows()
            .into_iter()
            .map(|r| 2.0 + 3.0 * (r[1] - 1e8))
            .collect();
        let fit = least_squares(x.view(), &y);
        assert!((fit.beta[1] - 3.0).abs() < 1e-6, "{fit:?}");
    }
}
