//! A CSV file as cells of text, and where in it something is wrong.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use csv::StringRecord;

use super::{DataError, delimiter};
use crate::text::{bytes_in_words, free_memory, nearest, quoted_list, read_at_most};

/// A file with a header and rows of as many cells as it.
#[derive(Clone)]
pub(crate) struct Table {
    /// Its path, as errors name it.
    pub(crate) file: String,
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<StringRecord>,
    pub(super) delimiter: u8,
    text: String,
}

impl Table {
    /// `key` is the entry of the config that names the file.
    pub(crate) fn read(path: &Path, key: &'static str) -> Result<Table, DataError> {
        let file = path.display().to_string();
        let free = free_memory();
        let too_large = || DataError::TooLarge {
            file: file.clone(),
            key,
            free: free.map_or("what is free".into(), bytes_in_words),
        };
        if path.extension().is_some_and(|ending| ending == "parquet") && path.exists() {
            // The text and its cells are made of what is decoded, and that is held beside them.
            let most = free.map_or(u64::MAX, |free| (free / 4.0) as u64);
            let text = parquet_as_csv(path, &file, most)?.ok_or_else(too_large)?;
            return match free.is_some_and(|free| least_memory(&text) > free) {
                true => Err(too_large()),
                false => Table::parse(file.clone(), text),
            };
        }
        // Each byte is held in the text and in a cell. A pipe may have no end, so it is not read any further.
        let most = free.map_or(u64::MAX, |free| (free / 2.0) as u64);
        let mut bytes = read_at_most(path, most).map_err(|source| match source.kind() {
            ErrorKind::NotFound => DataError::NotFound {
                file: file.clone(),
                key,
            },
            ErrorKind::FileTooLarge | ErrorKind::OutOfMemory => too_large(),
            _ => DataError::Unreadable {
                file: file.clone(),
                key,
                source,
            },
        })?;
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        if let Some((what, fix)) = no_csv(&bytes) {
            return Err(DataError::NotCsv { file, what, fix });
        }
        let text = String::from_utf8(bytes).map_err(|error| DataError::NotText {
            file: file.clone(),
            line: line_at(error.as_bytes(), error.utf8_error().valid_up_to()),
        })?;
        if text.trim().is_empty() {
            return Err(DataError::Empty { file });
        }
        if free.is_some_and(|free| least_memory(&text) > free) {
            return Err(too_large());
        }
        Table::parse(file, text)
    }

    fn parse(file: String, text: String) -> Result<Table, DataError> {
        let delimiter = delimiter::detect(&text);
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(text.as_bytes());
        let mut records = reader.records().map(|record| {
            record.expect("UTF-8 text in memory, rows of any length: nothing is left to fail")
        });
        let first = records.next().expect("the text is not empty");
        let header = first.iter().map(|name| clean(name).to_string()).collect();
        // A line of spaces is a blank line.
        let blank = |row: &StringRecord| row.len() == 1 && row[0].trim().is_empty();
        let rows = records.filter(|row| !blank(row)).collect();
        let table = Table {
            file,
            header,
            rows,
            delimiter,
            text,
        };
        table.check_header(&first)?;
        let num_columns = table.header.len();
        if let Some(row) = table.rows.iter().find(|row| row.len() != num_columns) {
            return Err(table.ragged(row, delimiter));
        }
        match table.rows.iter().find(|row| table.swallows_lines(row)) {
            Some(row) => Err(table.swallowed(row)),
            None => Ok(table),
        }
    }

    pub(crate) fn cell(&self, row: usize, column: usize) -> &str {
        clean(&self.rows[row][column])
    }

    /// The line of a row, counted from 1.
    pub(super) fn line(&self, row: usize) -> usize {
        self.line_of(&self.rows[row])
    }

    fn line_of(&self, record: &StringRecord) -> usize {
        let offset = record.position().map_or(0, |position| position.byte());
        line_at(self.text.as_bytes(), offset as usize)
    }

    pub(crate) fn position(&self, column: &str) -> Option<usize> {
        self.header.iter().position(|name| name == column)
    }

