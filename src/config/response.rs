//! `data.response`: one column, or a list of columns that are responses together.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::ConfigError;
use super::check::Check;

/// Columns, or expressions such as "log(wage)".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// `vector[N] y` in the Stan program.
    One(String),
    /// `matrix[N, K] y` in the Stan program, whatever the length of the list.
    List(Vec<String>),
}

impl Response {
    /// Whether the key was left out, as it is with a formula.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Response::One(text) if text.is_empty())
    }

    pub(super) fn check(&self, check: &Check) -> Result<(), ConfigError> {
        match self {
            Response::One(text) => check.text("data.response", text),
            Response::List(texts) => {
                let rule = "name one column or more";
                check.that(!texts.is_empty(), "data.response", "[]", rule)?;
                for (k, text) in texts.iter().enumerate() {
                    check.text(&format!("data.response[{k}]"), text)?;
                }
                Ok(())
            }
        }
    }
}

impl Default for Response {
    fn default() -> Self {
        Response::One(String::new())
    }
}

impl From<&str> for Response {
    fn from(text: &str) -> Self {
        Response::One(text.into())
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Response::One(text) => f.write_str(text),
            Response::List(texts) => f.write_str(&texts.join(", ")),
        }
    }
}

impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Response::One(text) => text.serialize(serializer),
            Response::List(texts) => texts.serialize(serializer),
        }
    }
}

struct ResponseVisitor;

impl<'de> Visitor<'de> for ResponseVisitor {
    type Value = Response;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a column such as \"log_wage\", or a list such as [\"food\", \"rent\"]")
    }

    fn visit_str<E>(self, text: &str) -> Result<Response, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Response, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Response::List)
    }
}

impl<'de> Deserialize<'de> for Response {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ResponseVisitor)
    }
}

impl JsonSchema for Response {
    fn schema_name() -> Cow<'static, str> {
        "Response".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" }, "minItems": 1 }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_one_is_not_a_text() {
        for (json, response) in [
            (r#""food""#, Response::from("food")),
            (r#"["food"]"#, Response::List(vec!["food".into()])),
            (
                r#"["log(food)","rent"]"#,
                Response::List(vec!["log(food)".into(), "rent".into()]),
            ),
        ] {
            assert_eq!(serde_json::from_str::<Response>(json).unwrap(), response);
            assert_eq!(serde_json::to_string(&response).unwrap(), json);
        }
    }
}
