//! The families: the one registry of what is known of the law of a response given its row of predictors.
//!
//! A family that is added here, with its Stan program in `stan/shipped.rs`, can be named in a config and simulated; its
//! links are sampled with its density, and the checks of a fit use its probability integral transform.

mod response_kind;

use std::fmt;

use rand::Rng;
use rand_distr::{Distribution, Gamma, Open01, Poisson, StandardNormal, StudentT};
use schemars::JsonSchema;
use serde::Serialize;

use crate::numerics::{beta_cdf, gamma_cdf, log_gamma, normal_quantile};
use crate::sampler::links::{Marginal, Normal, PairFamily};
pub use response_kind::ResponseKind;
use std::f64::consts::PI;

#[cfg(test)]
mod tests;

/// Normal scores beyond this are as good as impossible under the model, and would overflow fourth powers of nothing.
const LARGEST_SCORE: f64 = 8.0;

/// The density of one response given its row of predictors, as the permutation step computes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum Family {
    /// Normal(x'beta, sigma2), with the variance sigma2.
    Gaussian,
    /// Asymmetric Laplace: the likelihood of quantile regression.
    // Density tau (1 - tau) / sigma * exp(-rho_tau(u) / sigma), rho_tau(u) = u (tau - 1{u < 0}).
    AsymmetricLaplace {
        /// The quantile, between 0 and 1 (0.5 is the median).
        #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
        tau: f64,
    },
    /// Student t around x'beta, for errors with heavy tails.
    StudentT {
        /// Degrees of freedom, above 0.
        #[schemars(extend("exclusiveMinimum" = 0))]
        nu: f64,
    },
    /// Student t around x'beta with free degrees of freedom, and a log scale that is linear in the predictors.
    Robust {
        #[serde(skip)]
        nu: f64,
    },
    /// Counts with mean exp(x'beta).
    Poisson,
    /// 0 or 1, with log odds x'beta of a 1.
    Logistic,
    /// Counts with mean mu = exp(x'beta) and variance mu + mu^2 / phi.
    #[schemars(skip)]
    NegativeBinomial { phi: f64 },
    /// Positive, with mean mu = exp(x'beta) and variance mu^2 / shape.
    #[schemars(skip)]
    Gamma { shape: f64 },
    /// Positive, with logarithms normal(x'beta, sigma).
    LogNormal,
    /// Any likelihood: taken from `vector[N] log_lik` in the program's generated quantities.
    Stan,
}

/// What is known of a family besides its formulas.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    pub name: &'static str,
    /// The name in `simulate --errors` and in studies, and a word of help; None where it cannot be simulated.
    pub errors: Option<(&'static str, &'static str)>,
    /// Which values a response can have.
    pub response_kind: ResponseKind,
    /// The number that the family has besides x'beta and a scale.
    pub parameter: Option<Parameter>,
    /// Whether links are sampled with the density written here, and not with the program's `log_lik`.
    pub is_native: bool,
    /// Whether a response, on the scale of its location, is x'beta and an error of some scale.
    pub is_additive: bool,
    /// Whether x'beta is the mean of a response, or the logarithm or logit of it: the fit of the mean to wrongly linked
    /// rows is then known.
    pub has_mean: bool,
    /// Whether the likelihood claims the shape of the errors, and not only their spread: a quantile regression does not.
    pub claims_tails: bool,
    /// Whether a single response says anything of the spread at its row.
    pub has_spread: bool,
    /// Under which condition the share of wrong links holds, in words.
    pub condition: &'static str,
}

/// The number that a family has besides x'beta and a scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Its name in the config, on the command line and in Stan programs.
    pub name: &'static str,
    pub value: f64,
    pub range: Range,
    pub source: Source,
}

/// Which values a parameter can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    AboveZero,
    InsideUnit,
}

/// Where a fit has the value of a parameter from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The config has it and gives it to the program as data.
    Config,
    /// The program estimates it; the value in the family is only a first one.
    Program,
}

impl Range {
    pub fn contains(self, value: f64) -> bool {
        match self {
            Range::AboveZero => value > 0.0 && value.is_finite(),
            Range::InsideUnit => value > 0.0 && value < 1.0,
        }
    }

    /// The range in words, a sentence of its own.
    pub fn rule(self) -> &'static str {
        match self {
            Range::AboveZero => "it must be above 0",
            Range::InsideUnit => "it must be between 0 and 1, both excluded",
        }
    }
}

impl Parameter {
    const fn of_config(name: &'static str, value: f64, range: Range) -> Option<Parameter> {
        Some(Parameter {
            name,
            value,
            range,
            source: Source::Config,
        })
    }

    const fn of_program(name: &'static str, value: f64) -> Option<Parameter> {
        Some(Parameter {
            name,
            value,
            range: Range::AboveZero,
            source: Source::Program,
        })
    }
}

