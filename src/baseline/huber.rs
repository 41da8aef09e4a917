//! Huber's M-estimator of regression, by iteratively reweighted least squares.
//!
//! Huber (1981), Robust Statistics, chapter 7. The scale is the median absolute residual, estimated anew in each
//! iteration, and k = 1.345 gives 95 % efficiency at the normal: the defaults of MASS::rlm and of statsmodels' RLM.

use ndarray::ArrayView2;

use super::BaselineFit;
use crate::numerics::qr::Qr;
use crate::numerics::quantile;

/// Residuals beyond so many scales count less.
const K: f64 = 1.345;

/// The median of the absolute value of a standard normal number.
const NORMAL_MAD: f64 = 0.674_489_750_196_081_7;

/// Far more than the few dozen that any real data set takes.
const MOST_ITERATIONS: usize = 1000;

pub(super) fn fit(x: ArrayView2<f64>, y: &[f64]) -> BaselineFit {
    let qr = Qr::new(x);
    let Estimate {
        gamma,
        residuals,
        scale,
    } = estimate(&qr, y);
    let variance = variance(&residuals, scale, qr.dim());
    let diagonal = qr.inverse_diagonal();
    let standard_error = diagonal.iter().map(|d| (variance * d).sqrt()).collect();
    BaselineFit::plain(qr.beta(&gamma), standard_error, scale)
}

pub(super) struct Estimate {
    pub gamma: Vec<f64>,
    residuals: Vec<f64>,
    pub scale: f64,
}

pub(super) fn estimate(qr: &Qr, y: &[f64]) -> Estimate {
    let (mut gamma, mut residuals) = qr.project(y);
    let mut scale = median_scale(&residuals);
    for _ in 0..MOST_ITERATIONS {
        // At scale 0 more than half of the rows fit perfectly, and the weights are no longer defined.
        if scale == 0.0 {
            break;
        }
        let weights: Vec<f64> = residuals
            .iter()
            .map(|r| (K * scale / r.abs()).min(1.0))
            .collect();
        let Some(next) = qr.weighted(y, &weights) else {
            break;
        };
        let change = gamma.iter().zip(&next).map(|(a, b)| (a - b).abs());
        let change = change.fold(0.0, f64::max);
        gamma = next;
        residuals = qr.residuals(y, &gamma);
        scale = median_scale(&residuals);
        if change <= 1e-10 * scale {
            break;
        }
    }
    Estimate {
        gamma,
        residuals,
        scale,
    }
}

/// The scale under which normal residuals would have this median absolute value.
pub(super) fn median_scale(residuals: &[f64]) -> f64 {
    let absolute: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    quantile(&absolute, 0.5).unwrap_or(f64::NAN) / NORMAL_MAD
}

/// What stands before (X'X)^-1 in the asymptotic covariance matrix: Huber's section 7.6, with his correction for D / N.
fn variance(residuals: &[f64], scale: f64, dim: usize) -> f64 {
    if scale == 0.0 {
        return 0.0;
    }
    let (num_rows, dim) = (residuals.len() as f64, dim as f64);
    let psi = |r: &f64| (r / scale).clamp(-K, K);
    let sum_of_squares: f64 = residuals.iter().map(|r| psi(r).powi(2)).sum();
    let num_inside = residuals.iter().filter(|r| r.abs() <= K * scale).count();
    // The mean of psi', which is 1 inside and 0 outside, so that its variance is m (1 - m).
    let m = num_inside as f64 / num_rows;
    let correction = 1.0 + dim / num_rows * (1.0 - m) / m;
    (correction * scale / m).powi(2) * sum_of_squares / (num_rows - dim)
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::super::tests::{close, engel};
    use super::*;

    /// Brownlee's stack loss: air flow, water temperature, acid concentration, loss.
    const STACKLOSS: [[f64; 4]; 21] = [
        [80., 27., 89., 42.],
        [80., 27., 88., 37.],
        [75., 25., 90., 37.],
        [62., 24., 87., 28.],
        [62., 22., 87., 18.],
        [62., 23., 87., 18.],
        [62., 24., 93., 19.],
        [62., 24., 93., 20.],
        [58., 23., 87., 15.],
        [58., 18., 80., 14.],
        [58., 18., 89., 14.],
        [58., 17., 88., 13.],
        [58., 18., 82., 11.],
        [58., 19., 93., 12.],
        [50., 18., 89., 8.],
        [50., 18., 86., 7.],
        [50., 19., 72., 8.],
        [50., 19., 79., 8.],
        [50., 20., 80., 9.],
        [56., 20., 82., 15.],
        [70., 20., 91., 15.],
    ];

    /// statsmodels 0.15.0: RLM with HuberT(1.345), scale_est="mad", cov="H1", conv="coefs", tol=1e-14.
    #[test]
    fn matches_statsmodels_on_stack_loss() {
        let x = Array2::from_shape_fn((21, 4), |(i, k)| match k {
            0 => 1.0,
            k => STACKLOSS[i][k - 1],
        });
        let y = STACKLOSS.map(|row| row[3]);
        let fit = fit(x.view(), &y);
        let beta = [-41.026498352, 0.829384335, 0.926065966, -0.127846725];
        let standard_error = [9.791898541, 0.111005213, 0.302930163, 0.128649615];
        close(&fit.beta, &beta, 1e-8);
        close(&fit.standard_error, &standard_error, 1e-8);
        close(&[fit.sigma], &[2.440536092], 1e-8);
    }

    /// The same call on food = a + b income.
    #[test]
    fn matches_statsmodels_on_engel() {
        let (x, y) = engel("income", "food");
        let fit = fit(x.view(), &y);
        close(&fit.beta, &[99.4284082628, 0.5368376875], 1e-8);
        close(&fit.standard_error, &[12.1247160450, 0.0109160522], 1e-8);
        close(&[fit.sigma], &[81.4564550908], 1e-8);
    }
}
