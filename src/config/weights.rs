//! `data.weights`: the column of survey weights, what the weights stay with, and their scale.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::sampler::links::WeightSide;

/// Survey weights: powers of the likelihoods of the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Weights {
    /// The column of the weights.
    pub column: String,
    /// What a weight stays with when a link changes.
    pub with: WeightSide,
    pub scale: WeightScale,
}

/// The scale of the survey weights in the likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightScale {
    /// As they stand in the column: a weight of 2 counts a row twice.
    #[default]
    AsGiven,
    /// Divided by their mean, so that the rows count as many times as there are rows.
    MeanOne,
}

/// The object form as typed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightsObject {
    column: String,
    #[serde(default)]
    with: WeightSide,
    #[serde(default)]
    scale: WeightScale,
}

struct WeightsVisitor;

impl<'de> Visitor<'de> for WeightsVisitor {
    type Value = Weights;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "a column such as \"weight\", or {\"column\": \"weight\", \"with\": \"response\", \"scale\": \"mean_one\"}",
        )
    }

    fn visit_str<E>(self, column: &str) -> Result<Weights, E> {
        Ok(Weights {
            column: column.into(),
            with: WeightSide::default(),
            scale: WeightScale::default(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Weights, A::Error> {
        let WeightsObject {
            column,
            with,
            scale,
        } = WeightsObject::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Weights {
            column,
            with,
            scale,
        })
    }
}

impl<'de> Deserialize<'de> for Weights {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WeightsVisitor)
    }
}

impl JsonSchema for Weights {
    fn schema_name() -> Cow<'static, str> {
        "Weights".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": {
                        "column": { "type": "string", "description": "Column of the weights: numbers, 0 or more." },
                        "with": {
                            "type": "string", "enum": ["predictors", "response"], "default": "predictors",
                            "description": "What a weight stays with when a link changes."
                        },
                        "scale": {
                            "type": "string", "enum": ["as_given", "mean_one"], "default": "as_given",
                            "description": "Whether a weight of 2 counts a row twice, or the weights are divided by their mean."
                        }
                    },
                    "required": ["column"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::*;
    use crate::config::{self, Config};

    fn parsed(weights: Value, outside: bool) -> Result<Config, String> {
        let config = json!({
            "model": {"stan": "linear"},
            "data": {"file": "w.csv", "formula": "y ~ x", "weights": weights},
            "permutation": {"outside": outside}
        });
        let parsed = config::parse(&config.to_string(), Path::new("wages.json"), &[]);
        parsed.map_err(|error| error.to_string())
    }

    #[test]
    fn a_column_or_an_object() {
        let found = parsed(json!("w"), false).unwrap().data.weights.unwrap();
        assert_eq!(found.column, "w");
        assert_eq!(found.with, WeightSide::Predictors);
        assert_eq!(found.scale, WeightScale::AsGiven);
        let object = json!({"column": "w", "with": "response", "scale": "mean_one"});
        let config = parsed(object.clone(), true).unwrap();
        let saved = serde_json::to_value(&config).unwrap();
        assert_eq!(saved["data"]["weights"], object);
        let without = parsed(Value::Null, false).unwrap();
        let saved = serde_json::to_value(&without).unwrap();
        assert!(saved["data"].get("weights").is_none());
    }

    #[test]
    fn mistakes_are_named() {
        for (weights, outside, sentence) in [
            (
                json!(3),
                false,
                r#"`data.weights` is 3; write a column such as "weight", or {"column": "weight", "with": "response", "scale": "mean_one"}"#,
            ),
            (
                json!({"column": "w", "with": "both"}),
                false,
                r#"`data.weights.with` is "both"; the choices here are `predictors` and `response`"#,
            ),
            (
                json!(""),
                false,
                "`data.weights` is empty; fill it in or remove the key",
            ),
            (
                json!("w"),
                true,
                r#"`data.weights` is {"column":"w","with":"predictors","scale":"as_given"}; where responses may come from outside the file a weight moves with its response, so set "with": "response" in data.weights, or permutation.outside to false"#,
            ),
        ] {
            let found = parsed(weights, outside).unwrap_err();
            assert_eq!(found, format!("wages.json: {sentence}"));
        }
    }
}
