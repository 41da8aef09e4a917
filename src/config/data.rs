//! The `data` part of a config: the files, the columns and what they stand for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::Check;
use super::explain::example;
use super::links::{LinkColumns, LinkPairs, RawLinks};
use super::{ConfigError, Response, Weights};
use crate::sampler::links::WeightSide;
use crate::text::list;

/// The linked data and the columns to use.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"file\": \"wages.csv\", \"response\": \"log_wage\", \"predictors\": [\"educ\"]}"
)]
#[schemars(rename = "Data")]
pub(super) struct RawData {
    /// CSV file with a header line, relative to the config file.
    pub(super) file: Option<PathBuf>,
    /// Instead of `file`: the CSV file whose rows are fitted, each linked to one of `right`.
    pub(super) left: Option<PathBuf>,
    /// Instead of `file`: the CSV file that the rows of `left` are linked to.
    pub(super) right: Option<PathBuf>,
    /// With `left` and `right`: the column that both have and that links them, or {"left": ..., "right": ...}, or the file
    /// of pairs that a linkage program wrote, {"pairs": "predictions.csv", "left": ..., "right": ...}.
    pub(super) links: Option<RawLinks>,
    /// Instead of `response` and `predictors`: "log(wage) ~ education + gender*union"; several responses are
    /// "cbind(food, rent) ~ income".
    pub(super) formula: Option<String>,
    /// Column of the response, or an expression such as "log(wage)"; a list of them for a program with
    /// `matrix[N, K] y`; left out with a formula.
    #[serde(default, skip_serializing_if = "Response::is_absent")]
    pub(super) response: Response,
    /// Columns of the predictors, or terms such as "gender*union", in the order of the coefficients; empty with a
    /// formula.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub(super) predictors: Vec<String>,
    /// Whether a column of ones comes first in X; `- 1` or `+ 0` in a formula removes it too.
    #[serde(default = "yes")]
    pub(super) intercept: bool,
    /// Reference level of categorical columns, by column; by default the first level in sorted order.
    #[serde(default)]
    pub(super) reference: BTreeMap<String, String>,
    /// What to do about rows with a missing value in a column that is used.
    #[serde(default)]
    pub(super) missing: Missing,
    /// Column that names the rows in the results; row numbers are always given.
    pub(super) id: Option<String>,
    /// Column of groups: a row can only be relinked inside its group.
    pub(super) block: Option<String>,
    /// Column that marks rows whose link is known to be right (true/false, 1/0 or yes/no).
    pub(super) safe: Option<String>,
    /// Column of the probability, known before the fit, that the row's link is right: above 0, at most 1.
    pub(super) match_probability: Option<String>,
    /// CSV file of the places where a row may belong besides its own, relative to the config file: columns `row`,
    /// `partner` and, if you like, `weight`.
    pub(super) candidates: Option<PathBuf>,
    /// With `left` and `right`, the response in `left`: what to do about rows of `right` that no row of `left` is linked
    /// to. "places" needs `permutation.outside`, which it switches on.
    #[serde(default)]
    pub(super) unlinked: Unlinked,
    /// Column of survey weights, or {"column": ..., "with": "response"}: the likelihood of each row is raised to its weight,
    /// which stays with the predictors or moves with the response.
    pub(super) weights: Option<Weights>,
    /// Column, or an expression such as "log(exposure)", that is added to the linear predictor with the coefficient 1. It stays
    /// with the predictors; `offset(log(exposure))` in a formula says the same.
    pub(super) offset: Option<String>,
    /// Column of the strata of a survey. It is no part of the fit; `export` keeps it beside what the weights stay with.
    pub(super) strata: Option<String>,
    /// Column of the clusters (primary sampling units) of a survey, kept like the strata.
    pub(super) clusters: Option<String>,
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

/// What becomes of the rows of the right file that no row of the left one is linked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unlinked {
    /// They are left out of the fit.
    #[default]
    LeaveOut,
    /// They are places where the response of a wrongly linked row may belong.
    Places,
}

impl Unlinked {
    fn is_left_out(&self) -> bool {
        *self == Unlinked::LeaveOut
    }
}

/// Where the rows come from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DataSource {
    /// One file of linked rows.
    File { file: PathBuf },
    /// Two files: each row of `left` is linked to one of `right`.
    Two {
        left: PathBuf,
        right: PathBuf,
        links: LinkColumns,
    },
    /// Two files, and the pairs of their records from which links are picked.
    Pairs {
        left: PathBuf,
        right: PathBuf,
        links: LinkPairs,
    },
    /// Arrays of a program, which are in no file.
    Arrays,
}

