//! The moved rows of each group, kept in step with the permutation while a kernel works.

use super::permutation::Permutation;
use super::space::LinkSpace;

/// Position of a row that is not moved.
const FIXED: usize = usize::MAX;

/// Filled anew at the start of a step, in time linear in the numbers of groups and moved rows. Empty where there is one
/// group: its moved rows are all moved rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct MovedGroups {
    /// The moved rows of group g stand at the start of its segment, as `LinkSpace::bounds` has it.
    rows: Vec<usize>,
    count: Vec<usize>,
    position: Vec<usize>,
}

impl MovedGroups {
    pub fn fill(&mut self, space: &LinkSpace, pi: &Permutation) {
        if space.num_groups() <= 1 {
            return;
        }
        if self.position.len() != space.num_rows() || self.count.len() != space.num_groups() {
            self.rows = vec![0; space.num_movable()];
            self.count = vec![0; space.num_groups()];
            self.position = vec![FIXED; space.num_rows()];
        }
        for (start, count) in space.bounds().iter().zip(&mut self.count) {
            for &row in &self.rows[*start..start + *count] {
                self.position[row] = FIXED;
            }
            *count = 0;
        }
        for &row in pi.moved() {
            self.note(space, pi, row);
        }
    }

    #[inline]
    pub fn of<'a>(&'a self, space: &LinkSpace, pi: &'a Permutation, group: usize) -> &'a [usize] {
        if space.num_groups() <= 1 {
            return pi.moved();
        }
        let start = space.bounds()[group];
        &self.rows[start..start + self.count[group]]
    }

    #[inline]
    pub fn count(&self, space: &LinkSpace, pi: &Permutation, group: usize) -> usize {
        if space.num_groups() <= 1 {
            pi.num_moved()
        } else {
            self.count[group]
        }
    }

    /// Puts `row` into or out of its group's moved rows, as its column says.
    #[inline]
    pub fn note(&mut self, space: &LinkSpace, pi: &Permutation, row: usize) {
        if space.num_groups() <= 1 {
            return;
        }
        let group = space.group_of_movable(row);
        let start = space.bounds()[group];
        let position = self.position[row];
        match (pi.is_moved(row), position != FIXED) {
            (true, false) => {
                let place = start + self.count[group];
                self.rows[place] = row;
                self.position[row] = place;
                self.count[group] += 1;
            }
            (false, true) => {
                self.count[group] -= 1;
                let filler = self.rows[start + self.count[group]];
                self.rows[position] = filler;
                self.position[filler] = position;
                self.position[row] = FIXED;
            }
            _ => {}
        }
    }
}
