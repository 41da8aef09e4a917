//! A mixture over the rows at a fixed rate of wrong links: right rows follow a regression, wrong ones have any response.
//!
//! Maximum penalised likelihood by EM, with Fisher scoring for the log spread. Responses and columns are standardised.

use super::error_law::ErrorLaw;
use crate::numerics::cholesky::factor;
use crate::numerics::{dot, invert};

/// Rates at which the likelihood is maximised.
pub(crate) const RATES: [f64; 22] = [
    0.0, 0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.125, 0.15, 0.18, 0.21, 0.25, 0.3, 0.35,
    0.4, 0.45, 0.5, 0.55, 0.6, 0.65,
];
/// The least log spread, in units of the responses' standard deviation.
pub(crate) const LEAST_LOG_SPREAD: f64 = -3.9;
const MOST_ITERATIONS: usize = 100;
const CONVERGED: f64 = 1e-4;

/// How the rows that stay scatter around the regression.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    /// Normal with one spread.
    Normal,
    /// Skewed Student t with a log spread that is linear in the predictors.
    Robust,
}

/// What is fitted to which rows.
#[derive(Clone)]
pub(crate) struct Regression<'a> {
    pub response: &'a [f64],
    /// Columns of the mean beside the constant, each with the prior precision of its coefficient; 0 is flat.
    pub columns: Vec<(&'a [f64], f64)>,
    /// Columns of the log spread beside its level; of no account where the shape is normal.
    pub spread_columns: Vec<&'a [f64]>,
    /// Prior standard deviation of the log spread's slope along a standardised column.
    pub usual_spread_slope: f64,
    pub shape: Shape,
    /// Log density of each response where its link is wrong, minus infinity where that cannot be.
    pub marginal: &'a [f64],
    pub least_log_spread: f64,
}

/// A maximum of the penalised likelihood at one rate.
#[derive(Clone)]
pub(crate) struct Fit {
    /// Of the constant and the columns.
    pub coefficients: Vec<f64>,
    /// The coefficients of the log spread; the first is its level.
    pub spread: Vec<f64>,
    pub(super) law: ErrorLaw,
    /// The penalised log likelihood.
    pub objective: f64,
    penalty: f64,
}

/// Derivatives of the log likelihood of each row.
pub(crate) struct Scores {
    /// By the row's mean.
    pub of_mean: Vec<f64>,
    /// By the row's log spread.
    pub of_spread: Vec<f64>,
    /// P(wrong), which is the score of the log odds of being wrong up to the rate.
    pub wrong: Vec<f64>,
}

impl Fit {
    pub fn log_likelihood(&self) -> f64 {
        self.objective - self.penalty
    }
}

