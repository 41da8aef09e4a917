//! Wrong links: which rows are mislinked, and to which rows.

use rand::Rng;
use rand::seq::{SliceRandom, index};

use super::SimulateError;
use crate::sampler::links::OUTSIDE;

/// Attempts at a choice of rows that leaves no row alone in its block.
const TRIES: usize = 1000;

/// How many of `num_rows` rows a fraction is.
pub(super) fn count(fraction: f64, num_rows: usize) -> Result<usize, SimulateError> {
    if !(0.0..=1.0).contains(&fraction) {
        return Err(SimulateError::OutOfRange {
            option: "--mislinked".into(),
            value: fraction,
            rule: "it is a fraction, from 0 to 1",
        });
    }
    match (fraction * num_rows as f64).round() as usize {
        1 => Err(SimulateError::OneRow { fraction, num_rows }),
        count => Ok(count),
    }
}

/// Chooses `count` rows at random, none alone in its block, and gives those of each block a uniform derangement.
/// `pi` starts as the identity.
pub(super) fn within_blocks(
    pi: &mut [usize],
    block_of_row: &[usize],
    count: usize,
    rng: &mut impl Rng,
) -> Result<(), SimulateError> {
    let num_blocks = block_of_row.iter().max().map_or(0, |last| last + 1);
    let mut rows = vec![Vec::new(); num_blocks];
    for (row, &block) in block_of_row.iter().enumerate() {
        rows[block].push(row);
    }
    rows.retain(|rows| rows.len() >= 2);
    for (rows, count) in rows.iter().zip(counts(&rows, count, rng)?) {
        let chosen: Vec<usize> = index::sample(rng, rows.len(), count)
            .into_iter()
            .map(|k| rows[k])
            .collect();
        derange(pi, &chosen, rng);
    }
    Ok(())
}

/// How many rows to choose in each block: as a random choice of rows has it, except that no block keeps a lone row.
fn counts(
    blocks: &[Vec<usize>],
    count: usize,
    rng: &mut impl Rng,
) -> Result<Vec<usize>, SimulateError> {
    let slots: Vec<usize> = blocks
        .iter()
        .enumerate()
        .flat_map(|(block, rows)| std::iter::repeat_n(block, rows.len()))
        .collect();
    if count > slots.len() {
        let most = slots.len();
        return Err(SimulateError::TooManyInBlocks { count, most });
    }
    for _ in 0..TRIES {
        let mut counts = vec![0; blocks.len()];
        for slot in index::sample(rng, slots.len(), count) {
            counts[slots[slot]] += 1;
        }
        let mut lone: Vec<usize> = (0..blocks.len()).filter(|&b| counts[b] == 1).collect();
        lone.shuffle(rng);
        if join_odd_one(&mut lone, &mut counts, blocks) {
            // Pairs of blocks with a lone row: one gets the other's.
            for pair in lone.chunks_exact(2) {
                counts[pair[0]] = 2;
                counts[pair[1]] = 0;
            }
            return Ok(counts);
        }
    }
    Err(SimulateError::LoneInBlock { count })
}

/// Makes the number of blocks with a lone row even, and says whether it could: one of them gives its row to a block
/// that has room for a third, or three of them come together.
fn join_odd_one(lone: &mut Vec<usize>, counts: &mut [usize], blocks: &[Vec<usize>]) -> bool {
    if lone.len().is_multiple_of(2) {
        return true;
    }
    let has_room = |b: &usize| counts[*b] >= 2 && counts[*b] < blocks[*b].len();
    if let Some(block) = (0..blocks.len()).find(has_room) {
        counts[block] += 1;
        counts[lone.pop().expect("an odd number")] = 0;
        return true;
    }
    let large = lone.iter().position(|&b| blocks[b].len() >= 3);
    let (Some(large), true) = (large, lone.len() >= 3) else {
        return false;
    };
    counts[lone.swap_remove(large)] = 3;
    for _ in 0..2 {
        counts[lone.pop().expect("three at least")] = 0;
    }
    true
}

/// Makes the responses of a random `share` of the wrong rows those of nobody. The other wrong rows of a block get a uniform
/// injection into the places of its wrong rows, none into its own.
pub(super) fn outside(pi: &mut [usize], block_of_row: &[usize], share: f64, rng: &mut impl Rng) {
    let mut wrong: Vec<usize> = (0..pi.len()).filter(|&row| pi[row] != row).collect();
    let number = (share * wrong.len() as f64).round() as usize;
    for k in index::sample(rng, wrong.len(), number) {
        pi[wrong[k]] = OUTSIDE;
    }
    wrong.sort_by_key(|&row| block_of_row[row]);
    for places in wrong.chunk_by(|&i, &j| block_of_row[i] == block_of_row[j]) {
        let inside = places.iter().copied().filter(|&row| pi[row] != OUTSIDE);
        let inside: Vec<usize> = inside.collect();
        let mut images = places.to_vec();
        // A block has no lone wrong row, so there is such an injection.
        loop {
            images.shuffle(rng);
            if inside.iter().zip(&images).all(|(row, image)| row != image) {
                break;
            }
        }
        for (&row, &image) in inside.iter().zip(&images) {
            pi[row] = image;
        }
    }
}

