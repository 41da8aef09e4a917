//! Newton's method for the estimating equations at one rate, and the sandwich covariance of their solution.

use std::ops::Range;

use super::{Expected, Problem};
use crate::config::ResponseKind;
use crate::numerics::dot;
use crate::numerics::qr::subtract;

const MAX_STEPS: usize = 50;
const MAX_HALVINGS: usize = 30;
/// The size of a step that ends the search, relative to the residuals or the coefficients.
const TOLERANCE: f64 = 1e-9;
/// A step this small that rounding keeps from improving anything has arrived, too.
const ROUNDING: f64 = 1e-5;
/// No mean of interest has a logarithm or log odds beyond this; where the steps lead there, no solution exists.
const LARGEST: f64 = 30.0;
/// Residuals are divided by 1 - leverage (HC3), but by no less than this.
const LEAST_REST: f64 = 0.1;

/// A solution of Z'(y - E mu) = 0 and what its covariance needs.
pub(super) struct Root {
    pub gamma: Vec<f64>,
    /// y - E mu.
    pub residuals: Vec<f64>,
    /// Columns of Z = W E Q.
    instruments: Vec<Vec<f64>>,
    /// Columns of the derivative D of E mu with respect to gamma.
    slopes: Vec<Vec<f64>>,
    /// (Z'D)^-1, row by row.
    inverse: Vec<f64>,
}

impl Problem<'_> {
    /// None where no solution is found.
    pub(super) fn solve(
        &self,
        expected: &Expected,
        weights: &[f64],
        start: &[f64],
    ) -> Option<Root> {
        let weighted = |q: &Vec<f64>| -> Vec<f64> {
            let pairs = expected.apply(q).into_iter().zip(weights);
            pairs.map(|(value, weight)| value * weight).collect()
        };
        let instruments: Vec<Vec<f64>> = self.qr.q.iter().map(weighted).collect();
        let mut gamma = start.to_vec();
        let (mut residuals, mut score) = self.score(expected, &instruments, &gamma)?;
        let mut slopes = self.slopes(expected, &gamma);
        let mut inverse = inverse_of(&products(&instruments, &slopes), gamma.len())?;
        for step_number in 0..MAX_STEPS {
            // Those of a linear regression are the same everywhere.
            if step_number > 0 && self.kind != ResponseKind::Real {
                slopes = self.slopes(expected, &gamma);
                inverse = inverse_of(&products(&instruments, &slopes), gamma.len())?;
            }
            let step: Vec<f64> = inverse
                .chunks(gamma.len())
                .map(|row| dot(row, &score))
                .collect();
            // A large intercept must not hide what a step does to the slopes.
            let scale = match self.kind {
                ResponseKind::Real => norm(&residuals).max(1e-6 * norm(&gamma)),
                _ => norm(&gamma),
            };
            let arrived = |tolerance: f64| norm(&step) <= tolerance * scale;
            let better = match arrived(TOLERANCE) {
                true => None,
                false => self.better(expected, &instruments, &gamma, &step, norm(&score)),
            };
            match better {
                Some((next, next_residuals, next_score)) => {
                    (gamma, residuals, score) = (next, next_residuals, next_score);
                }
                None if arrived(ROUNDING) => {
                    return Some(Root {
                        gamma,
                        residuals,
                        instruments,
                        slopes,
                        inverse,
                    });
                }
                None => return None,
            }
        }
        None
    }

    /// The longest of the halved steps that brings the score nearer to 0.
    fn better(
        &self,
        expected: &Expected,
        instruments: &[Vec<f64>],
        gamma: &[f64],
        step: &[f64],
        from: f64,
    ) -> Option<(Vec<f64>, Vec<f64>, Vec<f64>)> {
        let mut part = 1.0;
        for _ in 0..MAX_HALVINGS {
            let next: Vec<f64> = gamma.iter().zip(step).map(|(g, s)| g + part * s).collect();
            if let Some((residuals, score)) = self.score(expected, instruments, &next)
                && norm(&score) < (1.0 - 1e-4 * part) * from
            {
                return Some((next, residuals, score));
            }
            part /= 2.0;
        }
        None
    }

    /// Residuals and Z' times them; None beyond the range of means.
    fn score(
        &self,
        expected: &Expected,
        instruments: &[Vec<f64>],
        gamma: &[f64],
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let linear = self.linear(gamma);
        let in_range = |linear: &f64| self.kind == ResponseKind::Real || linear.abs() <= LARGEST;
        if !linear
            .iter()
            .all(|linear| linear.is_finite() && in_range(linear))
        {
            return None;
        }
        let means: Vec<f64> = linear
            .iter()
            .map(|&linear| self.kind.mean(linear))
            .collect();
        let means = expected.apply(&means);
        let residuals: Vec<f64> = self.y.iter().zip(means).map(|(y, mean)| y - mean).collect();
        let score = instruments.iter().map(|z| dot(z, &residuals)).collect();
        Some((residuals, score))
    }

    /// Columns of the derivative of E mu.
    fn slopes(&self, expected: &Expected, gamma: &[f64]) -> Vec<Vec<f64>> {
        let slope = |mean: f64| match self.kind {
            ResponseKind::Real => 1.0,
            ResponseKind::Count | ResponseKind::Positive => mean,
            ResponseKind::ZeroOne => mean * (1.0 - mean),
        };
        let slopes: Vec<f64> = self.means(gamma).into_iter().map(slope).collect();
        let column = |q: &Vec<f64>| {
            let own: Vec<f64> = q.iter().zip(&slopes).map(|(q, slope)| q * slope).collect();
            expected.apply(&own)
        };
        self.qr.q.iter().map(column).collect()
    }

    /// (Z'D)^-1 Z' diag(residuals / (1 - leverage))^2 Z (D'Z)^-1, row by row.
    pub(super) fn sandwich(&self, root: &Root) -> Vec<f64> {
        let dim = root.gamma.len();
        // Columns of Z (D'Z)^-1: the influence of each row on gamma, but for its residual.
        let mut influence = combinations(&root.instruments, &root.inverse);
        for (i, residual) in root.residuals.iter().enumerate() {
            let leverage: f64 = (0..dim).map(|k| root.slopes[k][i] * influence[k][i]).sum();
            let residual = residual / (1.0 - leverage).max(LEAST_REST);
            influence
                .iter_mut()
                .for_each(|column| column[i] *= residual);
        }
        products(&influence, &influence)
    }
}

