//! `coefficients.csv` and `trust.json`.

use std::fs;
use std::io;
use std::path::Path;

use super::{Coefficient, Method, Trust};

pub const COEFFICIENTS_FILE: &str = "coefficients.csv";
pub const TRUST_FILE: &str = "trust.json";

const HEADER: [&str; 6] = ["name", "method", "estimate", "sd", "5%", "95%"];

pub fn write_coefficients(folder: &Path, coefficients: &[Coefficient]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER)?;
    for c in coefficients {
        // Debug prints the shortest digits that read back as the same number.
        let numbers = [c.estimate, c.sd, c.q5, c.q95].map(|number| format!("{number:?}"));
        let [estimate, sd, q5, q95] = &numbers;
        writer.write_record([&c.name, c.method.name(), estimate, sd, q5, q95])?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    fs::write(folder.join(COEFFICIENTS_FILE), bytes)
}

/// None where a fit of an older version has no such file, or it is not one.
pub fn read_coefficients(folder: &Path) -> Option<Vec<Coefficient>> {
    let text = fs::read_to_string(folder.join(COEFFICIENTS_FILE)).ok()?;
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

pub fn write_trust(folder: &Path, trust: &Trust) -> io::Result<()> {
    let text = serde_json::to_string_pretty(trust).expect("plain JSON");
    fs::write(folder.join(TRUST_FILE), text + "\n")
}

pub fn read_trust(folder: &Path) -> Option<Trust> {
    let text = fs::read_to_string(folder.join(TRUST_FILE)).ok()?;
    serde_json::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_read_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_coefficients(folder.path()), None);
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
        write_coefficients(folder.path(), &all).unwrap();
        assert_eq!(read_coefficients(folder.path()).unwrap(), all);
    }
}
