//! Laws of times: what the shipped programs of times that may be censored say of the time itself.

use rand::Rng;
use rand_distr::{Distribution, Open01, StandardNormal};

use crate::numerics::log_gamma;

/// The law of the time until an event given its row of predictors, whose x'beta is `linear`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TimeLaw {
    /// exp(x'beta) is the time by which the event has come with probability 1 - 1/e.
    Weibull { shape: f64 },
    /// exp(x'beta) is the median.
    LogNormal { sigma: f64 },
}

impl TimeLaw {
    /// The expected time.
    pub fn mean(self, linear: f64) -> f64 {
        match self {
            TimeLaw::Weibull { shape } => (linear + log_gamma(1.0 + 1.0 / shape)).exp(),
            TimeLaw::LogNormal { sigma } => (linear + 0.5 * sigma * sigma).exp(),
        }
    }

    /// A time of the law.
    pub fn draw(self, linear: f64, rng: &mut impl Rng) -> f64 {
        match self {
            TimeLaw::Weibull { shape } => {
                let survival: f64 = Open01.sample(rng);
                (linear + (-survival.ln()).ln() / shape).exp()
            }
            TimeLaw::LogNormal { sigma } => {
                let z: f64 = StandardNormal.sample(rng);
                (linear + sigma * z).exp()
            }
        }
    }
}
