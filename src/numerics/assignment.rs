//! The linear assignment problem over a sparse list of entries.
//!
//! LAPJV's shortest augmenting paths (Jonker and Volgenant 1987), over the entries that are listed: there is no n x n matrix,
//! even where the entries connect all rows.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// No row, or no column.
const NONE: usize = usize::MAX;

/// For each row the column that it is given, no column to two rows, so that the sum of the values is largest.
///
/// `rows` has the columns and values of each row. An assignment of all rows must exist among them, as in a mean of
/// permutation matrices.
pub(crate) fn best_assignment(rows: &[Vec<(usize, f64)>], num_columns: usize) -> Vec<usize> {
    let mut solver = Solver::new(rows, num_columns);
    for row in 0..rows.len() {
        if solver.column_of[row] == NONE {
            solver.augment(row);
        }
    }
    solver.column_of
}

/// Dual variables and a partial assignment: the reduced cost -value - u - v of every entry stays at 0 or above, and is 0 where assigned.
struct Solver<'a> {
    rows: &'a [Vec<(usize, f64)>],
    u: Vec<f64>,
    v: Vec<f64>,
    column_of: Vec<usize>,
    row_of: Vec<usize>,
    /// Shortest distance to each column, in the search of one row; infinite before it is reached.
    distance: Vec<f64>,
    before: Vec<usize>,
}

impl<'a> Solver<'a> {
    /// Every row takes its best column if no other row has it.
    fn new(rows: &'a [Vec<(usize, f64)>], num_columns: usize) -> Solver<'a> {
        let num_rows = rows.len();
        let mut solver = Solver {
            rows,
            u: vec![0.0; num_rows],
            v: vec![0.0; num_columns],
            column_of: vec![NONE; num_rows],
            row_of: vec![NONE; num_columns],
            distance: vec![f64::INFINITY; num_columns],
            before: vec![NONE; num_columns],
        };
        for (row, entries) in rows.iter().enumerate() {
            let best = entries.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            let &(column, value) = best.expect("a row has an entry");
            solver.u[row] = -value;
            if solver.row_of[column] == NONE {
                solver.assign(row, column);
            }
        }
        solver
    }

    fn assign(&mut self, row: usize, column: usize) {
        self.column_of[row] = column;
        self.row_of[column] = row;
    }

    /// Dijkstra's search from a free row to the nearest free column, and the exchange along the path.
    fn augment(&mut self, free: usize) {
        let mut heap = BinaryHeap::new();
        let mut reached = Vec::new();
        let mut settled = Vec::new();
        let (mut row, mut so_far) = (free, 0.0);
        let (end, length) = loop {
            for &(column, value) in &self.rows[row] {
                let reduced = (-value - self.u[row] - self.v[column]).max(0.0);
                let distance = so_far + reduced;
                if distance < self.distance[column] {
                    if self.distance[column].is_infinite() {
                        reached.push(column);
                    }
                    self.distance[column] = distance;
                    self.before[column] = row;
                    heap.push(Reverse(Reached { distance, column }));
                }
            }
            // An entry is stale where a shorter way was found since.
            let next = loop {
                let Reverse(next) = heap.pop().expect("an assignment exists");
                if next.distance <= self.distance[next.column] {
                    break next;
                }
            };
            if self.row_of[next.column] == NONE {
                break (next.column, next.distance);
            }
            settled.push(next.column);
            (row, so_far) = (self.row_of[next.column], next.distance);
        };
        self.u[free] += length;
        for column in settled {
            let slack = length - self.distance[column];
            self.v[column] -= slack;
            self.u[self.row_of[column]] += slack;
        }
        let mut column = end;
        while column != NONE {
            let row = self.before[column];
            let given_up = self.column_of[row];
            self.assign(row, column);
            column = given_up;
        }
        for column in reached {
            self.distance[column] = f64::INFINITY;
        }
    }
}

#[derive(PartialEq)]
struct Reached {
    distance: f64,
    column: usize,
}

impl Eq for Reached {}

impl Ord for Reached {
    fn cmp(&self, other: &Reached) -> Ordering {
        let by_distance = self.distance.total_cmp(&other.distance);
        by_distance.then(self.column.cmp(&other.column))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Reached) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use proptest::prelude::*;
    use rand::seq::SliceRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// The mean of random permutations that mostly stay where they are, as lists and as a matrix.
    fn mean(size: usize, draws: usize, seed: u64) -> (Vec<Vec<(usize, f64)>>, Array2<f64>) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut matrix = Array2::zeros((size, size));
        for _ in 0..draws {
            let mut pi: Vec<usize> = (0..size).collect();
            let mut moved: Vec<usize> = (0..size).filter(|_| rng.random_bool(0.6)).collect();
            let homes = moved.clone();
            moved.shuffle(&mut rng);
            for (row, column) in homes.into_iter().zip(moved) {
                pi[row] = column;
            }
            for (row, column) in pi.into_iter().enumerate() {
                matrix[(row, column)] += 1.0 / draws as f64;
            }
        }
        let lists = matrix.rows().into_iter().map(|row| {
            let entries = row.iter().copied().enumerate();
            entries.filter(|(_, p)| *p > 0.0).collect()
        });
        (lists.collect(), matrix)
    }

