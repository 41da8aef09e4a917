//! What to simulate: size, coefficients, the law of the errors, and which links are wrong.

use rand::Rng;

use super::{PAPER_REVERSED, SimulateError};
use crate::model::stan::shipped_of;
use crate::model::{Family, Parameter, ResponseKind, TimeLaw};

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
    /// The family of the responses.
    pub errors: Family,
    /// Times until an event, in place of responses of the family.
    pub times: Option<Times>,
    pub links: Links,
    /// The share of the wrongly linked rows whose response belongs to nobody in the file: another person of the same
    /// population.
    pub outside: f64,
}

/// Times until an event, some of them censored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    pub law: TimeLaw,
    /// The share of the rows whose event comes after their time of observation, which is uniform between 0 and a time that
    /// all rows share.
    pub censored: f64,
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
            errors: Family::Gaussian,
            times: None,
            links: Links::Paper,
            outside: 0.0,
        }
    }

    /// The shipped model that these errors follow, and the family that its config names.
    pub fn model(&self) -> (&'static str, Family) {
        match self.times.map(|times| times.law) {
            None => model_of(self.errors),
            Some(TimeLaw::Weibull { .. }) => ("weibull_survival", Family::Stan),
            Some(TimeLaw::LogNormal { .. }) => ("log_normal_survival", Family::Stan),
        }
    }

    /// A response whose x'beta is `linear`.
    pub(super) fn draw(&self, linear: f64, rng: &mut impl Rng) -> f64 {
        match self.times {
            Some(times) => times.law.draw(linear, rng),
            None => self.errors.at(linear, self.sigma).draw(rng),
        }
    }

    /// Whether x'beta is the logarithm of the mean or the median of a response.
    pub(super) fn has_log_link(&self) -> bool {
        let kind = self.errors.response_kind();
        matches!(kind, ResponseKind::Count | ResponseKind::Positive)
    }

    pub(super) fn check(&self) -> Result<(), SimulateError> {
        let in_range = |holds: bool, option: &str, value: f64, rule| {
            if holds {
                return Ok(());
            }
            Err(SimulateError::OutOfRange {
                option: option.into(),
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
        in_range(
            (0.0..=1.0).contains(&self.outside),
            "--outside",
            self.outside,
            "it is a share of the mislinked rows, from 0 to 1",
        )?;
        if let Some(Times { law, censored }) = self.times {
            in_range(
                (0.0..1.0).contains(&censored),
                "--censored",
                censored,
                "it is a share of the rows, from 0 to below 1",
            )?;
            let (option, value) = match law {
                TimeLaw::Weibull { shape } => ("--shape", shape),
                TimeLaw::LogNormal { sigma } => ("--sigma", sigma),
            };
            let is_positive = value > 0.0 && value.is_finite();
            in_range(is_positive, option, value, "it must be above 0")?;
        }
        if let Some(parameter) = self.errors.facts().parameter {
            let Parameter { value, range, .. } = parameter;
            let option = format!("--{}", parameter.name);
            in_range(range.contains(value), &option, value, range.rule())?;
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

/// The shipped model of a family that can be simulated, and the family that its config names.
pub(crate) fn model_of(family: Family) -> (&'static str, Family) {
    let model = shipped_of(family).expect("every family that is simulated has a shipped program");
    (model.name, family.as_typed())
}
