//! Everything a report needs, read from the saved files of a fit alone.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use csv::StringRecord;
use serde_json::{Map, Value};

use super::ReportError;
use crate::baseline::compare::{self, Estimate, KNOWN_RATE, RatePoint};
use crate::config::{self, Config};
use crate::data::INTERCEPT;
use crate::fit::{DataSummary, Predictive};
use crate::posterior::diagnostics::{Finding, SummaryRow};
use crate::posterior::draws::{ChainDraws, read_output};
use crate::posterior::links::LinksSummary;
use crate::posterior::summary;
use crate::trust::{Coefficient, Trust, read_coefficients, read_trust};

/// A finished, or interrupted, fit.
pub struct Saved {
    pub folder: PathBuf,
    pub config: Config,
    /// Of unshuffle, Stan and the compiler, and the SHA-256 of the data file.
    pub versions: Map<String, Value>,
    /// None for fits of older versions.
    pub data: Option<DataSummary>,
    pub chains: Vec<ChainDraws>,
    pub summary: Vec<SummaryRow>,
    pub findings: Vec<Finding>,
    /// None where every link was kept.
    pub links: Option<LinksSummary>,
    /// As many as the data have where links were updated, else none.
    pub rows: Vec<SavedRow>,
    /// Least squares and other baselines, then this fit; empty for a program without coefficients.
    pub estimates: Vec<Estimate>,
    /// Coefficients by the rate of wrong links that one believes in; empty where that estimator does not apply.
    pub rate_curve: Vec<RatePoint>,
    /// None for fits of older versions, and interrupted ones.
    pub trust: Option<Trust>,
    /// coefficients.csv, by method.
    pub coefficients: Vec<Coefficient>,
    pub predictive: Option<Predictive>,
    /// The text of the Stan program.
    pub program: String,
    /// diagnostics.json: times and counts by chain.
    pub diagnostics: Value,
}

/// A row of rows.csv, besides its links.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedRow {
    /// As in the user's file.
    pub number: usize,
    pub id: Option<String>,
    pub block: Option<String>,
    pub safe: Option<bool>,
    /// That the link is right, before the fit.
    pub match_probability: Option<f64>,
    pub num_candidates: Option<usize>,
    pub response: f64,
    /// What the predictors beside it predict, and those of its best link.
    pub fitted: Option<[f64; 2]>,
}

impl Saved {
    pub fn read(folder: &Path) -> Result<Saved, ReportError> {
        let chains = read_output(folder)?;
        let config_file = folder.join("config.json");
        let config = config::load(&config_file, &[])?;
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
        let [predictive, data] = ["predictive.json", "data.json"].map(|name| folder.join(name));
        let predictive = predictive.exists().then(|| json(&predictive)).transpose()?;
        let data: Option<DataSummary> = data.exists().then(|| json(&data)).transpose()?;
        let priors = data.as_ref().and_then(|data| data.priors.as_ref());
        findings.extend(summary::prior_findings(priors, &summary));
        Ok(Saved {
            folder: folder.to_path_buf(),
            versions: raw["versions"].as_object().cloned().unwrap_or_default(),
            estimates: compare::beside_fit(baselines, &summary, None).unwrap_or_default(),
            rate_curve: compare::read_known_rate(folder)?,
            data,
            chains,
            summary,
            findings,
            links,
            rows,
            trust: read_trust(folder),
            coefficients: read_coefficients(folder).unwrap_or_default(),
            predictive,
            program: text(&folder.join("model.stan"))?,
            // A fit that was killed has no such file; its draws are worth a report all the same.
            diagnostics: json(&folder.join("diagnostics.json")).unwrap_or_default(),
            config,
        })
    }

    /// Of the data; unknown for a fit of an older version that kept its links and was killed.
    pub fn num_rows(&self) -> Option<usize> {
        let saved = self.diagnostics["num_rows"].as_u64();
        let linked = self.links.as_ref().map(LinksSummary::num_rows);
        let of_data = self.data.as_ref().map(|data| data.num_rows);
        linked.or(saved.map(|n| n as usize)).or(of_data)
    }

    /// The names of the columns of X.
    pub fn predictors(&self) -> Vec<&str> {
        if let Some(data) = &self.data {
            return data.predictor_names.iter().map(String::as_str).collect();
        }
        let data = &self.config.data;
        let intercept = data.intercept.then_some(INTERCEPT);
        let names = data.predictors.iter().map(String::as_str);
        intercept.into_iter().chain(names).collect()
    }

