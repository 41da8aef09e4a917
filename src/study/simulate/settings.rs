//! A regression to simulate, as a person names it: on the command line of `simulate`, or in the `data` of a study.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::{Deserialize, Serialize};

use super::{Design, Links, SimulateError, Times};
use crate::model::{Family, TimeLaw};

/// Keys of a study's `data`, and options of `simulate`; what is left out has the default of its design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"design\": \"paper\", \"n\": 100}"
)]
pub struct Settings {
    pub design: DesignName,
    pub n: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predictors: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_scale: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intercept: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// Instead of sigma: the share of the variance of right responses that the predictors explain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r2: Option<f64>,
    /// The family of the responses, with the default of its parameter.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "errors_name")]
    pub errors: Option<Family>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tau: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nu: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phi: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mislinked: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<usize>,
    /// Of `simulate` alone: the oracle of a study needs every response.
    #[serde(skip)]
    pub outside: Option<f64>,
    /// Of `simulate` alone: times until an event in place of responses.
    #[serde(skip)]
    pub times: Option<TimesName>,
    /// The share of the times that are censored.
    #[serde(skip)]
    pub censored: Option<f64>,
}

/// The law of times, as `--times` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum TimesName {
    /// Shape --shape, whose event has come by exp(x'beta) with probability 1 - 1/e
    Weibull,
    /// Median exp(x'beta), whose logarithm has the standard deviation --sigma
    LogNormal,
}

/// The shape of Weibull times where none is given: the hazard grows with time.
const DEFAULT_TIME_SHAPE: f64 = 1.5;
/// The share of censored times where none is given.
const DEFAULT_CENSORED: f64 = 0.2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DesignName {
    /// 20 predictors, six reversed rows and a copied one
    Paper,
    /// Any size, errors and wrong links
    General,
}

/// The families that can be simulated.
static SIMULATED: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let all = Family::ALL.into_iter();
    all.filter(|family| family.errors_name().is_some())
        .collect()
});

/// The values of `--errors`.
impl ValueEnum for Family {
    fn value_variants<'a>() -> &'a [Family] {
        &SIMULATED
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = self.facts().errors?;
        let value = PossibleValue::new(name);
        Some(match help {
            "" => value,
            help => value.help(help),
        })
    }
}

/// A family in a study, as `--errors` names it.
pub(crate) mod errors_name {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::model::Family;

    pub fn serialize<S: Serializer>(
        family: &Option<Family>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        family.and_then(Family::errors_name).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Family>, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        let named = name.map(|name| Family::from_name(&name, Family::errors_name));
        named.transpose()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Any rows
    Random,
    /// Neighbours in the file
    Adjacent,
    /// Rows of the same block
    Blocks,
}

/// The fraction of mislinked rows where none is given.
pub const DEFAULT_MISLINKED: f64 = 0.1;

impl Settings {
    /// Nothing but the size.
    pub fn new(design: DesignName, num_rows: usize) -> Settings {
        Settings {
            design,
            n: num_rows,
            predictors: None,
            x_scale: None,
            beta: None,
            intercept: None,
            sigma: None,
            r2: None,
            errors: None,
            tau: None,
            nu: None,
            phi: None,
            shape: None,
            mislinked: None,
            kind: None,
            blocks: None,
            outside: None,
            times: None,
            censored: None,
        }
    }

