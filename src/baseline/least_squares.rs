//! Ordinary least squares with the links as given, by Gram-Schmidt orthogonalisation.

use ndarray::ArrayView2;

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
    let mut columns: Vec<Vec<f64>> = x.columns().into_iter().map(|c| c.to_vec()).collect();
    // X = QR, a column at a time; subtracting twice keeps Q orthogonal when columns are nearly dependent.
    let mut r = vec![vec![0.0; dim]; dim];
    for j in 0..dim {
        for _ in 0..2 {
            for i in 0..j {
                let (done, rest) = columns.split_at_mut(j);
                let overlap = dot(&done[i], &rest[0]);
                r[i][j] += overlap;
                subtract(&mut rest[0], overlap, &done[i]);
            }
        }
        let norm = dot(&columns[j], &columns[j]).sqrt();
        r[j][j] = norm;
        columns[j].iter_mut().for_each(|value| *value /= norm);
    }
    let mut residual = y.to_vec();
    let mut beta = vec![0.0; dim];
    for (coefficient, q) in beta.iter_mut().zip(&columns) {
        *coefficient = dot(q, &residual);
        subtract(&mut residual, *coefficient, q);
    }
    solve_upper(&r, &mut beta);
    let sigma2 = dot(&residual, &residual) / (num_rows - dim) as f64;
    let standard_error = (0..dim)
        .map(|k| (sigma2 * inverse_row_norm2(&r, k)).sqrt())
        .collect();
    LeastSquares {
        beta,
        standard_error,
        sigma2,
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(from: &mut [f64], factor: f64, what: &[f64]) {
    from.iter_mut()
        .zip(what)
        .for_each(|(a, b)| *a -= factor * b);
}

fn solve_upper(r: &[Vec<f64>], b: &mut [f64]) {
    for i in (0..b.len()).rev() {
        let known: f64 = (i + 1..b.len()).map(|j| r[i][j] * b[j]).sum();
        b[i] = (b[i] - known) / r[i][i];
    }
}

/// The k-th diagonal element of (R'R)^-1, which is the squared norm of row k of R^-1.
fn inverse_row_norm2(r: &[Vec<f64>], k: usize) -> f64 {
    let dim = r.len();
    let mut row = vec![0.0; dim];
    for j in k..dim {
        let known: f64 = (k..j).map(|i| row[i] * r[i][j]).sum();
        let unit = if j == k { 1.0 } else { 0.0 };
        row[j] = (unit - known) / r[j][j];
    }
    dot(&row, &row)
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
