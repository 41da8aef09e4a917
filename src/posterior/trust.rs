//! Whether the model behind the links of a fit can be trusted (trust.json): checks, and what the recommended coefficients are.

use serde::{Deserialize, Serialize};

use super::Method;
use super::diagnostics::Finding;
use crate::numerics::Bin;

/// trust.json: the checks, and what the recommended coefficients are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// No check that decides has failed, or those that have are overruled.
    pub trusted: bool,
    /// What `recommended` has in coefficients.csv.
    pub source: Method,
    /// The weight of the joint posterior in the recommended coefficients.
    pub weight: f64,
    /// Every check, those that could not be made included.
    pub checks: Vec<Check>,
    /// What contradicts the model, the first of them where there are several, or why the joint posterior is recommended all
    /// the same; empty where nothing does.
    pub sentence: String,
    /// The rates of wrong links that the recommended coefficients rest on; None where every link was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<Rates>,
    /// P(moved) along the predictors, for the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong_along: Vec<WrongAlong>,
}

/// The mean of P(moved) in bins of a predictor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WrongAlong {
    /// The column of X.
    pub name: String,
    /// Those of at least ten rows.
    pub bins: Vec<Bin>,
}

/// Rates of wrong links, among the rows that can move, by several accounts of the file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Of the joint posterior: the mean share of moved rows.
    pub joint: f64,
    /// Of the rival explanation, whose errors may have tails, skewness and a changing spread; None where there is no rival.
    pub rival: Option<f64>,
    /// By how much the model with wrong links explains the file better than any explanation without: a difference of log
    /// likelihoods, each less its number of parameters. None where there is no rival.
    pub evidence: Option<f64>,
    /// At which the fallback corrects the coefficients, where the checks fail and no audit knows the rate.
    pub believed: f64,
}

impl Trust {
    /// For the list of what is wrong with a fit.
    pub fn finding(&self) -> Option<Finding> {
        let objection = self.objection()?;
        let sentence = format!("{objection}. {}", self.sentence);
        Some(Finding::Contradicted(sentence))
    }

    /// What stands against the joint posterior, before `sentence` gives the reason; None where it is recommended.
    pub fn objection(&self) -> Option<&'static str> {
        if self.trusted {
            return None;
        }
        let mut failed = self
            .checks
            .iter()
            .filter(|check| check.decides && check.has_failed());
        Some(match failed.next().map(|check| check.name) {
            Some(Aspect::Evidence | Aspect::Information) => {
                "This file cannot tell whether links are wrong"
            }
            Some(Aspect::Convergence) => "The chains have not found the same answer",
            _ => "This file contradicts the model behind the links",
        })
    }
}

/// One check of a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What the check looks at.
    pub name: Aspect,
    /// None for checks that are no tests, and for those that could not be made.
    pub p_value: Option<f64>,
    /// None where the check could not be made.
    pub passed: Option<bool>,
    /// Whether the joint posterior is not recommended where this check fails.
    pub decides: bool,
    /// What it found, in one sentence.
    pub sentence: String,
}

impl Check {
    /// Whether the check was made and failed.
    pub fn has_failed(&self) -> bool {
        self.passed == Some(false)
    }

    /// How it ended, in a word or two.
    pub fn result(&self) -> &'static str {
        match (self.passed, self.name) {
            (None, _) => "not checked",
            (Some(true), _) => "holds",
            (Some(false), Aspect::Evidence | Aspect::Information) => "cannot tell",
            (Some(false), Aspect::Convergence) => "not converged",
            (Some(false), _) => "contradicted",
        }
    }
}

/// What a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// P(wrong) does not depend on the predictors.
    WrongByPredictors,
    /// Responses of wrong rows do not depend on the predictors beside them.
    ResponsesOfWrong,
    /// Rows that stay have one spread.
    Spread,
    /// Rows that stay follow a straight line.
    Curvature,
    /// Rows that stay have the tails of the likelihood.
    Tails,
    /// The joint posterior agrees with the estimate that only needs the rate.
    Effect,
    /// The rate found is one that the method is made for.
    Rate,
    /// Wrong links explain the file better than anything else would.
    Evidence,
    /// The coefficients are those of a mixture that relies on no particular error law.
    Agreement,
    /// The chains agree.
    Convergence,
    /// The responses can tell which links are wrong.
    Information,
}

impl Aspect {
    /// The name in trust.json.
    pub fn name(self) -> &'static str {
        match self {
            Aspect::WrongByPredictors => "wrong_by_predictors",
            Aspect::ResponsesOfWrong => "responses_of_wrong",
            Aspect::Spread => "spread",
            Aspect::Curvature => "curvature",
            Aspect::Tails => "tails",
            Aspect::Effect => "effect",
            Aspect::Rate => "rate",
            Aspect::Evidence => "evidence",
            Aspect::Agreement => "agreement",
            Aspect::Convergence => "convergence",
            Aspect::Information => "information",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_model_that_is_not_trusted_is_a_finding() {
        let mut trust = Trust {
            trusted: true,
            source: Method::Joint,
            weight: 1.0,
            checks: Vec::new(),
            sentence: "Errors are no normal ones.".into(),
            rates: None,
            wrong_along: Vec::new(),
        };
        assert_eq!(trust.finding(), None);
        trust.trusted = false;
        let finding = trust.finding().unwrap();
        assert!(finding.is_problem());
        assert!(finding.to_string().contains(&trust.sentence), "{finding}");
    }

    #[test]
    fn a_file_that_cannot_tell_contradicts_nothing() {
        let check = |name: Aspect, decides: bool| Check {
            name,
            p_value: None,
            passed: Some(false),
            decides,
            sentence: String::new(),
        };
        let objection = |checks: Vec<Check>| {
            let trust = Trust {
                trusted: false,
                source: Method::AsLinked,
                weight: 0.0,
                checks,
                sentence: String::new(),
                rates: None,
                wrong_along: Vec::new(),
            };
            trust.objection().unwrap()
        };
        let information = || check(Aspect::Information, true);
        assert!(objection(vec![information()]).contains("cannot tell"));
        let curved = check(Aspect::Curvature, false);
        assert!(objection(vec![curved, information()]).contains("cannot tell"));
        let tails = check(Aspect::Tails, true);
        assert!(objection(vec![tails, information()]).contains("contradicts"));
        let chains = check(Aspect::Convergence, true);
        assert!(objection(vec![chains]).contains("chains"));
        assert_eq!(information().result(), "cannot tell");
        assert_eq!(check(Aspect::Tails, true).result(), "contradicted");
    }
}
