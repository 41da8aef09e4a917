//! The density of a wrong row's response: that of any row of its group, under the law that is fitted with every link kept.
//!
//! Responses that are bounded, rounded or pile up have a shape that no law around a regression has. An estimate from the
//! responses themselves would know this shape, and the law of the right rows would not, so that all of it would look like
//! wrong links. Here both have the same law, and only the dependence of the response on the predictors tells them apart.

use super::error_law::ErrorLaw;
use super::regression::{Fit, Regression};
use crate::sampler::links::LinkSpace;

/// So many rows stand for those of a group, evenly spaced by their fitted values.
const MOST_STANDING: usize = 300;
/// Larger groups have the density at this many points, and between them by interpolation.
const NUM_POINTS: usize = 400;
/// In smaller groups the rows of all groups stand for those of the group.
const LEAST_GROUP: usize = 30;

/// Log densities of the responses of `regression`; minus infinity for rows that cannot move.
pub(super) fn marginal(regression: &Regression, kept: &Fit, space: &LinkSpace) -> Vec<f64> {
    let fitted = regression.fitted(&kept.coefficients);
    let log_spread = regression.log_spread(kept);
    let response = regression.response;
    let mut marginal = vec![f64::NEG_INFINITY; response.len()];
    let mut set = |rows: &[usize]| {
        let mixture = Mixture::new(kept.law, rows, &fitted, &log_spread);
        let responses: Vec<f64> = rows.iter().map(|&row| response[row]).collect();
        for (&row, density) in rows.iter().zip(mixture.log_densities(&responses)) {
            marginal[row] = density;
        }
    };
    let groups: Vec<&[usize]> = (0..space.num_groups()).map(|g| space.group(g)).collect();
    let is_large = |group: &&[usize]| group.len() >= LEAST_GROUP;
    if !groups.iter().all(is_large) {
        set(&groups.concat());
    }
    groups.into_iter().filter(is_large).for_each(set);
    marginal
}

/// The error law around the fitted values of some rows.
struct Mixture {
    law: ErrorLaw,
    /// Centre and log scale of each.
    parts: Vec<(f64, f64)>,
}

impl Mixture {
    fn new(law: ErrorLaw, rows: &[usize], fitted: &[f64], log_spread: &[f64]) -> Mixture {
        let mut sorted = rows.to_vec();
        sorted.sort_by(|a, b| fitted[*a].total_cmp(&fitted[*b]));
        let number = sorted.len().min(MOST_STANDING);
        let place = |k: usize| (2 * k + 1) * sorted.len() / (2 * number);
        let standing: Vec<usize> = (0..number).map(|k| sorted[place(k)]).collect();
        let part = |k: usize| {
            let (before, after) = (k.saturating_sub(1), (k + 1).min(number - 1));
            // A row stands for those between its neighbours, so that few rows with a small spread leave no gaps.
            let gap = 0.5 * (fitted[standing[after]] - fitted[standing[before]]);
            let row = standing[k];
            (fitted[row], log_spread[row].exp().hypot(gap).ln())
        };
        Mixture {
            law,
            parts: (0..number).map(part).collect(),
        }
    }

    fn log_density(&self) -> impl Fn(f64) -> f64 + '_ {
        let density = self.law.log_density();
        move |y| {
            let parts = self.parts.iter();
            let log = parts.map(|(centre, scale)| density((y - centre) * (-scale).exp()) - scale);
            let logs: Vec<f64> = log.collect();
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
            largest + (sum / logs.len() as f64).ln()
        }
    }

    fn log_densities(&self, responses: &[f64]) -> Vec<f64> {
        let density = self.log_density();
        if responses.len() <= NUM_POINTS {
            return responses.iter().map(|y| density(*y)).collect();
        }
        let low = responses.iter().copied().fold(f64::INFINITY, f64::min);
        let high = responses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let step = ((high - low) / (NUM_POINTS - 1) as f64).max(f64::MIN_POSITIVE);
        let points = (0..NUM_POINTS).map(|k| density(low + step * k as f64));
        let points: Vec<f64> = points.collect();
        let between = |y: &f64| {
            let place = (y - low) / step;
            let k = (place as usize).min(NUM_POINTS - 2);
            let part = (place - k as f64).clamp(0.0, 1.0);
            (1.0 - part) * points[k] + part * points[k + 1]
        };
        responses.iter().map(between).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::robust_mixture::Shape;
    use crate::sampler::links::LinkFacts;

    const NUM_ROWS: usize = 900;

    /// Fitted values that are evenly spaced, with errors of a spread of 0.1.
    fn marginal_of(space: &LinkSpace) -> (Vec<f64>, Vec<f64>) {
        let x: Vec<f64> = (0..NUM_ROWS).map(|k| k as f64 / 260.0 - 1.73).collect();
        let response: Vec<f64> = (0..NUM_ROWS)
            .map(|k| x[k] + 0.1 * (k as f64 * 2.399).sin())
            .collect();
        let none = vec![f64::NEG_INFINITY; NUM_ROWS];
        let regression = Regression {
            response: &response,
            columns: vec![(&x, 0.0)],
            spread_columns: vec![&x],
            usual_spread_slope: 0.2,
            shape: Shape::Robust,
            marginal: &none,
            least_log_spread: -3.9,
        };
        let kept = regression.all_kept().unwrap();
        (marginal(&regression, &kept, space), response)
    }

    #[test]
    fn a_wrong_row_has_the_responses_of_all_rows() {
        let (marginal, response) = marginal_of(&LinkSpace::free(NUM_ROWS));
        // Uniform over a range of 900 / 260, but for its ends.
        for (density, y) in marginal
            .iter()
            .zip(&response)
            .filter(|(_, y)| y.abs() < 1.4)
        {
            let expected = f64::ln(260.0 / 900.0);
            assert!((density - expected).abs() < 0.03, "{density} at {y}");
        }
    }

    #[test]
    fn large_groups_have_their_own_rows_and_rows_that_cannot_move_none() {
        let block: Vec<usize> = (0..NUM_ROWS).map(|row| row / 300).collect();
        let safe: Vec<bool> = (0..NUM_ROWS).map(|row| row % 10 == 0).collect();
        let facts = LinkFacts {
            block_of_row: Some(&block),
            safe: Some(&safe),
            ..Default::default()
        };
        let (marginal, _) = marginal_of(&LinkSpace::new(NUM_ROWS, facts));
        assert_eq!(marginal[10], f64::NEG_INFINITY);
        // A third of the range, so three times the density.
        let expected = f64::ln(260.0 / 300.0);
        assert!((marginal[151] - expected).abs() < 0.05, "{}", marginal[151]);
    }
}
