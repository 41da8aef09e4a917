//! What else would explain the responses: heavy tails, skewness, a spread that depends on the predictors, a curve.
//!
//! A regression with skewed Student t errors, a log spread that is linear in the predictors and a curve, all links kept: does it
//! explain the file as well as the model does with wrong links? Then nothing in the file speaks for wrong links.

use std::f64::consts::PI;

use super::frame::{Frame, mean, variance};
use crate::baseline::{LEAST_LOG_SPREAD, Regression, Shape};
use crate::numerics::density_without_own;

/// Prior standard deviation of the log spread's slope along a standardised predictor: the rival may use much of it.
const USUAL_SPREAD_SLOPE: f64 = 0.5;

/// Log likelihood of the model with wrong links, less that of the best explanation without any, each less its number of
/// parameters (half of Akaike's criterion). None where the responses or predictors do not vary.
pub(super) fn evidence(frame: &Frame, response: &[f64], is_normal: bool) -> Option<f64> {
    let file = File::new(frame, response)?;
    let simple = match is_normal {
        true => file.regression(Shape::Normal, &file.normal_marginal),
        false => file.regression(Shape::Robust, &file.smooth_marginal),
    };
    let simple = simple.along_rates()?;
    let log_likelihoods = simple.iter().map(|fit| fit.log_likelihood());
    let with_links = log_likelihoods.fold(f64::MIN, f64::max);
    // The same law with every link kept has no rate; beyond that the rival has a curve, and where the law is normal
    // the slopes of the spread, the degrees of freedom and the skewness.
    let of_shape = if is_normal {
        file.predictors.len() + 2
    } else {
        0
    };
    let kept = simple[0].log_likelihood() + 1.0;
    let rival = file.without_wrong_links()? - of_shape as f64;
    Some(with_links - kept.max(rival))
}

/// Standardised columns of the rows that are looked at.
struct File {
    response: Vec<f64>,
    /// Without the constant, of mean 0 and variance 1.
    predictors: Vec<Vec<f64>>,
    /// Log densities of the responses of wrong rows: normal, and by a kernel estimate from the other rows. With its own row an
    /// outlier would look likely among wrong rows.
    normal_marginal: Vec<f64>,
    smooth_marginal: Vec<f64>,
}

impl File {
    fn new(frame: &Frame, response: &[f64]) -> Option<File> {
        let (centre, scale) = (mean(response), variance(response).sqrt());
        if scale.is_nan() || scale <= 0.0 {
            return None;
        }
        let response: Vec<f64> = response.iter().map(|y| (y - centre) / scale).collect();
        let length = (frame.len() as f64).sqrt();
        let predictors = frame.basis.iter();
        let predictors = predictors.map(|column| column.iter().map(|v| v * length).collect());
        let normal = |y: &f64| -0.5 * (y * y + (2.0 * PI).ln());
        let smooth = density_without_own(&response)?;
        Some(File {
            predictors: predictors.collect(),
            normal_marginal: response.iter().map(normal).collect(),
            smooth_marginal: smooth.iter().map(|d| d.max(1e-300).ln()).collect(),
            response,
        })
    }

    fn regression<'a>(&'a self, shape: Shape, marginal: &'a [f64]) -> Regression<'a> {
        let predictors = || self.predictors.iter().map(Vec::as_slice);
        Regression {
            response: &self.response,
            columns: predictors().map(|column| (column, 0.0)).collect(),
            spread_columns: predictors().collect(),
            usual_spread_slope: USUAL_SPREAD_SLOPE,
            shape,
            marginal,
            least_log_spread: LEAST_LOG_SPREAD,
        }
    }

    /// The log likelihood of tails, spread and a curve without any wrong link.
    fn without_wrong_links(&self) -> Option<f64> {
        let straight = self.regression(Shape::Robust, &self.normal_marginal);
        let first = straight.start(1.0)?;
        let fitted = straight.fitted(&first.coefficients);
        let (centre, scale) = (mean(&fitted), variance(&fitted).sqrt());
        let square = |f: &f64| ((f - centre) / scale.max(1e-12)).powi(2) - 1.0;
        let curve: Vec<f64> = fitted.iter().map(square).collect();
        let mut curved = straight.clone();
        curved.columns.push((&curve, 0.0));
        Some(curved.climb(curved.start(1.0)?, 0.0)?.log_likelihood())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::rng::{self, ChainRng};
    use crate::sampler::links::LinkSpace;
    use ndarray::Array2;
    use rand::Rng;
    use rand_distr::{StandardNormal, StudentT};

    const NUM_ROWS: usize = 400;
    /// y = x + error, with the responses of `num_wrong` rows moved on by one row.
    fn found(num_wrong: usize, mut error: impl FnMut(f64, &mut ChainRng) -> f64) -> f64 {
        let mut rng = rng::stream(3, 1);
        let x: Vec<f64> = (0..NUM_ROWS).map(|_| rng.sample(StandardNormal)).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 1.5 * x + error(*x, &mut rng)).collect();
        y[..num_wrong].rotate_left(usize::from(num_wrong > 0));
        let design = Array2::from_shape_fn((NUM_ROWS, 2), |(i, k)| if k == 0 { 1.0 } else { x[i] });
        let space = LinkSpace::free(NUM_ROWS);
        let frame = Frame::new(design.view(), &space, NUM_ROWS, &mut rng).unwrap();
        let response: Vec<f64> = frame.rows.iter().map(|&row| y[row]).collect();
        evidence(&frame, &response, true).unwrap()
    }

    fn normal(_: f64, rng: &mut ChainRng) -> f64 {
        0.6 * rng.sample::<f64, _>(StandardNormal)
    }

    #[test]
    fn wrong_links_are_told_from_normal_errors_alone() {
        let none = found(0, normal);
        assert!(none < 3.0, "{none}");
        let some = found(60, normal);
        assert!(some > 10.0, "{some}");
    }

    #[test]
    fn tails_skewness_and_a_changing_spread_are_no_wrong_links() {
        let tails = found(0, |_, rng| 0.5 * rng.sample(StudentT::new(3.0).unwrap()));
        assert!(tails < 0.0, "{tails}");
        let growing = found(0, |x, rng| (0.7 * x).exp() * normal(x, rng));
        assert!(growing < -10.0, "{growing}");
        let skewed = found(0, |_, rng| 0.8 * rng.sample::<f64, _>(rand_distr::Exp1));
        assert!(skewed < -10.0, "{skewed}");
    }
}