impl Regression<'_> {
    fn num_rows(&self) -> usize {
        self.response.len()
    }

    fn mean_columns(&self) -> Vec<&[f64]> {
        self.columns.iter().map(|(column, _)| *column).collect()
    }

    fn precisions(&self) -> impl Iterator<Item = f64> + '_ {
        self.columns.iter().map(|(_, precision)| *precision)
    }

    pub fn fitted(&self, coefficients: &[f64]) -> Vec<f64> {
        linear(coefficients, &self.mean_columns(), self.num_rows())
    }

    pub fn log_spread(&self, fit: &Fit) -> Vec<f64> {
        match self.shape {
            Shape::Normal => vec![fit.spread[0]; self.num_rows()],
            Shape::Robust => linear(&fit.spread, &self.spread_columns, self.num_rows()),
        }
    }

    /// Maxima at each of `RATES`, of climbs from both ends of the grid.
    pub fn along_rates(&self) -> Option<Vec<Fit>> {
        let mut best: Vec<Option<Fit>> = vec![None; RATES.len()];
        let upwards: Vec<usize> = (0..RATES.len()).collect();
        let downwards: Vec<usize> = upwards.iter().rev().copied().collect();
        for (order, narrower) in [(upwards, 1.0), (downwards, 0.6)] {
            let mut start = self.start(narrower)?;
            for k in order {
                let fit = self.climb(start, RATES[k])?;
                let is_better = |known: &Fit| fit.objective > known.objective;
                if best[k].as_ref().is_none_or(is_better) {
                    best[k] = Some(fit);
                }
                start = best[k].clone()?;
            }
        }
        best.into_iter().collect()
    }

    /// The maximum where every link stays.
    pub fn all_kept(&self) -> Option<Fit> {
        self.climb(self.start(1.0)?, 0.0)
    }

    /// Least squares, with its spread times `narrower`.
    pub fn start(&self, narrower: f64) -> Option<Fit> {
        let coefficients = self.weighted(&vec![1.0; self.num_rows()], 1.0)?;
        let fitted = self.fitted(&coefficients);
        let residuals = self.response.iter().zip(&fitted);
        let square: f64 = residuals.map(|(y, f)| (y - f).powi(2)).sum();
        let level = 0.5 * (square / self.num_rows() as f64).ln() + f64::ln(narrower);
        let mut spread = vec![level.max(self.least_log_spread)];
        let law = match self.shape {
            Shape::Normal => ErrorLaw::NORMAL,
            Shape::Robust => {
                spread.resize(1 + self.spread_columns.len(), 0.0);
                ErrorLaw::FIRST
            }
        };
        Some(Fit {
            coefficients,
            spread,
            law,
            objective: f64::MIN,
            penalty: 0.0,
        })
    }

    /// Penalised weighted least squares; `scale` is what the penalties are times.
    pub fn weighted(&self, weights: &[f64], scale: f64) -> Option<Vec<f64>> {
        let penalties: Vec<(f64, f64)> = self.precisions().map(|p| (p * scale, 0.0)).collect();
        solve(&self.mean_columns(), weights, self.response, &penalties)
    }

    /// EM at a fixed rate, until the objective hardly rises.
    pub fn climb(&self, mut fit: Fit, rate: f64) -> Option<Fit> {
        fit.objective = f64::MIN;
        for _ in 0..MOST_ITERATIONS {
            let log_spread = self.log_spread(&fit);
            let z = self.scaled_residuals(&fit, &log_spread);
            fit.penalty = self.penalty(&fit);
            let (log_likelihood, stays) = self.expect(&fit, &z, &log_spread, rate);
            let objective = log_likelihood + fit.penalty;
            if !objective.is_finite() {
                return None;
            }
            let risen = objective - fit.objective;
            fit.objective = objective;
            if risen < CONVERGED {
                break;
            }
            let pull = fit.law.pull();
            let pull: Vec<f64> = z.iter().map(|z| pull(*z)).collect();
            let weights = self.information_weights(&stays, &pull, &log_spread);
            fit.coefficients = self.weighted(&weights, 1.0)?;
            self.spread_step(&mut fit, &stays, &pull, &z)?;
            if self.shape == Shape::Robust {
                fit.law = fit.law.improved(&stays, &z);
            }
        }
        Some(fit)
    }

    fn scaled_residuals(&self, fit: &Fit, log_spread: &[f64]) -> Vec<f64> {
        let fitted = self.fitted(&fit.coefficients);
        let rows = self.response.iter().zip(&fitted).zip(log_spread);
        rows.map(|((y, f), s)| (y - f) / s.exp()).collect()
    }

    fn information_weights(&self, stays: &[f64], pull: &[f64], log_spread: &[f64]) -> Vec<f64> {
        let rows = stays.iter().zip(pull).zip(log_spread);
        rows.map(|((s, p), log_spread)| s * p * (-2.0 * log_spread).exp())
            .collect()
    }

    /// P(stays) of each row.
    pub fn stays(&self, fit: &Fit, rate: f64) -> Vec<f64> {
        let log_spread = self.log_spread(fit);
        let z = self.scaled_residuals(fit, &log_spread);
        self.expect(fit, &z, &log_spread, rate).1
    }

    /// The log likelihood, and P(stays) of each row.
    fn expect(&self, fit: &Fit, z: &[f64], log_spread: &[f64], rate: f64) -> (f64, Vec<f64>) {
        let log_density = fit.law.log_density();
        let mut log_likelihood = 0.0;
        let stays = (0..z.len()).map(|i| {
            let own = log_density(z[i]) - log_spread[i];
            if rate <= 0.0 || self.marginal[i] == f64::NEG_INFINITY {
                log_likelihood += own;
                return 1.0;
            }
            let stays = (1.0 - rate).ln() + own;
            let wrong = rate.ln() + self.marginal[i];
            let largest = stays.max(wrong);
            let total = largest + ((stays - largest).exp() + (wrong - largest).exp()).ln();
            log_likelihood += total;
            (stays - total).exp()
        });
        let stays = stays.collect();
        (log_likelihood, stays)
    }

    /// What each row says of the parameters at a maximum.
    pub fn scores(&self, fit: &Fit, rate: f64) -> Scores {
        let log_spread = self.log_spread(fit);
        let z = self.scaled_residuals(fit, &log_spread);
        let (_, stays) = self.expect(fit, &z, &log_spread, rate);
        let pull = fit.law.pull();
        let rows = || 0..z.len();
        Scores {
            of_mean: rows()
                .map(|i| stays[i] * pull(z[i]) * z[i] * (-log_spread[i]).exp())
                .collect(),
            of_spread: rows()
                .map(|i| stays[i] * (pull(z[i]) * z[i] * z[i] - 1.0))
                .collect(),
            wrong: stays.iter().map(|stays| 1.0 - stays).collect(),
        }
    }

    /// One step of Fisher scoring for the log spread.
    fn spread_step(&self, fit: &mut Fit, stays: &[f64], pull: &[f64], z: &[f64]) -> Option<()> {
        let score: Vec<f64> = (0..z.len())
            .map(|i| stays[i] * (pull[i] * z[i] * z[i] - 1.0))
            .collect();
        if self.shape == Shape::Normal {
            let total: f64 = stays.iter().sum();
            let square = score.iter().sum::<f64>() / total + 1.0;
            fit.spread[0] += 0.5 * square.max(1e-12).ln();
        } else {
            let information = fit.law.information();
            let weights: Vec<f64> = stays.iter().map(|s| s * information).collect();
            let precision = self.usual_spread_slope.powi(-2);
            let slopes = &fit.spread[1..];
            let penalties: Vec<(f64, f64)> =
                slopes.iter().map(|s| (precision, -precision * s)).collect();
            // The step solves the weighted regression of score / weight on the columns.
            let target: Vec<f64> = (score.iter().zip(&weights))
                .map(|(score, w)| if *w > 0.0 { score / w } else { 0.0 })
                .collect();
            let step = solve(&self.spread_columns, &weights, &target, &penalties)?;
            for (value, step) in fit.spread.iter_mut().zip(step) {
                *value += step.clamp(-1.0, 1.0);
            }
            fit.spread[1..]
                .iter_mut()
                .for_each(|s| *s = s.clamp(-2.0, 2.0));
        }
        fit.spread[0] = fit.spread[0].max(self.least_log_spread);
        Some(())
    }

    /// Log prior of the coefficients, the spread's slopes and the error law.
    fn penalty(&self, fit: &Fit) -> f64 {
        let slopes = fit.spread[1..].iter();
        let slopes: f64 = slopes.map(|s| (s / self.usual_spread_slope).powi(2)).sum();
        let coefficients = fit.coefficients[1..].iter().zip(self.precisions());
        let coefficients: f64 = coefficients.map(|(b, p)| p * b * b).sum();
        -0.5 * (slopes + coefficients) + fit.law.log_prior()
    }

    /// The logarithm of the volume of coefficients and spreads that are as likely as the maximum (Laplace). A law that
    /// passes through few responses with hardly any spread is likely there and nowhere else.
    pub fn log_volume(&self, fit: &Fit, rate: f64) -> Option<f64> {
        let log_spread = self.log_spread(fit);
        let z = self.scaled_residuals(fit, &log_spread);
        let (_, stays) = self.expect(fit, &z, &log_spread, rate);
        let pull = fit.law.pull();
        let pull: Vec<f64> = z.iter().map(|z| pull(*z)).collect();
        let weights = self.information_weights(&stays, &pull, &log_spread);
        let of_mean = cross_product(&self.mean_columns(), &weights, self.precisions());
        let information = fit.law.information();
        let weights: Vec<f64> = stays.iter().map(|s| s * information).collect();
        let precision = self.usual_spread_slope.powi(-2);
        let slopes = self.spread_columns.iter().map(|_| precision);
        let of_spread = match self.shape {
            Shape::Normal => vec![weights.iter().sum()],
            Shape::Robust => cross_product(&self.spread_columns, &weights, slopes),
        };
        Some(-0.5 * (log_determinant(&of_mean)? + log_determinant(&of_spread)?))
    }
}

