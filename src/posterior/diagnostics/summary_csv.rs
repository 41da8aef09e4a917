//! A summary as CSV, to be read by R, pandas or `unshuffle` itself: every digit, NA where there is no number.

use std::io;

use super::summary::{COLUMNS, SummaryRow};

const NA: &str = "NA";
/// The last column; files of older versions lack it.
const LABEL: &str = "label";

#[derive(Debug, thiserror::Error)]
pub enum SummaryError {
    #[error("the summary is not readable as CSV")]
    Csv(#[from] csv::Error),
    #[error(
        "the summary's columns are `{found}`, not those of `unshuffle summary`: write the file anew with it"
    )]
    Columns { found: String },
    #[error("line {line}, column {column} of the summary: `{value}` is neither a number nor NA")]
    Number {
        line: u64,
        column: &'static str,
        value: String,
    },
}

/// `label` is what the user calls a quantity.
pub fn write_csv(
    rows: &[SummaryRow],
    label: impl Fn(&str) -> String,
    writer: impl io::Write,
) -> Result<(), SummaryError> {
    let mut writer = csv::Writer::from_writer(writer);
    writer.write_record(header().chain([LABEL]))?;
    for row in rows {
        let numbers = row.numbers().map(|number| match number {
            // Debug prints the shortest digits that read back as the same number, with an exponent where that is shorter.
            Some(number) => format!("{number:?}"),
            None => NA.to_owned(),
        });
        let label = label(&row.name);
        let cells = std::iter::once(&row.name).chain(&numbers).chain([&label]);
        writer.write_record(cells)?;
    }
    writer.flush().map_err(csv::Error::from)?;
    Ok(())
}

pub fn read_csv(reader: impl io::Read) -> Result<Vec<SummaryRow>, SummaryError> {
    let mut reader = csv::Reader::from_reader(reader);
    let found = reader.headers()?;
    if !found.iter().eq(header().chain([LABEL])) && !found.iter().eq(header()) {
        return Err(SummaryError::Columns {
            found: found.iter().collect::<Vec<_>>().join(","),
        });
    }
    reader.records().map(|record| read_row(&record?)).collect()
}

fn read_row(record: &csv::StringRecord) -> Result<SummaryRow, SummaryError> {
    let mut numbers = [None; COLUMNS.len()];
    // The CSV reader has checked that every record is as long as the header.
    for ((number, column), value) in numbers.iter_mut().zip(COLUMNS).zip(record.iter().skip(1)) {
        if value != NA {
            let line = record.position().map_or(0, csv::Position::line);
            let parsed = value.parse().map_err(|_| SummaryError::Number {
                line,
                column,
                value: value.to_owned(),
            })?;
            *number = Some(parsed);
        }
    }
    Ok(SummaryRow::from_numbers(record[0].to_owned(), numbers))
}

fn header() -> impl Iterator<Item = &'static str> {
    std::iter::once("name").chain(COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::diagnostics::summary::tests::example_rows;

    #[test]
    fn rows_survive_writing_and_reading() {
        let rows = example_rows();
        let mut file = Vec::new();
        write_csv(&rows, |_| "mine".into(), &mut file).unwrap();
        assert_eq!(read_csv(file.as_slice()).unwrap(), rows);
        let older = String::from_utf8(file).unwrap();
        let older: String = older
            .lines()
            .map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0))
            .collect();
        assert_eq!(read_csv(older.as_bytes()).unwrap(), rows);
    }

    #[test]
    fn the_file_is_as_documented() {
        let mut row = SummaryRow::from_numbers("a,b".into(), [None; 11]);
        row.mean = Some(0.1);
        row.q95 = Some(1e300);
        row.r_hat = Some(f64::INFINITY);
        let mut file = Vec::new();
        write_csv(&[row], |_| "log income".into(), &mut file).unwrap();
        assert_eq!(
            String::from_utf8(file).unwrap(),
            "name,Mean,MCSE,StdDev,MAD,5%,50%,95%,ESS_bulk,ESS_tail,ESS_bulk/s,R_hat,label\n\
             \"a,b\",0.1,NA,NA,NA,NA,NA,1e300,NA,NA,NA,inf,log income\n"
        );
    }

    #[test]
    fn other_files_are_refused_with_the_place() {
        let header = header().collect::<Vec<_>>().join(",");
        let cases = [
            ("name,Mean\nx,1\n".to_owned(), "columns are `name,Mean`"),
            (
                format!("{header}\nx,1,2,3,4,5,6,7,8,9,10,11\ny,1,2,3,4,5,six,7,8,9,10,11\n"),
                "line 3, column 50%",
            ),
            (format!("{header}\nx,1,2\n"), "not readable as CSV"),
        ];
        for (file, expected) in cases {
            let message = read_csv(file.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
