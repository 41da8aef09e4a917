//! The power α of the likelihood (`temperature`, or `likelihood_power`), for the Stan step and for the permutation step.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};

const ONE_OVER_N: &str = "1/n";

/// One power of the likelihood: a number, or one over the number of rows, which is known only once the data are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Alpha {
    Fixed(f64),
    OneOverN,
}

impl Alpha {
    pub fn at(self, num_rows: usize) -> f64 {
        match self {
            Alpha::Fixed(alpha) => alpha,
            Alpha::OneOverN => 1.0 / num_rows as f64,
        }
    }
}

/// The powers of the likelihood in the two steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Temperature {
    pub stan: Alpha,
    pub permutation: Alpha,
}

impl Temperature {
    /// (Stan step, permutation step) for this many rows.
    pub fn at(&self, num_rows: usize) -> (f64, f64) {
        (self.stan.at(num_rows), self.permutation.at(num_rows))
    }
}

impl From<Alpha> for Temperature {
    fn from(alpha: Alpha) -> Self {
        Temperature {
            stan: alpha,
            permutation: alpha,
        }
    }
}

pub(super) fn one() -> Alpha {
    Alpha::Fixed(1.0)
}

impl Default for Temperature {
    fn default() -> Self {
        one().into()
    }
}

/// The object form; a key left out is 1.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Apart {
    #[serde(default = "one")]
    stan: Alpha,
    #[serde(default = "one")]
    permutation: Alpha,
}

impl Serialize for Alpha {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Alpha::Fixed(alpha) => serializer.serialize_f64(*alpha),
            Alpha::OneOverN => serializer.serialize_str(ONE_OVER_N),
        }
    }
}

impl Serialize for Temperature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.stan == self.permutation {
            return self.stan.serialize(serializer);
        }
        Apart {
            stan: self.stan,
            permutation: self.permutation,
        }
        .serialize(serializer)
    }
}

/// Reads a number or `"1/n"`.
struct AlphaVisitor;

impl<'de> Visitor<'de> for AlphaVisitor {
    type Value = Alpha;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number in (0, 1] or \"1/n\"")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Alpha, E> {
        Ok(Alpha::Fixed(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Alpha, E> {
        Ok(Alpha::Fixed(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Alpha, E> {
        Ok(Alpha::Fixed(value as f64))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Alpha, E> {
        if value
            .chars()
            .filter(|c| !c.is_whitespace())
            .eq(ONE_OVER_N.chars())
        {
            Ok(Alpha::OneOverN)
        } else {
            Err(E::invalid_value(Unexpected::Str(value), &self))
        }
    }
}

impl<'de> Deserialize<'de> for Alpha {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AlphaVisitor)
    }
}

struct TemperatureVisitor;

impl<'de> Visitor<'de> for TemperatureVisitor {
    type Value = Temperature;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number in (0, 1], \"1/n\" or {\"stan\": 1.0, \"permutation\": 0.5}")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Temperature, E> {
        AlphaVisitor.visit_f64(value).map(Temperature::from)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Temperature, E> {
        AlphaVisitor.visit_u64(value).map(Temperature::from)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Temperature, E> {
        AlphaVisitor.visit_i64(value).map(Temperature::from)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Temperature, E> {
        match AlphaVisitor.visit_str::<E>(value) {
            Ok(alpha) => Ok(alpha.into()),
            Err(_) => Err(E::invalid_value(Unexpected::Str(value), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Temperature, A::Error> {
        let apart = Apart::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Temperature {
            stan: apart.stan,
            permutation: apart.permutation,
        })
    }
}

impl<'de> Deserialize<'de> for Temperature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TemperatureVisitor)
    }
}

impl JsonSchema for Alpha {
    fn schema_name() -> Cow<'static, str> {
        "Alpha".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number above 0 and at most 1, or \"1/n\": one over the number of rows.",
            "anyOf": [
                { "type": "number", "exclusiveMinimum": 0, "maximum": 1 },
                { "const": ONE_OVER_N }
            ]
        })
    }
}

impl JsonSchema for Temperature {
    fn schema_name() -> Cow<'static, str> {
        "Temperature".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let alpha = generator.subschema_for::<Alpha>();
        json_schema!({
            "description": "The power to which the likelihood is raised; priors are never tempered.",
            "anyOf": [
                alpha.clone(),
                {
                    "type": "object",
                    "properties": {
                        "stan": {
                            "description": "For the Stan step (parameters given the links).",
                            "allOf": [alpha.clone()]
                        },
                        "permutation": {
                            "description": "For the permutation step (links given the parameters).",
                            "allOf": [alpha]
                        }
                    },
                    "additionalProperties": false
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Temperature {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn every_form_is_read() {
        assert_eq!(read("1").at(50), (1.0, 1.0));
        assert_eq!(read("0.5").at(50), (0.5, 0.5));
        assert_eq!(read("\"1/n\"").at(50), (0.02, 0.02));
        assert_eq!(read("\"1 / n\"").at(50), (0.02, 0.02));
        assert_eq!(
            read(r#"{"stan": 1, "permutation": "1/n"}"#).at(50),
            (1.0, 0.02)
        );
        assert_eq!(read(r#"{"permutation": 0.5}"#).at(50), (1.0, 0.5));
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        for text in ["1.0", "\"1/n\"", r#"{"stan":1.0,"permutation":0.5}"#] {
            assert_eq!(serde_json::to_string(&read(text)).unwrap(), text);
        }
    }
}
