//! `baselines.csv`, beside the draws: what the baselines estimate, for `summary` and for other programs.

use std::fs;
use std::io;
use std::path::Path;

use super::{CompareError, Estimate};

const HEADER: [&str; 6] = ["method", "name", "estimate", "standard_error", "5%", "95%"];

const NA: &str = "NA";

/// Writes baselines.csv.
pub fn write_baselines(path: &Path, estimates: &[Estimate]) -> Result<(), CompareError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: [&str; 6]| {
        let written = writer.write_record(record);
        written.expect("writing to memory does not fail");
    };
    write(HEADER);
    // Debug prints the shortest digits that read back as the same number.
    let number = |number: Option<f64>| number.map_or(NA.into(), |number| format!("{number:?}"));
    for estimate in estimates {
        let numbers = [
            Some(estimate.value),
            estimate.standard_error,
            estimate.interval.map(|[low, _]| low),
            estimate.interval.map(|[_, high]| high),
        ];
        let [value, error, low, high] = numbers.map(number);
        write([
            &estimate.method,
            &estimate.name,
            &value,
            &error,
            &low,
            &high,
        ]);
    }
    let bytes = writer
        .into_inner()
        .expect("writing to memory does not fail");
    fs::write(path, bytes).map_err(|source| CompareError::Write {
        path: path.to_path_buf(),
        source,
    })
}

/// None where the fit was not asked to compare.
pub fn read_baselines(path: &Path) -> Result<Option<Vec<Estimate>>, CompareError> {
    let path = path.to_path_buf();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(CompareError::Read { path, source }),
    };
    match parse(&text) {
        Ok(estimates) => Ok(Some(estimates)),
        Err(what) => Err(CompareError::Baselines { path, what }),
    }
}

fn parse(text: &str) -> Result<Vec<Estimate>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?;
    if header != HEADER.as_slice() {
        return Err(format!("its columns are not {}", HEADER.join(",")));
    }
    let read = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |k: usize| match &record[k] {
            NA => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                let column = HEADER[k];
                format!("line {line}, column {column}: `{text}` is neither a number nor NA")
            }),
        };
        let value = number(2)?.ok_or(format!("line {line} has no estimate"))?;
        Ok(Estimate {
            method: record[0].into(),
            name: record[1].into(),
            value,
            standard_error: number(3)?,
            interval: number(4)?.zip(number(5)?).map(|(low, high)| [low, high]),
        })
    };
    reader.records().map(read).collect()
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
                "line 2 has no estimate",
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
