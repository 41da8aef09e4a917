//! The file of pairs: where a row may belong besides its own place.

use std::collections::HashMap;
use std::path::Path;

use super::cell::{self, Number};
use super::linked::{Column, Linked};
use super::table::Table;
use super::{Candidate, DataError};
use crate::text::nearest;

/// The pairs of rows that are both fitted. `id` is the column that names them; without one they go by number.
pub(super) fn read(
    path: &Path,
    linked: &Linked,
    id: Option<Column>,
) -> Result<Vec<Candidate>, DataError> {
    const KEY: &str = "data.candidates";
    let table = Table::read(path, KEY)?;
    let row = table.column("row", KEY)?;
    let partner = table.column("partner", KEY)?;
    let weight = table.position("weight");
    if weight.is_none() {
        refuse_misspelt_weight(&table)?;
    }
    if table.rows.is_empty() {
        return Err(DataError::NoRows { file: table.file });
    }
    let names = Names::new(linked, id)?;
    let mut lines: HashMap<(Named, Named), usize> = HashMap::new();
    let mut candidates = Vec::new();
    for place in 0..table.rows.len() {
        let pair = (
            names.find(&table, place, row)?,
            names.find(&table, place, partner)?,
        );
        let weight = weight.map_or(Ok(1.0), |column| read_weight(&table, place, column))?;
        if pair.0 == pair.1 {
            let fix = "a row's own link is always possible, so remove the line";
            return Err(table.bad_value(place, partner, fix));
        }
        if let Some(first) = lines.insert(pair, place) {
            return Err(DataError::Twice {
                file: table.file.clone(),
                first: table.line(first),
                second: table.line(place),
                column: "row".into(),
                value: format!(
                    "\"{}\" with `partner` \"{}\"",
                    table.cell(place, row),
                    table.cell(place, partner)
                ),
                fix: "remove one of them".into(),
            });
        }
        // A place has no response that could belong elsewhere.
        let row = names
            .position(pair.0)
            .filter(|&row| row < linked.num_rows());
        if let (Some(row), Some(partner)) = (row, names.position(pair.1)) {
            candidates.push(Candidate {
                row,
                partner,
                weight,
            });
        }
    }
    Ok(candidates)
}

/// Other columns are the user's own, but one that is almost called `weight` would be ignored.
fn refuse_misspelt_weight(table: &Table) -> Result<(), DataError> {
    let others = table.header.iter().map(String::as_str);
    let others = others.filter(|name| !["row", "partner"].contains(name));
    match nearest("weight", others) {
        None => Ok(()),
        Some(name) => Err(DataError::BadLine {
            file: table.file.clone(),
            line: 1,
            problem: format!("the column `{name}` has no meaning in data.candidates"),
            fix: "call it `weight`, or give it another name if it is something else".into(),
        }),
    }
}

fn read_weight(table: &Table, row: usize, column: usize) -> Result<f64, DataError> {
    match cell::number(table.cell(row, column)) {
        // Sums of such weights neither overflow nor lose the small ones.
        Number::Value(weight) if (1e-100..=1e100).contains(&weight) => Ok(weight),
        Number::Value(weight) if weight > 0.0 => Err(table.bad_value(
            row,
            column,
            "write a number from 1e-100 to 1e100; only the ratios of a row's weights matter",
        )),
        Number::Value(_) => Err(table.bad_value(
            row,
            column,
            "write a number above 0, or remove a pair that is impossible",
        )),
        Number::Missing => Err(table.bad_value(row, column, "write a number above 0")),
        Number::Bad(fix) | Number::Text(fix) => Err(table.bad_value(row, column, fix)),
    }
}

/// What the pairs call the rows of the data.
struct Names<'a> {
    /// The rows by their name in the id column; None where rows go by number.
    rows: Option<HashMap<&'a str, usize>>,
    /// Positions of places whose names stand in another file than those of the rows.
    places: HashMap<&'a str, usize>,
    /// For each row of the file its position among the rows to fit.
    positions: Vec<Option<usize>>,
}

/// A row as a pair names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Named {
    /// A row of the file of names.
    Row(usize),
    /// The position of a place.
    Place(usize),
}

impl<'a> Names<'a> {
    fn new(linked: &'a Linked, id: Option<Column>) -> Result<Names<'a>, DataError> {
        let rows = id.map(|column| linked.names(column)).transpose()?;
        let table = id.map_or(0, |column| column.table);
        Ok(Names {
            rows,
            places: id
                .and_then(|id| linked.names_of_places(id))
                .unwrap_or_default(),
            positions: linked.positions(table),
        })
    }

    /// The position among the rows to fit and the places; None for a row that is not fitted.
    fn position(&self, named: Named) -> Option<usize> {
        match named {
            Named::Row(row) => self.positions[row],
            Named::Place(position) => Some(position),
        }
    }

    fn find(&self, table: &Table, row: usize, column: usize) -> Result<Named, DataError> {
        let name = table.cell(row, column);
        if cell::is_missing(name) {
            return Err(table.bad_value(row, column, "name a row of the data"));
        }
        match &self.rows {
            Some(rows) => {
                let of_rows = rows.get(name).map(|&row| Named::Row(row));
                let of_places = || self.places.get(name).map(|&place| Named::Place(place));
                of_rows.or_else(of_places).ok_or_else(|| {
                    let meant = nearest(name, rows.keys().copied())
                        .map(|name| format!(", perhaps \"{name}\""))
                        .unwrap_or_default();
                    let fix = format!(
                        "no row of the data has this name in data.id, so correct it{meant}"
                    );
                    table.bad_value(row, column, fix)
                })
            }
            None => {
                let num_rows = self.positions.len();
                let number = name.parse::<usize>().ok();
                number
                    .filter(|number| (1..=num_rows).contains(number))
                    .map(|number| Named::Row(number - 1))
                    .ok_or_else(|| {
                        let fix = format!(
                            "without data.id, write the number of a row of the data, from 1 to {num_rows}"
                        );
                        table.bad_value(row, column, fix)
                    })
            }
        }
    }
}
