//! `data.links`: the columns that link two files, or the file of pairs that a linkage program wrote.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::ConfigError;
use super::check::Check;

/// The columns that hold the links of two files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkColumns {
    pub left: String,
    pub right: String,
}

/// A file of pairs of records, from which one-to-one links are picked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkPairs {
    /// The file of the pairs.
    pub pairs: PathBuf,
    /// Column of the left file that the pairs name its rows by; without it they go by number, counted from 1.
    pub left: Option<String>,
    /// The same of the right file.
    pub right: Option<String>,
    /// The columns of the pairs that name the row of the left and of the right file, if they are not found by their names.
    pub columns: Option<[String; 2]>,
    /// Column of the pairs with the probability that both records are of one person.
    pub probability: Option<String>,
    /// A link is picked where its probability is above this.
    pub threshold: f64,
    /// The file of pairs that were checked by hand.
    pub labels: Option<PathBuf>,
    /// Whether pairs that are not picked are the only places where a row may belong besides its own.
    pub candidates: bool,
}

/// Two forms of `data.links`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RawLinks {
    Columns(LinkColumns),
    Pairs(LinkPairs),
}

/// A link that is as likely wrong as right is none.
pub const THRESHOLD: f64 = 0.5;

impl LinkPairs {
    pub(super) fn check(&self, check: &Check) -> Result<(), ConfigError> {
        let inside = (0.0..1.0).contains(&self.threshold);
        let rule = "it must be 0 or more and below 1";
        check.that(inside, "data.links.threshold", self.threshold, rule)?;
        for (path, file) in [
            ("pairs", Some(&self.pairs)),
            ("labels", self.labels.as_ref()),
        ] {
            if let Some(file) = file {
                check.text(&format!("data.links.{path}"), &file.to_string_lossy())?;
            }
        }
        check.that(
            self.left.is_some() == self.right.is_some(),
            "data.links",
            "one of `left` and `right`",
            "name the column of ids of both files, or neither where the pairs have row numbers",
        )
    }
}

/// The object form as typed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinksObject {
    left: Option<String>,
    right: Option<String>,
    pairs: Option<PathBuf>,
    columns: Option<[String; 2]>,
    probability: Option<String>,
    threshold: Option<f64>,
    labels: Option<PathBuf>,
    candidates: Option<bool>,
}

impl LinksObject {
    fn resolve<E: Error>(self) -> Result<RawLinks, E> {
        if let Some(pairs) = self.pairs {
            return Ok(RawLinks::Pairs(LinkPairs {
                pairs,
                left: self.left,
                right: self.right,
                columns: self.columns,
                probability: self.probability,
                threshold: self.threshold.unwrap_or(THRESHOLD),
                labels: self.labels,
                candidates: self.candidates.unwrap_or(true),
            }));
        }
        let of_pairs = [
            self.columns.is_some(),
            self.probability.is_some(),
            self.threshold.is_some(),
            self.labels.is_some(),
            self.candidates.is_some(),
        ];
        if of_pairs.contains(&true) {
            return Err(E::missing_field("pairs"));
        }
        Ok(RawLinks::Columns(LinkColumns {
            left: self.left.ok_or_else(|| E::missing_field("left"))?,
            right: self.right.ok_or_else(|| E::missing_field("right"))?,
        }))
    }
}

impl Serialize for LinkColumns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Apart<'a> {
            left: &'a str,
            right: &'a str,
        }
        if self.left == self.right {
            return self.left.serialize(serializer);
        }
        let (left, right) = (&self.left, &self.right);
        Apart { left, right }.serialize(serializer)
    }
}

struct LinksVisitor;

impl<'de> Visitor<'de> for LinksVisitor {
    type Value = RawLinks;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "a column such as \"person\", or {\"left\": \"register_id\", \"right\": \"id\"}, or {\"pairs\": \
             \"predictions.csv\", \"left\": \"person\", \"right\": \"id\"}",
        )
    }

    fn visit_str<E>(self, column: &str) -> Result<RawLinks, E> {
        Ok(RawLinks::Columns(LinkColumns {
            left: column.into(),
            right: column.into(),
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawLinks, A::Error> {
        LinksObject::deserialize(MapAccessDeserializer::new(map))?.resolve()
    }
}

impl<'de> Deserialize<'de> for RawLinks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LinksVisitor)
    }
}

impl JsonSchema for RawLinks {
    fn schema_name() -> Cow<'static, str> {
        "Links".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": {
                        "left": { "type": "string", "description": "Column of the left file." },
                        "right": { "type": "string", "description": "Column of the right file." },
                        "pairs": {
                            "type": "string",
                            "description": "File of pairs of records, as a linkage program wrote it, relative to the config file; one-to-one links are picked from it."
                        },
                        "columns": {
                            "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2,
                            "description": "Columns of the pairs that name the row of the left and of the right file, if they are not found by their names."
                        },
                        "probability": {
                            "type": "string",
                            "description": "Column of the pairs with the probability that both records belong together."
                        },
                        "threshold": {
                            "type": "number", "minimum": 0, "exclusiveMaximum": 1, "default": THRESHOLD,
                            "description": "A link is picked where its probability is above this."
                        },
                        "labels": {
                            "type": "string",
                            "description": "File of pairs that were checked by hand, relative to the config file: 1 where they belong together, 0 where not."
                        },
                        "candidates": {
                            "type": "boolean", "default": true,
                            "description": "Whether the pairs that are not picked are the only places where a row may belong besides its own."
                        }
                    },
                    "additionalProperties": false
                }
            ]
        })
    }
}
