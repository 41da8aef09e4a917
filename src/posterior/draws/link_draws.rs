//! The links of every draw of one chain in memory: moved rows only.

use crate::sampler::links::{OUTSIDE, Permutation};

/// A response that belongs to nobody, in 32 bits.
const OUTSIDE_INDEX: u32 = u32::MAX;

/// The moved rows of every draw of one chain. Rows are places in the data set and draws count from 0.
#[derive(Debug, Clone, Default)]
pub struct LinkDraws {
    num_draws: usize,
    /// For each row the draws in which it was moved, and the row that it was linked to; 32 bits each, since a large file
    /// has many.
    by_row: Vec<Vec<(u32, u32)>>,
}

impl LinkDraws {
    pub fn new(num_rows: usize) -> LinkDraws {
        LinkDraws {
            num_draws: 0,
            by_row: vec![Vec::new(); num_rows],
        }
    }

    /// Moved rows as (draw, row, row that it was linked to).
    pub(crate) fn from_moved(
        num_rows: usize,
        num_draws: usize,
        moved: impl IntoIterator<Item = (usize, usize, usize)>,
    ) -> LinkDraws {
        let mut links = LinkDraws::new(num_rows);
        links.num_draws = num_draws;
        for (draw, row, column) in moved {
            links.add(draw, row, column);
        }
        links
    }

    /// Appends a draw.
    pub fn push(&mut self, pi: &Permutation) {
        for &row in pi.moved() {
            self.add(self.num_draws, row, pi.column_of(row));
        }
        self.num_draws += 1;
    }

    /// Keeps the first draws.
    pub fn truncate(&mut self, num_draws: usize) {
        self.num_draws = self.num_draws.min(num_draws);
        for moved in &mut self.by_row {
            moved.retain(|(draw, _)| (*draw as usize) < num_draws);
        }
    }

    fn add(&mut self, draw: usize, row: usize, column: usize) {
        let index = |index: usize| u32::try_from(index).expect("fewer than 2^32 rows and draws");
        let column = match column {
            OUTSIDE => OUTSIDE_INDEX,
            place => index(place),
        };
        self.by_row[row].push((index(draw), column));
    }

    pub fn num_rows(&self) -> usize {
        self.by_row.len()
    }

    pub fn num_draws(&self) -> usize {
        self.num_draws
    }

    /// The draws in which a row was moved, and what it was linked to, `OUTSIDE` among it.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, usize)> {
        let moved = self.by_row[row].iter();
        moved.map(|&(draw, column)| match column {
            OUTSIDE_INDEX => (draw as usize, OUTSIDE),
            place => (draw as usize, place as usize),
        })
    }

    /// For each draw its moved rows in ascending order, and what they were linked to.
    pub fn by_draw(&self) -> Vec<Vec<(usize, usize)>> {
        let mut draws = vec![Vec::new(); self.num_draws];
        for row in 0..self.num_rows() {
            for (draw, column) in self.row(row) {
                draws[draw].push((row, column));
            }
        }
        draws
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_by_row_and_by_draw() {
        let mut links = LinkDraws::new(4);
        links.push(&Permutation::from_vec(vec![2, 1, 0, 3]).unwrap());
        links.push(&Permutation::identity(4));
        links.push(&Permutation::from_vec(vec![1, 2, 0, 3]).unwrap());
        assert_eq!((links.num_rows(), links.num_draws()), (4, 3));
        assert_eq!(links.row(0).collect::<Vec<_>>(), [(0, 2), (2, 1)]);
        assert_eq!(links.row(3).len(), 0);
        let by_draw = [vec![(0, 2), (2, 0)], vec![], vec![(0, 1), (1, 2), (2, 0)]];
        assert_eq!(links.by_draw(), by_draw);
        links.truncate(2);
        assert_eq!(links.by_draw(), by_draw[..2]);
    }
}
