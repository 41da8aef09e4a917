//! A study on the user's own file: the file as given counts as rightly linked, and every repeat plants wrong links.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::StudyError;
use super::axes::{Point, expand};
use crate::baseline::{Baseline, generalised, least_squares};
use crate::config::{self, Check, ConfigError, Data, Missing, ResponseKind, typed};
use crate::data::{self, Dataset, INTERCEPT, files_sha256};
use crate::model::Family;
use crate::study::simulate::{DEFAULT_MISLINKED, Planting, errors_name};

/// Places in `data` where a list is a value of its own.
const LISTS_THAT_ARE_VALUES: [&str; 2] = ["predictors", "response"];

/// The file, and what every repeat does to it.
#[derive(Debug, Clone)]
pub struct FileDesign {
    pub settings: FileSettings,
    /// As the `data` of a fit's config.
    pub data: Data,
    /// Changes with the content of the file.
    pub sha256: String,
    pub unharmed: Dataset,
    pub planting: Planting,
    pub errors: Family,
    pub target: Target,
}

/// The fit of the unharmed file, which estimates are compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    pub beta: Vec<f64>,
    pub standard_error: Vec<f64>,
    /// The coefficients that are compared: all but the intercept.
    pub slopes: Vec<usize>,
}

/// The keys of `data` with `"design": "file"`, as typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"design\": \"file\", \"file\": \"wages.csv\", \"formula\": \"log(wage) ~ education\"}"
)]
pub struct FileSettings {
    design: OnlyFile,
    file: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    formula: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    predictors: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    intercept: Option<bool>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    reference: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<Missing>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    block: Option<String>,
    /// The share of rows that every repeat checks, or the column of rows that are known to be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    safe: Option<Value>,
    #[serde(default = "default_mislinked")]
    mislinked: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audit: Option<AuditSize>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "errors_name::serialize",
        deserialize_with = "fitted_errors"
    )]
    errors: Option<Family>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tau: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OnlyFile {
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"checked\": 100}"
)]
struct AuditSize {
    checked: usize,
}

/// Whether a baseline finds the maximum of the likelihood of the unharmed file.
fn has_baseline(family: Family) -> bool {
    matches!(
        family,
        Family::Gaussian
            | Family::AsymmetricLaplace { .. }
            | Family::Poisson
            | Family::Logistic
            | Family::Gamma { .. }
    )
}

/// A family with a baseline, as `simulate --errors` names it.
fn fitted_errors<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Family>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    let name_of = |family: Family| family.errors_name().filter(|_| has_baseline(family));
    name.map(|name| Family::from_name(&name, name_of))
        .transpose()
}

fn default_mislinked() -> f64 {
    DEFAULT_MISLINKED
}

#[derive(Deserialize)]
struct Wrapped {
    data: FileSettings,
}

/// Whether the `data` of a study ask for this design.
pub fn is_file_design(data: &Map<String, Value>) -> bool {
    data.get("design") == Some(&json!("file"))
}

/// Every combination of axes. `files` is an axis of objects, which the results show by name in the column `file`.
pub fn file_points(mut data: Map<String, Value>, check: &Check) -> Result<Vec<Point>, ConfigError> {
    let Some(files) = data.shift_remove("files") else {
        return Ok(expand(&Value::Object(data), &LISTS_THAT_ARE_VALUES));
    };
    let rule = "each of `data.files` has its own; remove it here";
    let twice = data.contains_key("file");
    check.that(!twice, "data.file", "given", rule)?;
    let rule = "write an object such as {\"wages\": {\"file\": \"wages.csv\", \"formula\": \"log(wage) ~ education\"}}";
    let Value::Object(files) = &files else {
        check.that(false, "data.files", &files, rule)?;
        return Ok(Vec::new());
    };
    let mut points = Vec::new();
    for (name, own) in files {
        let place = format!("data.files.{name}");
        let Value::Object(own) = own else {
            let rule = "write an object such as {\"file\": \"wages.csv\", \"formula\": \"log(wage) ~ education\"}";
            check.that(false, &place, own, rule)?;
            continue;
        };
        let mut merged = data.clone();
        merged.extend(own.clone());
        if let Some(file) = own.get("file") {
            let rule = "it must be the path of one CSV file, in quotes";
            let path = format!("{place}.file");
            check.that(file.is_string(), &path, file, rule)?;
        }
        for mut point in expand(&Value::Object(merged), &LISTS_THAT_ARE_VALUES) {
            point.axes.insert(0, ("file".into(), json!(name)));
            points.push(point);
        }
    }
    Ok(points)
}

