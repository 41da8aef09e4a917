//! What to simulate: size, coefficients, the law of the errors, and which links are wrong.

use rand::Rng;
use rand_distr::{Distribution, Gamma, Open01, Poisson, StandardNormal, StudentT};

use super::{PAPER_REVERSED, SimulateError};
use crate::config::Family;

/// Responses around `intercept + beta * (x1 + ... + xD)`, with normal predictors.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    pub num_rows: usize,
    pub num_predictors: usize,
    /// Standard deviation of every predictor.
    pub x_scale: f64,
    /// The coefficient of every predictor.
    pub beta: f64,
    /// None for a regression without an intercept.
    pub intercept: Option<f64>,
    /// What an error of scale 1 is multiplied by, where there is one.
    pub sigma: f64,
    pub errors: Errors,
    pub links: Links,
}

/// The law of a response: around x'beta with an error, or with x'beta as the log or the log odds of its mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Errors {
    Normal,
    /// Asymmetric Laplace, whose `tau` quantile is 0.
    AsymmetricLaplace {
        tau: f64,
    },
    StudentT {
        nu: f64,
    },
    /// Counts with mean exp(x'beta).
    Poisson,
    /// 0 or 1, with log odds x'beta of a 1.
    Logistic,
    /// Counts with mean mu = exp(x'beta) and variance mu + mu^2 / phi.
    NegativeBinomial {
        phi: f64,
    },
    /// Positive, with mean mu = exp(x'beta) and variance mu^2 / shape.
    Gamma {
        shape: f64,
    },
}

/// Which rows are linked wrongly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Links {
    /// The paper's: the first rows of X in reverse order, then a copy of row 1.
    Paper,
    /// A random derangement of randomly chosen rows.
    Random { fraction: f64 },
    /// Neighbours in the file swapped (and three of them cycled when the number is odd).
    Adjacent { fraction: f64 },
    /// A random derangement within each of `num_blocks` runs of rows.
    Blocks { fraction: f64, num_blocks: usize },
}

impl Design {
    /// The paper's experiment, with the scale of the predictors that reproduces its errors.
    pub fn paper(num_rows: usize) -> Design {
        Design {
            num_rows,
            num_predictors: 20,
            x_scale: 10.0,
            beta: 1.0,
            intercept: None,
            sigma: 0.1,
            errors: Errors::Normal,
            links: Links::Paper,
        }
    }

    /// The shipped model that these errors follow, and its family.
    pub fn model(&self) -> (&'static str, Family) {
        self.errors.model()
    }

    pub(super) fn check(&self) -> Result<(), SimulateError> {
        let in_range = |holds: bool, option, value: f64, rule| {
            if holds {
                return Ok(());
            }
            Err(SimulateError::OutOfRange {
                option,
                value,
                rule,
            })
        };
        let finite = "it must be a number";
        in_range(
            self.num_predictors >= 1,
            "--predictors",
            self.num_predictors as f64,
            "there must be at least one",
        )?;
        in_range(
            self.x_scale > 0.0 && self.x_scale.is_finite(),
            "--x-scale",
            self.x_scale,
            "it must be above 0",
        )?;
        in_range(self.beta.is_finite(), "--beta", self.beta, finite)?;
        let intercept = self.intercept.unwrap_or(0.0);
        in_range(intercept.is_finite(), "--intercept", intercept, finite)?;
        in_range(
            self.sigma >= 0.0 && self.sigma.is_finite(),
            "--sigma",
            self.sigma,
            "it must be 0 or more",
        )?;
        match self.errors {
            Errors::Normal | Errors::Poisson | Errors::Logistic => {}
            Errors::AsymmetricLaplace { tau } => in_range(
                tau > 0.0 && tau < 1.0,
                "--tau",
                tau,
                "it must be between 0 and 1, both excluded",
            )?,
            Errors::StudentT { nu } => {
                in_range(nu > 0.0 && nu.is_finite(), "--nu", nu, "it must be above 0")?
            }
            Errors::NegativeBinomial { phi } => {
                let holds = phi > 0.0 && phi.is_finite();
                in_range(holds, "--phi", phi, "it must be above 0")?
            }
            Errors::Gamma { shape } => {
                let holds = shape > 0.0 && shape.is_finite();
                in_range(holds, "--shape", shape, "it must be above 0")?
            }
        }
        let num_coefficients = self.num_predictors + usize::from(self.intercept.is_some());
        let mut least = num_coefficients + 1;
        match self.links {
            Links::Paper => least = least.max(PAPER_REVERSED + 1),
            Links::Blocks { num_blocks, .. } => {
                in_range(
                    num_blocks >= 1,
                    "--blocks",
                    num_blocks as f64,
                    "there must be at least one",
                )?;
                least = least.max(2 * num_blocks);
            }
            Links::Random { .. } | Links::Adjacent { .. } => {}
        }
        if self.num_rows < least {
            return Err(SimulateError::TooFewRows {
                num_rows: self.num_rows,
                least,
            });
        }
        Ok(())
    }

    /// How many rows a fraction of mislinked rows is.
    pub(super) fn count(&self, fraction: f64) -> Result<usize, SimulateError> {
        super::mislink::count(fraction, self.num_rows)
    }
}