    /// Far below any sum of probabilities where a link has none.
    fn worth(probability: f64) -> f64 {
        if probability > 0.0 { probability } else { -1e3 }
    }

    fn value(matrix: &Array2<f64>, pi: &[usize]) -> f64 {
        let links = pi.iter().enumerate();
        links.map(|(i, &j)| worth(matrix[(i, j)])).sum()
    }

    fn brute_force(matrix: &Array2<f64>, row: usize, used: &mut Vec<bool>) -> f64 {
        if row == used.len() {
            return 0.0;
        }
        let mut best = f64::NEG_INFINITY;
        for column in 0..used.len() {
            if !used[column] {
                used[column] = true;
                best = best.max(worth(matrix[(row, column)]) + brute_force(matrix, row + 1, used));
                used[column] = false;
            }
        }
        best
    }

    fn is_permutation(pi: &[usize]) -> bool {
        let mut sorted = pi.to_vec();
        sorted.sort_unstable();
        sorted.into_iter().eq(0..pi.len())
    }

    proptest! {
        #[test]
        fn small_cases_equal_brute_force(size in 1..8usize, draws in 1..12usize, seed in 0..u64::MAX) {
            let (lists, matrix) = mean(size, draws, seed);
            let pi = best_assignment(&lists, size);
            prop_assert!(is_permutation(&pi));
            let best = brute_force(&matrix, 0, &mut vec![false; size]);
            prop_assert!((value(&matrix, &pi) - best).abs() < 1e-12);
        }

        #[test]
        fn larger_cases_equal_dense_lapjv(size in 20..80usize, draws in 2..40usize, seed in 0..u64::MAX) {
            let (lists, matrix) = mean(size, draws, seed);
            let pi = best_assignment(&lists, size);
            prop_assert!(is_permutation(&pi));
            let (dense, _) = lapjv::lapjv(&matrix.mapv(|p| -worth(p))).unwrap();
            let (found, dense) = (value(&matrix, &pi), value(&matrix, &dense));
            prop_assert!((found - dense).abs() < 1e-9, "{} and by LAPJV {}", found, dense);
        }
    }

    #[test]
    fn the_likeliest_link_of_each_row_is_not_always_possible() {
        // Rows 1 and 2 both belong most probably to column 1.
        let rows = [
            vec![(0, 0.6), (1, 0.4)],
            vec![(0, 0.4), (2, 0.3), (1, 0.3)],
            vec![(2, 0.7), (1, 0.3)],
        ];
        assert_eq!(best_assignment(&rows, 3), [0, 1, 2]);
    }
}
