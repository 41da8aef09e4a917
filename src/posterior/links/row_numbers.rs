//! Rows by the numbers of the user's file and by their places in the data set: dropped rows make the two differ.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::Dataset;
use crate::sampler::links::OUTSIDE;

/// What a response that belongs to nobody in the file is linked to, in files; rows count from 1.
const OUTSIDE_NUMBER: usize = 0;

/// The names of unlinked rows that are places, in their order, as results have them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceNames {
    /// The row of the right file, counted on from the last row of the left one.
    pub numbers: Vec<usize>,
    /// Her names of the rows, where the right file has the column of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<Vec<String>>,
}

impl PlaceNames {
    /// The names of the places of a data set; none where it has no places.
    pub fn of(data: &Dataset) -> PlaceNames {
        let places = data.places.as_ref();
        places.map_or_else(PlaceNames::default, |places| PlaceNames {
            numbers: places.numbers.clone(),
            ids: places.ids.clone(),
        })
    }
}

/// The numbers of rows and places. Clones share them: a large file has many rows.
#[derive(Debug, Clone)]
pub struct RowNumbers {
    /// Of the rows, then of the places.
    numbers: Arc<[usize]>,
    num_rows: usize,
    place_ids: Option<Arc<[String]>>,
    /// Rows and places by ascending number; empty where they ascend as they stand.
    by_number: Arc<[usize]>,
}

impl RowNumbers {
    /// The numbers of rows, without places behind them.
    pub fn new(numbers: &[usize]) -> RowNumbers {
        RowNumbers::with_places(numbers, &PlaceNames::default())
    }

    /// The numbers of rows, and of the places behind them.
    pub fn with_places(rows: &[usize], places: &PlaceNames) -> RowNumbers {
        let numbers = [rows, &places.numbers].concat();
        let mut by_number: Vec<usize> = Vec::new();
        if !numbers.is_sorted() {
            by_number.extend(0..numbers.len());
            by_number.sort_by_key(|&place| numbers[place]);
        }
        RowNumbers {
            num_rows: rows.len(),
            place_ids: places.ids.as_ref().map(|ids| ids.as_slice().into()),
            numbers: numbers.into(),
            by_number: by_number.into(),
        }
    }

    /// The numbers of the rows and places of a data set.
    pub fn of(data: &Dataset) -> RowNumbers {
        RowNumbers::with_places(&data.row_numbers, &PlaceNames::of(data))
    }

    /// The number of rows that have a response.
    pub fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// The number of rows and places.
    pub fn num_columns(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a row in the user's file, from 1, or of a place.
    pub fn number(&self, place: usize) -> usize {
        self.numbers[place]
    }

    /// The user's name of a place, by its index behind the rows.
    pub fn place_id(&self, column: usize) -> Option<&str> {
        let ids = self.place_ids.as_ref()?;
        let id = ids.get(column.checked_sub(self.num_rows)?)?;
        Some(id)
    }

    /// What a row is linked to, by its number in files; a response that belongs to nobody has the number 0.
    pub fn column_number(&self, column: usize) -> usize {
        match column {
            OUTSIDE => OUTSIDE_NUMBER,
            place => self.number(place),
        }
    }

    /// The reverse of [`RowNumbers::column_number`]; None for a row that is not in the data.
    pub fn column(&self, number: usize) -> Option<usize> {
        match number {
            OUTSIDE_NUMBER => Some(OUTSIDE),
            number => self.find(number),
        }
    }

    /// The index of a row in the data set, from 0; None for a row that is not in it.
    pub fn place(&self, number: usize) -> Option<usize> {
        self.find(number).filter(|place| *place < self.num_rows)
    }

    fn find(&self, number: usize) -> Option<usize> {
        match self.by_number.is_empty() {
            true => self.numbers.binary_search(&number).ok(),
            false => {
                let found = self
                    .by_number
                    .binary_search_by_key(&number, |&place| self.numbers[place]);
                found.ok().map(|index| self.by_number[index])
            }
        }
    }
}
