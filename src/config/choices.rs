//! The named choices of a config: family, prior on the permutation, and its update.
//!
//! Each is read through a struct of all its keys, because serde's tagged enums lose the path of a bad value
//! and let keys of another choice pass.

use schemars::JsonSchema;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

use crate::model::{Family, Source};
use crate::sampler::links::{RatePrior, Restart};

/// Where the numbers of the shipped programs' priors come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priors {
    /// Weak priors in the units of the file: slopes normal(0, 2.5 sd(y) / sd(x)), the intercept at the means of the
    /// predictors normal(mean(y), 2.5 sd(y)), the error variance half-normal with scale 2.5 var(y); on a log or log odds
    /// scale slopes normal(0, 2.5 / sd(x)).
    #[default]
    Scaled,
    /// The paper's: normal(0, sqrt(1000)) for coefficients and error scale, whatever the units; on a log scale
    /// normal(0, 5), for log odds normal(0, 2.5).
    Paper,
}

/// The prior on which links are wrong.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum Prior {
    /// No link is wrong with probability `no_error`; otherwise each row is mislinked with a probability that is itself
    /// Beta(a, b).
    BetaBinomial {
        /// First parameter of the Beta distribution, above 0.
        #[serde(default = "default_a")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        a: f64,
        /// Second parameter of the Beta distribution, above 0.
        #[serde(default = "default_b")]
        #[schemars(extend("exclusiveMinimum" = 0))]
        b: f64,
        /// Probability that the linkage made no error at all, before the data and before the audit: 0 or more, below 1.
        #[serde(default = "default_no_error")]
        #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
        no_error: f64,
        /// Links of the same kind that were checked by hand outside this file; they update `a`, `b` and `no_error` by
        /// Bayes' rule.
        #[serde(skip_serializing_if = "Option::is_none")]
        audit: Option<Audit>,
    },
    /// Each row is mislinked with the probability that its `data.match_probability` leaves, and the mislinked rows are
    /// linked among themselves in any way.
    MatchProbability,
    /// Every permutation that moves at most `max_moved` rows is equally likely.
    Uniform {
        /// The largest number of rows that may be moved: 0, or 2 and more (one row alone cannot move).
        max_moved: usize,
    },
    /// Weight exp(-theta * number of moved rows).
    Hamming {
        /// Penalty on the log scale for each moved row, 0 or more.
        #[schemars(range(min = 0))]
        theta: f64,
    },
}

impl Default for Prior {
    fn default() -> Self {
        Prior::BetaBinomial {
            a: default_a(),
            b: default_b(),
            no_error: default_no_error(),
            audit: None,
        }
    }
}

impl Prior {
    /// The prior of the mismatch rate, the audit counted in; only the beta-binomial has one.
    pub fn rate(self) -> Option<RatePrior> {
        let Prior::BetaBinomial {
            a,
            b,
            no_error,
            audit,
        } = self
        else {
            return None;
        };
        let rate = RatePrior { a, b, no_error };
        Some(match audit {
            Some(audit) => rate.after_audit(audit.checked, audit.wrong, audit.weight),
            None => rate,
        })
    }

    /// The prior of the mismatch rate as a grid of (rate, probability), the audit counted in: the rate 0, where it has a
    /// probability of its own, and 41 quantiles of the Beta distribution.
    pub fn rate_grid(self) -> Option<Vec<(f64, f64)>> {
        self.rate().map(RatePrior::grid)
    }

    /// As it is typed.
    pub(super) fn name(self) -> &'static str {
        match self {
            Prior::BetaBinomial { .. } => "beta_binomial",
            Prior::MatchProbability => "match_probability",
            Prior::Uniform { .. } => "uniform",
            Prior::Hamming { .. } => "hamming",
        }
    }
}

/// What a check of links by hand found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"checked\": 100, \"wrong\": 7}"
)]
pub struct Audit {
    /// Number of links that were checked, 1 or more.
    #[schemars(range(min = 1))]
    pub checked: usize,
    /// How many of them were wrong.
    pub wrong: usize,
    /// How much a checked link counts: 1 for links of the same linkage, less for links that are only similar.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub weight: f64,
}

/// How the links are updated in each iteration.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
#[serde(tag = "name", rename_all = "snake_case", deny_unknown_fields)]
pub enum Update {
    /// Sample the links, working mostly on the rows that look mislinked.
    #[default]
    ActiveSet,
    /// Sample the links by random swaps of two rows, as in the paper.
    Checkerboard {
        /// Number of proposals in each iteration; left out, it is chosen from the number of rows.
        #[serde(default)]
        steps: Option<usize>,
        /// Where the swaps of each iteration start.
        #[serde(default)]
        restart: Restart,
    },
    /// Take the most probable links in each iteration (Monte Carlo EM).
    Mode,
    /// Keep every link as it is: a plain Stan fit.
    None,
}