    /// The names of a list of responses.
    fn responses(&self) -> &[String] {
        let names = self.data.as_ref();
        let names = names.and_then(|data| data.response_names.as_deref());
        names.unwrap_or_default()
    }

    /// What the user calls a quantity: her predictor's name for a coefficient, with the response's where she has a list.
    pub fn name_of(&self, quantity: &str) -> String {
        if !quantity.starts_with("beta.") {
            return quantity.to_string();
        }
        let coefficients = self.coefficient_names();
        let named = coefficients.into_iter().find(|(beta, _)| beta == quantity);
        named.map_or(quantity.to_string(), |(_, name)| name)
    }

    /// The coefficients as the files and as the user call them: `beta.1`, ... by predictor, or `beta.1.1`, `beta.2.1`,
    /// ... by response and predictor. None of them where the program has others, whose numbers mean something else.
    pub fn coefficient_names(&self) -> Vec<(String, String)> {
        let predictors = self.predictors();
        let numbered = || (1..).zip(&predictors);
        let single = numbered().map(|(d, name)| (format!("beta.{d}"), name.to_string()));
        let by_response = (1..).zip(self.responses()).flat_map(|(k, response)| {
            numbered().map(move |(d, name)| {
                let name = format!("{response} ~ {name}");
                (format!("beta.{d}.{k}"), name)
            })
        });
        [single.collect(), by_response.collect()]
            .into_iter()
            .find(|names: &Vec<(String, String)>| self.has_exactly(names))
            .unwrap_or_default()
    }

    fn has_exactly(&self, coefficients: &[(String, String)]) -> bool {
        let betas = self.summary.iter();
        let betas = betas.filter(|row| row.name.starts_with("beta."));
        betas.count() == coefficients.len()
            && coefficients
                .iter()
                .all(|(beta, _)| self.quantity(beta).is_some())
    }

    /// The method that takes the links as given: the first baseline, unless it corrects for a rate of wrong links.
    pub fn as_linked(&self) -> Option<&str> {
        let first = self.estimates.first()?.method.as_str();
        (first != KNOWN_RATE).then_some(first)
    }

    pub fn quantity(&self, name: &str) -> Option<&SummaryRow> {
        self.summary.iter().find(|row| row.name == name)
    }

    /// How the user finds a row again: its number in her file, and her own name of it.
    pub fn row_label(&self, row: usize) -> String {
        let SavedRow { number, id, .. } = &self.rows[row];
        match id {
            Some(id) if *id != number.to_string() => format!("{number} ({id})"),
            _ => number.to_string(),
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
    let [row, id, block, safe] = ["row", "id", "block", "safe"].map(column);
    let [given, candidates] = ["match_probability", "num_candidates"].map(column);
    let [fitted, best] = ["fitted", "fitted_best"].map(column);
    let rows = reader.records().enumerate().map(|(index, record)| {
        let record = record.map_err(|error| malformed(error.to_string()))?;
        let text = |k: Option<usize>| k.and_then(|k| record.get(k)).map(String::from);
        let number = |k: usize| parsed::<f64>(&record, &header, index, k).map_err(malformed);
        let whole = |k: usize| parsed::<usize>(&record, &header, index, k).map_err(malformed);
        Ok(SavedRow {
            number: row.map(whole).transpose()?.unwrap_or(index + 1),
            id: text(id),
            block: text(block),
            safe: text(safe).map(|safe| safe == "true"),
            match_probability: given.map(number).transpose()?,
            num_candidates: candidates.map(whole).transpose()?,
            response: number(response)?,
            fitted: match (fitted, best) {
                (Some(fitted), Some(best)) => Some([number(fitted)?, number(best)?]),
                _ => None,
            },
        })
    });
    rows.collect()
}

/// Column `k` of the record at `index`, both from 0, or what is wrong with it.
fn parsed<T: FromStr>(
    record: &StringRecord,
    header: &StringRecord,
    index: usize,
    k: usize,
) -> Result<T, String> {
    let field = record.get(k).and_then(|field| field.parse().ok());
    field.ok_or_else(|| format!("`{}` of row {} is no number", &header[k], index + 1))
}
