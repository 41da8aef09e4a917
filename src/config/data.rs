//! The `data` part of a config: the files, the columns and what they stand for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::check::Check;
use super::explain::example;
use super::{ConfigError, Response};
use crate::text::list;

/// The linked data and the columns to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"file\": \"wages.csv\", \"response\": \"log_wage\", \"predictors\": [\"educ\"]}"
)]
pub struct Data {
    /// CSV file with a header line, relative to the config file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Instead of `file`: the CSV file whose rows are fitted, each linked to one of `right`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<PathBuf>,
    /// Instead of `file`: the CSV file that the rows of `left` are linked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right: Option<PathBuf>,
    /// With `left` and `right`: the column that both have and that links them, or {"left": ..., "right": ...}.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkColumns>,
    /// Instead of `response` and `predictors`: "log(wage) ~ education + gender*union"; several responses are
    /// "cbind(food, rent) ~ income".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// Column of the response, or an expression such as "log(wage)"; a list of them for a program with
    /// `matrix[N, K] y`; left out with a formula.
    #[serde(default, skip_serializing_if = "Response::is_absent")]
    pub response: Response,
    /// Columns of the predictors, or terms such as "gender*union", in the order of the coefficients; empty with a
    /// formula.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub predictors: Vec<String>,
    /// Whether a column of ones comes first in X; `- 1` or `+ 0` in a formula removes it too.
    #[serde(default = "yes")]
    pub intercept: bool,
    /// Reference level of categorical columns, by column; by default the first level in sorted order.
    #[serde(default)]
    pub reference: BTreeMap<String, String>,
    /// What to do about rows with a missing value in a column that is used.
    #[serde(default)]
    pub missing: Missing,
    /// Column that names the rows in the results; row numbers are always given.
    pub id: Option<String>,
    /// Column of groups: a row can only be relinked inside its group.
    pub block: Option<String>,
    /// Column that marks rows whose link is known to be right (true/false, 1/0 or yes/no).
    pub safe: Option<String>,
    /// Column of the probability, known before the fit, that the row's link is right: above 0, at most 1.
    pub match_probability: Option<String>,
    /// CSV file of the places where a row may belong besides its own, relative to the config file: columns `row`,
    /// `partner` and, if you like, `weight`.
    pub candidates: Option<PathBuf>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Stop and say where values are missing.
    #[default]
    Error,
    /// Leave such rows out.
    Drop,
}

/// The columns that hold the links of two files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkColumns {
    pub left: String,
    pub right: String,
}

/// Where the rows come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DataSource<'a> {
    One(&'a Path),
    Two {
        left: &'a Path,
        right: &'a Path,
        links: &'a LinkColumns,
    },
}

impl Data {
    /// One file, with an intercept.
    pub fn new(file: impl Into<PathBuf>, response: &str, predictors: Vec<String>) -> Data {
        Data {
            file: Some(file.into()),
            left: None,
            right: None,
            links: None,
            formula: None,
            response: response.into(),
            predictors,
            intercept: true,
            reference: BTreeMap::new(),
            missing: Missing::Error,
            id: None,
            block: None,
            safe: None,
            match_probability: None,
            candidates: None,
        }
    }

