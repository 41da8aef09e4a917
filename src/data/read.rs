//! Reads the CSV file into a `Dataset`.

use std::collections::HashMap;
use std::io::ErrorKind;

use csv::StringRecord;
use ndarray::Array2;

use super::cell::{self, Number};
use super::place::{Place, clean, line_at};
use super::{Blocks, DataError, Dataset, INTERCEPT, checks, delimiter};
use crate::config::Data;

/// Reads the columns that `data` names and checks that they make a regression.
pub fn read(data: &Data) -> Result<Dataset, DataError> {
    check_roles(data)?;
    let file = data.file.display().to_string();
    let bytes = std::fs::read(&data.file).map_err(|source| match source.kind() {
        ErrorKind::NotFound => DataError::NotFound { file: file.clone() },
        _ => DataError::Unreadable {
            file: file.clone(),
            source,
        },
    })?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| DataError::NotText {
        file: file.clone(),
        line: line_at(bytes, error.valid_up_to()),
    })?;
    if text.trim().is_empty() {
        return Err(DataError::Empty { file });
    }
    let dataset = parse(text, &file, data)?;
    checks::check(&dataset, &file, data)?;
    Ok(dataset)
}

fn check_roles(data: &Data) -> Result<(), DataError> {
    for (i, column) in data.predictors.iter().enumerate() {
        if data.predictors[..i].contains(column) {
            return Err(DataError::PredictorTwice {
                column: column.clone(),
            });
        }
        if *column == data.response {
            return Err(DataError::ResponseAmongPredictors {
                column: column.clone(),
            });
        }
    }
    Ok(())
}

fn parse(text: &str, file: &str, data: &Data) -> Result<Dataset, DataError> {
    let delimiter = delimiter::detect(text);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    let mut next = |record: &mut StringRecord| {
        reader
            .read_record(record)
            .expect("UTF-8 text in memory, rows of any length: nothing is left to fail")
    };

    next(&mut record);
    let header: Vec<String> = record.iter().map(|name| clean(name).to_string()).collect();
    let place = Place { file, text };
    place.check_header(&header, &record)?;
    let mut rows = Rows::new(&place, &header, data)?;
    while next(&mut record) {
        // A line of spaces is a blank line.
        if record.len() == 1 && record[0].trim().is_empty() {
            continue;
        }
        if record.len() != header.len() {
            return Err(place.ragged(&record, header.len(), delimiter));
        }
        rows.push(&record)?;
    }
    rows.finish(data)
}

/// A column that is used, and how often it had no value.
struct Column {
    index: usize,
    name: String,
    num_missing: usize,
    first_missing_line: usize,
}

impl Column {
    fn note_missing(&mut self, place: &Place, record: &StringRecord) {
        if self.num_missing == 0 {
            self.first_missing_line = place.line(record);
        }
        self.num_missing += 1;
    }

    /// Not a number if it is missing, which is reported once all rows are read.
    fn number(&mut self, place: &Place, record: &StringRecord) -> Result<f64, DataError> {
        let text = clean(&record[self.index]);
        match cell::number(text) {
            Number::Value(value) => Ok(value),
            Number::Missing => {
                self.note_missing(place, record);
                Ok(f64::NAN)
            }
            Number::Bad(fix) => Err(place.bad_value(record, &self.name, text, fix)),
        }
    }
}

/// The rows read so far, column by role.
struct Rows<'a> {
    place: &'a Place<'a>,
    intercept: bool,
    response_column: Column,
    predictor_columns: Vec<Column>,
    id_column: Option<Column>,
    block_column: Option<Column>,
    safe_column: Option<Column>,
    x: Vec<f64>,
    response: Vec<f64>,
    ids: Vec<String>,
    blocks: Vec<usize>,
    block_of_label: HashMap<String, usize>,
    safe: Vec<bool>,
}