/// A'B of matrices given by their columns, row by row.
fn products(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<f64> {
    let mut products = vec![0.0; a.len() * b.len()];
    for rows in parts(a) {
        let pairs = a
            .iter()
            .flat_map(|left| b.iter().map(move |right| (left, right)));
        for (product, (left, right)) in products.iter_mut().zip(pairs) {
            *product += dot(&left[rows.clone()], &right[rows.clone()]);
        }
    }
    products
}

/// For each row of the matrix `factors`, the sum of the columns, each times its factor.
fn combinations(columns: &[Vec<f64>], factors: &[f64]) -> Vec<Vec<f64>> {
    let num_rows = columns.first().map_or(0, Vec::len);
    let mut sums = vec![vec![0.0; num_rows]; columns.len()];
    for rows in parts(columns) {
        for (sum, factors) in sums.iter_mut().zip(factors.chunks(columns.len())) {
            for (column, factor) in columns.iter().zip(factors) {
                subtract(&mut sum[rows.clone()], -factor, &column[rows.clone()]);
            }
        }
    }
    sums
}

/// Ranges of rows, so few that all columns stay in the processor's cache.
fn parts(columns: &[Vec<f64>]) -> impl Iterator<Item = Range<usize>> {
    const ROWS_AT_ONCE: usize = 1024;
    let num_rows = columns.first().map_or(0, Vec::len);
    let starts = (0..num_rows).step_by(ROWS_AT_ONCE);
    starts.map(move |start| start..num_rows.min(start + ROWS_AT_ONCE))
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

/// The inverse of any square matrix, by elimination with pivots; None where it is singular in numbers.
fn inverse_of(matrix: &[f64], dim: usize) -> Option<Vec<f64>> {
    let width = 2 * dim;
    let mut rows: Vec<Vec<f64>> = matrix.chunks(dim).map(<[f64]>::to_vec).collect();
    for (k, row) in rows.iter_mut().enumerate() {
        row.resize(width, 0.0);
        row[dim + k] = 1.0;
    }
    let largest = matrix
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    for k in 0..dim {
        let pivot = (k..dim).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs()))?;
        rows.swap(k, pivot);
        let divisor = rows[k][k];
        if !divisor.is_finite() || divisor.abs() <= 1e-13 * largest {
            return None;
        }
        rows[k].iter_mut().for_each(|value| *value /= divisor);
        let own = rows[k].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(other, _)| *other != k) {
            let factor = row[k];
            row.iter_mut()
                .zip(&own)
                .for_each(|(value, own)| *value -= factor * own);
        }
    }
    Some(rows.iter().flat_map(|row| row[dim..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_a_matrix_that_needs_pivots() {
        let matrix = [0.0, 2.0, 1.0, 1.0, 0.0, 3.0, 4.0, -1.0, 0.0];
        let found = inverse_of(&matrix, 3).unwrap();
        for row in 0..3 {
            for column in 0..3 {
                let terms = (0..3).map(|k| matrix[3 * row + k] * found[3 * k + column]);
                let expected = f64::from(u8::from(row == column));
                assert!((terms.sum::<f64>() - expected).abs() < 1e-14);
            }
        }
        assert!(inverse_of(&[1.0, 2.0, 2.0, 4.0], 2).is_none());
    }
}
