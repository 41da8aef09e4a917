//! Quantile regression, exactly: the linear programme of Koenker and Bassett (1978) by the simplex method.
//!
//! As Barrodale and Roberts (1973) do, a step goes along an edge past every kink that still lies downhill, and not only to
//! the next one. Standard errors are the kernel sandwich of Powell (1991), as in Koenker (2005), Quantile Regression, 3.4.2,
//! with the bandwidth of Hall and Sheather (1988). It needs no intercept, where quantreg's `"nid"` fails: the two fits whose
//! distance it takes cross. Where the density has its peak at the quantile, the errors come out too large.

use std::f64::consts::PI;

use ndarray::ArrayView2;

use super::BaselineFit;
use crate::numerics::invert;
use crate::numerics::qr::subtract;
use crate::numerics::{Qr, dot};
use crate::numerics::{normal_quantile, quantile};

pub(super) fn fit(x: ArrayView2<f64>, y: &[f64], tau: f64) -> BaselineFit {
    assert!(tau > 0.0 && tau < 1.0, "tau {tau} outside (0, 1)");
    let qr = Qr::new(x);
    let gamma = solve(&qr, y, tau);
    let residuals = qr.residuals(y, &gamma);
    let loss: f64 = residuals
        .iter()
        .map(|r| r * if *r < 0.0 { tau - 1.0 } else { tau })
        .sum();
    let standard_error = standard_errors(&qr, &residuals, tau, negligible(y, &residuals));
    // The mean loss is the most likely scale of asymmetric Laplace errors.
    BaselineFit::plain(qr.beta(&gamma), standard_error, loss / y.len() as f64)
}

/// The coefficients of Q that minimise the sum of losses.
fn solve(qr: &Qr, y: &[f64], tau: f64) -> Vec<f64> {
    let (_, residuals) = qr.project(y);
    // Ties make the simplex method go round in circles. A tiny change of each response breaks them, and leaves the best
    // vertex what it was: a row of residual zero may be counted on either side.
    let size = negligible(y, &residuals);
    let untied: Vec<f64> = (1..).zip(y).map(|(i, y)| y + size * noise(i)).collect();
    let mut vertex = Vertex::near(qr, &residuals, tau);
    // Real data take a few steps for each coefficient. Each step lowers the loss, so that the last vertex is the best.
    for _ in 0..100 * (qr.dim() + 10) {
        let residuals = vertex.residuals(&untied);
        let Some(edge) = vertex.steepest_edge(&residuals, tau) else {
            break;
        };
        let Some(row) = vertex.lowest_kink(&residuals, &edge) else {
            break;
        };
        vertex.pivot(row, edge.column);
    }
    vertex.coefficients(qr, y)
}

/// Far below the spread of the errors, and above rounding.
fn negligible(y: &[f64], residuals: &[f64]) -> f64 {
    let spread = (dot(residuals, residuals) / y.len() as f64).sqrt();
    let largest = y.iter().fold(0.0f64, |largest, y| largest.max(y.abs()));
    1e-9 * spread + 1e-14 * largest
}

/// The i-th of a sequence in [-1/2, 1/2] without repetitions: multiples of the golden ratio.
fn noise(i: u32) -> f64 {
    (f64::from(i) * 0.618_033_988_749_894_9).fract() - 0.5
}

/// As many rows as coefficients, which are fitted perfectly and so determine them.
struct Vertex {
    /// The basis row that each column of the tableau belongs to.
    basis: Vec<usize>,
    is_basic: Vec<bool>,
    /// Columns of Q B^-1, where B has the basis rows of Q.
    tableau: Vec<Vec<f64>>,
}

/// A way downhill: one basis row lets go of its residual of zero.
struct Edge {
    column: usize,
    /// 1 where its residual becomes positive, else -1.
    sign: f64,
    /// Change of the loss for each unit of that residual, below 0.
    slope: f64,
}

impl Vertex {
    /// Rows near the quantile of the least squares residuals.
    fn near(qr: &Qr, residuals: &[f64], tau: f64) -> Vertex {
        let middle = quantile(residuals, tau).unwrap_or(0.0);
        let mut vertex = Vertex {
            basis: vec![usize::MAX; qr.dim()],
            is_basic: vec![false; qr.num_rows()],
            tableau: qr.q.clone(),
        };
        for column in 0..qr.dim() {
            let sizes: Vec<f64> = vertex.tableau[column].iter().map(|t| t.abs()).collect();
            let largest = sizes.iter().copied().fold(0.0, f64::max);
            // A pivot must not be small; among the others the best fitted row is nearest to the solution.
            let row = (0..sizes.len())
                .filter(|&i| !vertex.is_basic[i] && sizes[i] >= 0.1 * largest)
                .min_by(|&i, &j| {
                    let distance = |i: usize| (residuals[i] - middle).abs();
                    distance(i).total_cmp(&distance(j))
                });
            vertex.pivot(row.expect("X has full column rank"), column);
        }
        vertex
    }

    /// Puts `row` into the basis, in the place of the row that `column` belongs to.
    fn pivot(&mut self, row: usize, column: usize) {
        let pivot = self.tableau[column][row];
        self.tableau[column].iter_mut().for_each(|t| *t /= pivot);
        let entering = std::mem::take(&mut self.tableau[column]);
        for other in self.tableau.iter_mut().filter(|other| !other.is_empty()) {
            let factor = other[row];
            subtract(other, factor, &entering);
        }
        self.tableau[column] = entering;
        if let Some(left) = self.is_basic.get_mut(self.basis[column]) {
            *left = false;
        }
        self.basis[column] = row;
        self.is_basic[row] = true;
    }

