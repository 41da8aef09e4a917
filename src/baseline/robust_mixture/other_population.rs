//! Rows that look wrong at some predictors more than at others: another population, not wrong links.
//!
//! Whatever the rate of wrong links, P(wrong) has the same mean at all predictors. Where it depends on them, the rows that
//! look wrong are correctly linked and follow a law that the mixture does not have. At each rate a score test measures this: the
//! moments (P(wrong) - rate) times each predictor and times the square of the fitted value, beyond what the scores of the
//! fitted parameters explain (Newey 1985, "Maximum likelihood specification testing and conditional moment tests",
//! Econometrica 53; in outer products, so that no second derivative is needed). Half of the statistic is the gain in log likelihood of a
//! model in which the rate depends on the predictors. Its parameters cost what Schwarz's criterion says, for as many rows as
//! look wrong.

use super::MOST_CURVED;
use super::regression::{Fit, Regression};
use crate::numerics::{dot, mean};

/// Rows for each column of scores; with fewer, the fitted value stands for the predictors.
const ROWS_FOR_SCORES: usize = 3;

/// What speaks for another population, correctly linked, in the place of wrong links.
#[derive(Clone, Copy)]
pub(super) struct OtherPopulation {
    /// Of the log likelihood.
    gain: f64,
    num_parameters: f64,
    /// Rows that look wrong.
    num_wrong: f64,
}

impl OtherPopulation {
    /// Log odds against wrong links, where each row counts as `worth` rows.
    pub fn log_odds(&self, worth: f64) -> f64 {
        let num_wrong = (worth * self.num_wrong).max(2.0);
        worth * self.gain - 0.5 * self.num_parameters * num_wrong.ln()
    }
}

/// Whether the rows that look wrong at this rate do so at some predictors more than at others.
pub(super) fn other_population(
    regression: &Regression,
    fit: &Fit,
    rate: f64,
) -> Option<OtherPopulation> {
    let scores = regression.scores(fit, rate);
    let fitted = centred(&regression.fitted(&fit.coefficients))?;
    let bend = centred(&fitted.iter().map(|f| f * f).collect::<Vec<f64>>())?;
    let of_mean: Vec<&[f64]> = regression.columns.iter().map(|(c, _)| *c).collect();
    let predictors = &regression.spread_columns;
    let num_columns = of_mean.len() + 2 * predictors.len() + 4;
    let is_small = regression.response.len() < ROWS_FOR_SCORES * num_columns;
    let alone = [fitted.as_slice()];
    let (of_mean, predictors) = match is_small || predictors.len() > MOST_CURVED {
        true => (&alone[..], &alone[..]),
        false => (&of_mean[..], &predictors[..]),
    };
    // Links that are known to be right say nothing of the others.
    let can_move: Vec<bool> = regression.marginal.iter().map(|m| m.is_finite()).collect();
    let num_movable = can_move.iter().filter(|can| **can).count() as f64;
    let share = scores.wrong.iter().sum::<f64>() / num_movable.max(1.0);
    let of_rate: Vec<f64> = (scores.wrong.iter().zip(&can_move))
        .map(|(wrong, can)| if *can { wrong - share } else { 0.0 })
        .collect();
    let mut explained = Explained::default();
    explained.add_products(&scores.of_mean, of_mean);
    explained.add_products(&scores.of_spread, predictors);
    explained.add_products(&of_rate, &[]);
    let by_fit = explained.square;
    let directions = predictors.iter().copied().chain([bend.as_slice()]);
    directions.for_each(|direction| explained.add(product(&of_rate, direction)));
    let statistic = explained.square - by_fit;
    let num_parameters = (predictors.len() + 1) as f64;
    Some(OtherPopulation {
        gain: 0.5 * (statistic - num_parameters),
        num_parameters,
        num_wrong: rate * num_movable,
    })
}

fn centred(values: &[f64]) -> Option<Vec<f64>> {
    let centre = mean(values)?;
    Some(values.iter().map(|v| v - centre).collect())
}

fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// The squared length of the projection of a column of ones on the columns added so far: the statistic of a score test.
#[derive(Default)]
struct Explained {
    /// Orthonormal.
    columns: Vec<Vec<f64>>,
    square: f64,
}

impl Explained {
    fn add_products(&mut self, score: &[f64], columns: &[&[f64]]) {
        self.add(score.to_vec());
        columns
            .iter()
            .for_each(|column| self.add(product(score, column)));
    }

    /// Columns that depend on the earlier ones add nothing.
    fn add(&mut self, mut column: Vec<f64>) {
        let before = dot(&column, &column).sqrt();
        // Twice, so that columns that are nearly dependent stay orthogonal.
        for _ in 0..2 {
            for known in &self.columns {
                let along = dot(known, &column);
                let pairs = column.iter_mut().zip(known);
                pairs.for_each(|(value, known)| *value -= along * known);
            }
        }
        let left = dot(&column, &column).sqrt();
        if left.is_nan() || left <= 1e-6 * before {
            return;
        }
        column.iter_mut().for_each(|value| *value /= left);
        self.square += column.iter().sum::<f64>().powi(2);
        self.columns.push(column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_cost_more_where_more_rows_look_wrong() {
        let of = |gain, num_wrong| OtherPopulation {
            gain,
            num_parameters: 2.0,
            num_wrong,
        };
        assert!((of(5.0, 100.0).log_odds(1.0) - (5.0 - f64::ln(100.0))).abs() < 1e-12);
        assert!((of(5.0, 100.0).log_odds(0.5) - (2.5 - f64::ln(50.0))).abs() < 1e-12);
        assert!((of(5.0, 0.1).log_odds(1.0) - (5.0 - f64::ln(2.0))).abs() < 1e-12);
    }

    #[test]
    fn a_column_that_depends_on_others_adds_nothing() {
        let mut explained = Explained::default();
        explained.add(vec![1.0, 0.0, 1.0, 0.0]);
        assert!((explained.square - 2.0).abs() < 1e-12);
        explained.add(vec![0.0, 3.0, 0.0, 0.0]);
        assert!((explained.square - 3.0).abs() < 1e-12);
        explained.add(vec![2.0, 1.0, 2.0, 0.0]);
        assert!((explained.square - 3.0).abs() < 1e-12);
        assert_eq!(explained.columns.len(), 2);
    }
}
