//! What a column of the predictors holds: numbers, or the levels of a category.

use std::collections::{BTreeSet, HashMap};

use super::DataError;
use super::cell::{self, Number};
use super::linked::{Column, Linked};
use super::table::excerpt;
use crate::text::quoted_list;

/// A category with more levels is more likely a column of names, or of numbers in a notation that is not read.
const MOST_LEVELS: usize = 50;

/// So few cells without a number, in a column of numbers, are more likely misspelt than levels of a category.
const FEW_CELLS: usize = 3;
const FEW_OF: usize = 20;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Numbers(Vec<f64>),
    Category(Category),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Category {
    /// Sorted: as numbers where all are, else as text.
    pub(super) levels: Vec<String>,
    /// For each row the index of its level.
    pub(super) of_row: Vec<usize>,
}

/// A column of numbers; `no_category` says why a category cannot stand there.
pub(super) fn numbers(
    linked: &Linked,
    column: Column,
    no_category: &str,
) -> Result<Vec<f64>, DataError> {
    let read = |row: usize| cell::number(linked.cell(column, row));
    let rows = 0..linked.num_rows();
    let refuse = |row: usize, fix: &str| {
        let any_number = rows
            .clone()
            .any(|row| matches!(read(row), Number::Value(_)));
        let why = if any_number { "" } else { no_category };
        linked.bad_value(column, row, format!("{fix}{why}"))
    };
    rows.clone()
        .map(|row| match read(row) {
            Number::Value(value) => Ok(value),
            Number::Missing => unreachable!("rows with a missing value were left out"),
            Number::Bad(fix) | Number::Text(fix) => Err(refuse(row, fix)),
        })
        .collect()
}

/// Numbers, or a category where they are not.
pub(super) fn values(linked: &Linked, column: Column) -> Result<Values, DataError> {
    values_with(linked, column, &few_levels)
}

/// As `values`, with as many levels as there are.
pub(super) fn values_or_groups(linked: &Linked, column: Column) -> Result<Values, DataError> {
    values_with(linked, column, &|linked, column, _| {
        Ok(group_category(linked, column))
    })
}

/// A column of levels, whatever they look like and however many there are.
pub(super) fn group_category(linked: &Linked, column: Column) -> Category {
    category(linked, column)
}

/// How a column of words becomes a category, with advice for a column that was none.
type AsCategory<'a> =
    dyn Fn(&Linked, Column, &dyn Fn() -> String) -> Result<Category, DataError> + 'a;

fn values_with(
    linked: &Linked,
    column: Column,
    as_category: &AsCategory,
) -> Result<Values, DataError> {
    let num_rows = linked.num_rows();
    let mut numbers = Vec::with_capacity(num_rows);
    let mut first_text = None;
    for row in 0..num_rows {
        match cell::number(linked.cell(column, row)) {
            Number::Value(value) => numbers.push(value),
            Number::Missing => unreachable!("rows with a missing value were left out"),
            Number::Bad(fix) => return Err(linked.bad_value(column, row, fix)),
            Number::Text(fix) => {
                first_text.get_or_insert((row, fix));
            }
        }
    }
    let Some((row, fix)) = first_text else {
        return Ok(Values::Numbers(numbers));
    };
    let num_texts = num_rows - numbers.len();
    let few = num_texts <= FEW_CELLS || num_texts * FEW_OF < num_rows;
    if few && !numbers.is_empty() {
        let fix = format!("{fix}, or C({}) if it is a category", linked.name(column));
        return Err(linked.bad_value(column, row, fix));
    }
    let advice = || {
        format!(
            "if they are numbers, perhaps they are misspelt, such as {} on {}",
            excerpt(linked.cell(column, row)),
            linked.line_words(column, row)
        )
    };
    as_category(linked, column, &advice).map(Values::Category)
}

/// A column of levels, whatever they look like.
pub(super) fn forced_category(linked: &Linked, column: Column) -> Result<Category, DataError> {
    few_levels(linked, column, &|| {
        "merge some of them, or leave it out".into()
    })
}

/// A column of new rows, whose levels must be among those of the fit.
pub(super) fn known_category(
    rows: &Linked,
    column: Column,
    known: &Category,
) -> Result<Category, DataError> {
    let of_row = (0..rows.num_rows()).map(|row| {
        let cell = rows.cell(column, row);
        let number = match cell::number(cell) {
            Number::Value(value) => Some((value + 0.0).to_string()),
            _ => None,
        };
        // 1 and 1.0 are one level where all are numbers.
        let found = known
            .levels
            .iter()
            .position(|level| level == cell || number.as_ref() == Some(level));
        found.ok_or_else(|| {
            let levels = quoted_list(&known.levels);
            let fix = format!("the data of the fit have only the levels {levels}, so correct it or leave the row out");
            rows.bad_value(column, row, fix)
        })
    });
    Ok(Category {
        of_row: of_row.collect::<Result<_, _>>()?,
        levels: known.levels.clone(),
    })
}

/// A category that becomes columns of X.
fn few_levels(
    linked: &Linked,
    column: Column,
    advice: &dyn Fn() -> String,
) -> Result<Category, DataError> {
    let category = category(linked, column);
    match category.levels.len() <= MOST_LEVELS {
        true => Ok(category),
        false => Err(DataError::TooManyLevels {
            file: linked.file(column).into(),
            column: linked.name(column).into(),
            num_levels: category.levels.len(),
            most: MOST_LEVELS,
            advice: advice(),
        }),
    }
}

fn category(linked: &Linked, column: Column) -> Category {
    let cells: Vec<&str> = (0..linked.num_rows())
        .map(|row| linked.cell(column, row))
        .collect();
    let as_numbers: Option<Vec<f64>> = cells
        .iter()
        .map(|cell| match cell::number(cell) {
            Number::Value(value) => Some(value),
            _ => None,
        })
        .collect();
    // 1 and 1.0 are one level.
    let texts: Vec<String> = match &as_numbers {
        Some(numbers) => numbers
            .iter()
            .map(|value| (value + 0.0).to_string())
            .collect(),
        None => cells.iter().map(|cell| cell.to_string()).collect(),
    };
    let mut levels: Vec<String> = texts
        .iter()
        .cloned()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    if as_numbers.is_some() {
        let number = |level: &String| level.parse::<f64>().expect("written from a number");
        levels.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    let positions: HashMap<&String, usize> = levels.iter().zip(0..).collect();
    let of_row = texts.iter().map(|text| positions[text]).collect();
    Category { levels, of_row }
}
