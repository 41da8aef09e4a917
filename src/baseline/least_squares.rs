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