/// None where the matrix is not positive definite.
fn log_determinant(matrix: &[f64]) -> Option<f64> {
    let dim = (matrix.len() as f64).sqrt() as usize;
    let lower = factor(matrix, dim)?;
    Some((0..dim).map(|k| 2.0 * lower[k * (dim + 1)].ln()).sum())
}

/// The constant and `columns`, times `coefficients`.
fn linear(coefficients: &[f64], columns: &[&[f64]], num_rows: usize) -> Vec<f64> {
    let mut sum = vec![coefficients[0]; num_rows];
    for (column, factor) in columns.iter().zip(&coefficients[1..]) {
        sum.iter_mut()
            .zip(*column)
            .for_each(|(s, c)| *s += factor * c);
    }
    sum
}

/// Weighted squares and products of a constant and `columns`, row by row, with `precisions` on the diagonal of the columns.
fn cross_product(
    columns: &[&[f64]],
    weights: &[f64],
    precisions: impl Iterator<Item = f64>,
) -> Vec<f64> {
    let dim = columns.len() + 1;
    let ones = vec![1.0; weights.len()];
    let all: Vec<&[f64]> = std::iter::once(ones.as_slice())
        .chain(columns.iter().copied())
        .collect();
    let mut matrix = vec![0.0; dim * dim];
    for a in 0..dim {
        let weighted: Vec<f64> = all[a].iter().zip(weights).map(|(c, w)| c * w).collect();
        for b in 0..=a {
            let product = dot(&weighted, all[b]);
            matrix[a * dim + b] = product;
            matrix[b * dim + a] = product;
        }
    }
    for (k, precision) in precisions.enumerate() {
        matrix[(k + 1) * (dim + 1)] += precision;
    }
    matrix
}

/// Weighted least squares of `target` on a constant and `columns`; each column may have a penalty, as what it adds to
/// the normal equations.
fn solve(
    columns: &[&[f64]],
    weights: &[f64],
    target: &[f64],
    penalties: &[(f64, f64)],
) -> Option<Vec<f64>> {
    let dim = columns.len() + 1;
    let precisions = penalties.iter().map(|(precision, _)| *precision);
    let matrix = cross_product(columns, weights, precisions);
    let weighted: Vec<f64> = target.iter().zip(weights).map(|(t, w)| t * w).collect();
    let mut right = vec![weighted.iter().sum()];
    right.extend(columns.iter().map(|column| dot(column, &weighted)));
    for (k, (_, pull)) in penalties.iter().enumerate() {
        right[k + 1] += pull;
    }
    let inverse = invert(&matrix, dim)?;
    let rows = inverse.chunks_exact(dim);
    Some(rows.map(|row| dot(row, &right)).collect())
}