    pub fn design(&self) -> Result<Design, SimulateError> {
        self.refuse_what_does_not_apply()?;
        self.refuse_what_does_not_fit_into_memory()?;
        let mut design = Design::paper(self.n);
        if self.design == DesignName::General {
            let fraction = self.mislinked.unwrap_or(DEFAULT_MISLINKED);
            design = Design {
                num_predictors: needed(self.predictors, "--predictors, their number")?,
                x_scale: 1.0,
                beta: self.beta.unwrap_or(1.0),
                intercept: self.intercept,
                sigma: 1.0,
                links: match self.kind.unwrap_or(Kind::Random) {
                    Kind::Random => Links::Random { fraction },
                    Kind::Adjacent => Links::Adjacent { fraction },
                    Kind::Blocks => Links::Blocks {
                        fraction,
                        num_blocks: needed(self.blocks, "--blocks, their number")?,
                    },
                },
                outside: self.outside.unwrap_or(0.0),
                ..design
            };
        }
        design.errors = self.errors.unwrap_or(Family::Gaussian);
        if let Some(parameter) = design.errors.facts().parameter {
            let value = self.parameter(parameter.name).unwrap_or(parameter.value);
            design.errors = design.errors.with_parameter(value);
        }
        if self.times.is_some() {
            // The logarithm of a time is linear.
            design.errors = Family::LogNormal;
        }
        // A log or log odds of the mean must stay small; with a beta of 1 these are the standard deviations of x'beta.
        let spread = match design.errors {
            Family::Logistic => Some(3.0),
            _ => design.has_log_link().then_some(1.0),
        };
        if let Some(spread) = spread {
            design.x_scale = spread / (design.num_predictors.max(1) as f64).sqrt();
        }
        design.x_scale = self.x_scale.unwrap_or(design.x_scale);
        if self.sigma.is_some() && !design.errors.facts().is_additive {
            let additive = Family::ALL
                .iter()
                .filter(|family| family.facts().is_additive);
            let names: Vec<&str> = additive.filter_map(|family| family.errors_name()).collect();
            let (last, others) = names.split_last().expect("normal is one");
            return Err(SimulateError::NeedsOther {
                option: "--sigma".into(),
                other: format!("--errors {} or {last}", others.join(", ")),
            });
        }
        design.sigma = match self.r2 {
            None => self.sigma.unwrap_or(design.sigma),
            Some(r2) => sigma_for(r2, &design)?,
        };
        design.times = self.times.map(|name| Times {
            law: match name {
                TimesName::Weibull => TimeLaw::Weibull {
                    shape: self.shape.unwrap_or(DEFAULT_TIME_SHAPE),
                },
                TimesName::LogNormal => TimeLaw::LogNormal {
                    sigma: design.sigma,
                },
            },
            censored: self.censored.unwrap_or(DEFAULT_CENSORED),
        });
        Ok(design)
    }

    /// The value of a family's parameter, where it is given.
    fn parameter(&self, name: &str) -> Option<f64> {
        match name {
            "tau" => self.tau,
            "nu" => self.nu,
            "phi" => self.phi,
            "shape" => self.shape,
            _ => None,
        }
    }

    fn refuse_what_does_not_fit_into_memory(&self) -> Result<(), SimulateError> {
        const MOST: usize = 100_000_000;
        let num_predictors = self.predictors.unwrap_or(1).max(1);
        for (option, value, most) in [
            ("--predictors", num_predictors, MOST),
            ("--n", self.n, MOST / num_predictors.min(MOST)),
            ("--blocks", self.blocks.unwrap_or(0), MOST),
        ] {
            if value > most {
                return Err(SimulateError::OutOfRange {
                    option: option.into(),
                    value: value as f64,
                    rule: "rows times predictors can be at most 100000000",
                });
            }
        }
        Ok(())
    }

    /// An option that a design would ignore is a mistake.
    fn refuse_what_does_not_apply(&self) -> Result<(), SimulateError> {
        let general_only = [
            ("--predictors", self.predictors.is_some()),
            ("--beta", self.beta.is_some()),
            ("--intercept", self.intercept.is_some()),
            ("--mislinked", self.mislinked.is_some()),
            ("--kind", self.kind.is_some()),
            ("--blocks", self.blocks.is_some()),
            ("--outside", self.outside.is_some()),
            ("--times", self.times.is_some()),
            ("--censored", self.censored.is_some()),
        ];
        if let Some((option, _)) = general_only.iter().find(|(_, given)| *given)
            && self.design == DesignName::Paper
        {
            return Err(SimulateError::DoesNotApply {
                option,
                design: "paper",
            });
        }
        self.refuse_beside_times()?;
        for family in Family::ALL {
            let Some((errors, parameter)) = family.errors_name().zip(family.facts().parameter)
            else {
                continue;
            };
            let is_other = self.errors.map(Family::errors_name) != Some(Some(errors));
            let is_of_times = parameter.name == "shape" && self.times.is_some();
            if self.parameter(parameter.name).is_some() && is_other && !is_of_times {
                return Err(SimulateError::NeedsOther {
                    option: format!("--{}", parameter.name),
                    other: format!("--errors {errors}"),
                });
            }
        }
        if self.outside.is_some() && self.kind == Some(Kind::Adjacent) {
            return Err(SimulateError::NeedsOther {
                option: "--outside".into(),
                other: "--kind random or blocks".into(),
            });
        }
        if self.blocks.is_some() && self.kind != Some(Kind::Blocks) {
            return Err(SimulateError::NeedsOther {
                option: "--blocks".into(),
                other: "--kind blocks".into(),
            });
        }
        if self.r2.is_some() && self.sigma.is_some() {
            return Err(SimulateError::SigmaTwice);
        }
        Ok(())
    }

