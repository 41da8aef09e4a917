//! Singular vectors of small dense matrices, by one-sided Jacobi rotations (Hestenes 1958).

use super::dot;

const MOST_SWEEPS: usize = 60;
/// Cosine of two columns that count as orthogonal.
const TOLERANCE: f64 = 1e-14;

/// Turns the columns of a square matrix, one after the other in `columns`, into orthogonal ones, A V; returns V column by
/// column, or `None` where rotations do not end.
pub(crate) fn orthogonalise(columns: &mut [f64], dim: usize) -> Option<Vec<f64>> {
    assert_eq!(columns.len(), dim * dim);
    let mut directions = vec![0.0; dim * dim];
    directions
        .iter_mut()
        .step_by(dim + 1)
        .for_each(|v| *v = 1.0);
    for _ in 0..MOST_SWEEPS {
        let mut is_orthogonal = true;
        for p in 0..dim {
            for q in p + 1..dim {
                let (a, b) = pair(columns, dim, p, q);
                let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
                // A column of zeros is orthogonal to every other.
                if ab.abs() <= TOLERANCE * (aa * bb).sqrt() || aa == 0.0 || bb == 0.0 {
                    continue;
                }
                is_orthogonal = false;
                let zeta = (bb - aa) / (2.0 * ab);
                let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                rotate(a, b, cosine, cosine * tangent);
                let (a, b) = pair(&mut directions, dim, p, q);
                rotate(a, b, cosine, cosine * tangent);
            }
        }
        if is_orthogonal {
            return Some(directions);
        }
    }
    None
}

/// Columns `p` and `q`, p < q.
fn pair(columns: &mut [f64], dim: usize, p: usize, q: usize) -> (&mut [f64], &mut [f64]) {
    let (before, from_q) = columns.split_at_mut(q * dim);
    (&mut before[p * dim..(p + 1) * dim], &mut from_q[..dim])
}

fn rotate(a: &mut [f64], b: &mut [f64], cosine: f64, sine: f64) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(matrix: &[f64], dim: usize, k: usize) -> &[f64] {
        &matrix[k * dim..(k + 1) * dim]
    }

    /// A V has orthogonal columns, V is orthogonal, and A V V' is A.
    #[test]
    fn columns_become_orthogonal_by_a_rotation() {
        for (dim, is_singular) in [(1, false), (2, false), (7, false), (7, true)] {
            let entry =
                |k: usize| ((k * k) as f64 * 0.71 + k as f64 + 0.4).sin() * (1.0 + k as f64);
            let mut before: Vec<f64> = (0..dim * dim).map(entry).collect();
            if is_singular {
                before.copy_within(0..dim, 3 * dim);
                before[5 * dim..6 * dim].fill(0.0);
            }
            let mut after = before.clone();
            let v = orthogonalise(&mut after, dim).unwrap();
            let largest = before.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            for p in 0..dim {
                for q in 0..dim {
                    let cosine = dot(column(&v, dim, p), column(&v, dim, q));
                    assert!((cosine - f64::from(p == q)).abs() < 1e-13);
                    let product = dot(column(&after, dim, p), column(&after, dim, q));
                    assert!(p == q || product.abs() < 1e-11 * largest * largest);
                    let back: f64 = (0..dim).map(|k| after[k * dim + q] * v[k * dim + p]).sum();
                    assert!((back - before[p * dim + q]).abs() < 1e-12 * largest);
                }
            }
        }
    }

    #[test]
    fn a_matrix_that_is_no_number_has_no_directions() {
        assert!(orthogonalise(&mut [1.0, f64::NAN, 0.0, 1.0], 2).is_none());
    }
}
