//! Whether responses may come from outside the file, and how often (`permutation.outside`).

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::sampler::links::RatePrior;

/// The share of wrong links whose response belongs to nobody in the file: 0 with probability `no_error`, otherwise
/// Beta(a, b).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outside {
    pub a: f64,
    pub b: f64,
    pub no_error: f64,
    /// The law of a response from outside; None for that of the file's own responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<OutsideResponse>,
}

/// The law of a response from outside the file, where it is known: by its mean and its standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"mean\": 2.3, \"sd\": 0.8}"
)]
pub struct OutsideResponse {
    /// The mean; of responses of 0 and 1 the share of ones.
    pub mean: f64,
    /// The standard deviation, above 0; left out for responses of 0 and 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub sd: Option<f64>,
}

impl Outside {
    /// The prior of the share as the sampler knows it.
    pub fn share(self) -> RatePrior {
        let Outside { a, b, no_error, .. } = self;
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
    /// Probability that no response comes from outside: 0 or more, below 1. By default 0.5; 0 with feedback "none",
    /// where unlinked rows are places, and with candidate pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub no_error: Option<f64>,
    /// The law of a response from outside, where it is known, such as {"mean": 2.3, "sd": 0.8}: normal, of counts negative
    /// binomial (Poisson where sd² is at most the mean), of positive responses gamma. By default that of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<OutsideResponse>,
}

/// Every share is as likely as any other.
fn one() -> f64 {
    1.0
}

impl OutsideAsTyped {
    /// Unlinked rows that are places switch responses from outside on.
    pub(super) fn for_places(typed: Option<Self>, has_places: bool) -> Option<Self> {
        typed.or(has_places.then_some(OutsideAsTyped::Switch(true)))
    }

    /// With every default; None where every response belongs to a row of the file. `always` says that whole permutations
    /// have no probability of their own.
    pub(super) fn resolved(self, always: bool) -> Option<Outside> {
        let typed = match self {
            OutsideAsTyped::Switch(false) => return None,
            OutsideAsTyped::Switch(true) => OutsidePriorAsTyped {
                a: one(),
                b: one(),
                no_error: None,
                response: None,
            },
            OutsideAsTyped::Prior(typed) => typed,
        };
        let by_default = if always { 0.0 } else { 0.5 };
        Some(Outside {
            a: typed.a,
            b: typed.b,
            no_error: typed.no_error.unwrap_or(by_default),
            response: typed.response,
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
        let prior = |a, b, no_error| {
            let response = None;
            Some(Outside {
                a,
                b,
                no_error,
                response,
            })
        };
        assert_eq!(outside(json!({})), None);
        assert_eq!(outside(json!({"outside": false})), None);
        assert_eq!(outside(json!({"outside": true})), prior(1.0, 1.0, 0.5));
        assert_eq!(outside(json!({"outside": {"b": 9}})), prior(1.0, 9.0, 0.5));
        let without = json!({"outside": true, "feedback": "none"});
        assert_eq!(outside(without), prior(1.0, 1.0, 0.0));
        let candidates = json!({
            "model": {"stan": "linear"},
            "data": {"file": "a.csv", "response": "y", "predictors": ["x"], "candidates": "b.csv"},
            "permutation": {"outside": true},
        });
        let config = parse(&candidates.to_string(), "/project/a.json".as_ref(), &[]);
        assert_eq!(config.unwrap().permutation.outside, prior(1.0, 1.0, 0.0));
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
            (
                json!({"outside": {"response": {"mean": 1}}}),
                "permutation.outside.response.sd",
            ),
            (
                json!({"outside": {"response": {"mean": 1, "sd": 0}}}),
                "permutation.outside.response.sd",
            ),
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

    #[test]
    fn the_law_of_a_response_from_outside_fits_its_kind() {
        let with = |stan: &str, response: Value| {
            let config = json!({
                "model": {"stan": stan},
                "data": {"file": "a.csv", "response": "y", "predictors": ["x"]},
                "permutation": {"outside": {"response": response}},
            });
            parse(&config.to_string(), "/project/a.json".as_ref(), &[])
        };
        let config = with("linear", json!({"mean": -2.5, "sd": 0.5})).unwrap();
        let law = config.permutation.outside.unwrap().response.unwrap();
        assert_eq!((law.mean, law.sd), (-2.5, Some(0.5)));
        let saved = serde_json::to_value(&config).unwrap();
        let again = parse(&saved.to_string(), "/project/a.json".as_ref(), &[]).unwrap();
        assert_eq!(again, config);
        with("logistic", json!({"mean": 0.3})).unwrap();
        with("poisson", json!({"mean": 2, "sd": 1})).unwrap();
        for (stan, response, part) in [
            ("logistic", json!({"mean": 0.3, "sd": 1}), "response.sd"),
            ("logistic", json!({"mean": 1.5}), "response.mean"),
            ("poisson", json!({"mean": 0, "sd": 1}), "response.mean"),
            ("gamma", json!({"mean": 2}), "response.sd"),
            ("weibull_survival", json!({"mean": 2, "sd": 1}), "times"),
        ] {
            let error = with(stan, response).unwrap_err().to_string();
            assert!(error.contains(part), "{stan}: {error}");
        }
    }

    #[test]
    fn unlinked_rows_as_places_switch_it_on() {
        let two = |unlinked: &str, permutation: Value| {
            let mut data = json!({"response": "y", "predictors": ["x"], "unlinked": unlinked});
            for (key, name) in [("left", "a.csv"), ("right", "b.csv"), ("links", "id")] {
                data[key] = json!(name);
            }
            let config = json!({
                "model": {"stan": "linear"}, "data": data, "permutation": permutation
            });
            parse(&config.to_string(), "/project/a.json".as_ref(), &[])
        };
        let config = two("places", json!({})).unwrap();
        let outside = config.permutation.outside.unwrap();
        assert_eq!((outside.a, outside.b, outside.no_error), (1.0, 1.0, 0.0));
        let saved = serde_json::to_value(&config).unwrap();
        let again = parse(&saved.to_string(), "/project/a.json".as_ref(), &[]).unwrap();
        assert_eq!(again, config);
        let plain = two("leave_out", json!({})).unwrap();
        assert_eq!(plain.permutation.outside, None);
        let saved = serde_json::to_value(&plain).unwrap();
        assert!(saved["data"].get("unlinked").is_none());
        for (permutation, part) in [
            (json!({"outside": false}), "partial permutations"),
            (json!({"outside": {"no_error": 0.2}}), "need not be whole"),
            (json!({"update": {"name": "mode"}}), "permutation.update"),
            (json!({"update": {"name": "checkerboard"}}), "active_set"),
        ] {
            let error = two("places", permutation).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let one = json!({
            "model": {"stan": "linear"},
            "data": {"file": "a.csv", "formula": "y ~ x", "unlinked": "places"},
        });
        let error = parse(&one.to_string(), "/project/a.json".as_ref(), &[]);
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("one file has no unlinked rows")
        );
    }
}
