//! The estimates of one fit that a study can measure: those of its draws, and those of its coefficients.csv.

use std::fmt;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::StudyError;
use super::metrics::Interval;

/// Estimates by coefficient and method, which a fit leaves in its folder.
const COEFFICIENTS: &str = "coefficients.csv";
/// Which checks the fit passed, and where its recommended answer comes from.
const TRUST: &str = "trust.json";

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
        })
    }
}

/// trust.json, as far as a study keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trust {
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

impl Trust {
    /// None where the fit left no such file.
    pub fn read(fit: &Path) -> Result<Option<Trust>, StudyError> {
        let path = fit.join(TRUST);
        let Ok(text) = fs::read_to_string(&path) else {
            return Ok(None);
        };
        let trust = serde_json::from_str(&text).map_err(|error| StudyError::Answers {
            path,
            problem: format!("is not as expected: {error}"),
        })?;
        Ok(Some(trust))
    }
}

/// The estimates of `answer` with 90 % intervals, in the order of `names`.
pub fn read_answer(
    fit: &Path,
    answer: Answer,
    names: &[String],
) -> Result<Vec<Interval>, StudyError> {
    let path = fit.join(COEFFICIENTS);
    let problem = |problem: String| StudyError::Answers {
        path: path.clone(),
        problem,
    };
    let mut reader = csv::Reader::from_path(&path).map_err(|error| {
        problem(format!(
            "cannot be read ({error}), so there is no `{answer}`"
        ))
    })?;
    let lines: Result<Vec<Line>, _> = reader.deserialize().collect();
    let lines = lines.map_err(|error| problem(format!("is not as expected: {error}")))?;
    let method = answer.to_string();
    let of = |name: &String| {
        let line = lines.iter().find(|l| l.method == method && l.name == *name);
        let interval = line.map(|line| Interval {
            estimate: line.estimate,
            low: line.low,
            high: line.high,
        });
        interval.ok_or_else(|| problem(format!("has no estimate `{answer}` of {name}")))
    };
    names.iter().map(of).collect()
}

#[derive(Deserialize)]
struct Line {
    name: String,
    method: String,
    estimate: f64,
    #[serde(rename = "5%")]
    low: f64,
    #[serde(rename = "95%")]
    high: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name,method,estimate,sd,5%,95%\n\
        (Intercept),recommended,1.5,0.1,1.3,1.7\n\
        educ,joint,9,0.1,8,10\n\
        educ,recommended,2.5,0.2,2.1,2.9\n\
        \"I(educ, 2)\",recommended,-1,0.2,-1.4,-0.6\n";

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn an_answer_is_read_by_method_and_name() {
        let fit = tempfile::tempdir().unwrap();
        fs::write(fit.path().join(COEFFICIENTS), TEXT).unwrap();
        let wanted = names(&["I(educ, 2)", "educ"]);
        let found = read_answer(fit.path(), Answer::Recommended, &wanted).unwrap();
        let interval = |estimate, low, high| Interval {
            estimate,
            low,
            high,
        };
        assert_eq!(found, [interval(-1.0, -1.4, -0.6), interval(2.5, 2.1, 2.9)]);
    }

    #[test]
    fn what_is_missing_is_said_in_one_sentence() {
        let fit = tempfile::tempdir().unwrap();
        let refused = |answer, name: &str| {
            let error = read_answer(fit.path(), answer, &names(&[name])).unwrap_err();
            error.to_string()
        };
        let sentence = refused(Answer::Recommended, "educ");
        assert!(
            sentence.contains("coefficients.csv cannot be read")
                && sentence.contains("no `recommended`"),
            "{sentence}"
        );
        fs::write(fit.path().join(COEFFICIENTS), TEXT).unwrap();
        let sentence = refused(Answer::KnownRate, "educ");
        assert!(
            sentence.contains("coefficients.csv has no estimate `known_rate` of educ"),
            "{sentence}"
        );
        let sentence = refused(Answer::Recommended, "tenure");
        assert!(sentence.contains("`recommended` of tenure"), "{sentence}");
        fs::write(fit.path().join(COEFFICIENTS), TEXT.replace("2.5", "much")).unwrap();
        let sentence = refused(Answer::Recommended, "educ");
        assert!(sentence.contains("is not as expected"), "{sentence}");
    }

    #[test]
    fn trust_is_read_where_it_is() {
        let fit = tempfile::tempdir().unwrap();
        assert_eq!(Trust::read(fit.path()).unwrap(), None);
        let text = r#"{"source": "as_linked", "weight": 0.25, "sentence": "more than is kept",
            "checks": [{"name": "spread", "p_value": 0.001, "passed": false, "sentence": "."},
                       {"name": "tails", "p_value": null, "passed": null}]}"#;
        fs::write(fit.path().join(TRUST), text).unwrap();
        let trust = Trust::read(fit.path()).unwrap().unwrap();
        assert_eq!(trust.source.as_deref(), Some("as_linked"));
        assert_eq!(trust.weight, Some(0.25));
        assert_eq!(trust.checks[0].passed, Some(false));
        assert_eq!(trust.checks[1].p_value, None);
        fs::write(fit.path().join(TRUST), "{").unwrap();
        assert!(Trust::read(fit.path()).is_err());
    }
}
