//! X = QR by Gram-Schmidt: the estimators work on Q, whose columns are all of one scale, and return to X at the end.

use ndarray::ArrayView2;

use crate::numerics::{dot, invert};

#[derive(Clone, Debug)]
pub(crate) struct Qr {
    /// Columns of Q, orthonormal.
    pub q: Vec<Vec<f64>>,
    /// Rows of R, zero below the diagonal.
    r: Vec<Vec<f64>>,
}

impl Qr {
    /// Where `x` lacks full column rank the result is not finite.
    pub fn new(x: ArrayView2<f64>) -> Qr {
        let dim = x.ncols();
        let mut columns: Vec<Vec<f64>> = x.columns().into_iter().map(|c| c.to_vec()).collect();
        // A column at a time; subtracting twice keeps Q orthogonal when columns are nearly dependent.
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
        Qr { q: columns, r }
    }

    pub fn num_rows(&self) -> usize {
        self.q.first().map_or(0, Vec::len)
    }

    pub fn dim(&self) -> usize {
        self.r.len()
    }

    /// Projects y on the columns of Q: the coefficients gamma of Q, and the residuals.
    pub fn project(&self, y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut residual = y.to_vec();
        let project = |q: &Vec<f64>| {
            let gamma = dot(q, &residual);
            subtract(&mut residual, gamma, q);
            gamma
        };
        (self.q.iter().map(project).collect(), residual)
    }

    /// y - Q gamma.
    pub fn residuals(&self, y: &[f64], gamma: &[f64]) -> Vec<f64> {
        let mut residual = y.to_vec();
        for (q, gamma) in self.q.iter().zip(gamma) {
            subtract(&mut residual, *gamma, q);
        }
        residual
    }

    /// The gamma that minimises the weighted sum of squares; `None` where the weights leave it undetermined.
    pub fn weighted(&self, y: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
        let inverse = invert(&self.cross_product(weights), self.dim())?;
        let weighted_y: Vec<f64> = y.iter().zip(weights).map(|(y, w)| w * y).collect();
        let right: Vec<f64> = self.q.iter().map(|q| dot(q, &weighted_y)).collect();
        let gamma: Vec<f64> = inverse
            .chunks(self.dim())
            .map(|row| dot(row, &right))
            .collect();
        gamma.iter().all(|g| g.is_finite()).then_some(gamma)
    }

    /// Q' diag(weights) Q, row by row.
    pub fn cross_product(&self, weights: &[f64]) -> Vec<f64> {
        let dim = self.dim();
        let mut product = vec![0.0; dim * dim];
        for (i, q) in self.q.iter().enumerate() {
            let weighted: Vec<f64> = q.iter().zip(weights).map(|(q, w)| q * w).collect();
            for (j, other) in self.q.iter().enumerate().take(i + 1) {
                product[i * dim + j] = dot(&weighted, other);
                product[j * dim + i] = product[i * dim + j];
            }
        }
        product
    }

    /// The coefficients of X that belong to those of Q: solves R beta = gamma.
    pub fn beta(&self, gamma: &[f64]) -> Vec<f64> {
        let mut beta = gamma.to_vec();
        self.solve(&mut beta);
        beta
    }

    /// As `beta`, in place.
    pub fn solve(&self, gamma: &mut [f64]) {
        for i in (0..gamma.len()).rev() {
            let known: f64 = (i + 1..gamma.len()).map(|j| self.r[i][j] * gamma[j]).sum();
            gamma[i] = (gamma[i] - known) / self.r[i][i];
        }
    }

    /// Coefficient `k` of Q that belongs to the coefficients `beta` of X: (R beta)_k.
    pub fn gamma(&self, k: usize, beta: &[f64]) -> f64 {
        dot(&self.r[k][k..], &beta[k..])
    }

    /// Whether the columns of X are linearly independent, up to rounding.
    pub fn is_full_rank(&self) -> bool {
        (0..self.dim()).all(|k| {
            let norm = self.r.iter().map(|row| row[k] * row[k]).sum::<f64>().sqrt();
            self.r[k][k] > 1e-10 * norm
        })
    }

    /// Diagonal of (X'X)^-1, which holds the squared norms of the rows of R^-1.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let rows = (0..self.dim()).map(|k| self.inverse_row(k));
        rows.map(|row| dot(&row, &row)).collect()
    }

    /// Standard errors of beta, where gamma has this covariance matrix (its first columns, in rows of length `stride`).
    pub fn standard_errors(&self, covariance: &[f64], stride: usize) -> Vec<f64> {
        let quadratic = |row: Vec<f64>| -> f64 {
            let products = covariance.chunks(stride).zip(&row);
            products
                .map(|(line, factor)| factor * dot(&line[..row.len()], &row))
                .sum()
        };
        let rows = (0..self.dim()).map(|k| self.inverse_row(k));
        rows.map(|row| quadratic(row).sqrt()).collect()
    }

    /// Covariance matrix of beta, where gamma has this one; both row by row.
    pub fn covariance(&self, covariance: &[f64]) -> Vec<f64> {
        let rows: Vec<Vec<f64>> = (0..self.dim()).map(|k| self.inverse_row(k)).collect();
        let times = |row: &Vec<f64>| -> Vec<f64> {
            let lines = covariance.chunks(self.dim());
            lines.map(|line| dot(line, row)).collect()
        };
        let products: Vec<Vec<f64>> = rows.iter().map(times).collect();
        let entries = rows
            .iter()
            .flat_map(|row| products.iter().map(move |product| dot(row, product)));
        entries.collect()
    }

    /// The sum of columns, each times its factor.
    pub fn combined(columns: &[Vec<f64>], factors: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; columns.first().map_or(0, Vec::len)];
        for (column, factor) in columns.iter().zip(factors) {
            subtract(&mut sum, -factor, column);
        }
        sum
    }

    fn inverse_row(&self, k: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.dim()];
        for j in k..self.dim() {
            let known: f64 = (k..j).map(|i| row[i] * self.r[i][j]).sum();
            let unit = if j == k { 1.0 } else { 0.0 };
            row[j] = (unit - known) / self.r[j][j];
        }
        row
    }
}

pub(crate) fn subtract(from: &mut [f64], factor: f64, what: &[f64]) {
    from.iter_mut()
        .zip(what)
        .for_each(|(a, b)| *a -= factor * b);
}
