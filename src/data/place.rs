//! Where in the CSV file something is wrong.

use std::collections::HashMap;

use csv::StringRecord;

use super::DataError;
use crate::config::{nearest, quoted_list};

/// A cell without surrounding spaces, and without quotes that spaces hid from the CSV reader.
pub(crate) fn clean(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .map_or(cell, str::trim)
}

/// The line, counted from 1, of the text that starts at or after `offset` and is not a blank line.
pub(super) fn line_at(bytes: &[u8], offset: usize) -> usize {
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

/// The file being read, for error messages.
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Place<'_> {
    pub(super) fn line(&self, record: &StringRecord) -> usize {
        let offset = record.position().map_or(0, |position| position.byte());
        line_at(self.text.as_bytes(), offset as usize)
    }

    pub(super) fn check_header(
        &self,
        header: &[String],
        record: &StringRecord,
    ) -> Result<(), DataError> {
        let mut seen = HashMap::new();
        for (i, name) in header.iter().enumerate() {
            // R leaves the column of row names without a name.
            if name.is_empty() {
                continue;
            }
            if let Some(first) = seen.insert(name, i) {
                return Err(DataError::BadLine {
                    file: self.file.into(),
                    line: self.line(record),
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

    pub(super) fn column(
        &self,
        header: &[String],
        column: &str,
        key: &'static str,
    ) -> Result<usize, DataError> {
        const MAX_LISTED: usize = 12;
        if let Some(index) = header.iter().position(|name| name == column) {
            return Ok(index);
        }
        let advice = if let Some(name) = nearest(column, header.iter().map(String::as_str)) {
            format!("did you mean `{name}`?")
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
        };
        Err(DataError::NoColumn {
            file: self.file.into(),
            column: column.into(),
            key,
            advice,
        })
    }

    pub(super) fn ragged(
        &self,
        record: &StringRecord,
        num_columns: usize,
        delimiter: u8,
    ) -> DataError {
        let open_quote = record.iter().any(|cell| cell.contains('\n'));
        let mark = match delimiter {
            b'\t' => "tab".to_string(),
            other => format!("`{}`", other as char),
        };
        DataError::BadLine {
            file: self.file.into(),
            line: self.line(record),
            problem: format!(
                "{} value{} where the header has {num_columns} columns",
                record.len(),
                if record.len() == 1 { "" } else { "s" },
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

    pub(super) fn bad_value(
        &self,
        record: &StringRecord,
        column: &str,
        value: &str,
        fix: &'static str,
    ) -> DataError {
        const MAX_SHOWN: usize = 40;
        let mut shown: String = value.chars().take(MAX_SHOWN).collect();
        if shown.len() < value.len() {
            shown.push_str("...");
        }
        DataError::BadValue {
            file: self.file.into(),
            line: self.line(record),
            column: column.into(),
            value: format!("\"{shown}\""),
            fix,
        }
    }
}