/// Whether the responses of moved rows inform the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// A moved row informs the parameters at its new place: the joint posterior of parameters and links.
    #[default]
    Full,
    /// A row informs the parameters only while its link stays; a moved row has the marginal law of all responses (the row
    /// mixture), and its links are drawn given the parameters.
    None,
}

fn one() -> f64 {
    1.0
}

/// Beta(1, 9): a tenth of the links is expected to be wrong where any is, and fewer are likelier than more.
fn default_a() -> f64 {
    1.0
}

fn default_b() -> f64 {
    9.0
}

fn default_no_error() -> f64 {
    0.5
}

fn needed<T, E: Error>(value: Option<T>, key: &'static str) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(key))
}

/// Refuses keys of another choice: `keys` are all keys and whether each was given, `own` those of this choice.
fn refuse_others<E: Error>(choice: &str, keys: &[(&str, bool)], own: &[&str]) -> Result<(), E> {
    let is_other = |(key, given): &&(&str, bool)| *given && !own.contains(key);
    match keys.iter().find(is_other) {
        Some((key, _)) => Err(E::custom(format!(
            "`{choice}` has no `{key}`; remove `{key}` or choose another name"
        ))),
        None => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"name\": \"gaussian\"}"
)]
struct FamilyAsTyped {
    name: FamilyName,
    tau: Option<f64>,
    nu: Option<f64>,
}

/// Fails where the name stands, so that the error has its path.
struct FamilyName(Family);

impl<'de> Deserialize<'de> for FamilyName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Family::from_name(&name, Family::typed_name).map(FamilyName)
    }
}