/// The linked data and the columns to use, checked; its files are absolute in a config.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Data {
    #[serde(flatten)]
    pub source: DataSource,
    /// Instead of `response` and `predictors`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    #[serde(skip_serializing_if = "Response::is_absent")]
    pub response: Response,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub predictors: Vec<String>,
    pub intercept: bool,
    pub reference: BTreeMap<String, String>,
    pub missing: Missing,
    pub id: Option<String>,
    pub block: Option<String>,
    pub safe: Option<String>,
    pub match_probability: Option<String>,
    pub candidates: Option<PathBuf>,
    /// What becomes of the rows of the right file that no row of the left one is linked to.
    #[serde(skip_serializing_if = "Unlinked::is_left_out")]
    pub unlinked: Unlinked,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Weights>,
    /// A known addition to the linear predictor, which stays with the predictors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strata: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<String>,
    /// Columns that are entries of the program's data block, by the name of the entry; they stand in `model.data`.
    #[serde(skip)]
    pub stan_columns: BTreeMap<String, StanColumn>,
    /// `permutation.rate_formula`, whose columns are read with the others.
    #[serde(skip)]
    pub rate_formula: Option<String>,
}

/// A column that is an entry of the program's data block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StanColumn {
    /// Its name, or `C(name)` for numbers that are categories.
    pub column: String,
    /// Whether the entry is the number of its levels.
    pub counts_levels: bool,
}

impl Data {
    /// One file, with an intercept.
    pub fn new(file: impl Into<PathBuf>, response: &str, predictors: Vec<String>) -> Data {
        Data::of(DataSource::File { file: file.into() }, response, predictors)
    }

    /// Arrays, whose predictors have their names in the data set.
    pub(super) fn arrays() -> Data {
        Data::of(DataSource::Arrays, "y", Vec::new())
    }

    fn of(source: DataSource, response: &str, predictors: Vec<String>) -> Data {
        Data {
            source,
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
            unlinked: Unlinked::LeaveOut,
            weights: None,
            offset: None,
            strata: None,
            clusters: None,
            stan_columns: BTreeMap::new(),
            rate_formula: None,
        }
    }

    /// The files whose content the fit depends on.
    pub fn files(&self) -> Vec<&Path> {
        let mut files = self.row_files();
        if let DataSource::Pairs { links, .. } = &self.source {
            files.push(&links.pairs);
            files.extend(links.labels.as_deref());
        }
        files.extend(self.candidates.as_deref());
        files
    }

    /// Whether candidate pairs limit the links.
    pub(super) fn has_candidates(&self) -> bool {
        let of_pairs = match &self.source {
            DataSource::Pairs { links, .. } => links.candidates,
            _ => false,
        };
        of_pairs || self.candidates.is_some()
    }

    /// The files that hold the rows.
    pub fn row_files(&self) -> Vec<&Path> {
        match &self.source {
            DataSource::File { file } => vec![file],
            DataSource::Two { left, right, .. } | DataSource::Pairs { left, right, .. } => {
                vec![left, right]
            }
            DataSource::Arrays => Vec::new(),
        }
    }

    /// Whether the rows are links between two files.
    pub(super) fn has_two_files(&self) -> bool {
        matches!(
            self.source,
            DataSource::Two { .. } | DataSource::Pairs { .. }
        )
    }

    /// Whether each row has a probability, known before the fit, that its link is right.
    pub(super) fn has_probabilities(&self) -> bool {
        self.match_probability.is_some()
            || matches!(&self.source, DataSource::Pairs { links, .. } if links.probability.is_some())
    }

    /// What the columns of a survey stay with when a link changes.
    pub fn survey_side(&self) -> WeightSide {
        self.weights
            .as_ref()
            .map_or_else(WeightSide::default, |w| w.with)
    }