    /// The position of a column that must be there.
    pub(crate) fn column(&self, column: &str, key: &'static str) -> Result<usize, DataError> {
        self.position(column).ok_or_else(|| DataError::NoColumn {
            file: self.file.clone(),
            column: column.into(),
            key,
            advice: column_advice(column, &self.header),
        })
    }

    pub(crate) fn bad_value(&self, row: usize, column: usize, fix: impl Into<String>) -> DataError {
        DataError::BadValue {
            file: self.file.clone(),
            line: self.line(row),
            column: self.header[column].clone(),
            value: excerpt(self.cell(row, column)),
            fix: fix.into(),
        }
    }

    fn check_header(&self, record: &StringRecord) -> Result<(), DataError> {
        let mut seen = HashMap::new();
        for (i, name) in self.header.iter().enumerate() {
            if name.contains('\n') {
                return Err(DataError::BadLine {
                    file: self.file.clone(),
                    line: self.line_of(record),
                    problem: format!("the name of column {} does not end on this line", i + 1),
                    fix: "close the double quote that is open here".into(),
                });
            }
            // R leaves the column of row names without a name.
            if name.is_empty() {
                continue;
            }
            if let Some(first) = seen.insert(name, i) {
                return Err(DataError::BadLine {
                    file: self.file.clone(),
                    line: self.line_of(record),
                    problem: format!(
                        "columns {} and {} are both named `{name}`",
                        first + 1,
                        i + 1
                    ),
                    fix: "rename one of them".into(),
                });
            }
        }
        Ok(())
    }

    /// Whether a cell holds lines that look like rows, as behind a double quote that was forgotten.
    fn swallows_lines(&self, record: &StringRecord) -> bool {
        let num_marks = self.header.len() - 1;
        let is_row = |line: &str| {
            let marks = line.bytes().filter(|byte| *byte == self.delimiter);
            num_marks > 0 && marks.count() == num_marks
        };
        let inner = |cell: &str| {
            let lines: Vec<&str> = cell.lines().collect();
            lines.len() > 2 && lines[1..lines.len() - 1].iter().any(|line| is_row(line))
        };
        record.iter().any(inner)
    }

    fn swallowed(&self, record: &StringRecord) -> DataError {
        DataError::BadLine {
            file: self.file.clone(),
            line: self.line_of(record),
            problem: "a value in double quotes goes on over lines that look like rows".into(),
            fix: "close the double quote that is open here, or remove it".into(),
        }
    }

    fn ragged(&self, record: &StringRecord, delimiter: u8) -> DataError {
        let open_quote = record.iter().any(|cell| cell.contains('\n'));
        let mark = match delimiter {
            b'\t' => "tab".to_string(),
            other => format!("`{}`", other as char),
        };
        DataError::BadLine {
            file: self.file.clone(),
            line: self.line_of(record),
            problem: format!(
                "{} value{} where the header has {} columns",
                record.len(),
                if record.len() == 1 { "" } else { "s" },
                self.header.len()
            ),
            fix: if open_quote {
                "close the double quote that is open here".into()
            } else {
                format!(
                    "give one value for each column, and put values that contain the separator ({mark}) in \
                     double quotes"
                )
            },
        }
    }
}

/// Refuses a pipe or a device: data of a fit are read again, for their hash and after the fit.
pub(super) fn check_rereadable(path: &Path) -> Result<(), DataError> {
    let is_stream = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
    match std::fs::metadata(path).is_ok_and(is_stream) {
        true => Err(DataError::NotCsv {
            file: path.display().to_string(),
            what: "a pipe or a device, and the data of a fit are read more than once",
            fix: "save them as a file",
        }),
        false => Ok(()),
    }
}

/// Bytes that a text and its cells take at least, without what a fit makes of them.
fn least_memory(text: &str) -> f64 {
    /// A row of cells that are not counted yet, and the pointer to it.
    const ROW: usize = 96;
    let delimiter = delimiter::detect(text);
    let num_rows = text.bytes().filter(|byte| *byte == b'\n').count();
    let num_marks = text.bytes().filter(|byte| *byte == delimiter).count();
    let cells = (num_rows + num_marks) * size_of::<usize>();
    2.0 * text.len() as f64 + (cells + num_rows * ROW) as f64
}

