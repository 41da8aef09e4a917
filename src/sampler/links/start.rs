//! Random links for a chain to start from, among those that are possible.

use super::permutation::Permutation;
use super::prior::Prior;
use super::space::{Candidates, LinkSpace};
use rand::Rng;
use rand::seq::{SliceRandom, index};

impl Prior {
    /// Links that move at most `most` rows chosen at random, and no more than the prior allows.
    pub fn random_links<R: Rng + ?Sized>(&self, most: usize, rng: &mut R) -> Permutation {
        let space = self.space();
        let mut num_moved = most.min(space.num_movable());
        while num_moved > 1 && self.log_weight(num_moved) == f64::NEG_INFINITY {
            num_moved -= 1;
        }
        if num_moved < 2 {
            return Permutation::identity(space.num_rows());
        }
        if space.is_free() {
            return Permutation::random_sparse(space.num_rows(), num_moved, rng);
        }
        let forward = match space.candidates() {
            Some(candidates) => circles(space, candidates, num_moved, rng),
            None => derangements(space, num_moved, rng),
        };
        Permutation::from_vec(forward).expect("circles of rows are a permutation")
    }
}

/// Random rows, those of each group deranged; a row that is alone in its group stays.
fn derangements<R: Rng + ?Sized>(space: &LinkSpace, num_moved: usize, rng: &mut R) -> Vec<usize> {
    let mut chosen: Vec<usize> = index::sample(rng, space.num_movable(), num_moved)
        .into_iter()
        .map(|k| space.members()[k])
        .collect();
    chosen.sort_by_key(|&row| space.group_of_movable(row));
    let mut forward: Vec<usize> = (0..space.num_rows()).collect();
    for rows in chosen.chunk_by(|&i, &j| space.same_group(i, j)) {
        let mut columns = rows.to_vec();
        // A shuffle is a derangement with probability near 1/e, whatever its size.
        while rows.len() > 1 && rows.iter().zip(&columns).any(|(row, column)| row == column) {
            columns.shuffle(rng);
        }
        for (&row, column) in rows.iter().zip(columns) {
            forward[row] = column;
        }
    }
    forward
}

/// Walks from candidate to candidate, kept where they come back to their start and cross no earlier one.
fn circles<R: Rng + ?Sized>(
    space: &LinkSpace,
    candidates: &Candidates,
    num_moved: usize,
    rng: &mut R,
) -> Vec<usize> {
    let mut forward: Vec<usize> = (0..space.num_rows()).collect();
    let mut left = num_moved;
    for _ in 0..num_moved {
        let start = space.members()[rng.random_range(0..space.num_movable())];
        let mut circle = vec![start];
        let closed = loop {
            let row = circle[circle.len() - 1];
            let (columns, _) = candidates.of(row);
            let next = columns[rng.random_range(0..columns.len())];
            if next == start {
                break true;
            }
            if circle.len() == left || circle.contains(&next) {
                break false;
            }
            circle.push(next);
        };
        if closed && circle.len() <= left && circle.iter().all(|&row| forward[row] == row) {
            left -= circle.len();
            for (k, &row) in circle.iter().enumerate() {
                forward[row] = circle[(k + 1) % circle.len()];
            }
        }
    }
    forward
}
