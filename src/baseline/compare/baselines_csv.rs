//! `baselines.csv`, beside the draws: what the baselines estimate, for `summary` and for other programs.

use std::fs;
use std::path::Path;

use super::{CompareError, Estimate};
use crate::text::{FileError, digits_or_na, from_csv, text_if_there, to_csv};

const HEADER: [&str; 6] = ["method", "name", "estimate", "standard_error", "5%", "95%"];

/// Writes baselines.csv.
pub fn write_baselines(path: &Path, estimates: &[Estimate]) -> Result<(), CompareError> {
    let rows = estimates.iter().map(|estimate| {
        let [low, high] = match estimate.interval {
            Some(ends) => ends.map(Some),
            None => [None, None],
        };
        let numbers = [Some(estimate.value), estimate.standard_error, low, high];
        let [value, error, low, high] = numbers.map(digits_or_na);
        let [method, name] = [&estimate.method, &estimate.name].map(String::clone);
        [method, name, value, error, low, high]
    });
    Ok(fs::write(path, to_csv(HEADER, rows)).map_err(FileError::write(path))?)
}

/// None where the fit was not asked to compare.
pub fn read_baselines(path: &Path) -> Result<Option<Vec<Estimate>>, CompareError> {
    let parsed = text_if_there(path)?.map(|text| parse(&text)).transpose();
    parsed.map_err(|what| CompareError::Baselines {
        path: path.to_path_buf(),
        what,
    })
}

fn parse(text: &str) -> Result<Vec<Estimate>, String> {
    from_csv(text, &HEADER, |line| {
        let ends = line.number_or_na(4)?.zip(line.number_or_na(5)?);
        Ok(Estimate {
            method: line.text(0).into(),
            name: line.text(1).into(),
            value: line.number(2)?,
            standard_error: line.number_or_na(3)?,
            interval: ends.map(|(low, high)| [low, high]),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimates() -> Vec<Estimate> {
        let estimate = |method: &str, name: &str, standard_error: Option<f64>| Estimate {
            method: method.into(),
            name: name.into(),
            value: 0.1,
            standard_error,
            interval: standard_error.map(|e| [0.1 - e, 0.1 + e]),
        };
        vec![
            estimate("huber", "income, yearly", Some(0.3)),
            estimate("mixture", "income, yearly", Some(f64::INFINITY)),
            estimate("mixture", "mismatch_rate", None),
        ]
    }

    #[test]
    fn estimates_survive_writing_and_reading() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("baselines.csv");
        assert_eq!(read_baselines(&path).unwrap(), None);
        write_baselines(&path, &estimates()).unwrap();
        assert_eq!(read_baselines(&path).unwrap(), Some(estimates()));
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "method,name,estimate,standard_error,5%,95%\n\
             huber,\"income, yearly\",0.1,0.3,-0.19999999999999998,0.4\n\
             mixture,\"income, yearly\",0.1,inf,-inf,inf\n\
             mixture,mismatch_rate,0.1,NA,NA,NA\n"
        );
    }

    #[test]
    fn other_files_are_refused_with_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let header = "method,name,estimate,standard_error,5%,95%\n";
        for (text, expected) in [
            ("a,b\n1,2\n".to_string(), "its columns are not method,name"),
            (
                format!("{header}huber,x,1,2,3,4\nhuber,z,1,two,3,4\n"),
                "line 3, column standard_error: `two`",
            ),
            (
                format!("{header}huber,x,NA,2,3,4\n"),
                "line 2, column estimate: `NA` is no number",
            ),
            (format!("{header}huber,x\n"), "baselines.csv: CSV error"),
        ] {
            let path = folder.path().join("baselines.csv");
            fs::write(&path, text).unwrap();
            let message = read_baselines(&path).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
            assert!(message.contains("fitting with --compare"), "{message}");
        }
    }
}