/// Shuffles until no row stays: uniform over derangements, in e attempts on average.
fn derange(pi: &mut [usize], rows: &[usize], rng: &mut impl Rng) {
    let mut images = rows.to_vec();
    while rows.iter().zip(&images).any(|(row, image)| row == image) {
        images.shuffle(rng);
    }
    for (&row, &image) in rows.iter().zip(&images) {
        pi[row] = image;
    }
}

/// Swaps `count / 2` random pairs of neighbours; when `count` is odd, one of them is a cycle of three.
pub(super) fn adjacent(pi: &mut [usize], count: usize, rng: &mut impl Rng) {
    let mut lengths = vec![1; pi.len() - count];
    if count % 2 == 1 {
        lengths.push(3);
    }
    let num_pairs = if count % 2 == 1 {
        (count - 3) / 2
    } else {
        count / 2
    };
    lengths.extend(std::iter::repeat_n(2, num_pairs));
    lengths.shuffle(rng);
    let mut start = 0;
    for length in lengths {
        pi[start..start + length].rotate_left(1);
        start += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn identity(len: usize) -> Vec<usize> {
        (0..len).collect()
    }

    fn num_moved(pi: &[usize]) -> usize {
        pi.iter().enumerate().filter(|(i, j)| i != *j).count()
    }

    #[test]
    fn exactly_the_fraction_is_mislinked() {
        let mut rng = crate::numerics::rng::stream(1, 0);
        for wanted in [0, 2, 3, 17, 100] {
            let mut pi = identity(100);
            within_blocks(&mut pi, &[0; 100], wanted, &mut rng).unwrap();
            assert_eq!(num_moved(&pi), wanted);
            let mut pi = identity(100);
            adjacent(&mut pi, wanted, &mut rng);
            assert_eq!(num_moved(&pi), wanted);
            assert!(pi.iter().enumerate().all(|(i, &j)| i.abs_diff(j) <= 2));
        }
        assert_eq!(count(0.2, 235).unwrap(), 47);
        assert!(count(0.01, 100).is_err());
        assert!(count(1.1, 100).is_err());
        assert!(count(f64::NAN, 100).is_err());
    }

    #[test]
    fn derangements_are_uniform() {
        let mut rng = crate::numerics::rng::stream(2, 0);
        let mut seen: HashMap<Vec<usize>, usize> = HashMap::new();
        for _ in 0..9000 {
            let mut pi = identity(4);
            within_blocks(&mut pi, &[0; 4], 4, &mut rng).unwrap();
            *seen.entry(pi).or_default() += 1;
        }
        assert_eq!(seen.len(), 9);
        // Binomial(9000, 1/9) has a standard deviation of 30.
        assert!(seen.values().all(|times| times.abs_diff(1000) < 150));
    }

    #[test]
    fn blocks_keep_their_rows_and_never_have_a_lone_one() {
        let mut rng = crate::numerics::rng::stream(3, 0);
        let of_row: Vec<usize> = (0..60).map(|i| i / 3).collect();
        for wanted in [2, 3, 7, 20, 60] {
            let mut pi = identity(60);
            within_blocks(&mut pi, &of_row, wanted, &mut rng).unwrap();
            assert_eq!(num_moved(&pi), wanted);
            assert!((0..60).all(|i| of_row[i] == of_row[pi[i]]));
        }
    }

    /// Uniform over the injections of the rows that stay inside, and blocks are kept.
    #[test]
    fn responses_from_outside_leave_places_that_others_may_take() {
        let mut rng = crate::numerics::rng::stream(5, 0);
        let mut seen: HashMap<Vec<usize>, usize> = HashMap::new();
        for _ in 0..9000 {
            let mut pi = vec![1, 2, 0];
            outside(&mut pi, &[0; 3], 1.0 / 3.0, &mut rng);
            *seen.entry(pi).or_default() += 1;
        }
        // One of three rows is outside, and two rows have three injections into three places, none its own.
        assert_eq!(seen.len(), 9);
        assert!(seen.values().all(|times| times.abs_diff(1000) < 150));
        let of_row: Vec<usize> = (0..60).map(|i| i / 3).collect();
        let mut pi = identity(60);
        within_blocks(&mut pi, &of_row, 30, &mut rng).unwrap();
        outside(&mut pi, &of_row, 0.6, &mut rng);
        assert_eq!(num_moved(&pi), 30);
        assert_eq!(pi.iter().filter(|column| **column == OUTSIDE).count(), 18);
        let inside = (0..60).filter(|&i| pi[i] != OUTSIDE);
        assert!(inside.clone().all(|i| of_row[i] == of_row[pi[i]]));
        let mut places: Vec<usize> = inside.map(|i| pi[i]).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 42);
    }

    #[test]
    fn impossible_choices_are_refused() {
        let mut rng = crate::numerics::rng::stream(4, 0);
        let mut pi = identity(6);
        let odd = within_blocks(&mut pi, &[0, 0, 1, 1, 2, 2], 3, &mut rng);
        assert!(matches!(odd, Err(SimulateError::LoneInBlock { count: 3 })));
        let many = within_blocks(&mut pi, &[0, 0, 1, 2, 3, 4], 3, &mut rng);
        assert!(matches!(
            many,
            Err(SimulateError::TooManyInBlocks { count: 3, most: 2 })
        ));
        assert_eq!(pi, identity(6));
    }
}
