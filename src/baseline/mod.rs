//! What a user would otherwise compute: estimates that take the links as they are.

mod least_squares;

pub use least_squares::{LeastSquares, least_squares};

use ndarray::ArrayView2;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Baseline {
    LeastSquares,
    Huber,
    Mixture,
    Quantile { tau: f64 },
}

pub struct BaselineFit {
    pub beta: Vec<f64>,
    pub standard_error: Vec<f64>,
    pub sigma: f64,
    pub p_wrong: Option<Vec<f64>>,
    pub mismatch_rate: Option<f64>,
}

impl Baseline {
    pub fn fit(self, x: ArrayView2<f64>, y: &[f64]) -> BaselineFit {
        let fit = least_squares(x, y);
        BaselineFit {
            beta: fit.beta,
            standard_error: fit.standard_error,
            sigma: fit.sigma2.sqrt(),
            p_wrong: None,
            mismatch_rate: None,
        }
    }
    pub fn name(self) -> &'static str {
        "least_squares"
    }
}
