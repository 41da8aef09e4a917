//! The results of the study, by method, file and rate.

use std::path::Path;

use anyhow::{Result, bail};

pub use crate::support::tables::{About, Rows, Table};

/// Writes what is read here.
const COMMAND: &str = "make real";

/// The method that takes the links as they are, which every other one is compared with.
pub const AS_GIVEN: &str = "least_squares";

pub struct Inputs {
    pub about: About,
    pub results: Table,
    /// One line for every check of a fit; empty where fits made none.
    pub checks: Table,
    /// What each file is.
    pub files: Table,
    pub methods: Vec<Method>,
    /// Names of the files and rates of wrong links, as they stand in the results.
    pub file_names: Vec<String>,
    pub rates: Vec<String>,
}

/// A line of the results' tables: a baseline, or one answer of a fit.
#[derive(Clone, PartialEq)]
pub struct Method {
    /// As in the results.
    pub key: String,
    /// For people to read.
    pub name: String,
}

/// (method of the results, how people read it).
const NAMES: [(&str, &str); 10] = [
    ("least_squares", "links as given"),
    ("huber", "Huber"),
    ("mixture", "row mixture"),
    ("known_rate", "known rate"),
    ("robust_mixture", "robust mixture"),
    ("ours", "joint posterior"),
    ("ours:joint", "joint posterior"),
    ("ours:recommended", "recommended"),
    ("robust", "`robust`, joint posterior"),
    ("feedback_none", "feedback off"),
];

impl Inputs {
    pub fn read(from: &Path) -> Result<Inputs> {
        let table = |name: &str, columns: &[&str]| {
            Table::read(&from.join(name), columns.iter().copied(), COMMAND)
        };
        let cell = ["method", "file", "mislinked", "repeat"];
        let numbers = ["beta_error", "coverage", "width", "mismatch_rate", "r_hat"];
        let results = table("results.csv", &[&cell[..], &numbers[..]].concat())?;
        let methods: Vec<Method> = results
            .distinct("method")
            .into_iter()
            .map(Method::new)
            .collect();
        if !methods.iter().any(|method| method.key == AS_GIVEN) {
            bail!("results.csv has no method `{AS_GIVEN}`, which others are compared with");
        }
        Ok(Inputs {
            about: About::read(&from.join("study.json"), COMMAND)?,
            checks: table("checks.csv", &[&cell[..], &["passed"]].concat())?,
            files: table(
                "files.csv",
                &["file", "package", "response", "predictors", "rows", "r2"],
            )?,
            file_names: results.distinct("file"),
            rates: results.distinct("mislinked"),
            methods,
            results,
        })
    }

    /// The repeats of one cell.
    pub fn cell(&self, method: &Method, file: &str, rate: &str) -> Rows<'_> {
        let wanted = [
            ("method", method.key.as_str()),
            ("file", file),
            ("mislinked", rate),
        ];
        self.results.select(&wanted)
    }

    /// The mean over files of a number's mean over repeats.
    pub fn mean(&self, method: &Method, rate: &str, column: &str) -> Option<f64> {
        let means = self.file_names.iter();
        let means = means.map(|file| self.cell(method, file, rate).mean(column));
        let means: Vec<f64> = means.collect::<Option<_>>()?;
        Some(means.iter().sum::<f64>() / means.len() as f64)
    }

    /// How much larger the mean error of a method is than that of the links as given, in one cell.
    pub fn excess(&self, method: &Method, file: &str, rate: &str) -> Option<f64> {
        let error = |method: &Method| self.cell(method, file, rate).mean("beta_error");
        Some(error(method)? - error(&Method::new(AS_GIVEN.into()))?)
    }

    /// Every method but the links as given.
    pub fn others(&self) -> impl Iterator<Item = &Method> {
        self.methods.iter().filter(|method| method.key != AS_GIVEN)
    }

    /// One answer of every fit: the others share its draws.
    pub fn fits(&self) -> Vec<&Method> {
        let mut fits: Vec<&Method> = Vec::new();
        for method in &self.methods {
            let has_draws = !self
                .results
                .select(&[("method", &method.key)])
                .values("r_hat")
                .is_empty();
            if has_draws && !fits.iter().any(|known| known.fit() == method.fit()) {
                fits.push(method);
            }
        }
        fits
    }
}

impl Method {
    fn new(key: String) -> Method {
        let known = NAMES.iter().find(|(known, _)| *known == key);
        let name = known.map_or(key.replace(':', ", "), |(_, name)| name.to_string());
        Method { key, name }
    }

    /// The method of the study's config.
    pub fn fit(&self) -> &str {
        self.key.split(':').next().unwrap_or(&self.key)
    }
}

/// "20 %", of a rate as it stands in the results.
pub fn percent_of(rate: &str) -> String {
    super::format::percent(rate.parse().ok())
}
