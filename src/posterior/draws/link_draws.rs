//! The links of every draw of one chain in memory: moved rows only.

use std::ops::Range;

use crate::sampler::links::{OUTSIDE, Permutation};

/// A response that belongs to nobody, in 32 bits.
const OUTSIDE_INDEX: u32 = u32::MAX;

/// The moved rows of every draw of one chain. Rows are places in the data set and draws count from 0.
#[derive(Debug, Clone, Default)]
pub struct LinkDraws {
    num_draws: usize,
    /// For each row its place in `moved`, or `NEVER`: most rows of a large file are moved in no draw.
    place: Vec<u32>,
    /// For each row that was moved the draws in which it was, and the row that it was linked to; 32 bits each.
    moved: Vec<Vec<(u32, u32)>>,
}

/// The place of a row that was moved in no draw.
const NEVER: u32 = u32::MAX;

impl LinkDraws {
    pub fn new(num_rows: usize) -> LinkDraws {
        LinkDraws {
            num_draws: 0,
            place: vec![NEVER; num_rows],
            moved: Vec::new(),
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
        for moved in &mut self.moved {
            moved.retain(|(draw, _)| (*draw as usize) < num_draws);
        }
    }

    fn add(&mut self, draw: usize, row: usize, column: usize) {
        let index = |index: usize| u32::try_from(index).expect("fewer than 2^32 rows and draws");
        let column = match column {
            OUTSIDE => OUTSIDE_INDEX,
            place => index(place),
        };
        if self.place[row] == NEVER {
            self.place[row] = index(self.moved.len());
            self.moved.push(Vec::new());
        }
        self.moved[self.place[row] as usize].push((index(draw), column));
    }

    pub fn num_rows(&self) -> usize {
        self.place.len()
    }

    pub fn num_draws(&self) -> usize {
        self.num_draws
    }

    /// The draws in which a row was moved, and what it was linked to, `OUTSIDE` among it.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (usize, usize)> {
        let moved = self.moved.get(self.place[row] as usize);
        let moved = moved.map_or(&[][..], Vec::as_slice);
        moved.iter().map(|&(draw, column)| match column {
            OUTSIDE_INDEX => (draw as usize, OUTSIDE),
            place => (draw as usize, place as usize),
        })
    }

    /// For each draw its moved rows in ascending order, and what they were linked to.
    pub fn by_draw(&self) -> impl Iterator<Item = Vec<(usize, usize)>> {
        // All at once would take more memory than the draws by row.
        const AT_ONCE: usize = 64;
        let firsts = (0..self.num_draws).step_by(AT_ONCE);
        firsts.flat_map(|first| self.draws(first..self.num_draws.min(first + AT_ONCE)))
    }

    fn draws(&self, range: Range<usize>) -> Vec<Vec<(usize, usize)>> {
        let mut draws = vec![Vec::new(); range.len()];
        for row in 0..self.num_rows() {
            let before = |&(draw, _): &(usize, usize)| draw < range.start;
            let within = |&(draw, _): &(usize, usize)| draw < range.end;
            for (draw, column) in self.row(row).skip_while(before).take_while(within) {
                draws[draw - range.start].push((row, column));
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
        assert_eq!(links.by_draw().collect::<Vec<_>>(), by_draw);
        links.truncate(2);
        assert_eq!(links.by_draw().collect::<Vec<_>>(), by_draw[..2]);
    }
}
