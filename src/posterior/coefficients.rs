//! The estimates of a fit by method (coefficients.csv): the recommended ones, those of the draws, and those of other estimators.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Where an estimate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// What the checks of the model recommend.
    Recommended,
    /// The joint posterior of coefficients and links.
    Joint,
    /// The same program with every link kept.
    AsLinked,
    /// Huber's M-estimator on the links as given.
    Huber,
    /// The row mixture of Slawski, Diao and Ben-David.
    Mixture,
    /// The estimate for a known rate of exchangeable linkage errors.
    KnownRate,
}

impl Method {
    /// The name in coefficients.csv.
    pub fn name(self) -> &'static str {
        match self {
            Method::Recommended => "recommended",
            Method::Joint => "joint",
            Method::AsLinked => "as_linked",
            Method::Huber => "huber",
            Method::Mixture => "mixture",
            Method::KnownRate => "known_rate",
        }
    }
}

/// One line of coefficients.csv.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficient {
    /// The user's name.
    pub name: String,
    /// Where the estimate comes from.
    pub method: Method,
    /// Posterior mean, or estimate.
    pub estimate: f64,
    /// Posterior standard deviation, or standard error.
    pub sd: f64,
    /// Lower end of the 90 % interval.
    pub q5: f64,
    /// Upper end of the 90 % interval.
    pub q95: f64,
}

const HEADER: [&str; 6] = ["name", "method", "estimate", "sd", "5%", "95%"];

/// The text of coefficients.csv.
pub(crate) fn coefficients_csv(coefficients: &[Coefficient]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: [&str; 6]| {
        let written = writer.write_record(record);
        written.expect("writing to memory does not fail");
    };
    write(HEADER);
    for c in coefficients {
        // Debug prints the shortest digits that read back as the same number.
        let numbers = [c.estimate, c.sd, c.q5, c.q95].map(|number| format!("{number:?}"));
        let [estimate, sd, q5, q95] = &numbers;
        write([&c.name, c.method.name(), estimate, sd, q5, q95]);
    }
    let bytes = writer.into_inner();
    bytes.expect("writing to memory does not fail")
}

/// The coefficients in a file; None where there is no such file, or it is not one.
pub fn read_coefficients(path: &Path) -> Option<Vec<Coefficient>> {
    let text = fs::read_to_string(path).ok()?;
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    if reader.headers().ok()? != HEADER.as_slice() {
        return None;
    }
    let read = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.ok()?;
        let number = |k: usize| record[k].parse::<f64>().ok();
        let method = serde_json::from_value::<Method>(record[1].into()).ok()?;
        Some(Coefficient {
            name: record[0].to_string(),
            method,
            estimate: number(2)?,
            sd: number(3)?,
            q5: number(4)?,
            q95: number(5)?,
        })
    };
    reader.records().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_read_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("coefficients.csv");
        assert_eq!(read_coefficients(&path), None);
        let coefficient = |name: &str, method| Coefficient {
            name: name.into(),
            method,
            estimate: 0.1 + 0.2,
            sd: 1e-7,
            q5: -3.0,
            q95: 1e22,
        };
        let all = [
            coefficient("(Intercept)", Method::Recommended),
            coefficient("log(wage), \"real\"", Method::AsLinked),
        ];
        fs::write(&path, coefficients_csv(&all)).unwrap();
        assert_eq!(read_coefficients(&path).unwrap(), all);
    }
}
