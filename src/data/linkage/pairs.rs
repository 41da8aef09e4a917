//! The pairs of records, each with its probability.

use std::collections::HashMap;

use super::super::DataError;
use super::super::cell::{self, Number};
use super::super::table::Table;
use super::ids::Records;
use crate::config::LinkPairs;

/// Nearer to 0 and 1 a probability has no odds that a double could tell apart from others.
const CERTAINTY: f64 = 1e-9;

/// Two records that may be of one person.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pair {
    /// Rows of the left and of the right file.
    pub(super) left: usize,
    pub(super) right: usize,
    /// Above 0 and below 1; None where the pairs have none.
    pub(super) probability: Option<f64>,
}

impl Pair {
    /// The odds that the pair belongs together; 1 where nothing is known.
    pub(super) fn weight(&self) -> f64 {
        self.probability.map_or(1.0, |p| p / (1.0 - p))
    }
}

/// The pairs of a file that are possible.
pub(super) struct Pairs {
    pub(super) file: String,
    pub(super) pairs: Vec<Pair>,
    /// Lines whose records are both of one file.
    pub(super) num_inside: usize,
}

impl Pairs {
    pub(super) fn read(config: &LinkPairs, records: &Records) -> Result<Pairs, DataError> {
        const KEY: &str = "data.links.pairs";
        let table = Table::read(&config.pairs, KEY)?;
        if table.rows.is_empty() {
            return Err(DataError::NoRows { file: table.file });
        }
        let sides = records.sides(&table, KEY)?;
        let probability = config.probability.as_ref();
        let probability = probability
            .map(|name| table.column(name, "data.links.probability"))
            .transpose()?;
        let mut lines: HashMap<(usize, usize), usize> = HashMap::new();
        let mut pairs = Vec::new();
        let mut num_inside = 0;
        for row in 0..table.rows.len() {
            if records.is_inside(&table, row) {
                num_inside += 1;
                continue;
            }
            let (left, right) = records.find(&table, row, sides)?;
            refuse_twice(&table, &mut lines, (left, right), row, sides.left)?;
            let probability = probability.map(|column| read_probability(&table, row, column));
            let probability = probability.transpose()?;
            if probability != Some(0.0) {
                pairs.push(Pair {
                    left,
                    right,
                    probability: probability.map(|p| p.clamp(CERTAINTY, 1.0 - CERTAINTY)),
                });
            }
        }
        Ok(Pairs {
            file: table.file,
            pairs,
            num_inside,
        })
    }
}

/// One line for each pair; `lines` are those before.
pub(super) fn refuse_twice(
    table: &Table,
    lines: &mut HashMap<(usize, usize), usize>,
    pair: (usize, usize),
    row: usize,
    column: usize,
) -> Result<(), DataError> {
    match lines.insert(pair, row) {
        None => Ok(()),
        Some(first) => Err(DataError::Twice {
            file: table.file.clone(),
            first: table.line(first),
            second: table.line(row),
            column: table.header[column].clone(),
            value: format!("\"{}\" with the same partner", table.cell(row, column)),
            fix: "remove one of them".into(),
        }),
    }
}

fn read_probability(table: &Table, row: usize, column: usize) -> Result<f64, DataError> {
    match cell::number(table.cell(row, column)) {
        Number::Value(value) if (0.0..=1.0).contains(&value) => Ok(value),
        Number::Value(_) | Number::Missing => {
            Err(table.bad_value(row, column, "write a probability, from 0 to 1"))
        }
        Number::Bad(fix) | Number::Text(fix) => Err(table.bad_value(row, column, fix)),
    }
}
