//! Cholesky factors of small dense matrices, stored row by row in flat slices.

use crate::numerics::dot;

/// The lower factor L of a positive definite `matrix` = L L', or `None` where it is not one.
pub(crate) fn factor(matrix: &[f64], dim: usize) -> Option<Vec<f64>> {
    assert_eq!(matrix.len(), dim * dim);
    let mut lower = vec![0.0; dim * dim];
    for row in 0..dim {
        for col in 0..=row {
            let inner = dot(
                &lower[row * dim..row * dim + col],
                &lower[col * dim..col * dim + col],
            );
            let rest = matrix[row * dim + col] - inner;
            lower[row * dim + col] = if row != col {
                rest / lower[col * dim + col]
            } else if rest.is_finite() && rest > 0.0 {
                rest.sqrt()
            } else {
                return None;
            };
        }
    }
    Some(lower)
}

/// Solves L' x = b in place, for the lower factor L.
pub(crate) fn solve_transposed(lower: &[f64], x: &mut [f64]) {
    let dim = x.len();
    for row in (0..dim).rev() {
        x[row] /= lower[row * dim + row];
        let solved = x[row];
        // Row `row` of L is column `row` of L': sweep it out of the equations still open.
        for (open, factor) in x[..row].iter_mut().zip(&lower[row * dim..row * dim + row]) {
            *open -= factor * solved;
        }
    }
}

/// Solves L x = b in place, for the lower factor L.
fn solve(lower: &[f64], x: &mut [f64]) {
    let dim = x.len();
    for row in 0..dim {
        let known = dot(&lower[row * dim..row * dim + row], &x[..row]);
        x[row] = (x[row] - known) / lower[row * dim + row];
    }
}

/// The inverse of a positive definite matrix, exactly symmetric, or `None` where it is not one.
pub(crate) fn invert(matrix: &[f64], dim: usize) -> Option<Vec<f64>> {
    let lower = factor(matrix, dim)?;
    let mut inverse = vec![0.0; dim * dim];
    let mut column = vec![0.0; dim];
    for col in 0..dim {
        column.fill(0.0);
        column[col] = 1.0;
        solve(&lower, &mut column);
        solve_transposed(&lower, &mut column);
        for row in col..dim {
            inverse[row * dim + col] = column[row];
            inverse[col * dim + row] = column[row];
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX: [f64; 9] = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];

    #[test]
    fn factor_multiplies_back() {
        let lower = factor(&MATRIX, 3).unwrap();
        for row in 0..3 {
            for col in 0..3 {
                let product = dot(&lower[row * 3..row * 3 + 3], &lower[col * 3..col * 3 + 3]);
                assert!((product - MATRIX[row * 3 + col]).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn inverse_times_matrix_is_identity() {
        let inverse = invert(&MATRIX, 3).unwrap();
        for row in 0..3 {
            for col in 0..3 {
                let product = dot(
                    &inverse[row * 3..row * 3 + 3],
                    &MATRIX[col * 3..col * 3 + 3],
                );
                let identity = if row == col { 1.0 } else { 0.0 };
                assert!((product - identity).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn an_indefinite_or_non_finite_matrix_has_no_factor() {
        assert!(factor(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(factor(&[1.0, 0.0, 0.0, f64::NAN], 2).is_none());
        assert!(factor(&[f64::INFINITY], 1).is_none());
    }
}
