//! Upper triangular matrices: the R of X = QR, as HMC and the links use it in every iteration.

use super::dot;

/// An upper triangular matrix. Its rows from the diagonal on stand one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Upper {
    dim: usize,
    entries: Vec<f64>,
}

impl Upper {
    /// Takes full rows, whose entries below the diagonal are ignored.
    pub fn new(rows: &[Vec<f64>]) -> Upper {
        let entries = rows.iter().enumerate();
        let entries = entries.map(|(k, row)| &row[k..]).collect::<Vec<_>>();
        Upper {
            dim: rows.len(),
            entries: entries.concat(),
        }
    }

    /// Row `k` from the diagonal on.
    #[inline]
    fn row(&self, k: usize) -> &[f64] {
        let start = k * self.dim - k * k.saturating_sub(1) / 2;
        &self.entries[start..start + self.dim - k]
    }

    /// Entry `k` of R v.
    #[inline]
    pub fn times(&self, k: usize, v: &[f64]) -> f64 {
        dot(self.row(k), &v[k..])
    }

    /// Solves R x = v in place.
    pub fn solve(&self, v: &mut [f64]) {
        for k in (0..self.dim).rev() {
            let row = self.row(k);
            v[k] = (v[k] - dot(&row[1..], &v[k + 1..])) / row[0];
        }
    }

    /// Solves R' x = v in place.
    pub fn solve_transposed(&self, v: &mut [f64]) {
        for k in 0..self.dim {
            let row = self.row(k);
            v[k] /= row[0];
            let (done, rest) = v.split_at_mut(k + 1);
            let factor = done[k];
            for (value, entry) in rest.iter_mut().zip(&row[1..]) {
                *value -= factor * entry;
            }
        }
    }

    /// Whether the columns of X are linearly independent, up to rounding.
    pub fn is_full_rank(&self) -> bool {
        let mut squares = vec![0.0; self.dim];
        for k in 0..self.dim {
            for (square, entry) in squares[k..].iter_mut().zip(self.row(k)) {
                *square += entry * entry;
            }
        }
        (0..self.dim).all(|k| self.row(k)[0] > 1e-10 * squares[k].sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_systems_are_solved() {
        let dim = 7;
        let entry = |k: usize, j: usize| 1.0 / (1.0 + (j - k) as f64) + f64::from(j == k);
        let row = |k: usize| (0..dim).map(move |j| if j < k { 9.0 } else { entry(k, j) });
        let rows: Vec<Vec<f64>> = (0..dim).map(|k| row(k).collect()).collect();
        let upper = Upper::new(&rows);
        let x: Vec<f64> = (0..dim).map(|k| (k as f64 * 1.7).sin()).collect();
        let mut v: Vec<f64> = (0..dim).map(|k| upper.times(k, &x)).collect();
        assert!((v[2] - (2..dim).map(|j| entry(2, j) * x[j]).sum::<f64>()).abs() < 1e-12);
        upper.solve(&mut v);
        let mut w: Vec<f64> = (0..dim)
            .map(|j| (0..=j).map(|k| entry(k, j) * x[k]).sum())
            .collect();
        upper.solve_transposed(&mut w);
        for k in 0..dim {
            assert!((v[k] - x[k]).abs() < 1e-12 && (w[k] - x[k]).abs() < 1e-12);
        }
    }

    #[test]
    fn dependent_columns_are_found() {
        let full = [vec![2.0, 1.0], vec![0.0, 1e-6]];
        assert!(Upper::new(&full).is_full_rank());
        let dependent = [vec![2.0, 1.0], vec![0.0, 1e-13]];
        assert!(!Upper::new(&dependent).is_full_rank());
        let undefined = [vec![2.0, 1.0], vec![0.0, f64::NAN]];
        assert!(!Upper::new(&undefined).is_full_rank());
    }
}