impl<'de> Deserialize<'de> for Family {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let FamilyAsTyped { name, tau, nu } = FamilyAsTyped::deserialize(deserializer)?;
        let FamilyName(family) = name;
        let keys = [("tau", tau.is_some()), ("nu", nu.is_some())];
        let own = family.parameter_of(Source::Config).map(|p| p.name);
        refuse_others(family.name(), &keys, own.as_slice())?;
        match own {
            None => Ok(family),
            Some(key) => needed(tau.or(nu), key).map(|value| family.with_parameter(value)),
        }
    }
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"name\": \"beta_binomial\"}"
)]
struct PriorAsTyped {
    name: PriorName,
    a: Option<f64>,
    b: Option<f64>,
    no_error: Option<f64>,
    audit: Option<Audit>,
    max_moved: Option<usize>,
    theta: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum PriorName {
    BetaBinomial,
    MatchProbability,
    Uniform,
    Hamming,
}

impl<'de> Deserialize<'de> for Prior {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let typed = PriorAsTyped::deserialize(deserializer)?;
        let keys = [
            ("a", typed.a.is_some()),
            ("b", typed.b.is_some()),
            ("no_error", typed.no_error.is_some()),
            ("audit", typed.audit.is_some()),
            ("max_moved", typed.max_moved.is_some()),
            ("theta", typed.theta.is_some()),
        ];
        let only = |choice, own: &[&str]| refuse_others(choice, &keys, own);
        match typed.name {
            PriorName::BetaBinomial => {
                only("beta_binomial", &["a", "b", "no_error", "audit"])?;
                Ok(Prior::BetaBinomial {
                    a: typed.a.unwrap_or_else(default_a),
                    b: typed.b.unwrap_or_else(default_b),
                    no_error: typed.no_error.unwrap_or_else(default_no_error),
                    audit: typed.audit,
                })
            }
            PriorName::MatchProbability => {
                only("match_probability", &[]).map(|()| Prior::MatchProbability)
            }
            PriorName::Uniform => {
                only("uniform", &["max_moved"])?;
                let max_moved = needed(typed.max_moved, "max_moved")?;
                Ok(Prior::Uniform { max_moved })
            }
            PriorName::Hamming => {
                only("hamming", &["theta"])?;
                let theta = needed(typed.theta, "theta")?;
                Ok(Prior::Hamming { theta })
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"name\": \"active_set\"}"
)]
struct UpdateAsTyped {
    name: UpdateName,
    steps: Option<usize>,
    restart: Option<Restart>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum UpdateName {
    ActiveSet,
    Checkerboard,
    Mode,
    None,
}

impl<'de> Deserialize<'de> for Update {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let UpdateAsTyped {
            name,
            steps,
            restart,
        } = UpdateAsTyped::deserialize(deserializer)?;
        let keys = [("steps", steps.is_some()), ("restart", restart.is_some())];
        match name {
            UpdateName::ActiveSet => {
                refuse_others("active_set", &keys, &[]).map(|()| Update::ActiveSet)
            }
            UpdateName::Checkerboard => Ok(Update::Checkerboard {
                steps,
                restart: restart.unwrap_or_default(),
            }),
            UpdateName::Mode => refuse_others("mode", &keys, &[]).map(|()| Update::Mode),
            UpdateName::None => refuse_others("none", &keys, &[]).map(|()| Update::None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, to_string};

    #[test]
    fn families_read_and_write() {
        for (text, family) in [
            (r#"{"name":"gaussian"}"#, Family::Gaussian),
            (
                r#"{"name":"asymmetric_laplace","tau":0.9}"#,
                Family::AsymmetricLaplace { tau: 0.9 },
            ),
            (
                r#"{"name":"student_t","nu":4.0}"#,
                Family::StudentT { nu: 4.0 },
            ),
            (r#"{"name":"robust"}"#, Family::Robust { nu: 4.0 }),
            (r#"{"name":"stan"}"#, Family::Stan),
        ] {
            assert_eq!(from_str::<Family>(text).unwrap(), family);
            assert_eq!(to_string(&family).unwrap(), text);
        }
    }

    #[test]
    fn priors_read_and_write() {
        let default = from_str::<Prior>(r#"{"name":"beta_binomial"}"#).unwrap();
        assert_eq!(default, Prior::default());
        for (text, prior) in [
            (
                r#"{"name":"beta_binomial","a":2.0,"b":1.0,"no_error":0.0}"#,
                Prior::BetaBinomial {
                    a: 2.0,
                    b: 1.0,
                    no_error: 0.0,
                    audit: None,
                },
            ),
            (
                r#"{"name":"beta_binomial","a":1.0,"b":1.0,"no_error":0.5,"audit":{"checked":100,"wrong":7,"weight":0.25}}"#,
                Prior::BetaBinomial {
                    a: 1.0,
                    b: 1.0,
                    no_error: 0.5,
                    audit: Some(Audit {
                        checked: 100,
                        wrong: 7,
                        weight: 0.25,
                    }),
                },
            ),
            (r#"{"name":"match_probability"}"#, Prior::MatchProbability),
            (
                r#"{"name":"uniform","max_moved":10}"#,
                Prior::Uniform { max_moved: 10 },
            ),
            (
                r#"{"name":"hamming","theta":3.0}"#,
                Prior::Hamming { theta: 3.0 },
            ),
        ] {
            assert_eq!(from_str::<Prior>(text).unwrap(), prior);
            assert_eq!(to_string(&prior).unwrap(), text);
        }
    }

    #[test]
    fn an_audit_counts_as_rows_seen_before() {
        let rate = |text: &str| from_str::<Prior>(text).unwrap().rate();
        let with = |a, b, no_error| Some(RatePrior { a, b, no_error });
        assert_eq!(
            rate(r#"{"name":"beta_binomial","a":0.5,"b":2,"audit":{"checked":100,"wrong":7}}"#),
            with(7.5, 95.0, 0.0)
        );
        assert_eq!(
            rate(r#"{"name":"beta_binomial","audit":{"checked":100,"wrong":8,"weight":0.5}}"#),
            with(5.0, 55.0, 0.0)
        );
        // Beta(1, 9) gives none wrong of 27 the probability 9 / 36: odds of one to one become four to one.
        let none_wrong = r#"{"name":"beta_binomial","audit":{"checked":27,"wrong":0}}"#;
        let found = rate(none_wrong).unwrap();
        assert_eq!((found.a, found.b), (1.0, 36.0));
        assert!((found.no_error - 0.8).abs() < 1e-12);
        assert_eq!(
            rate(r#"{"name":"beta_binomial","a":0.5}"#),
            with(0.5, 9.0, 0.5)
        );
        assert_eq!(rate(r#"{"name":"hamming","theta":1}"#), None);
        let grid = Prior::default().rate_grid().unwrap();
        assert_eq!((grid[0], grid.len()), ((0.0, 0.5), 42));
        assert_eq!(Prior::MatchProbability.rate_grid(), None);
    }

    #[test]
    fn updates_read_and_write() {
        let exact = Update::Checkerboard {
            steps: None,
            restart: Restart::Current,
        };
        assert_eq!(
            from_str::<Update>(r#"{"name":"checkerboard"}"#).unwrap(),
            exact
        );
        let paper = Update::Checkerboard {
            steps: Some(2500),
            restart: Restart::Mode,
        };
        for (text, update) in [
            (r#"{"name":"active_set"}"#, Update::ActiveSet),
            (
                r#"{"name":"checkerboard","steps":2500,"restart":"mode"}"#,
                paper,
            ),
            (r#"{"name":"mode"}"#, Update::Mode),
            (r#"{"name":"none"}"#, Update::None),
        ] {
            assert_eq!(from_str::<Update>(text).unwrap(), update);
            assert_eq!(to_string(&update).unwrap(), text);
        }
    }
}
