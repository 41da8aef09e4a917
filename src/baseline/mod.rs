//! What a user would otherwise compute: estimates that take the links as they are, or guard against wrong ones row by row.

pub mod compare;
mod generalised;
mod huber;
mod known_rate;
mod least_squares;
mod mixture;
mod quantile;
mod robust_mixture;

use ndarray::ArrayView2;

pub use generalised::{generalised, generalised_with_offset};
pub use known_rate::{KnownRate, RateAveraged, one_rate};
pub use least_squares::{least_squares, weighted_least_squares};
pub(crate) use robust_mixture::{LEAST_LOG_SPREAD, Regression, Shape};
pub use robust_mixture::{RobustMixtureFit, robust_mixture};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Baseline {
    LeastSquares,
    /// M-estimation: large residuals count less.
    Huber,
    /// Each row is right, or its response is any of the file's.
    Mixture,
    /// The `tau` quantile of the response given the predictors.
    Quantile {
        tau: f64,
    },
}

#[derive(Debug, Clone)]
pub struct BaselineFit {
    pub beta: Vec<f64>,
    /// 0 where the data leave no doubt, infinite where they say nothing.
    pub standard_error: Vec<f64>,
    /// Scale of the errors: of a normal distribution, or of an asymmetric Laplace one for quantiles.
    pub sigma: f64,
    /// P(row is linked wrongly), where the method has one.
    pub p_wrong: Option<Vec<f64>>,
    pub mismatch_rate: Option<f64>,
}

impl Baseline {
    /// `x` must have full column rank and more rows than columns, as a `Dataset` guarantees; `tau` lies between 0 and 1.
    pub fn fit(self, x: ArrayView2<f64>, y: &[f64]) -> BaselineFit {
        assert_eq!(y.len(), x.nrows(), "one response for each row");
        match self {
            Baseline::LeastSquares => {
                let fit = least_squares(x, y);
                let sigma = fit.sigma2.sqrt();
                BaselineFit::plain(fit.beta, fit.standard_error, sigma)
            }
            Baseline::Huber => huber::fit(x, y),
            Baseline::Mixture => mixture::fit(x, y),
            Baseline::Quantile { tau } => quantile::fit(x, y, tau),
        }
    }

    /// The fit with survey weights; None for a method that takes none.
    pub fn fit_weighted(
        self,
        x: ArrayView2<f64>,
        y: &[f64],
        weights: &[f64],
    ) -> Option<BaselineFit> {
        match self {
            Baseline::LeastSquares => {
                let fit = weighted_least_squares(x, y, weights)?;
                let sigma = fit.sigma2.sqrt();
                Some(BaselineFit::plain(fit.beta, fit.standard_error, sigma))
            }
            Baseline::Huber | Baseline::Mixture | Baseline::Quantile { .. } => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Baseline::LeastSquares => "least_squares",
            Baseline::Huber => "huber",
            Baseline::Mixture => "mixture",
            Baseline::Quantile { .. } => "quantile",
        }
    }
}

impl BaselineFit {
    /// The fit of a method that knows nothing of linkage errors.
    fn plain(beta: Vec<f64>, standard_error: Vec<f64>, sigma: f64) -> BaselineFit {
        BaselineFit {
            beta,
            standard_error,
            sigma,
            p_wrong: None,
            mismatch_rate: None,
        }
    }
}

#[cfg(test)]
mod tests;