    /// Residuals of the coefficients that fit the basis rows.
    fn residuals(&self, y: &[f64]) -> Vec<f64> {
        let mut residuals = y.to_vec();
        for (column, &row) in self.tableau.iter().zip(&self.basis) {
            subtract(&mut residuals, y[row], column);
        }
        residuals
    }

    /// None where the vertex is optimal: each basis row can bear the pull of all the others.
    fn steepest_edge(&self, residuals: &[f64], tau: f64) -> Option<Edge> {
        let pulls: Vec<f64> = residuals
            .iter()
            .zip(&self.is_basic)
            .map(|(&r, &is_basic)| match is_basic {
                true => 0.0,
                false if r < 0.0 => tau - 1.0,
                false => tau,
            })
            .collect();
        let edges = self.tableau.iter().enumerate().flat_map(|(column, t)| {
            let pull = dot(t, &pulls);
            [(1.0, tau + pull), (-1.0, 1.0 - tau - pull)].map(|(sign, slope)| Edge {
                column,
                sign,
                slope,
            })
        });
        let steepest = edges.min_by(|a, b| a.slope.total_cmp(&b.slope))?;
        (steepest.slope < -1e-9).then_some(steepest)
    }

    /// The row whose residual reaches zero where the loss stops falling along the edge.
    fn lowest_kink(&self, residuals: &[f64], edge: &Edge) -> Option<usize> {
        let mut kinks: Vec<(f64, f64, usize)> = self.tableau[edge.column]
            .iter()
            .zip(residuals)
            .enumerate()
            .filter(|&(row, _)| !self.is_basic[row])
            .map(|(row, (t, residual))| (-residual / (edge.sign * t), t.abs(), row))
            // Rows that hardly move along the edge would make the next tableau inexact.
            .filter(|&(distance, rate, _)| rate > 1e-9 && distance >= 0.0)
            .collect();
        kinks.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut slope = edge.slope;
        let lowest = kinks.into_iter().find(|(_, rate, _)| {
            slope += rate;
            slope >= 0.0
        });
        lowest.map(|(_, _, row)| row)
    }

    /// The coefficients of Q that fit the basis rows; the tableau solves for them up to rounding, and again for what is left.
    fn coefficients(&self, qr: &Qr, y: &[f64]) -> Vec<f64> {
        let mut gamma = vec![0.0; qr.dim()];
        for _ in 0..3 {
            let left = qr.residuals(y, &gamma);
            let mut fitted = vec![0.0; y.len()];
            for (column, &row) in self.tableau.iter().zip(&self.basis) {
                subtract(&mut fitted, -left[row], column);
            }
            for (gamma, q) in gamma.iter_mut().zip(&qr.q) {
                *gamma += dot(q, &fitted);
            }
        }
        gamma
    }
}

/// Powell's sandwich: tau (1 - tau) H^-1 X'X H^-1, where H sums x x' / (2 width) over the rows with residuals below the width.
fn standard_errors(qr: &Qr, residuals: &[f64], tau: f64, least_width: f64) -> Vec<f64> {
    let width = kernel_width(residuals, tau, qr.dim());
    if width <= least_width {
        // So many rows lie on the line that it is certain.
        return vec![0.0; qr.dim()];
    }
    let is_near = |r: &f64| f64::from(u8::from(r.abs() <= width));
    let near: Vec<f64> = residuals.iter().map(is_near).collect();
    let Some(inverse) = invert(&qr.cross_product(&near), qr.dim()) else {
        return vec![f64::INFINITY; qr.dim()];
    };
    // Q'Q is the identity.
    let rows = inverse.chunks(qr.dim());
    let covariance: Vec<f64> = rows
        .clone()
        .flat_map(|a| rows.clone().map(move |b| dot(a, b)))
        .collect();
    let factor = 2.0 * width * (tau * (1.0 - tau)).sqrt();
    let errors = qr.standard_errors(&covariance, qr.dim()).into_iter();
    errors.map(|error| factor * error).collect()
}

/// Half the distance of the residuals' quantiles on both sides of tau. The rows that the fit goes through, one for each
/// coefficient, tell nothing of the errors and are left out.
fn kernel_width(residuals: &[f64], tau: f64, dim: usize) -> f64 {
    let mut bandwidth = hall_sheather(residuals.len(), tau);
    while tau - bandwidth <= 0.0 || tau + bandwidth >= 1.0 {
        bandwidth /= 2.0;
    }
    let mut others = residuals.to_vec();
    others.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let at = |probability| quantile(&others[dim..], probability).unwrap_or(0.0);
    0.5 * (at(tau + bandwidth) - at(tau - bandwidth))
}

/// Hall and Sheather's (1988) bandwidth for intervals of 95 %.
fn hall_sheather(num_rows: usize, tau: f64) -> f64 {
    let z = normal_quantile(tau);
    let density2 = (-z * z).exp() / (2.0 * PI);
    let curvature = 1.5 * density2 / (2.0 * z * z + 1.0);
    (normal_quantile(0.975).powi(2) * curvature / num_rows as f64).cbrt()
}

#[cfg(test)]
mod tests;
