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
    /// (Z'D)^-1, row by row, with the columns D of the derivative of E mu with respect to gamma.
    inverse: Vec<f64>,
}

/// Residuals and Z' times them.
struct Score {
    residuals: Vec<f64>,
    score: Vec<f64>,
}

impl Problem<'_> {
    /// `weights` are the diagonal of W, None where all are 1. None where no solution is found.
    pub(super) fn solve(
        &self,
        expected: &Expected,
        weights: Option<&[f64]>,
        start: &[f64],
    ) -> Option<Root> {
        let instruments = self.instruments(expected, weights);
        let mut gamma = start.to_vec();
        let Score {
            mut residuals,
            mut score,
        } = self.score(expected, &instruments, &gamma)?;
        let mut inverse = self.inverse(expected, &instruments, &gamma)?;
        for step_number in 0..MAX_STEPS {
            // That of a linear regression is the same everywhere.
            if step_number > 0 && self.kind != ResponseKind::Real {
                inverse = self.inverse(expected, &instruments, &gamma)?;
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
                Some((next, at_next)) => {
                    gamma = next;
                    Score { residuals, score } = at_next;
                }
                None if arrived(ROUNDING) => {
                    return Some(Root {
                        gamma,
                        residuals,
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
        instruments: &Columns,
        gamma: &[f64],
        step: &[f64],
        from: f64,
    ) -> Option<(Vec<f64>, Score)> {
        let mut part = 1.0;
        for _ in 0..MAX_HALVINGS {
            let next: Vec<f64> = gamma.iter().zip(step).map(|(g, s)| g + part * s).collect();
            if let Some(at_next) = self.score(expected, instruments, &next)
                && norm(&at_next.score) < (1.0 - 1e-4 * part) * from
            {
                return Some((next, at_next));
            }
            part /= 2.0;
        }
        None
    }

    /// None beyond the range of means.
    fn score(&self, expected: &Expected, instruments: &Columns, gamma: &[f64]) -> Option<Score> {
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
        let mut score = vec![0.0; gamma.len()];
        instruments.by_parts(|rows, part| {
            for (sum, z) in score.iter_mut().zip(part) {
                *sum += dot(z, &residuals[rows.clone()]);
            }
        });
        Some(Score { residuals, score })
    }

    /// Columns of Z = W E Q.
    fn instruments<'a>(
        &'a self,
        expected: &'a Expected,
        weights: Option<&'a [f64]>,
    ) -> Columns<'a> {
        Columns::new(&self.qr.q, None, expected, weights)
    }

    /// The derivative of each mean with respect to its linear predictor; None where it is 1.
    fn derivative(&self, gamma: &[f64]) -> Option<Vec<f64>> {
        let slope = match self.kind {
            ResponseKind::Real => return None,
            ResponseKind::Count | ResponseKind::Positive => |mean: f64| mean,
            ResponseKind::ZeroOne => |mean: f64| mean * (1.0 - mean),
        };
        Some(self.means(gamma).into_iter().map(slope).collect())
    }

    /// (Z'D)^-1, row by row.
    fn inverse(
        &self,
        expected: &Expected,
        instruments: &Columns,
        gamma: &[f64],
    ) -> Option<Vec<f64>> {
        let derivative = self.derivative(gamma);
        let slopes = Columns::new(&self.qr.q, derivative.as_deref(), expected, None);
        let dim = gamma.len();
        let mut products = vec![0.0; dim * dim];
        let mut of_slopes = slopes.room();
        instruments.by_parts(|rows, part| {
            slopes.fill(rows, &mut of_slopes);
            add_products(&mut products, part, &of_slopes);
        });
        inverse_of(&products, dim)
    }

    /// (Z'D)^-1 Z' diag(residuals / (1 - leverage))^2 Z (D'Z)^-1, row by row.
    pub(super) fn sandwich(
        &self,
        expected: &Expected,
        weights: Option<&[f64]>,
        root: &Root,
    ) -> Vec<f64> {
        let derivative = self.derivative(&root.gamma);
        let slopes = Columns::new(&self.qr.q, derivative.as_deref(), expected, None);
        let dim = root.gamma.len();
        let mut sandwich = vec![0.0; dim * dim];
        let (mut of_slopes, mut influence) = (slopes.room(), slopes.room());
        self.instruments(expected, weights).by_parts(|rows, part| {
            slopes.fill(rows.clone(), &mut of_slopes);
            // Columns of Z (D'Z)^-1: the influence of each row on gamma, but for its residual.
            combine(part, &root.inverse, &mut influence);
            for (i, residual) in root.residuals[rows].iter().enumerate() {
                let leverage: f64 = (0..dim).map(|k| of_slopes[k][i] * influence[k][i]).sum();
                let residual = residual / (1.0 - leverage).max(LEAST_REST);
                influence
                    .iter_mut()
                    .for_each(|column| column[i] *= residual);
            }
            add_products(&mut sandwich, &influence, &influence);
        });
        sandwich
    }
}

/// The columns W E diag(factor) Q, of which only so many rows are kept at once as stay in the processor's cache: a large file
/// has many.
struct Columns<'a> {
    q: &'a [Vec<f64>],
    factor: Option<&'a [f64]>,
    expected: &'a Expected<'a>,
    weights: Option<&'a [f64]>,
    /// For each column its mean in each group, before W and E.
    group_means: Vec<Vec<f64>>,
}

impl<'a> Columns<'a> {
    const ROWS_AT_ONCE: usize = 1024;

    fn new(
        q: &'a [Vec<f64>],
        factor: Option<&'a [f64]>,
        expected: &'a Expected<'a>,
        weights: Option<&'a [f64]>,
    ) -> Columns<'a> {
        let of_column = |q: &Vec<f64>| match factor {
            Some(factor) => expected.group_means(|row| q[row] * factor[row]),
            None => expected.group_means(|row| q[row]),
        };
        Columns {
            q,
            factor,
            expected,
            weights,
            group_means: q.iter().map(of_column).collect(),
        }
    }

    /// Room for the columns of a part of the rows.
    fn room(&self) -> Vec<Vec<f64>> {
        vec![Vec::with_capacity(Self::ROWS_AT_ONCE); self.q.len()]
    }

    fn fill(&self, rows: Range<usize>, part: &mut [Vec<f64>]) {
        for ((values, q), means) in part.iter_mut().zip(self.q).zip(&self.group_means) {
            values.clear();
            values.extend_from_slice(&q[rows.clone()]);
            if let Some(factor) = self.factor {
                multiply(values, &factor[rows.clone()]);
            }
            self.expected.smooth(rows.clone(), means, values);
            if let Some(weights) = self.weights {
                multiply(values, &weights[rows.clone()]);
            }
        }
    }

    /// Calls `visit` with each range of rows and the columns there.
    fn by_parts(&self, mut visit: impl FnMut(Range<usize>, &[Vec<f64>])) {
        let num_rows = self.q.first().map_or(0, Vec::len);
        let mut part = self.room();
        for start in (0..num_rows).step_by(Self::ROWS_AT_ONCE) {
            let rows = start..num_rows.min(start + Self::ROWS_AT_ONCE);
            self.fill(rows.clone(), &mut part);
            visit(rows, &part);
        }
    }
}

fn multiply(values: &mut [f64], factors: &[f64]) {
    for (value, factor) in values.iter_mut().zip(factors) {
        *value *= factor;
    }
}

/// Adds A'B of matrices given by their columns, row by row.
fn add_products(products: &mut [f64], a: &[Vec<f64>], b: &[Vec<f64>]) {
    let pairs = a
        .iter()
        .flat_map(|left| b.iter().map(move |right| (left, right)));
    for (product, (left, right)) in products.iter_mut().zip(pairs) {
        *product += dot(left, right);
    }
}

/// For each row of the matrix `factors`, the sum of the columns, each times its factor.
fn combine(columns: &[Vec<f64>], factors: &[f64], sums: &mut [Vec<f64>]) {
    let num_rows = columns.first().map_or(0, Vec::len);
    for (sum, factors) in sums.iter_mut().zip(factors.chunks(columns.len())) {
        sum.clear();
        sum.resize(num_rows, 0.0);
        for (column, factor) in columns.iter().zip(factors) {
            subtract(sum, -factor, column);
        }
    }
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
