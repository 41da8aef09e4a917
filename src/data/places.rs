//! Unlinked rows of the right file as places: a left row may belong to a register row that was linked to nobody.

use std::borrow::Cow;

use ndarray::{Array2, Axis, concatenate};

use super::design::{self, design_of_new_rows};
use super::formula::Formula;
use super::linked::Linked;
use super::read::Columns;
use super::{Blocks, DataError, Dataset, cell};
use crate::config::{Data, Missing};

/// Rows of predictors without a response of their own, where the response of a wrongly linked row may belong.
#[derive(Debug, Clone, PartialEq)]
pub struct Places {
    /// Places by predictors.
    pub x: Array2<f64>,
    /// What is added to the linear predictor of each place.
    pub offset: Option<Vec<f64>>,
    /// The number of each place in results: its row of the right file, counted on from the last row of the left one.
    pub numbers: Vec<usize>,
    /// Her names of the rows, where the right file has the column of them.
    pub ids: Option<Vec<String>>,
    /// For each place the index of its block.
    pub block_of: Option<Vec<usize>>,
    /// Unlinked rows that are no places: a value is missing...
    pub num_missing: usize,
    /// ...or no row that is linked stands in their block.
    pub num_apart: usize,
}

impl Places {
    /// The number of places.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

/// Reads the unlinked rows with the columns and the levels of the linked ones, and marks them in `linked`.
pub(super) fn read(
    linked: &mut Linked,
    formula: &Formula,
    columns: &Columns,
    blocks: Option<&Blocks>,
    data: &Data,
) -> Result<Places, DataError> {
    check(linked, formula, columns, data)?;
    let unlinked = linked.unlinked_rows();
    let without = with_missing(&unlinked, formula, data)?;
    let num_missing = without.iter().filter(|missing| **missing).count();
    let blocks = blocks.zip(data.block.as_deref());
    let block_of = |row: usize| match blocks {
        None => Ok(Some(0)),
        Some((blocks, name)) => {
            let column = unlinked.column(name, "data.block")?;
            let label = unlinked.cell(column, row);
            Ok(blocks.labels.iter().position(|known| known == label))
        }
    };
    let mut kept = Vec::new();
    let mut of_block = Vec::new();
    for row in (0..unlinked.num_rows()).filter(|&row| !without[row]) {
        if let Some(block) = block_of(row)? {
            kept.push(row);
            of_block.push(block);
        }
    }
    let num_apart = unlinked.num_rows() - num_missing - kept.len();
    let mut is_kept = vec![false; unlinked.num_rows()];
    kept.iter().for_each(|&row| is_kept[row] = true);
    let mut rows = unlinked;
    rows.retain(&is_kept);
    let num_left = linked.num_file_rows(0);
    linked.set_places(rows.row_numbers());
    let design = design_of_new_rows(&rows, linked, formula, data)?;
    let id = data.id.as_deref();
    let id = id.and_then(|name| rows.column(name, "data.id").ok());
    let all = 0..rows.num_rows();
    let numbers = rows.row_numbers().into_iter();
    Ok(Places {
        x: design.x,
        offset: design::offset(&rows, formula, data)?,
        numbers: numbers.map(|number| num_left + number).collect(),
        ids: id.map(|column| all.map(|row| rows.cell(column, row).into()).collect()),
        block_of: blocks.is_some().then_some(of_block),
        num_missing,
        num_apart,
    })
}

/// A place has all that stays where it is when a response moves, and it stands in the right file.
fn check(
    linked: &Linked,
    formula: &Formula,
    columns: &Columns,
    data: &Data,
) -> Result<(), DataError> {
    const RIGHT: usize = 1;
    if columns.response[0].table == RIGHT {
        return Err(DataError::PlacesOfResponse {
            response: data.response_label(),
            file: linked.file(columns.response[0]).into(),
        });
    }
    if formula.group.is_some() || !data.stan_columns.is_empty() {
        return Err(DataError::PlacesWithEntries);
    }
    match columns.block.filter(|column| column.table != RIGHT) {
        None => Ok(()),
        Some(column) => Err(DataError::PlacesWithoutBlock {
            column: linked.name(column).into(),
            file: linked.file(column).into(),
        }),
    }
}

/// For each unlinked row whether it lacks a value.
fn with_missing(rows: &Linked, formula: &Formula, data: &Data) -> Result<Vec<bool>, DataError> {
    let mut without = vec![false; rows.num_rows()];
    let names = formula.predictor_columns().into_iter();
    for name in names.chain(data.block.as_deref()) {
        let column = rows.column(name, data.predictors_key())?;
        for (row, without) in without.iter_mut().enumerate() {
            let is_missing = cell::is_missing(rows.cell(column, row));
            if is_missing && data.missing == Missing::Error {
                let fix = "fill it in, or leave such rows out with \"missing\": \"drop\" in the config's data";
                return Err(rows.bad_value(column, row, fix));
            }
            *without |= is_missing;
        }
    }
    Ok(without)
}

impl Dataset {
    /// The number of places without a response.
    pub fn num_places(&self) -> usize {
        self.places.as_ref().map_or(0, Places::len)
    }

    /// The linked rows, then the places. A place has the first row's responses, which the likelihood gives the weight 0.
    pub fn with_places(&self) -> Cow<'_, Dataset> {
        let Some(places) = self.places.as_ref().filter(|places| !places.is_empty()) else {
            return Cow::Borrowed(self);
        };
        let num_places = places.len();
        let mut all = self.clone();
        all.places = None;
        let rows = [self.x.view(), places.x.view()];
        all.x = concatenate(Axis(0), &rows).expect("the same columns");
        if let (Some(offset), Some(of_places)) = (&mut all.offset, &places.offset) {
            offset.extend(of_places);
        }
        for response in [&mut all.response]
            .into_iter()
            .chain(&mut all.further_responses)
        {
            response.resize(self.num_rows() + num_places, response[0]);
        }
        all.row_numbers.extend(&places.numbers);
        all.row_ids = None;
        if let (Some(blocks), Some(block_of)) = (&mut all.blocks, &places.block_of) {
            blocks.of_row.extend(block_of);
        }
        // A place has no link that could be right or wrong.
        let pad = |values: &mut Vec<f64>| values.extend(vec![0.5; num_places]);
        all.match_probability.iter_mut().for_each(pad);
        let pad = |values: &mut Vec<bool>| values.extend(vec![false; num_places]);
        all.safe.iter_mut().for_each(pad);
        Cow::Owned(all)
    }
}
