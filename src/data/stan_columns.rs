//! Columns of the file as entries of the program's data block: numbers, or the codes of categories.

use serde_json::{Map, Value, json};

use super::linked::{Column, Linked};
use super::values::{Values, group_category, values_or_groups};
use super::{Codes, DataError};
use crate::config::{self, Data};

const KEY: &str = "model.data";

/// An entry of the data block that a column gives.
pub(super) struct StanColumn {
    entry: String,
    /// None for a 1 in each row.
    pub(super) column: Option<Column>,
    /// Whether its values are levels even if they look like numbers: `C(column)`.
    is_category: bool,
    /// Whether the entry is the number of levels.
    counts_levels: bool,
}

/// The columns that `model.data` names.
pub(super) fn find(linked: &Linked, data: &Data) -> Result<Vec<StanColumn>, DataError> {
    let header = linked.header();
    let columns = data.stan_columns.iter().map(|(entry, asked)| {
        let config::StanColumn {
            column: text,
            counts_levels,
        } = asked;
        let is_name = header.contains(text);
        let inside = text
            .strip_prefix("C(")
            .and_then(|rest| rest.strip_suffix(')'));
        let inside = inside.filter(|_| !is_name).map(str::trim);
        let column = match text == "1" && !is_name && !counts_levels {
            true => None,
            false => Some(linked.column(inside.unwrap_or(text), KEY)?),
        };
        Ok(StanColumn {
            entry: entry.clone(),
            column,
            is_category: inside.is_some() || *counts_levels,
            counts_levels: *counts_levels,
        })
    });
    columns.collect()
}

/// For each entry its values in the order of the rows; for codes, which count from 1, also `J_` and the entry's name with the
/// number of levels.
pub(super) fn entries(
    linked: &Linked,
    columns: &[StanColumn],
    codes: &mut Vec<Codes>,
) -> Result<Map<String, Value>, DataError> {
    let mut entries = Map::new();
    for asked in columns {
        let entry = &asked.entry;
        let values = match asked.column {
            None => Values::Numbers(vec![1.0; linked.num_rows()]),
            Some(column) if asked.is_category => Values::Category(group_category(linked, column)),
            Some(column) => values_or_groups(linked, column)?,
        };
        match values {
            Values::Numbers(numbers) => {
                entries.insert(entry.clone(), numbers.into_iter().map(number).collect());
            }
            Values::Category(category) if asked.counts_levels => {
                entries.insert(entry.clone(), json!(category.levels.len()));
            }
            Values::Category(category) => {
                let of_row = category.of_row.iter().map(|level| level + 1);
                entries.insert(entry.clone(), json!(of_row.collect::<Vec<_>>()));
                entries.insert(format!("J_{entry}"), json!(category.levels.len()));
                codes.push(Codes {
                    entry: entry.clone(),
                    levels: category.levels,
                });
            }
        }
    }
    Ok(entries)
}

/// Stan reads whole numbers without a point into integers and into reals.
fn number(value: f64) -> Value {
    match value.fract() == 0.0 && value.abs() < 1e15 {
        true => json!(value as i64),
        false => json!(value),
    }
}
