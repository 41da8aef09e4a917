//! Draws an estimate that reads the shape of the responses towards one that does not.
//!
//! The estimate for a known rate uses the mean of the responses alone. It is imprecise, and no error law can bend it. If the law
//! of the mixture is right, the difference d of the two has a covariance of about V - W, where V belongs to the estimate for
//! a known rate and W to the mixture. The mixture has the weight
//!
//!   min(1, c tr(V^-1 (V - W)) / d' V^-1 d),
//!
//! a shrinkage between an unbiased and a possibly biased estimate (Green and Strawderman 1991, "A James-Stein type estimator
//! for combining unbiased and possibly biased estimators", JASA 86). c = `TOLERANCE` is above 1, since where V is large a
//! difference by chance would move the estimate far. V also has what a step of the rate does to the estimate, which
//! is nearly proportional to 1 / (1 - rate): no rate is known more exactly than that.

use crate::baseline::known_rate::AtRate;
use crate::numerics::invert;

/// d' V^-1 d may be so many times what is expected of it.
const TOLERANCE: f64 = 3.0;

/// Draws `at` towards `known`; `slopes` are the coefficients that decide how far, and `rate_step` is the distance to the
/// next rate. Where the slopes have no covariance, it stays.
pub(super) fn draw_towards(at: &mut AtRate, known: &AtRate, slopes: &[usize], rate_step: f64) {
    let Some(weight) = weight(at, known, slopes, rate_step) else {
        return;
    };
    if weight >= 1.0 {
        return;
    }
    let dim = at.beta.len();
    let apart: Vec<f64> = (at.beta.iter().zip(&known.beta))
        .map(|(own, known)| own - known)
        .collect();
    for (own, apart) in at.beta.iter_mut().zip(&apart) {
        *own -= (1.0 - weight) * apart;
    }
    // Of a mixture of the two.
    for i in 0..dim {
        for j in 0..dim {
            let k = i * dim + j;
            at.covariance[k] = weight * at.covariance[k]
                + (1.0 - weight) * known.covariance[k]
                + weight * (1.0 - weight) * apart[i] * apart[j];
        }
        at.standard_error[i] = at.covariance[i * dim + i].max(0.0).sqrt();
    }
}

fn weight(at: &AtRate, known: &AtRate, slopes: &[usize], rate_step: f64) -> Option<f64> {
    let (dim, size) = (at.beta.len(), slopes.len());
    let scale: Vec<f64> = slopes.iter().map(|&k| known.standard_error[k]).collect();
    if size == 0 || scale.iter().any(|s| !s.is_finite() || *s <= 0.0) {
        return None;
    }
    // In units of standard errors, so that the unit of a column does not matter.
    let scaled = |matrix: &[f64]| -> Vec<f64> {
        let entry = |i: usize, j: usize| matrix[slopes[i] * dim + slopes[j]] / scale[i] / scale[j];
        (0..size * size)
            .map(|k| entry(k / size, k % size))
            .collect()
    };
    let by_rate: Vec<f64> = (slopes.iter().zip(&scale))
        .map(|(&k, scale)| known.beta[k] / scale * rate_step / (1.0 - known.rate))
        .collect();
    let mut of_known = scaled(&known.covariance);
    for (k, entry) in of_known.iter_mut().enumerate() {
        *entry += by_rate[k / size] * by_rate[k % size];
    }
    let inverse = invert(&of_known, size)?;
    let own = scaled(&at.covariance);
    let apart: Vec<f64> = (slopes.iter().zip(&scale))
        .map(|(&k, scale)| (at.beta[k] - known.beta[k]) / scale)
        .collect();
    let places = || (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
    let square = places().map(|(i, j)| apart[i] * inverse[i * size + j] * apart[j]);
    let square: f64 = square.sum();
    let of_own: f64 = places()
        .map(|(i, j)| inverse[i * size + j] * own[j * size + i])
        .sum();
    let expected = (size as f64 - of_own).max(0.0);
    Some((TOLERANCE * expected / square.max(f64::MIN_POSITIVE)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(beta: [f64; 2], sd: f64) -> AtRate {
        let variance = sd * sd;
        AtRate {
            rate: 0.1,
            weight: 1.0,
            beta: beta.to_vec(),
            standard_error: vec![sd; 2],
            covariance: vec![variance, 0.0, 0.0, variance],
        }
    }

    #[test]
    fn what_chance_explains_changes_nothing() {
        let (mut own, known) = (at([0.0, 1.0], 0.1), at([0.0, 1.28], 0.2));
        let before = own.clone();
        // The difference is 1.4 standard errors, and its square may be 3 x 0.75.
        draw_towards(&mut own, &known, &[1], 0.0);
        assert_eq!(own, before);
    }

    #[test]
    fn a_contradiction_draws_all_coefficients_and_widens_the_interval() {
        let (mut own, known) = (at([5.0, 3.0], 0.1), at([1.0, 1.0], 0.2));
        draw_towards(&mut own, &known, &[1], 0.0);
        // d is 10 standard errors.
        let weight = 3.0 * 0.75 / 100.0;
        assert!((own.beta[1] - (1.0 + 2.0 * weight)).abs() < 1e-12);
        assert!((own.beta[0] - (1.0 + 4.0 * weight)).abs() < 1e-12);
        let spread: f64 = weight * 0.01 + (1.0 - weight) * (0.04 + weight * 4.0);
        assert!((own.standard_error[1] - spread.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn what_a_step_of_the_rate_explains_changes_nothing() {
        // d is 0.1, and a step of the rate changes the slope of 1.0 by 0.09.
        let (mut own, known) = (at([0.0, 1.1], 0.001), at([0.0, 1.0], 0.002));
        let before = own.clone();
        draw_towards(&mut own, &known, &[1], 0.08);
        assert_eq!(own, before);
        draw_towards(&mut own, &known, &[1], 0.0);
        assert!((own.beta[1] - 1.0).abs() < 0.001);
    }

    #[test]
    fn an_estimate_that_is_no_more_precise_has_no_weight_and_no_covariance_no_say() {
        let (mut own, known) = (at([0.0, 1.0], 0.3), at([0.0, 2.0], 0.2));
        draw_towards(&mut own, &known, &[1], 0.0);
        assert_eq!(own.beta, known.beta);
        let (mut own, known) = (at([0.0, 1.0], 0.3), at([0.0, 2.0], 0.0));
        draw_towards(&mut own, &known, &[1], 0.0);
        assert_eq!(own.beta, [0.0, 1.0]);
    }
}
