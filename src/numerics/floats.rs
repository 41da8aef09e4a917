//! Floats in JSON. JSON has no infinities and no NaN: these are written as text, all other floats as numbers.
//!
//! For fields of saved states, `#[serde(with = "floats")]` on a `Vec<f64>` and `#[serde(with = "floats::option")]` on an
//! `Option<f64>`. Every value is read back with the same bits (a NaN as some NaN).

use std::fmt;

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};

struct Float(f64);

impl Serialize for Float {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FloatVisitor)
    }
}

struct FloatVisitor;

impl Visitor<'_> for FloatVisitor {
    type Value = Float;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, \"inf\", \"-inf\" or \"NaN\"")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Float, E> {
        Ok(Float(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Float, E> {
        Ok(Float(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Float, E> {
        Ok(Float(value as f64))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Float, E> {
        text.parse().map(Float).map_err(E::custom)
    }
}

pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|&value| Float(value)))
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Float>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|value| value.0).collect())
}

pub mod option {
    use super::*;

    pub fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Float).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Float>::deserialize(deserializer)?.map(|value| value.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Saved {
        #[serde(with = "super")]
        values: Vec<f64>,
        #[serde(with = "super::option")]
        one: Option<f64>,
    }

    #[test]
    fn every_float_survives() {
        let values = vec![
            0.0,
            -0.0,
            1.0,
            0.1 + 0.2,
            5e-324,
            f64::MAX,
            -1e-300,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for one in [None, Some(f64::INFINITY), Some(0.25)] {
            let values = values.clone();
            let text = serde_json::to_string(&Saved { values, one }).unwrap();
            let read: Saved = serde_json::from_str(&text).unwrap();
            assert_eq!(read.one, one);
            assert!(read.values[9].is_nan());
            for (found, value) in read
                .values
                .iter()
                .zip([0.0f64, -0.0, 1.0, 0.1 + 0.2, 5e-324])
            {
                assert_eq!(found.to_bits(), value.to_bits());
            }
            assert_eq!(
                read.values[5..9],
                [f64::MAX, -1e-300, f64::INFINITY, f64::NEG_INFINITY]
            );
        }
        assert!(serde_json::from_str::<Saved>(r#"{"values": ["a lot"], "one": null}"#).is_err());
    }
}
