//! Whether responses may come from outside the file, and how often (`permutation.outside`).

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::Feedback;
use crate::sampler::links::RatePrior;

/// The share of wrong links whose response belongs to nobody in the file: 0 with probability `no_error`, otherwise
/// Beta(a, b).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outside {
    pub a: f64,
    pub b: f64,
    pub no_error: f64,
}

impl Outside {
    /// The prior of the share as the sampler knows it.
    pub fn share(self) -> RatePrior {
        let Outside { a, b, no_error } = self;
        RatePrior { a, b, no_error }
    }
}

/// `permutation.outside` as typed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OutsideAsTyped {
    /// Whether responses may come from outside, with the default prior.
    Switch(bool),
    /// They may, with this prior.
    Prior(OutsidePriorAsTyped),
}

/// The prior of the share of wrong links whose response belongs to nobody in the file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "true, false, or an object such as {\"a\": 1, \"b\": 1, \"no_error\": 0.5}"
)]
pub struct OutsidePriorAsTyped {
    /// First parameter of the Beta distribution of the share, above 0.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub a: f64,
    /// Second parameter of the Beta distribution of the share, above 0.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub b: f64,
    /// Probability that no response comes from outside: 0 or more, below 1. By default 0.5, and 0 with feedback "none".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub no_error: Option<f64>,
}

/// Every share is as likely as any other.
fn one() -> f64 {
    1.0
}

impl OutsideAsTyped {
    /// With every default; None where every response belongs to a row of the file.
    pub(super) fn resolved(self, feedback: Feedback) -> Option<Outside> {
        let typed = match self {
            OutsideAsTyped::Switch(false) => return None,
            OutsideAsTyped::Switch(true) => OutsidePriorAsTyped {
                a: one(),
                b: one(),
                no_error: None,
            },
            OutsideAsTyped::Prior(typed) => typed,
        };
        let by_feedback = match feedback {
            Feedback::Full => 0.5,
            Feedback::None => 0.0,
        };
        Some(Outside {
            a: typed.a,
            b: typed.b,
            no_error: typed.no_error.unwrap_or(by_feedback),
        })
    }
}

struct OutsideVisitor;

impl<'de> Visitor<'de> for OutsideVisitor {
    type Value = OutsideAsTyped;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("true, false, or an object such as {\"a\": 1, \"b\": 1, \"no_error\": 0.5}")
    }

    fn visit_bool<E>(self, value: bool) -> Result<OutsideAsTyped, E> {
        Ok(OutsideAsTyped::Switch(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OutsideAsTyped, A::Error> {
        let prior = OutsidePriorAsTyped::deserialize(MapAccessDeserializer::new(map))?;
        Ok(OutsideAsTyped::Prior(prior))
    }
}

impl<'de> Deserialize<'de> for OutsideAsTyped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OutsideVisitor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::config::{Config, ConfigError, parse};

    fn with(permutation: Value) -> Result<Config, ConfigError> {
        let config = json!({
            "model": {"stan": "linear"},
            "data": {"file": "a.csv", "response": "y", "predictors": ["x"]},
            "permutation": permutation,
        });
        parse(&config.to_string(), "/project/a.json".as_ref(), &[])
    }

    fn outside(permutation: Value) -> Option<Outside> {
        with(permutation).unwrap().permutation.outside
    }

    #[test]
    fn a_switch_has_the_default_prior() {
        let prior = |a, b, no_error| Some(Outside { a, b, no_error });
        assert_eq!(outside(json!({})), None);
        assert_eq!(outside(json!({"outside": false})), None);
        assert_eq!(outside(json!({"outside": true})), prior(1.0, 1.0, 0.5));
        assert_eq!(outside(json!({"outside": {"b": 9}})), prior(1.0, 9.0, 0.5));
        let without = json!({"outside": true, "feedback": "none"});
        assert_eq!(outside(without), prior(1.0, 1.0, 0.0));
        let config = with(json!({"outside": true})).unwrap();
        let saved = serde_json::to_value(&config).unwrap();
        let again = parse(&saved.to_string(), "/project/a.json".as_ref(), &[]).unwrap();
        assert_eq!(again, config);
        assert!(config.permutation.has_weights());
    }

    #[test]
    fn what_it_does_not_go_with_is_refused() {
        let hamming = json!({"name": "hamming", "theta": 1});
        for (permutation, part) in [
            (
                json!({"outside": true, "update": {"name": "mode"}}),
                "permutation.update",
            ),
            (
                json!({"outside": true, "prior": hamming}),
                "permutation.prior",
            ),
            (json!({"outside": {"a": 0}}), "permutation.outside.a"),
            (json!({"outside": {"no_error": 1}}), "below 1"),
            (
                json!({"outside": {"no_error": 0.5}, "feedback": "none"}),
                "without feedback",
            ),
            (json!({"outside": {"c": 1}}), "permutation.outside.c"),
            (json!({"rate_formula": "distance"}), "begin with ~"),
            (
                json!({"rate_formula": "~ z", "update": {"name": "none"}}),
                "active_set",
            ),
            (
                json!({"rate_formula": "~ z", "prior": {"name": "beta_binomial"}}),
                "remove one",
            ),
        ] {
            let error = with(permutation.clone()).unwrap_err().to_string();
            assert!(error.contains(part), "{permutation}: {error}");
        }
    }
}
