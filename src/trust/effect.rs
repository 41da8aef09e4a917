//! Does the joint posterior say of the coefficients what the estimate for a known rate says at the rate it found?
//!
//! Under the model both are right, and their difference has mean zero (Hausman 1978). Where the likelihood is wrong, the
//! joint posterior bends the coefficients towards whatever makes its wrong rows look right, and the other does not. The
//! distribution of the difference comes from data sets that the model draws: in these the joint posterior's estimate is taken
//! one Newton step from the truth, with the covariance of its draws as the inverse information.

use ndarray::{Array2, ArrayView2};

use super::frame::{Frame, mean};
use super::replicate::Model;
use crate::baseline::{KnownRate, one_rate};
use crate::config::ResponseKind;
use crate::numerics::gamma_cdf;
use crate::numerics::rng::ChainRng;
use crate::numerics::{Qr, invert};
use crate::posterior::{LawDraws, RowLaws};

/// Beyond this, estimates for a known rate are mostly noise.
const LARGEST_RATE: f64 = 0.8;

pub(super) struct Effect<'a> {
    pub kind: ResponseKind,
    pub x: ArrayView2<'a, f64>,
    /// Of `x`, for every data set.
    pub qr: Qr,
    pub y: &'a [f64],
    pub known: &'a KnownRate,
    /// Column that is the intercept, which is left out.
    pub intercept: Option<usize>,
    /// Means of the posterior draws of the coefficients; their covariances follow.
    pub mean: Vec<f64>,
    pub covariance: Array2<f64>,
    /// The mean share of moved rows among those that can move.
    pub rate: f64,
}

impl Effect<'_> {
    fn known_rate(&self, y: &[f64], rate: f64) -> Option<Vec<f64>> {
        let rates = one_rate(rate.min(LARGEST_RATE));
        let fit = self.known.fit_by(self.kind, self.x, &self.qr, y, &rates);
        Some(fit?.mean)
    }

    fn slopes(&self, values: &[f64]) -> Vec<f64> {
        let kept = (0..values.len()).filter(|k| Some(*k) != self.intercept);
        kept.map(|k| values[k]).collect()
    }

    fn observed(&self) -> Option<Vec<f64>> {
        let known = self.known_rate(self.y, self.rate)?;
        let differences: Vec<f64> = known.iter().zip(&self.mean).map(|(k, m)| k - m).collect();
        Some(self.slopes(&differences))
    }

    /// The difference for one data set drawn at these laws; `model` covers every row that can move.
    fn replicated(
        &self,
        beta: &[f64],
        laws: &RowLaws,
        model: &Model,
        rng: &mut ChainRng,
    ) -> Option<Vec<f64>> {
        let drawn = model.draw(rng);
        let wrong = model.p_wrong_given(&drawn);
        let mut y: Vec<f64> = laws.laws.iter().map(|law| law.draw(rng)).collect();
        let mut right = vec![1.0; y.len()];
        for (k, &row) in model.frame.rows.iter().enumerate() {
            y[row] = drawn[k];
            right[row] = 1.0 - wrong[k];
        }
        let rate = mean(&wrong);
        let mut score = vec![0.0; beta.len()];
        for (row, law) in laws.laws.iter().enumerate() {
            let weight = right[row] * law.score(y[row]);
            for (s, x) in score.iter_mut().zip(self.x.row(row)) {
                *s += weight * x;
            }
        }
        let known = self.known_rate(&y, rate)?;
        let step = |k: usize| -> f64 {
            let row = self.covariance.row(k);
            row.iter().zip(&score).map(|(c, s)| c * s).sum()
        };
        let differences: Vec<f64> = (0..beta.len())
            .map(|k| known[k] - beta[k] - step(k))
            .collect();
        Some(self.slopes(&differences))
    }

    /// The posterior predictive p-value at draws with these numbers and rates, by the chi-squared distribution where so few
    /// data sets are drawn that only their covariance is used; None where an estimate does not exist.
    pub fn p_value(
        &self,
        draws: &LawDraws,
        models: impl Iterator<Item = (usize, f64)>,
        frame: &Frame,
        is_normal: bool,
        rng: &mut ChainRng,
    ) -> Option<f64> {
        let observed = self.observed()?;
        if observed.is_empty() {
            return None;
        }
        let mut replicated = Vec::new();
        for (number, rate) in models {
            let (chain, draw) = draws.place(number);
            let (beta, laws) = (draws.beta(chain, draw)?, draws.at(chain, draw)?);
            let model = Model::new(frame, &laws, rate);
            replicated.extend(self.replicated(&beta, &laws, &model, rng));
        }
        let inverse = inverse_covariance(&replicated)?;
        let distance = |values: &[f64]| quadratic(&inverse, values);
        let far = distance(&observed);
        if is_normal {
            let half = |value: f64| 0.5 * value;
            return Some(1.0 - gamma_cdf(half(far), half(observed.len() as f64)));
        }
        let as_far = replicated.iter().filter(|r| distance(r) >= far).count();
        Some((1 + as_far) as f64 / (1 + replicated.len()) as f64)
    }
}

fn quadratic(matrix: &[f64], values: &[f64]) -> f64 {
    let size = values.len();
    let row = |i: usize| (0..size).map(move |j| matrix[i * size + j] * values[j]);
    (0..size).map(|i| values[i] * row(i).sum::<f64>()).sum()
}

/// Around zero. Only the variances are used where there are too few data sets for all covariances.
fn inverse_covariance(replicated: &[Vec<f64>]) -> Option<Vec<f64>> {
    let size = replicated.first()?.len();
    let only_variances = replicated.len() < 10 * size;
    let mut matrix = vec![0.0; size * size];
    for values in replicated {
        for i in 0..size {
            for j in 0..size {
                if i == j || !only_variances {
                    matrix[i * size + j] += values[i] * values[j] / replicated.len() as f64;
                }
            }
        }
    }
    // In units of each standard deviation, in which the matrix is well scaled.
    let sd: Vec<f64> = (0..size).map(|i| matrix[i * size + i].sqrt()).collect();
    if sd.iter().any(|sd| *sd <= 0.0 || !sd.is_finite()) {
        return None;
    }
    let scaled: Vec<f64> = (0..size * size)
        .map(|k| {
            matrix[k] / (sd[k / size] * sd[k % size])
                + if k / size == k % size { 1e-9 } else { 0.0 }
        })
        .collect();
    let inverse = invert(&scaled, size)?;
    let back = (0..size * size).map(|k| inverse[k] / (sd[k / size] * sd[k % size]));
    Some(back.collect())
}
