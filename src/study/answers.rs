//! The estimates of one fit that a study can measure: those of its draws, and its coefficients by method.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::StudyError;
use super::metrics::Interval;
use crate::posterior::{Check, Folder, Posterior, Trust};

/// A method of coefficients.csv.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The joint posterior, measured from the draws.
    Joint,
    Recommended,
    AsLinked,
    Huber,
    Mixture,
    KnownRate,
    RobustMixture,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Answer::Joint => "joint",
            Answer::Recommended => "recommended",
            Answer::AsLinked => "as_linked",
            Answer::Huber => "huber",
            Answer::Mixture => "mixture",
            Answer::KnownRate => "known_rate",
            Answer::RobustMixture => "robust_mixture",
        })
    }
}

/// trust.json, as far as a study keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrustRecord {
    /// What the recommended answer is made from.
    pub source: Option<String>,
    /// How much of it is the joint posterior.
    pub weight: Option<f64>,
    #[serde(default)]
    pub checks: Vec<TrustCheck>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrustCheck {
    pub name: String,
    /// None where the check was not possible.
    pub p_value: Option<f64>,
    pub passed: Option<bool>,
}

impl TrustRecord {
    pub fn of(trust: &Trust) -> TrustRecord {
        let check = |check: &Check| TrustCheck {
            name: check.name.name().into(),
            p_value: check.p_value,
            passed: check.passed,
        };
        TrustRecord {
            source: Some(trust.source.name().into()),
            weight: Some(trust.weight),
            checks: trust.checks.iter().map(check).collect(),
        }
    }
}

/// The estimates of `answer` with 90 % intervals, in the order of `names`.
pub fn intervals(
    fit: &Posterior,
    answer: Answer,
    names: &[String],
) -> Result<Vec<Interval>, StudyError> {
    let method = answer.to_string();
    let of = |name: &String| {
        let mut known = fit.coefficients.iter();
        let found = known.find(|c| c.method.name() == method && c.name == *name);
        let interval = found.map(|c| Interval {
            estimate: c.estimate,
            low: c.q5,
            high: c.q95,
        });
        interval.ok_or_else(|| StudyError::Answers {
            path: fit.folder.file(Folder::COEFFICIENTS),
            problem: format!("has no estimate `{answer}` of {name}"),
        })
    };
    names.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::config;
    use crate::posterior::{Aspect, Coefficient, Method};

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn fit() -> Posterior {
        let text = json!({
            "model": {"stan": "linear"},
            "data": {"file": "d.csv", "response": "y", "predictors": ["x"]},
        });
        let file = Path::new("/nowhere/config.json");
        let config = config::parse(&text.to_string(), file, &[]).unwrap();
        let mut fit = Posterior::of(Folder::new("/nowhere"), config, Vec::new());
        let coefficient = |name: &str, method, estimate: f64| Coefficient {
            name: name.into(),
            method,
            estimate,
            sd: 0.2,
            q5: estimate - 0.4,
            q95: estimate + 0.4,
        };
        fit.coefficients = vec![
            coefficient("educ", Method::Joint, 9.0),
            coefficient("educ", Method::Recommended, 2.5),
            coefficient("I(educ, 2)", Method::Recommended, -1.0),
        ];
        fit
    }

    #[test]
    fn an_answer_is_found_by_method_and_name() {
        let wanted = names(&["I(educ, 2)", "educ"]);
        let found = intervals(&fit(), Answer::Recommended, &wanted).unwrap();
        let interval = |estimate: f64| Interval {
            estimate,
            low: estimate - 0.4,
            high: estimate + 0.4,
        };
        assert_eq!(found, [interval(-1.0), interval(2.5)]);
    }

    #[test]
    fn what_is_missing_is_said_in_one_sentence() {
        let refused = |answer, name: &str| {
            let error = intervals(&fit(), answer, &names(&[name])).unwrap_err();
            error.to_string()
        };
        let sentence = refused(Answer::KnownRate, "educ");
        assert!(
            sentence.contains("coefficients.csv has no estimate `known_rate` of educ"),
            "{sentence}"
        );
        let sentence = refused(Answer::Recommended, "tenure");
        assert!(sentence.contains("`recommended` of tenure"), "{sentence}");
    }

    #[test]
    fn trust_is_kept_as_far_as_a_study_needs_it() {
        let check = |name, p_value: Option<f64>| Check {
            name,
            p_value,
            passed: p_value.map(|p| p > 0.03),
            decides: true,
            sentence: String::new(),
        };
        let trust = Trust {
            trusted: false,
            source: Method::AsLinked,
            weight: 0.25,
            checks: vec![
                check(Aspect::Spread, Some(0.001)),
                check(Aspect::Tails, None),
            ],
            sentence: "more than is kept".into(),
            rates: None,
            wrong_along: Vec::new(),
        };
        let kept = serde_json::to_value(TrustRecord::of(&trust)).unwrap();
        let expected = json!({"source": "as_linked", "weight": 0.25, "checks": [
            {"name": "spread", "p_value": 0.001, "passed": false},
            {"name": "tails", "p_value": null, "passed": null},
        ]});
        assert_eq!(kept, expected);
    }
}
