//! Rows by the numbers of the user's file and by their places in the data set: dropped rows make the two differ.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::posterior::draws::DrawsError;

#[derive(Debug, Clone)]
pub struct RowNumbers {
    numbers: Vec<usize>,
    places: HashMap<usize, usize>,
}

impl RowNumbers {
    pub fn new(numbers: &[usize]) -> RowNumbers {
        let places = numbers.iter().enumerate();
        RowNumbers {
            numbers: numbers.to_vec(),
            places: places.map(|(place, number)| (*number, place)).collect(),
        }
    }

    /// From the column `row` of rows.csv.
    pub fn read(path: &Path) -> Result<RowNumbers, DrawsError> {
        let text = fs::read_to_string(path).map_err(|source| DrawsError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        let malformed = |line: usize, what: String| DrawsError::Malformed {
            path: path.to_path_buf(),
            line,
            what,
        };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().map_err(|e| malformed(1, e.to_string()))?;
        let column = header.iter().position(|name| name == "row");
        let column = column.ok_or_else(|| malformed(1, "there is no column `row`".into()))?;
        let mut numbers = Vec::new();
        for (index, record) in reader.records().enumerate() {
            let line = index + 2;
            let record = record.map_err(|error| malformed(line, error.to_string()))?;
            let field = record.get(column).unwrap_or_default();
            let number = field.parse();
            numbers
                .push(number.map_err(|_| malformed(line, format!("`{field}` is no row number")))?);
        }
        Ok(RowNumbers::new(&numbers))
    }

    pub fn num_rows(&self) -> usize {
        self.numbers.len()
    }

    /// In her file, from 1.
    pub fn number(&self, place: usize) -> usize {
        self.numbers[place]
    }

    /// In the data set, from 0; None for a row that is not in it.
    pub fn place(&self, number: usize) -> Option<usize> {
        self.places.get(&number).copied()
    }
}