impl<'a> Rows<'a> {
    fn new(place: &'a Place<'a>, header: &[String], data: &Data) -> Result<Self, DataError> {
        let find = |name: &String, key| {
            place.column(header, name, key).map(|index| Column {
                index,
                name: name.clone(),
                num_missing: 0,
                first_missing_line: 0,
            })
        };
        let find_optional =
            |name: &Option<String>, key| name.as_ref().map(|name| find(name, key)).transpose();
        Ok(Rows {
            place,
            intercept: data.intercept,
            response_column: find(&data.response, "data.response")?,
            predictor_columns: data
                .predictors
                .iter()
                .map(|name| find(name, "data.predictors"))
                .collect::<Result<_, _>>()?,
            id_column: find_optional(&data.id, "data.id")?,
            block_column: find_optional(&data.block, "data.block")?,
            safe_column: find_optional(&data.safe, "data.safe")?,
            x: Vec::new(),
            response: Vec::new(),
            ids: Vec::new(),
            blocks: Vec::new(),
            block_of_label: HashMap::new(),
            safe: Vec::new(),
        })
    }

    fn push(&mut self, record: &StringRecord) -> Result<(), DataError> {
        let place = self.place;
        self.response
            .push(self.response_column.number(place, record)?);
        if self.intercept {
            self.x.push(1.0);
        }
        for column in &mut self.predictor_columns {
            self.x.push(column.number(place, record)?);
        }
        if let Some(column) = &self.id_column {
            self.ids.push(clean(&record[column.index]).to_string());
        }
        if let Some(column) = &mut self.block_column {
            let label = clean(&record[column.index]);
            if cell::is_missing(label) {
                column.note_missing(place, record);
            } else if let Some(&block) = self.block_of_label.get(label) {
                self.blocks.push(block);
            } else {
                let block = self.block_of_label.len();
                self.block_of_label.insert(label.to_string(), block);
                self.blocks.push(block);
            }
        }
        if let Some(column) = &mut self.safe_column {
            let text = clean(&record[column.index]);
            match cell::yes_or_no(text) {
                Some(safe) => self.safe.push(safe),
                None if cell::is_missing(text) => column.note_missing(place, record),
                None => {
                    let fix = "write true or false, 1 or 0, yes or no";
                    return Err(place.bad_value(record, &column.name, text, fix));
                }
            }
        }
        Ok(())
    }

    fn finish(self, data: &Data) -> Result<Dataset, DataError> {
        let file = self.place.file.to_string();
        if self.response.is_empty() {
            return Err(DataError::NoRows { file });
        }
        let incomplete: Vec<String> = std::iter::once(&self.response_column)
            .chain(&self.predictor_columns)
            .chain(&self.block_column)
            .chain(&self.safe_column)
            .filter(|column| column.num_missing > 0)
            .map(|column| {
                format!(
                    "`{}` ({}, first on line {})",
                    column.name, column.num_missing, column.first_missing_line
                )
            })
            .collect();
        if !incomplete.is_empty() {
            return Err(DataError::MissingValues {
                file,
                columns: incomplete.join(", "),
            });
        }
        let mut predictor_names = data.predictors.clone();
        if data.intercept {
            predictor_names.insert(0, INTERCEPT.into());
        }
        let shape = (self.response.len(), predictor_names.len());
        let x = Array2::from_shape_vec(shape, self.x).expect("one value for each row and column");
        let mut labels: Vec<(String, usize)> = self.block_of_label.into_iter().collect();
        labels.sort_by_key(|&(_, block)| block);
        Ok(Dataset {
            row_ids: self.id_column.map(|_| self.ids),
            blocks: self.block_column.map(|_| Blocks {
                of_row: self.blocks,
                labels: labels.into_iter().map(|(label, _)| label).collect(),
            }),
            safe: self.safe_column.map(|_| self.safe),
            ..Dataset::new(predictor_names, x, self.response)
        })
    }
}

#[cfg(test)]
mod tests;