    /// Times have laws of their own, and their responses come in pairs.
    fn refuse_beside_times(&self) -> Result<(), SimulateError> {
        let Some(times) = self.times else {
            return match self.censored {
                None => Ok(()),
                Some(_) => Err(SimulateError::NeedsOther {
                    option: "--censored".into(),
                    other: "--times".into(),
                }),
            };
        };
        let others = [
            ("--errors", self.errors.is_some()),
            ("--r2", self.r2.is_some()),
            ("--tau", self.tau.is_some()),
            ("--nu", self.nu.is_some()),
            ("--phi", self.phi.is_some()),
            ("--outside", self.outside.is_some()),
            (
                "--sigma",
                self.sigma.is_some() && times == TimesName::Weibull,
            ),
            (
                "--shape",
                self.shape.is_some() && times == TimesName::LogNormal,
            ),
        ];
        match others.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(SimulateError::BesideTimes {
                option,
                times: match times {
                    TimesName::Weibull => "weibull",
                    TimesName::LogNormal => "log_normal",
                },
            }),
        }
    }
}

/// The sigma of normal errors at which the predictors explain `r2` of the variance.
fn sigma_for(r2: f64, design: &Design) -> Result<f64, SimulateError> {
    if !(r2 > 0.0 && r2 <= 1.0) {
        return Err(SimulateError::OutOfRange {
            option: "--r2".into(),
            value: r2,
            rule: "it must be above 0 and at most 1",
        });
    }
    if design.errors != Family::Gaussian {
        return Err(SimulateError::NeedsOther {
            option: "--r2".into(),
            other: "--errors normal".into(),
        });
    }
    let explained = (design.num_predictors as f64).sqrt() * design.x_scale * design.beta.abs();
    Ok(explained * ((1.0 - r2) / r2).sqrt())
}

pub(crate) fn needed<T>(value: Option<T>, what: &'static str) -> Result<T, SimulateError> {
    value.ok_or(SimulateError::Needs { what })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::simulate::simulate;

    #[test]
    fn r2_is_the_share_of_variance_that_the_predictors_explain() {
        let settings = Settings {
            predictors: Some(4),
            x_scale: Some(3.0),
            beta: Some(-2.0),
            r2: Some(0.8),
            mislinked: Some(0.0),
            ..Settings::new(DesignName::General, 20_000)
        };
        let data = simulate(&settings.design().unwrap(), 1).unwrap();
        let explained: Vec<f64> = data.x.rows().into_iter().map(|x| -2.0 * x.sum()).collect();
        let variance = |values: &[f64]| crate::numerics::sd(values).unwrap().powi(2);
        let share = variance(&explained) / variance(&data.y);
        assert!((share - 0.8).abs() < 0.02, "{share}");
    }

    #[test]
    fn what_does_not_apply_is_refused() {
        let paper = Settings {
            mislinked: Some(0.2),
            ..Settings::new(DesignName::Paper, 100)
        };
        assert_eq!(
            paper.design().unwrap_err().to_string(),
            "--mislinked does not apply to --design paper; remove it"
        );
        let twice = Settings {
            r2: Some(0.5),
            sigma: Some(1.0),
            ..Settings::new(DesignName::Paper, 100)
        };
        assert!(matches!(twice.design(), Err(SimulateError::SigmaTwice)));
    }
}