/// A native family of errors around x'beta, from which others differ.
const ADDITIVE: Facts = Facts {
    name: "",
    errors: None,
    response_kind: ResponseKind::Real,
    parameter: None,
    is_native: true,
    is_additive: true,
    has_mean: true,
    claims_tails: true,
    has_spread: true,
    condition: "the likelihood of the program holds",
};

/// A family without a scale, from which others differ.
const WITHOUT_SCALE: Facts = Facts {
    is_additive: false,
    ..ADDITIVE
};

impl Family {
    /// Every family, with the default of its parameter.
    pub const ALL: [Family; 10] = [
        Family::Gaussian,
        Family::AsymmetricLaplace { tau: 0.5 },
        Family::StudentT { nu: 4.0 },
        Family::Robust { nu: 4.0 },
        Family::Poisson,
        Family::Logistic,
        Family::NegativeBinomial { phi: 5.0 },
        Family::Gamma { shape: 5.0 },
        Family::LogNormal,
        Family::Stan,
    ];

    pub fn facts(self) -> Facts {
        match self {
            Family::Gaussian => Facts {
                name: "gaussian",
                errors: Some(("normal", "")),
                condition: "errors are normal with one spread",
                ..ADDITIVE
            },
            Family::AsymmetricLaplace { tau } => Facts {
                name: "asymmetric_laplace",
                errors: Some(("ald", "Asymmetric Laplace, as in quantile regression")),
                parameter: Parameter::of_config("tau", tau, Range::InsideUnit),
                has_mean: false,
                claims_tails: false,
                condition: "errors are asymmetric Laplace with one spread",
                ..ADDITIVE
            },
            Family::StudentT { nu } => Facts {
                name: "student_t",
                errors: Some(("student_t", "")),
                parameter: Parameter::of_config("nu", nu, Range::AboveZero),
                condition: "errors follow Student's t with one spread",
                ..ADDITIVE
            },
            Family::Robust { nu } => Facts {
                name: "robust",
                parameter: Parameter::of_program("nu", nu),
                condition: "errors follow Student's t with a log spread linear in the predictors",
                ..ADDITIVE
            },
            Family::Poisson => Facts {
                name: "poisson",
                errors: Some(("poisson", "Counts, with a log link")),
                response_kind: ResponseKind::Count,
                condition: "the counts are Poisson",
                ..WITHOUT_SCALE
            },
            Family::Logistic => Facts {
                name: "logistic",
                errors: Some(("logistic", "0 or 1, with a logit link")),
                response_kind: ResponseKind::ZeroOne,
                claims_tails: false,
                has_spread: false,
                condition: "the log odds are linear in the predictors",
                ..WITHOUT_SCALE
            },
            Family::NegativeBinomial { phi } => Facts {
                name: "negative_binomial",
                errors: Some((
                    "negative_binomial",
                    "Counts with more spread, with a log link",
                )),
                response_kind: ResponseKind::Count,
                parameter: Parameter::of_program("phi", phi),
                is_native: false,
                ..WITHOUT_SCALE
            },
            Family::Gamma { shape } => Facts {
                name: "gamma",
                errors: Some(("gamma", "Positive amounts, with a log link")),
                response_kind: ResponseKind::Positive,
                parameter: Parameter::of_program("shape", shape),
                is_native: false,
                ..WITHOUT_SCALE
            },
            Family::LogNormal => Facts {
                name: "log_normal",
                errors: Some(("log_normal", "Positive amounts with normal logarithms")),
                response_kind: ResponseKind::Positive,
                // x'beta is the log of the median.
                has_mean: false,
                condition: "the logs of the responses have normal errors with one spread",
                ..ADDITIVE
            },
            Family::Stan => Facts {
                name: "stan",
                is_native: false,
                ..WITHOUT_SCALE
            },
        }
    }

    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The name in `simulate --errors` and in studies; None where it cannot be simulated.
    pub fn errors_name(self) -> Option<&'static str> {
        self.facts().errors.map(|(name, _)| name)
    }

    /// The name that a config may type: of a family whose density is written here, or `stan`.
    pub fn typed_name(self) -> Option<&'static str> {
        (self.as_typed() == self).then_some(self.name())
    }

    /// The family that a config names for a program of this one.
    pub fn as_typed(self) -> Family {
        match self.facts().is_native {
            true => self,
            false => Family::Stan,
        }
    }

    /// The family that `named` names so, with the default of its parameter; an error lists the names that there are.
    pub fn from_name<E: serde::de::Error>(
        name: &str,
        named: impl Fn(Family) -> Option<&'static str>,
    ) -> Result<Family, E> {
        let found = Family::ALL.iter().find(|f| named(**f) == Some(name));
        found.copied().ok_or_else(|| {
            let names = Family::ALL.iter().filter_map(|family| named(*family));
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            E::custom(format!("unknown variant `{name}`, expected one of {names}"))
        })
    }

    /// Which values a response can have.
    pub fn response_kind(self) -> ResponseKind {
        self.facts().response_kind
    }

    /// The parameter where `source` has its value.
    pub fn parameter_of(self, source: Source) -> Option<Parameter> {
        self.facts().parameter.filter(|p| p.source == source)
    }

    /// The same family with another value of its parameter.
    pub fn with_parameter(self, value: f64) -> Family {
        match self {
            Family::AsymmetricLaplace { .. } => Family::AsymmetricLaplace { tau: value },
            Family::StudentT { .. } => Family::StudentT { nu: value },
            Family::Robust { .. } => Family::Robust { nu: value },
            Family::NegativeBinomial { .. } => Family::NegativeBinomial { phi: value },
            Family::Gamma { .. } => Family::Gamma { shape: value },
            Family::Gaussian
            | Family::Poisson
            | Family::Logistic
            | Family::LogNormal
            | Family::Stan => self,
        }
    }

    /// The law of a response whose x'beta is `fitted`; families without additive errors ignore the scale.
    pub fn at(self, fitted: f64, scale: f64) -> Law {
        Law {
            family: self,
            fitted,
            scale,
        }
    }
}

