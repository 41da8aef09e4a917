//! Which values the response of a model can have, and how x'beta becomes their mean.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Family, Model, ModelSource};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseKind {
    /// Any number, with mean x'beta as far as is known.
    Real,
    /// 0, 1, 2, ..., with mean exp(x'beta).
    Count,
    /// 0 or 1, with log odds x'beta of a 1.
    ZeroOne,
    /// Above 0, with mean exp(x'beta).
    Positive,
}

impl Model {
    /// As typed, or as the shipped program says, or else the family; of a program that says it all itself nothing is known.
    pub fn response_kind(&self) -> ResponseKind {
        if let Some(kind) = self.outcome {
            return kind;
        }
        let shipped = match &self.stan {
            ModelSource::Shipped(name) => name.as_str(),
            ModelSource::File(_) => "",
        };
        match (shipped, self.family()) {
            ("poisson" | "negative_binomial", _) | (_, Family::Poisson) => ResponseKind::Count,
            ("logistic", _) | (_, Family::Logistic) => ResponseKind::ZeroOne,
            ("gamma", _) => ResponseKind::Positive,
            _ => ResponseKind::Real,
        }
    }
}

impl ResponseKind {
    pub fn allows(self, response: f64) -> bool {
        match self {
            ResponseKind::Real => true,
            ResponseKind::Count => response >= 0.0 && response.fract() == 0.0,
            ResponseKind::ZeroOne => response == 0.0 || response == 1.0,
            ResponseKind::Positive => response > 0.0,
        }
    }

    /// In words, behind "must be".
    pub fn rule(self) -> &'static str {
        match self {
            ResponseKind::Real => "a number",
            ResponseKind::Count => "a count (0, 1, 2, ...)",
            ResponseKind::ZeroOne => "0 or 1",
            ResponseKind::Positive => "above 0",
        }
    }

    /// The mean of a response whose x'beta is `linear`.
    pub fn mean(self, linear: f64) -> f64 {
        match self {
            ResponseKind::Real => linear,
            ResponseKind::Count | ResponseKind::Positive => linear.exp(),
            ResponseKind::ZeroOne => 1.0 / (1.0 + (-linear).exp()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Priors;

    #[test]
    fn each_kind_allows_its_own_values() {
        let values = [-1.0, 0.0, 0.5, 1.0, 3.0];
        let allowed = |kind: ResponseKind| values.map(|value| kind.allows(value));
        assert_eq!(allowed(ResponseKind::Real), [true; 5]);
        assert_eq!(
            allowed(ResponseKind::Count),
            [false, true, false, true, true]
        );
        assert_eq!(
            allowed(ResponseKind::ZeroOne),
            [false, true, false, true, false]
        );
        assert_eq!(
            allowed(ResponseKind::Positive),
            [false, false, true, true, true]
        );
    }

    #[test]
    fn the_program_says_the_kind_and_else_the_family() {
        let kind = |stan: ModelSource, family: Option<Family>| {
            let model = Model {
                stan,
                response: "y".into(),
                family,
                priors: Priors::Scaled,
                outcome: None,
                data: serde_json::Map::new(),
            };
            let typed = Model {
                outcome: Some(ResponseKind::Positive),
                ..model.clone()
            };
            assert_eq!(typed.response_kind(), ResponseKind::Positive);
            model.response_kind()
        };
        let shipped = |name: &str| ModelSource::Shipped(name.into());
        let own = || ModelSource::File("own.stan".into());
        assert_eq!(kind(shipped("linear"), None), ResponseKind::Real);
        assert_eq!(kind(shipped("gamma"), None), ResponseKind::Positive);
        let by_log_lik = kind(shipped("poisson"), Some(Family::Stan));
        assert_eq!(by_log_lik, ResponseKind::Count);
        assert_eq!(kind(own(), Some(Family::Logistic)), ResponseKind::ZeroOne);
        assert_eq!(kind(own(), Some(Family::Stan)), ResponseKind::Real);
    }
}
