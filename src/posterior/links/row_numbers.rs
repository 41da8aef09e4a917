//! Rows by the numbers of the user's file and by their places in the data set: dropped rows make the two differ.

use std::collections::HashMap;

use crate::sampler::links::OUTSIDE;

/// What a response that belongs to nobody in the file is linked to, in files; rows count from 1.
const OUTSIDE_NUMBER: usize = 0;

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

    pub fn num_rows(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a row in the user's file, from 1.
    pub fn number(&self, place: usize) -> usize {
        self.numbers[place]
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
            number => self.place(number),
        }
    }

    /// The index of a row in the data set, from 0; None for a row that is not in it.
    pub fn place(&self, number: usize) -> Option<usize> {
        self.places.get(&number).copied()
    }
}