impl Errors {
    /// The shipped model that these errors follow, and its family.
    pub(crate) fn model(self) -> (&'static str, Family) {
        match self {
            Errors::Normal => ("linear", Family::Gaussian),
            Errors::AsymmetricLaplace { tau } => ("quantile", Family::AsymmetricLaplace { tau }),
            Errors::StudentT { nu } => ("student_t", Family::StudentT { nu }),
            Errors::Poisson => ("poisson", Family::Poisson),
            Errors::Logistic => ("logistic", Family::Logistic),
            Errors::NegativeBinomial { .. } => ("negative_binomial", Family::Stan),
            Errors::Gamma { .. } => ("gamma", Family::Stan),
        }
    }

    /// Whether a response is x'beta and an error of some scale.
    pub(crate) fn is_additive(self) -> bool {
        match self {
            Errors::Normal | Errors::AsymmetricLaplace { .. } | Errors::StudentT { .. } => true,
            Errors::Logistic => false,
            Errors::Poisson | Errors::NegativeBinomial { .. } | Errors::Gamma { .. } => false,
        }
    }

    /// Whether the mean of a response is exp(x'beta).
    pub(super) fn has_log_link(self) -> bool {
        !self.is_additive() && self != Errors::Logistic
    }

    /// A response whose x'beta is `linear`; `sigma` is the scale of an additive error.
    pub(crate) fn respond(self, linear: f64, sigma: f64, rng: &mut impl Rng) -> f64 {
        let normal = |rng: &mut _| -> f64 { StandardNormal.sample(rng) };
        match self {
            Errors::Normal => linear + sigma * normal(rng),
            // The inverse of the distribution function at one uniform number.
            Errors::AsymmetricLaplace { tau } => {
                let p: f64 = Open01.sample(rng);
                let error = if p <= tau {
                    (p / tau).ln() / (1.0 - tau)
                } else {
                    -((1.0 - p) / (1.0 - tau)).ln() / tau
                };
                linear + sigma * error
            }
            Errors::StudentT { nu } => {
                linear + sigma * StudentT::new(nu).expect("nu was checked").sample(rng)
            }
            Errors::Poisson => poisson(linear.exp(), rng),
            Errors::Logistic => {
                let p = 1.0 / (1.0 + (-linear).exp());
                f64::from(u8::from(rng.random_bool(p)))
            }
            // A Poisson count whose mean is gamma.
            Errors::NegativeBinomial { phi } => poisson(gamma(linear.exp(), phi, rng), rng),
            Errors::Gamma { shape } => gamma(linear.exp(), shape, rng),
        }
    }
}

fn poisson(mean: f64, rng: &mut impl Rng) -> f64 {
    // A mean that is 0 in doubles is refused by `Poisson`.
    Poisson::new(mean).map_or(0.0, |law| law.sample(rng))
}

/// Never 0, which a small shape would round to.
fn gamma(mean: f64, shape: f64, rng: &mut impl Rng) -> f64 {
    let scale = (mean / shape).max(f64::MIN_POSITIVE);
    let law = Gamma::new(shape, scale).expect("the shape was checked");
    law.sample(rng).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asymmetric_laplace_errors_have_their_quantile_at_zero_and_the_right_means() {
        let mut rng = crate::numerics::rng::stream(5, 0);
        for tau in [0.1, 0.5, 0.9] {
            let errors = Errors::AsymmetricLaplace { tau };
            let draws: Vec<f64> = (0..100_000)
                .map(|_| errors.respond(0.0, 1.0, &mut rng))
                .collect();
            let below = draws.iter().filter(|e| **e < 0.0).count() as f64 / 1e5;
            assert!((below - tau).abs() < 0.008, "{below} below 0 at {tau}");
            // Five standard errors of the mean, whose variance is (1 - 2 tau + 2 tau^2) / (tau (1 - tau))^2.
            let mean = draws.iter().sum::<f64>() / 1e5;
            let expected = (1.0 - 2.0 * tau) / (tau * (1.0 - tau));
            let sd = (1.0 - 2.0 * tau + 2.0 * tau * tau).sqrt() / (tau * (1.0 - tau));
            assert!((mean - expected).abs() < 5.0 * sd / 1e5f64.sqrt());
        }
    }

    #[test]
    fn counts_amounts_and_zero_one_responses_have_their_mean_and_variance() {
        let mut rng = crate::numerics::rng::stream(6, 0);
        let linear: f64 = 0.7;
        let mean = linear.exp();
        let p = 1.0 / (1.0 + (-linear).exp());
        for (errors, mean, variance) in [
            (Errors::Poisson, mean, mean),
            (Errors::Logistic, p, p * (1.0 - p)),
            (
                Errors::NegativeBinomial { phi: 3.0 },
                mean,
                mean + mean * mean / 3.0,
            ),
            (Errors::Gamma { shape: 4.0 }, mean, mean * mean / 4.0),
        ] {
            let num_draws = 100_000;
            let draws: Vec<f64> = (0..num_draws)
                .map(|_| errors.respond(linear, 1.0, &mut rng))
                .collect();
            let found = draws.iter().sum::<f64>() / f64::from(num_draws);
            let error = (variance / f64::from(num_draws)).sqrt();
            assert!((found - mean).abs() < 5.0 * error, "{errors:?}: {found}");
            let squares = draws.iter().map(|y| (y - found).powi(2));
            let ratio = squares.sum::<f64>() / f64::from(num_draws) / variance;
            assert!((ratio - 1.0).abs() < 0.05, "{errors:?}: {ratio}");
        }
    }
}