/// The law of the response at one row of X.
#[derive(Debug, Clone, Copy)]
pub struct Law {
    pub family: Family,
    /// x'beta.
    pub fitted: f64,
    pub scale: f64,
}

impl Law {
    /// log p(y | x'beta, scale), normalised and not tempered.
    pub fn log_density(self, response: f64) -> f64 {
        let Law {
            family,
            fitted,
            scale,
        } = self;
        let kernel = match family {
            Family::NegativeBinomial { phi } => {
                let mean = fitted.exp();
                return log_gamma(response + phi) - log_gamma(phi) - log_gamma(response + 1.0)
                    + phi * (phi / (phi + mean)).ln()
                    + response * (mean / (phi + mean)).ln();
            }
            Family::Gamma { shape } => {
                return shape * (shape.ln() - fitted) - log_gamma(shape)
                    + (shape - 1.0) * response.ln()
                    - shape * response * (-fitted).exp();
            }
            _ if family.is_exponential() => response * fitted - family.log_partition(fitted),
            _ => family.log_kernel(family.location(response) - fitted, family.precision(scale)),
        };
        family.log_base(response) + family.log_constant(scale) + kernel
    }

    /// The mean of a response; of a quantile regression, the quantile.
    pub fn mean(self) -> f64 {
        match self.family {
            Family::LogNormal => (self.fitted + 0.5 * self.scale * self.scale).exp(),
            family => family.response_kind().mean(self.fitted),
        }
    }

    /// The derivative of the log density in x'beta.
    pub fn score(self, response: f64) -> f64 {
        let step = 1e-4 * self.scale;
        let at = |fitted: f64| Law { fitted, ..self }.log_density(response);
        (at(self.fitted + step) - at(self.fitted - step)) / (2.0 * step)
    }

    pub fn draw(self, rng: &mut impl Rng) -> f64 {
        let Law {
            family,
            fitted,
            scale,
        } = self;
        let normal = |rng: &mut _| -> f64 { StandardNormal.sample(rng) };
        match family {
            Family::Gaussian => fitted + scale * normal(rng),
            // The inverse of the distribution function at one uniform number.
            Family::AsymmetricLaplace { tau } => {
                let p: f64 = Open01.sample(rng);
                let error = if p <= tau {
                    (p / tau).ln() / (1.0 - tau)
                } else {
                    -((1.0 - p) / (1.0 - tau)).ln() / tau
                };
                fitted + scale * error
            }
            Family::StudentT { nu } | Family::Robust { nu } => {
                fitted + scale * StudentT::new(nu).expect("nu was checked").sample(rng)
            }
            Family::Poisson => poisson(fitted.exp(), rng),
            Family::Logistic => {
                let p = 1.0 / (1.0 + (-fitted).exp());
                f64::from(u8::from(rng.random_bool(p)))
            }
            // A Poisson count whose mean is gamma.
            Family::NegativeBinomial { phi } => poisson(gamma(fitted.exp(), phi, rng), rng),
            Family::Gamma { shape } => gamma(fitted.exp(), shape, rng),
            Family::LogNormal => (fitted + scale * normal(rng)).exp(),
            Family::Stan => unreachable!("only the program knows its likelihood"),
        }
    }

