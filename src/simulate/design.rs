//! What to simulate: size, coefficients, the law of the errors, and which links are wrong.

use rand::Rng;
use rand_distr::{Distribution, Open01, StandardNormal, StudentT};

use super::{PAPER_REVERSED, SimulateError};
use crate::config::Family;

/// `y = intercept + beta * (x1 + ... + xD) + sigma * error`, with normal predictors.
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
    /// What an error of scale 1 is multiplied by.
    pub sigma: f64,
    pub errors: Errors,
    pub links: Links,
}

/// The law of an error of scale 1.
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
        match self.errors {
            Errors::Normal => ("linear", Family::Gaussian),
            Errors::AsymmetricLaplace { tau } => ("quantile", Family::AsymmetricLaplace { tau }),
            Errors::StudentT { nu } => ("student_t", Family::StudentT { nu }),
        }
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
            Errors::Normal => {}
            Errors::AsymmetricLaplace { tau } => in_range(
                tau > 0.0 && tau < 1.0,
                "--tau",
                tau,
                "it must be between 0 and 1, both excluded",
            )?,
            Errors::StudentT { nu } => {
                in_range(nu > 0.0 && nu.is_finite(), "--nu", nu, "it must be above 0")?
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
    pub(crate) fn sample(self, rng: &mut impl Rng) -> f64 {
        match self {
            Errors::Normal => StandardNormal.sample(rng),
            // The inverse of the distribution function at one uniform number.
            Errors::AsymmetricLaplace { tau } => {
                let p: f64 = Open01.sample(rng);
                if p <= tau {
                    (p / tau).ln() / (1.0 - tau)
                } else {
                    -((1.0 - p) / (1.0 - tau)).ln() / tau
                }
            }
            Errors::StudentT { nu } => StudentT::new(nu).expect("nu was checked").sample(rng),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asymmetric_laplace_errors_have_their_quantile_at_zero_and_the_right_means() {
        let mut rng = crate::rng::stream(5, 0);
        for tau in [0.1, 0.5, 0.9] {
            let errors = Errors::AsymmetricLaplace { tau };
            let draws: Vec<f64> = (0..100_000).map(|_| errors.sample(&mut rng)).collect();
            let below = draws.iter().filter(|e| **e < 0.0).count() as f64 / 1e5;
            assert!((below - tau).abs() < 0.008, "{below} below 0 at {tau}");
            // Five standard errors of the mean, whose variance is (1 - 2 tau + 2 tau^2) / (tau (1 - tau))^2.
            let mean = draws.iter().sum::<f64>() / 1e5;
            let expected = (1.0 - 2.0 * tau) / (tau * (1.0 - tau));
            let sd = (1.0 - 2.0 * tau + 2.0 * tau * tau).sqrt() / (tau * (1.0 - tau));
            assert!((mean - expected).abs() < 5.0 * sd / 1e5f64.sqrt());
        }
    }
}
