//! Where the chains start: `sampler.init`.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use super::ConfigError;
use super::explain::shown;
use super::load::{read_text, syntax_error};
use super::strict_json;

/// Starting values of the parameters (never of the latent response, which starts at the links as given).
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Init {
    /// Least squares for models with `beta` and `sigma2` or `sigma`, otherwise as Stan does.
    #[default]
    Auto,
    /// Uniform in ±r on the unconstrained scale.
    Uniform(f64),
    /// Values by parameter name, on the scale of the Stan program.
    Values(Map<String, Value>),
}

/// The parameter values in a JSON file that `sampler.init` names.
pub(super) fn read_init(file: &Path) -> Result<Map<String, Value>, ConfigError> {
    let text = read_text(file, "check sampler.init")?;
    match strict_json::from_str(&text).map_err(|error| syntax_error(file, &text, &error))? {
        Value::Object(values) => Ok(values),
        other => Err(ConfigError::BadFile {
            file: file.display().to_string(),
            value: shown(&other),
            rule: "write an object of parameter values such as {\"beta\": [0, 1], \"sigma2\": 1}"
                .into(),
        }),
    }
}

impl Serialize for Init {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Init::Auto => serializer.serialize_str("auto"),
            Init::Uniform(radius) => serializer.serialize_f64(*radius),
            Init::Values(values) => values.serialize(serializer),
        }
    }
}

struct InitVisitor;

impl<'de> Visitor<'de> for InitVisitor {
    type Value = Init;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "\"auto\", a number of 0 or more, an object of parameter values, \
             or the path of a .json file of them",
        )
    }

    fn visit_f64<E>(self, value: f64) -> Result<Init, E> {
        Ok(Init::Uniform(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Init, E> {
        Ok(Init::Uniform(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Init, E> {
        Ok(Init::Uniform(value as f64))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Init, E> {
        match value {
            "auto" => Ok(Init::Auto),
            _ => Err(E::invalid_value(Unexpected::Str(value), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Init, A::Error> {
        Map::deserialize(MapAccessDeserializer::new(map)).map(Init::Values)
    }
}

impl<'de> Deserialize<'de> for Init {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InitVisitor)
    }
}

impl JsonSchema for Init {
    fn schema_name() -> Cow<'static, str> {
        "Init".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "const": "auto" },
                { "type": "number", "minimum": 0 },
                { "type": "object" },
                { "type": "string", "pattern": "\\.json$" }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Init {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn every_form_is_read_and_written_back() {
        assert_eq!(read("\"auto\""), Init::Auto);
        assert_eq!(read("2"), Init::Uniform(2.0));
        let values = read(r#"{"beta":[0,1.5],"sigma2":1}"#);
        assert!(matches!(&values, Init::Values(map) if map.len() == 2));
        for init in [Init::Auto, Init::Uniform(0.5), values] {
            assert_eq!(read(&serde_json::to_string(&init).unwrap()), init);
        }
    }

    #[test]
    fn values_come_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("start.json");
        std::fs::write(&file, r#"{"beta": [0, 1]}"#).unwrap();
        assert_eq!(read_init(&file).unwrap().len(), 1);
        std::fs::write(&file, "[0, 1]").unwrap();
        let message = read_init(&file).unwrap_err().to_string();
        assert!(message.ends_with(
            "start.json is [0,1]; write an object of parameter values such as \
             {\"beta\": [0, 1], \"sigma2\": 1}"
        ));
    }
}