    /// The response as a standard normal number: the probability integral transform, at random inside the jumps of a
    /// discrete law.
    pub fn normal_score(self, response: f64, rng: &mut impl Rng) -> f64 {
        let residual = (self.family.location(response) - self.fitted) / self.scale;
        let (below, at_most) = match self.family {
            Family::Gaussian | Family::LogNormal => {
                return residual.clamp(-LARGEST_SCORE, LARGEST_SCORE);
            }
            Family::StudentT { nu } | Family::Robust { nu } => return student_score(residual, nu),
            Family::AsymmetricLaplace { tau } => {
                let p = match residual < 0.0 {
                    true => tau * ((1.0 - tau) * residual).exp(),
                    false => 1.0 - (1.0 - tau) * (-tau * residual).exp(),
                };
                (p, p)
            }
            Family::Gamma { shape } => {
                let p = gamma_cdf(shape * response * (-self.fitted).exp(), shape);
                (p, p)
            }
            Family::Poisson | Family::Logistic | Family::NegativeBinomial { .. } => {
                let mut below = 0.0;
                let mut count = 0.0;
                while count < response && below < 1.0 {
                    below += self.log_density(count).exp();
                    count += 1.0;
                }
                (below, below + self.log_density(response).exp())
            }
            Family::Stan => unreachable!("only the program knows its likelihood"),
        };
        let p = below + (at_most - below).max(0.0) * rng.random::<f64>();
        normal_quantile(p.clamp(1e-15, 1.0 - 1e-15)).clamp(-LARGEST_SCORE, LARGEST_SCORE)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.name())?;
        match self.parameter_of(Source::Config) {
            Some(Parameter { name, value, .. }) => write!(f, ", {name} = {value}"),
            None => Ok(()),
        }
    }
}

impl PairFamily for Family {
    fn allows(self, response: f64) -> bool {
        self.response_kind().allows(response)
    }

    fn marginal(self) -> Marginal {
        self.response_kind().marginal()
    }

    #[inline]
    fn is_exponential(self) -> bool {
        matches!(self, Self::Poisson | Self::Logistic)
    }

    fn location(self, response: f64) -> f64 {
        match self {
            Self::Poisson | Self::LogNormal => response.ln(),
            Self::Logistic => (response / (1.0 - response)).ln(),
            _ => response,
        }
    }

    fn log_base(self, response: f64) -> f64 {
        match self {
            Self::Poisson => -log_gamma(response + 1.0),
            Self::LogNormal => -response.ln(),
            _ => 0.0,
        }
    }

    fn log_partition(self, fitted: f64) -> f64 {
        match self {
            Self::Poisson => fitted.exp(),
            Self::Logistic => fitted.max(0.0) + (-fitted.abs()).exp().ln_1p(),
            _ => 0.0,
        }
    }

    fn log_constant(self, scale: f64) -> f64 {
        match self {
            Self::Gaussian | Self::LogNormal => Normal.log_constant(scale),
            Self::AsymmetricLaplace { tau } => (tau * (1.0 - tau)).ln() - scale.ln(),
            Self::StudentT { nu } | Self::Robust { nu } => {
                log_gamma(0.5 * (nu + 1.0))
                    - log_gamma(0.5 * nu)
                    - 0.5 * (nu * PI).ln()
                    - scale.ln()
            }
            _ => 0.0,
        }
    }

    fn precision(self, scale: f64) -> f64 {
        match self {
            Self::Gaussian | Self::LogNormal => Normal.precision(scale),
            Self::AsymmetricLaplace { .. } => 1.0 / scale,
            Self::StudentT { nu } | Self::Robust { nu } => 1.0 / (nu * scale * scale),
            _ => 1.0,
        }
    }

    #[inline]
    fn log_kernel(self, residual: f64, precision: f64) -> f64 {
        match self {
            Self::Gaussian | Self::LogNormal => Normal.log_kernel(residual, precision),
            Self::AsymmetricLaplace { tau } => {
                let slope = if residual < 0.0 { tau - 1.0 } else { tau };
                -precision * residual * slope
            }
            Self::StudentT { nu } | Self::Robust { nu } => {
                -0.5 * (nu + 1.0) * (precision * residual * residual).ln_1p()
            }
            _ => unreachable!("no function of a residual"),
        }
    }

    fn is_best_sorted(self) -> bool {
        !matches!(self, Self::StudentT { .. } | Self::Robust { .. })
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

/// The normal score of a Student t residual, from the tail probability, which keeps its digits however far out it is.
fn student_score(residual: f64, nu: f64) -> f64 {
    let square = residual * residual;
    let tail = 0.5 * beta_cdf(nu / (nu + square), 0.5 * nu, 0.5);
    let score = -normal_quantile(tail.clamp(1e-15, 0.5));
    score.min(LARGEST_SCORE).copysign(residual)
}