impl FileDesign {
    /// Reads the file of one point, fits it as it is, and tries to plant wrong links.
    pub fn new(point: &Point, file: &Path, seed: u64) -> Result<FileDesign, StudyError> {
        let settings = typed::<Wrapped>(&json!({"data": point.value}), file)?.data;
        let check = Check { file };
        let planting = settings.planting(&check)?;
        let errors = settings.errors(&check)?;
        let fit = json!({"model": {"stan": "linear"}, "data": settings.columns()});
        let data = config::parse(&fit.to_string(), file, &[])?.data;
        let problem = |problem: String| StudyError::Design {
            file: file.display().to_string(),
            problem,
        };
        let unharmed = data::read(&data).map_err(|error| problem(error.to_string()))?;
        if unharmed.response_names.is_some() {
            let words = "data.formula names several responses; a study on a file takes one";
            return Err(problem(words.into()));
        }
        let target = Target::new(&unharmed, errors)
            .map_err(|reason| problem(format!("{} cannot be a design: {reason}", data.label())))?;
        planting.plant(&unharmed, seed).map_err(|error| {
            problem(format!("{}: {error}", data.label()).replace("--", "data."))
        })?;
        Ok(FileDesign {
            sha256: files_sha256(&data.files()).unwrap_or_default(),
            settings,
            data,
            unharmed,
            planting,
            errors,
            target,
        })
    }

    /// What a response of this design can be.
    pub fn response_kind(&self) -> ResponseKind {
        self.errors.response_kind()
    }
}

impl FileSettings {
    /// The `data` of a fit's config.
    fn columns(&self) -> Value {
        let mut columns = serde_json::to_value(self).expect("plain JSON");
        let entries = columns.as_object_mut().expect("a struct");
        for key in ["design", "mislinked", "audit", "errors", "tau"] {
            entries.shift_remove(key);
        }
        if !entries.get("safe").is_some_and(Value::is_string) {
            entries.shift_remove("safe");
        }
        columns
    }

    fn planting(&self, check: &Check) -> Result<Planting, ConfigError> {
        let checked_share = match &self.safe {
            None => 0.0,
            Some(Value::String(_)) => 0.0,
            Some(value) => {
                let rule = "write the share of rows to check, such as 0.2, or the column of rows that are right";
                check.that(value.is_number(), "data.safe", value, rule)?;
                value.as_f64().unwrap_or_default()
            }
        };
        if let Some(AuditSize { checked }) = self.audit {
            let rule = "it must be 1 or more";
            check.that(checked >= 1, "data.audit.checked", checked, rule)?;
        }
        Ok(Planting {
            fraction: self.mislinked,
            checked_share,
            num_audited: self.audit.map(|audit| audit.checked),
        })
    }

    fn errors(&self, check: &Check) -> Result<Family, ConfigError> {
        let errors = self.errors.unwrap_or(Family::Gaussian);
        let Some(tau) = self.tau else {
            return Ok(errors);
        };
        let is_quantile = matches!(errors, Family::AsymmetricLaplace { .. });
        let rule = "it needs `data.errors` to be \"ald\"; add it or remove `data.tau`";
        check.that(is_quantile, "data.tau", tau, rule)?;
        let rule = "it must be between 0 and 1, both excluded";
        check.that(tau > 0.0 && tau < 1.0, "data.tau", tau, rule)?;
        Ok(Family::AsymmetricLaplace { tau })
    }
}

impl Target {
    /// Least squares, the quantile, or the generalised linear model that `errors` ask for.
    fn new(unharmed: &Dataset, errors: Family) -> Result<Target, String> {
        let (x, y) = (unharmed.x.view(), &unharmed.response);
        let kind = errors.response_kind();
        if let Some(place) = y.iter().position(|&y| !kind.allows(y)) {
            return Err(format!(
                "its response in row {} is {}, but with these `data.errors` it must be {}",
                unharmed.row_numbers[place],
                y[place],
                kind.rule()
            ));
        }
        let (beta, standard_error) = match errors {
            Family::AsymmetricLaplace { tau } => {
                let fit = Baseline::Quantile { tau }.fit(x, y);
                (fit.beta, fit.standard_error)
            }
            _ if kind == ResponseKind::Real => {
                let fit = least_squares(x, y);
                (fit.beta, fit.standard_error)
            }
            _ => {
                let fit = generalised(kind, x, y);
                let fit = fit.ok_or("the fit of the file as given does not exist in numbers")?;
                (fit.beta, fit.standard_error)
            }
        };
        let names = unharmed.predictor_names.iter().enumerate();
        let slopes = names.filter(|(_, name)| *name != INTERCEPT);
        let slopes: Vec<usize> = slopes.map(|(k, _)| k).collect();
        if slopes.is_empty() {
            return Err("it has no predictor besides the intercept, so nothing to compare".into());
        }
        let measurable = |k: &usize| standard_error[*k] > 0.0 && standard_error[*k].is_finite();
        if !slopes.iter().all(measurable) {
            return Err("a slope of the file as given has no standard error to measure by".into());
        }
        Ok(Target {
            beta,
            standard_error,
            slopes,
        })
    }
}

#[cfg(test)]
mod tests;
