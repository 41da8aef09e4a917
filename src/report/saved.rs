//! Everything a report needs, read from the saved files of a fit alone.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::ReportError;
use crate::compare::{self, Estimate};
use crate::config::{self, Config};
use crate::data::INTERCEPT;
use crate::diagnostics::{Finding, SummaryRow};
use crate::draws::{ChainDraws, read_output};
use crate::fit::Predictive;
use crate::links_summary::LinksSummary;
use crate::stan::shipped_names;
use crate::summary;

/// A finished, or interrupted, fit.
pub struct Saved {
    pub folder: PathBuf,
    pub config: Config,
    /// Of unshuffle, Stan and the compiler, and the SHA-256 of the data file.
    pub versions: Map<String, Value>,
    pub chains: Vec<ChainDraws>,
    pub summary: Vec<SummaryRow>,
    pub findings: Vec<Finding>,
    /// None where every link was kept.
    pub links: Option<LinksSummary>,
    /// As many as the data have where links were updated, else none.
    pub rows: Vec<SavedRow>,
    /// Least squares and other baselines, then this fit; empty for a program without coefficients.
    pub estimates: Vec<Estimate>,
    pub predictive: Option<Predictive>,
    /// The text of the Stan program.
    pub program: String,
    /// diagnostics.json: times and counts by chain.
    pub diagnostics: Value,
}

/// A row of rows.csv, besides its links.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedRow {
    pub id: Option<String>,
    pub response: f64,
    /// What the predictors beside it predict, and those of its best link.
    pub fitted: Option<[f64; 2]>,
}

impl Saved {
    pub fn read(folder: &Path) -> Result<Saved, ReportError> {
        let chains = read_output(folder)?;
        let config_file = folder.join("config.json");
        let config = config::load(&config_file, &[], &shipped_names())?;
        let raw: Value = json(&config_file)?;
        let summary = summary::rows(&chains);
        let mut findings = summary::findings(&chains, &summary);
        let links = LinksSummary::read_saved(folder, &chains)?;
        findings.extend(links.as_ref().and_then(LinksSummary::findings));
        findings.extend(summary::drift_findings(summary::saved_drifts(folder)));
        let baselines = compare::read_baselines(folder)?.unwrap_or_default();
        let rows = match &links {
            Some(_) => read_rows(&folder.join("rows.csv"))?,
            None => Vec::new(),
        };
        let predictive = folder.join("predictive.json");
        let predictive = predictive.exists().then(|| json(&predictive)).transpose()?;
        Ok(Saved {
            folder: folder.to_path_buf(),
            versions: raw["versions"].as_object().cloned().unwrap_or_default(),
            estimates: compare::beside_fit(baselines, &summary, None).unwrap_or_default(),
            chains,
            summary,
            findings,
            links,
            rows,
            predictive,
            program: text(&folder.join("model.stan"))?,
            // A fit that was killed has no such file; its draws are worth a report all the same.
            diagnostics: json(&folder.join("diagnostics.json")).unwrap_or_default(),
            config,
        })
    }

    /// Of the data; unknown for a fit that kept its links and was killed.
    pub fn num_rows(&self) -> Option<usize> {
        let saved = self.diagnostics["num_rows"].as_u64();
        let linked = self.links.as_ref().map(LinksSummary::num_rows);
        linked.or(saved.map(|n| n as usize))
    }

    /// The names of the columns of X.
    pub fn predictors(&self) -> Vec<&str> {
        let data = &self.config.data;
        let intercept = data.intercept.then_some(INTERCEPT);
        let names = data.predictors.iter().map(String::as_str);
        intercept.into_iter().chain(names).collect()
    }

    /// What the user calls a quantity: her predictor's name for a coefficient.
    pub fn name_of(&self, quantity: &str) -> String {
        let number = quantity
            .strip_prefix("beta.")
            .and_then(|number| number.parse::<usize>().ok());
        let predictors = self.predictors();
        let predictor = number.and_then(|number| predictors.get(number.checked_sub(1)?));
        // As many coefficients as predictors, or the numbers mean something else.
        match predictor {
            Some(name) if self.num_coefficients() == predictors.len() => name.to_string(),
            _ => quantity.to_string(),
        }
    }

    fn num_coefficients(&self) -> usize {
        let betas = self.summary.iter();
        betas.filter(|row| row.name.starts_with("beta.")).count()
    }

    pub fn quantity(&self, name: &str) -> Option<&SummaryRow> {
        self.summary.iter().find(|row| row.name == name)
    }

    /// How the user finds a row again: its number in her file, and her own name of it.
    pub fn row_label(&self, row: usize) -> String {
        match &self.rows[row].id {
            Some(id) if *id != (row + 1).to_string() => format!("{} ({id})", row + 1),
            _ => (row + 1).to_string(),
        }
    }
}

fn text(path: &Path) -> Result<String, ReportError> {
    let path = path.to_path_buf();
    fs::read_to_string(&path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => ReportError::Missing { path },
        _ => ReportError::Read { path, source },
    })
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, ReportError> {
    serde_json::from_str(&text(path)?).map_err(|source| ReportError::Json {
        path: path.to_path_buf(),
        source,
    })
}

fn read_rows(path: &Path) -> Result<Vec<SavedRow>, ReportError> {
    let malformed = |what: String| ReportError::Rows {
        path: path.to_path_buf(),
        what,
    };
    let text = text(path)?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader
        .headers()
        .map_err(|e| malformed(e.to_string()))?
        .clone();
    let column = |name: &str| header.iter().position(|known| known == name);
    let response = column("response").ok_or_else(|| ReportError::NoColumn {
        path: path.to_path_buf(),
        name: "response".into(),
    })?;
    let (id, fitted, best) = (column("id"), column("fitted"), column("fitted_best"));
    let rows = reader.records().enumerate().map(|(index, record)| {
        let record = record.map_err(|error| malformed(error.to_string()))?;
        let number = |k: usize| {
            let parsed = record.get(k).and_then(|field| field.parse::<f64>().ok());
            parsed.ok_or_else(|| {
                malformed(format!(
                    "`{}` of row {} is no number",
                    &header[k],
                    index + 1
                ))
            })
        };
        Ok(SavedRow {
            id: id.and_then(|k| record.get(k)).map(String::from),
            response: number(response)?,
            fitted: match (fitted, best) {
                (Some(fitted), Some(best)) => Some([number(fitted)?, number(best)?]),
                _ => None,
            },
        })
    });
    rows.collect()
}
