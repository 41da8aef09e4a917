//! What a check says, in one sentence.

use crate::posterior::{Aspect, Check};

/// A check fails at this p-value. The p-values are conservative: of data that follow the model, about one fit in 25 fails
/// one of the checks that decide.
pub const LEVEL: f64 = 0.03;

impl Check {
    pub(super) fn from_p_value(name: Aspect, p_value: Option<f64>) -> Check {
        let passed = p_value.map(|p| p > LEVEL);
        Check {
            name,
            p_value,
            passed,
            decides: name.decides(),
            sentence: match (passed, p_value) {
                (Some(false), Some(p)) => format!("{} (p = {}).", name.contradicted(), p_text(p)),
                (Some(true), Some(p)) => format!("{} (p = {}).", name.holds(), p_text(p)),
                _ => format!("Not checked: {}.", name.not_possible()),
            },
        }
    }

    pub(super) fn of_fact(name: Aspect, passed: bool, sentence: String) -> Check {
        Check {
            name,
            p_value: None,
            passed: Some(passed),
            decides: true,
            sentence,
        }
    }
}

fn p_text(p: f64) -> String {
    if p < 0.0995 {
        format!("{p:.3}")
    } else {
        format!("{p:.2}")
    }
}

impl Aspect {
    /// Curvature is a fault of the regression with any links: it is reported, and does not speak against the links.
    fn decides(self) -> bool {
        self != Aspect::Curvature
    }

    fn contradicted(self) -> &'static str {
        match self {
            Aspect::WrongByPredictors => {
                "Rows that look wrongly linked are not spread at random over the predictors, as rows with wrong links would be"
            }
            Aspect::ResponsesOfWrong => {
                "Responses of rows that look wrongly linked still follow the predictors beside them, which those of wrong links would not"
            }
            Aspect::Spread => {
                "Rows whose links stay do not have one spread: it changes with the predictors"
            }
            Aspect::Curvature => {
                "Rows whose links stay follow a curve; consider a further term such as I(x^2) in the formula"
            }
            Aspect::Tails => {
                "Rows whose links stay have other tails than the likelihood, so outliers may pass for wrong links"
            }
            Aspect::Effect => {
                "The coefficients are not what this share of wrong links would lead to"
            }
            Aspect::Rate
            | Aspect::Evidence
            | Aspect::Agreement
            | Aspect::Convergence
            | Aspect::Information => "",
        }
    }

    fn holds(self) -> &'static str {
        match self {
            Aspect::WrongByPredictors => {
                "Rows that look wrongly linked are spread over the predictors as rows with wrong links would be"
            }
            Aspect::ResponsesOfWrong => {
                "Responses of rows that look wrongly linked do not follow the predictors beside them"
            }
            Aspect::Spread => "Rows whose links stay have one spread",
            Aspect::Curvature => "Rows whose links stay show no curve",
            Aspect::Tails => "Rows whose links stay have the tails of the likelihood",
            Aspect::Effect => "The coefficients are what this share of wrong links would lead to",
            Aspect::Rate
            | Aspect::Evidence
            | Aspect::Agreement
            | Aspect::Convergence
            | Aspect::Information => "",
        }
    }

    fn not_possible(self) -> &'static str {
        match self {
            Aspect::WrongByPredictors | Aspect::ResponsesOfWrong => {
                "no row can be linked elsewhere, or the predictors do not vary"
            }
            Aspect::Spread | Aspect::Curvature | Aspect::Tails => {
                "residuals of the rows that stay need a likelihood that unshuffle knows, with a spread"
            }
            Aspect::Effect => {
                "the effect of wrong links on the coefficients is known for means of one response, rows with one rate and a coefficient for each predictor"
            }
            Aspect::Rate
            | Aspect::Evidence
            | Aspect::Agreement
            | Aspect::Convergence
            | Aspect::Information => "",
        }
    }
}