    /// Where the rows come from, in a config that was checked.
    pub fn source(&self) -> DataSource<'_> {
        match (&self.file, &self.left, &self.right, &self.links) {
            (Some(file), ..) => DataSource::One(file),
            (None, Some(left), Some(right), Some(links)) => DataSource::Two { left, right, links },
            _ => panic!(
                "the config was checked to have data.file, or data.left, data.right and data.links"
            ),
        }
    }

    /// The files whose content the fit depends on.
    pub fn files(&self) -> Vec<&Path> {
        [&self.file, &self.left, &self.right, &self.candidates]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect()
    }

    /// The files that hold the rows.
    pub fn row_files(&self) -> Vec<&Path> {
        match self.source() {
            DataSource::One(file) => vec![file],
            DataSource::Two { left, right, .. } => vec![left, right],
        }
    }

    /// The files of the rows, for people to read.
    pub fn label(&self) -> String {
        let files = self.row_files().into_iter();
        list(
            &files
                .map(|file| file.display().to_string())
                .collect::<Vec<_>>(),
        )
    }

    /// The response, or the responses, in the user's words.
    pub fn response_label(&self) -> String {
        match &self.formula {
            Some(formula) => {
                let left = formula.split('~').next().unwrap_or(formula);
                left.trim().to_string()
            }
            None => self.response.to_string(),
        }
    }

    /// The key that the predictors stand under.
    pub(crate) fn predictors_key(&self) -> &'static str {
        match self.formula {
            Some(_) => "data.formula",
            None => "data.predictors",
        }
    }

    /// The key that the response stands under.
    pub(crate) fn response_key(&self) -> &'static str {
        match self.formula {
            Some(_) => "data.formula",
            None => "data.response",
        }
    }

    pub(super) fn with_paths_in(mut self, folder: &Path) -> Data {
        for path in [
            &mut self.file,
            &mut self.left,
            &mut self.right,
            &mut self.candidates,
        ] {
            *path = path.take().map(|path| folder.join(path));
        }
        self
    }

    /// Exactly one way to name the files, and one to name the columns.
    pub(super) fn check(&self, check: &Check) -> Result<(), ConfigError> {
        for (path, file) in [
            ("data.file", &self.file),
            ("data.left", &self.left),
            ("data.right", &self.right),
            ("data.candidates", &self.candidates),
        ] {
            if let Some(file) = file {
                check.text(path, &file.to_string_lossy())?;
            }
        }
        self.check_files(check)?;
        self.check_columns(check)
    }

    fn check_files(&self, check: &Check) -> Result<(), ConfigError> {
        let two = [
            ("left", self.left.is_some()),
            ("right", self.right.is_some()),
            ("links", self.links.is_some()),
        ];
        let missing = |(key, _): &(&str, bool)| missing(check, key);
        match (&self.file, two.iter().any(|(_, given)| *given)) {
            (Some(_), false) => Ok(()),
            (None, false) => Err(missing(&("file", false))),
            (None, true) => match two.iter().find(|(_, given)| !given) {
                Some(absent) => Err(missing(absent)),
                None => Ok(()),
            },
            (Some(file), true) => {
                let given: Vec<String> = two
                    .iter()
                    .filter(|(_, given)| *given)
                    .map(|(key, _)| format!("data.{key}"))
                    .collect();
                check.that(
                    false,
                    "data.file",
                    format!("\"{}\"", file.display()),
                    &format!(
                        "the data are one file or two, so remove it or remove {}",
                        list(&given)
                    ),
                )
            }
        }
    }

    fn check_columns(&self, check: &Check) -> Result<(), ConfigError> {
        let with_lists = !self.response.is_absent() || !self.predictors.is_empty();
        match &self.formula {
            Some(formula) if with_lists => check.that(
                false,
                "data.formula",
                format!("\"{formula}\""),
                "it stands for data.response and data.predictors, so remove it or remove them",
            ),
            Some(formula) => check.text("data.formula", formula),
            None if !with_lists => Err(missing(check, "formula")),
            None if self.response.is_absent() => Err(missing(check, "response")),
            None if self.predictors.is_empty() => Err(missing(check, "predictors")),
            None => {
                for (index, text) in self.predictors.iter().enumerate() {
                    check.text(&format!("data.predictors[{index}]"), text)?;
                }
                self.response.check(check)
            }
        }
    }
}

fn missing(check: &Check, key: &str) -> ConfigError {
    let path = format!("data.{key}");
    ConfigError::MissingKey {
        file: check.file.display().to_string(),
        example: example(&path, key),
        path,
    }
}

/// The object form of `LinkColumns`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Apart {
    left: String,
    right: String,
}

impl Serialize for LinkColumns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.left == self.right {
            return self.left.serialize(serializer);
        }
        Apart {
            left: self.left.clone(),
            right: self.right.clone(),
        }
        .serialize(serializer)
    }
}

struct LinkColumnsVisitor;

impl<'de> Visitor<'de> for LinkColumnsVisitor {
    type Value = LinkColumns;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "a column such as \"person\", or {\"left\": \"register_id\", \"right\": \"id\"}",
        )
    }

    fn visit_str<E>(self, column: &str) -> Result<LinkColumns, E> {
        Ok(LinkColumns {
            left: column.into(),
            right: column.into(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LinkColumns, A::Error> {
        let Apart { left, right } = Apart::deserialize(MapAccessDeserializer::new(map))?;
        Ok(LinkColumns { left, right })
    }
}

impl<'de> Deserialize<'de> for LinkColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LinkColumnsVisitor)
    }
}

impl JsonSchema for LinkColumns {
    fn schema_name() -> Cow<'static, str> {
        "LinkColumns".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": {
                        "left": { "type": "string", "description": "Column of the left file." },
                        "right": { "type": "string", "description": "Column of the right file." }
                    },
                    "required": ["left", "right"],
                    "additionalProperties": false
                }
            ]
        })
    }
}