    /// The files of the rows, for people to read.
    pub fn label(&self) -> String {
        let files = self.row_files().into_iter();
        let names: Vec<String> = files.map(|file| file.display().to_string()).collect();
        match names.is_empty() {
            true => "arrays".into(),
            false => list(&names),
        }
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

    /// Files relative to a folder become absolute.
    pub(crate) fn in_folder(mut self, folder: &Path) -> Data {
        let paths = match &mut self.source {
            DataSource::File { file } => vec![file],
            DataSource::Two { left, right, .. } => vec![left, right],
            DataSource::Pairs { left, right, links } => {
                let mut paths = vec![left, right, &mut links.pairs];
                paths.extend(&mut links.labels);
                paths
            }
            DataSource::Arrays => Vec::new(),
        };
        for path in paths.into_iter().chain(&mut self.candidates) {
            *path = folder.join(&*path);
        }
        self
    }
}

impl RawData {
    /// Exactly one way to name the files, and one to name the columns. `is_saved` says that a fit wrote the config: without
    /// a file it was one of arrays.
    pub(super) fn resolve(self, check: &Check, is_saved: bool) -> Result<Data, ConfigError> {
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
        let source = self.source(check, is_saved)?;
        if source != DataSource::Arrays {
            self.check_columns(check)?;
        }
        check.that(
            self.unlinked.is_left_out() || self.left.is_some(),
            "data.unlinked",
            "\"places\"",
            "one file has no unlinked rows, so give data.left and data.right or remove it",
        )?;
        Ok(Data {
            source,
            formula: self.formula,
            response: self.response,
            predictors: self.predictors,
            intercept: self.intercept,
            reference: self.reference,
            missing: self.missing,
            id: self.id,
            block: self.block,
            safe: self.safe,
            match_probability: self.match_probability,
            candidates: self.candidates,
            unlinked: self.unlinked,
            weights: self.weights,
            offset: self.offset,
            strata: self.strata,
            clusters: self.clusters,
            stan_columns: BTreeMap::new(),
            rate_formula: None,
        })
    }

    fn source(&self, check: &Check, is_saved: bool) -> Result<DataSource, ConfigError> {
        match (&self.file, &self.left, &self.right, &self.links) {
            (Some(file), None, None, None) => Ok(DataSource::File { file: file.clone() }),
            (None, Some(left), Some(right), Some(RawLinks::Columns(links))) => {
                Ok(DataSource::Two {
                    left: left.clone(),
                    right: right.clone(),
                    links: links.clone(),
                })
            }
            (None, Some(left), Some(right), Some(RawLinks::Pairs(links))) => {
                links.check(check)?;
                self.check_not_twice(check)?;
                Ok(DataSource::Pairs {
                    left: left.clone(),
                    right: right.clone(),
                    links: links.clone(),
                })
            }
            (None, None, None, None) if is_saved => Ok(DataSource::Arrays),
            (None, None, None, None) => Err(missing(check, "data.file")),
            (None, None, ..) => Err(missing(check, "data.left")),
            (None, _, None, _) => Err(missing(check, "data.right")),
            (None, _, _, None) => Err(missing(check, "data.links")),
            (Some(file), left, right, links) => {
                let two = [
                    ("data.left", left.is_some()),
                    ("data.right", right.is_some()),
                    ("data.links", links.is_some()),
                ];
                let given = two.into_iter().filter(|(_, given)| *given);
                let keys: Vec<String> = given.map(|(key, _)| key.into()).collect();
                let rule = format!(
                    "the data are one file or two, so remove it or remove {}",
                    list(&keys)
                );
                Err(check.bad("data.file", format!("\"{}\"", file.display()), &rule))
            }
        }
    }

    /// The pairs say themselves what these keys would say.
    fn check_not_twice(&self, check: &Check) -> Result<(), ConfigError> {
        let candidates = self.candidates.as_ref();
        let candidates = candidates.map(|file| file.display().to_string());
        for (path, value) in [
            ("data.match_probability", self.match_probability.clone()),
            ("data.candidates", candidates),
        ] {
            if let Some(value) = value {
                let rule = "the pairs of data.links say this, so remove it";
                return Err(check.bad(path, format!("\"{value}\""), rule));
            }
        }
        Ok(())
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
            None if !with_lists => Err(missing(check, "data.formula")),
            None if self.response.is_absent() => Err(missing(check, "data.response")),
            None if self.predictors.is_empty() => Err(missing(check, "data.predictors")),
            None => {
                for (index, text) in self.predictors.iter().enumerate() {
                    check.text(&format!("data.predictors[{index}]"), text)?;
                }
                self.response.check(check)
            }
        }
    }
}

/// A key that is not there, with an example of it.
fn missing(check: &Check, path: &str) -> ConfigError {
    let key = path.rsplit('.').next().unwrap_or(path);
    ConfigError::MissingKey {
        file: check.file.display().to_string(),
        example: example(path, key),
        path: path.into(),
    }
}