/// What a file is that is no CSV file by its first bytes, and what to do.
fn no_csv(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const UNPACK: &str = "unpack it, and name the unpacked file";
    const EXPORT: &str = "save the table as \"CSV UTF-8\", and name that file";
    let known: [(&[u8], &str, &str); 8] = [
        (b"\x1f\x8b", "compressed (gzip)", UNPACK),
        (b"BZh", "compressed (bzip2)", UNPACK),
        (b"\xfd7zXZ\0", "compressed (xz)", UNPACK),
        (b"\x28\xb5\x2f\xfd", "compressed (zstd)", UNPACK),
        (b"PK\x03\x04", "an Excel workbook or a zip archive", EXPORT),
        (b"\xd0\xcf\x11\xe0", "an Excel workbook", EXPORT),
        (b"PAR1", "a Parquet file", EXPORT),
        (b"\x89HDF\r\n", "an HDF5 file", EXPORT),
    ];
    let is_wide = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || {
        let start = &bytes[..bytes.len().min(1000)];
        4 * start.iter().filter(|byte| **byte == 0).count() > start.len()
    };
    let mut known = known.into_iter();
    let found = known.find(|(start, ..)| bytes.starts_with(start));
    match found {
        Some((_, what, fix)) => Some((what, fix)),
        None => is_wide.then_some(("UTF-16 text, not UTF-8", EXPORT)),
    }
}

/// None for a file that takes more than `most` bytes.
#[cfg(feature = "parquet")]
fn parquet_as_csv(path: &Path, file: &str, most: u64) -> Result<Option<String>, DataError> {
    use super::parquet::{Failure, as_csv};
    match as_csv(path, most) {
        Ok(text) => Ok(Some(text)),
        Err(Failure::TooLarge) => Ok(None),
        Err(Failure::Format(error)) => Err(DataError::Parquet {
            file: file.into(),
            problem: format!(
                "cannot be read as Parquet ({error}); write it with snappy compression or none, or as CSV"
            ),
        }),
    }
}

#[cfg(not(feature = "parquet"))]
fn parquet_as_csv(_: &Path, file: &str, _: u64) -> Result<Option<String>, DataError> {
    Err(DataError::Parquet {
        file: file.into(),
        problem: "is a Parquet file, which this build does not read; save it as CSV, or build with --features parquet"
            .into(),
    })
}

/// What to do about a column that is not there.
pub(super) fn column_advice(column: &str, header: &[String]) -> String {
    const MAX_LISTED: usize = 12;
    let has_marks = |name: &str| name.contains(|c| matches!(c, '\u{300}'..='\u{36f}'));
    if let Some(name) = nearest(column, header.iter().map(String::as_str)) {
        match has_marks(name) == has_marks(column) {
            true => format!("did you mean `{name}`?"),
            // They look alike: `é` is one character, or `e` and an accent.
            false => format!(
                "did you mean `{name}`? Its accents are other characters (Unicode NFC or NFD), so copy the name from the file"
            ),
        }
    } else if let [only] = header {
        format!(
            "the header is the one column `{only}`, so separate columns by commas, semicolons or tabs"
        )
    } else if header.len() <= MAX_LISTED {
        format!("the columns are {}", quoted_list(header))
    } else {
        format!(
            "the file has {} columns, the first being {}",
            header.len(),
            quoted_list(&header[..MAX_LISTED])
        )
    }
}

/// The beginning of a value, in quotes.
pub(super) fn excerpt(value: &str) -> String {
    format!("\"{}\"", cut(value, 40))
}

/// The beginning of a formula.
pub(super) fn beginning(text: &str) -> String {
    cut(text, 100)
}

fn cut(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

/// A cell without surrounding spaces, and without quotes that spaces hid from the CSV reader.
fn clean(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .map_or(cell, str::trim)
}

/// The line, counted from 1, of the text that starts at or after `offset` and is not a blank line.
fn line_at(bytes: &[u8], offset: usize) -> usize {
    let blank = bytes[offset..]
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'))
        .count();
    let before = &bytes[..offset + blank];
    let breaks = before
        .iter()
        .enumerate()
        .filter(|&(i, &byte)| byte == b'\n' || (byte == b'\r' && before.get(i + 1) != Some(&b'\n')))
        .count();
    breaks + 1
}
