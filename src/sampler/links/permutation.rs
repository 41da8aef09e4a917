//! A permutation of the rows, its inverse and the set of moved rows, kept in step.

use rand::Rng;
use rand::seq::{SliceRandom, index};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Position of a row that is not in the moved set.
const FIXED: usize = usize::MAX;

/// The link `row -> column`: response `i` belongs to the predictors at `column_of(i)`.
///
/// `version` changes whenever the permutation does, so that whoever caches something computed
/// from the aligned response can see that it is stale.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "SavedPermutation", try_from = "SavedPermutation")]
pub struct Permutation {
    forward: Vec<usize>,
    inverse: Vec<usize>,
    moved: Vec<usize>,
    position: Vec<usize>,
    version: u64,
}

/// A permutation in a file: the moved rows with their columns, in the order of `Permutation::moved`. Kernels draw from
/// that list, so a chain that is resumed needs it in the same order.
#[derive(Clone, Serialize, Deserialize)]
struct SavedPermutation {
    len: usize,
    moved: Vec<(usize, usize)>,
}

impl From<Permutation> for SavedPermutation {
    fn from(pi: Permutation) -> Self {
        Self {
            len: pi.len(),
            moved: pi.moved.iter().map(|&row| (row, pi.forward[row])).collect(),
        }
    }
}

impl TryFrom<SavedPermutation> for Permutation {
    type Error = PermutationError;

    fn try_from(saved: SavedPermutation) -> Result<Self, PermutationError> {
        let len = saved.len;
        let mut forward: Vec<usize> = (0..len).collect();
        for &(row, column) in &saved.moved {
            let Some(entry) = forward.get_mut(row) else {
                return Err(PermutationError::OutOfRange { row, column, len });
            };
            if *entry != row || column == row {
                return Err(PermutationError::NotMoved { row });
            }
            *entry = column;
        }
        let mut pi = Self::from_vec(forward)?;
        pi.moved.clear();
        for (place, &(row, _)) in saved.moved.iter().enumerate() {
            pi.moved.push(row);
            pi.position[row] = place;
        }
        Ok(pi)
    }
}

/// Why a vector is not a permutation.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PermutationError {
    #[error("row {row} is linked to row {column}, but there are only {len} rows")]
    OutOfRange {
        row: usize,
        column: usize,
        len: usize,
    },
    #[error("rows {first} and {second} are both linked to row {column}")]
    Repeated {
        first: usize,
        second: usize,
        column: usize,
    },
    #[error("row {row} is listed as moved twice, or at its own place")]
    NotMoved { row: usize },
}

impl PartialEq for Permutation {
    fn eq(&self, other: &Self) -> bool {
        self.forward == other.forward
    }
}

impl Eq for Permutation {}

impl Permutation {
    /// Every link kept as given.
    pub fn identity(len: usize) -> Self {
        Self {
            forward: (0..len).collect(),
            inverse: (0..len).collect(),
            moved: Vec::with_capacity(len),
            position: vec![FIXED; len],
            version: 0,
        }
    }

    /// The permutation with `pi(i) = forward[i]`.
    pub fn from_vec(forward: Vec<usize>) -> Result<Self, PermutationError> {
        let len = forward.len();
        let mut inverse = vec![FIXED; len];
        for (row, &column) in forward.iter().enumerate() {
            if column >= len {
                return Err(PermutationError::OutOfRange { row, column, len });
            }
            if inverse[column] != FIXED {
                let first = inverse[column];
                return Err(PermutationError::Repeated {
                    first,
                    second: row,
                    column,
                });
            }
            inverse[column] = row;
        }
        let mut permutation = Self {
            forward,
            inverse,
            moved: Vec::with_capacity(len),
            position: vec![FIXED; len],
            version: 0,
        };
        permutation.collect_moved();
        Ok(permutation)
    }

    /// A uniform derangement of `num_moved` rows chosen at random.
    ///
    /// # Panics
    /// When `num_moved` is 1 (no permutation moves exactly one row) or exceeds `len`.
    pub fn random_sparse<R: Rng + ?Sized>(len: usize, num_moved: usize, rng: &mut R) -> Self {
        assert!(
            num_moved != 1 && num_moved <= len,
            "cannot move exactly {num_moved} of {len} rows"
        );
        let rows = index::sample(rng, len, num_moved).into_vec();
        let mut columns = rows.clone();
        // A shuffle is a derangement with probability near 1/e, whatever its size.
        loop {
            columns.shuffle(rng);
            if rows.iter().zip(&columns).all(|(row, column)| row != column) {
                break;
            }
        }
        let mut forward: Vec<usize> = (0..len).collect();
        for (&row, &column) in rows.iter().zip(&columns) {
            forward[row] = column;
        }
        Self::from_vec(forward).expect("a shuffle of rows is a permutation")
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.forward.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.forward.is_empty()
    }

    /// pi(row): the predictors that response `row` belongs to.
    #[inline]
    pub fn column_of(&self, row: usize) -> usize {
        self.forward[row]
    }

    /// The inverse: the response that belongs to predictors `column`.
    #[inline]
    pub fn row_of(&self, column: usize) -> usize {
        self.inverse[column]
    }

    /// `pi(i)` for each row i.
    pub fn as_slice(&self) -> &[usize] {
        &self.forward
    }

    /// The rows with pi(i) != i, in no particular order.
    #[inline]
    pub fn moved(&self) -> &[usize] {
        &self.moved
    }

    /// The number of rows with `pi(i) != i`.
    #[inline]
    pub fn num_moved(&self) -> usize {
        self.moved.len()
    }

    /// Whether `pi(row) != row`.
    #[inline]
    pub fn is_moved(&self, row: usize) -> bool {
        self.forward[row] != row
    }

    /// A number that changes with the permutation.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Writes the response in the order of the predictors: `aligned[j] = response[inverse(j)]`. Several responses stand
    /// one behind the other, and a link moves all of them.
    pub fn align(&self, responses: &[f64], aligned: &mut [f64]) {
        let len = self.len();
        assert!(responses.len().is_multiple_of(len));
        assert_eq!(aligned.len(), responses.len());
        let columns = aligned.chunks_exact_mut(len);
        for (aligned, response) in columns.zip(responses.chunks_exact(len)) {
            for (value, &row) in aligned.iter_mut().zip(&self.inverse) {
                *value = response[row];
            }
        }
    }

    /// Exchanges the columns of two rows.
    #[inline]
    pub fn exchange(&mut self, i: usize, j: usize) {
        debug_assert_ne!(i, j);
        let (a, b) = (self.forward[i], self.forward[j]);
        self.forward[i] = b;
        self.forward[j] = a;
        self.inverse[b] = i;
        self.inverse[a] = j;
        self.note(i);
        self.note(j);
        self.version += 1;
    }

    /// The number of moved rows after `exchange(i, j)`.
    #[inline]
    pub fn num_moved_after(&self, i: usize, j: usize) -> usize {
        let (a, b) = (self.forward[i], self.forward[j]);
        self.moved.len() + usize::from(a == i) + usize::from(b == j)
            - usize::from(b == i)
            - usize::from(a == j)
    }

    /// Becomes equal to `other`; a new version only when that is a change.
    pub fn assign(&mut self, other: &Self) {
        assert_eq!(self.len(), other.len());
        if self == other {
            return;
        }
        self.forward.copy_from_slice(&other.forward);
        self.inverse.copy_from_slice(&other.inverse);
        self.collect_moved();
        self.version += 1;
    }

    fn collect_moved(&mut self) {
        self.moved.clear();
        self.position.fill(FIXED);
        for row in 0..self.forward.len() {
            self.note(row);
        }
    }

    /// Puts `row` into or out of the moved set, as its column says.
    #[inline]
    fn note(&mut self, row: usize) {
        let listed = self.position[row] != FIXED;
        match (self.forward[row] != row, listed) {
            (true, false) => {
                self.position[row] = self.moved.len();
                self.moved.push(row);
            }
            (false, true) => {
                let hole = self.position[row];
                self.moved.swap_remove(hole);
                if let Some(&filler) = self.moved.get(hole) {
                    self.position[filler] = hole;
                }
                self.position[row] = FIXED;
            }
            _ => {}
        }
    }

    /// Panics unless the inverse and the moved set agree with the forward map.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        for row in 0..self.len() {
            assert_eq!(self.inverse[self.forward[row]], row);
            if self.is_moved(row) {
                assert_eq!(self.moved[self.position[row]], row);
            } else {
                assert_eq!(self.position[row], FIXED);
            }
        }
        let num_moved = (0..self.len()).filter(|&row| self.is_moved(row)).count();
        assert_eq!(num_moved, self.moved.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn rejects_what_is_not_a_permutation() {
        assert_eq!(
            Permutation::from_vec(vec![0, 3, 1]).unwrap_err(),
            PermutationError::OutOfRange {
                row: 1,
                column: 3,
                len: 3
            }
        );
        assert_eq!(
            Permutation::from_vec(vec![2, 0, 2]).unwrap_err(),
            PermutationError::Repeated {
                first: 0,
                second: 2,
                column: 2
            }
        );
    }

    #[test]
    fn a_saved_permutation_keeps_the_order_of_its_moved_rows() {
        let mut pi = Permutation::identity(6);
        for (i, j) in [(4, 1), (1, 3), (5, 0), (4, 1), (5, 3)] {
            pi.exchange(i, j);
        }
        assert_ne!(
            pi.moved(),
            Permutation::from_vec(pi.forward.clone()).unwrap().moved()
        );
        let text = serde_json::to_string(&pi).unwrap();
        let read: Permutation = serde_json::from_str(&text).unwrap();
        read.check();
        assert_eq!((&read, read.moved()), (&pi, pi.moved()));
        for wrong in ["[[0,1]]", "[[0,1],[1,0],[0,1]]", "[[2,2]]", "[[0,7],[7,0]]"] {
            let text = format!("{{\"len\":3,\"moved\":{wrong}}}");
            assert!(
                serde_json::from_str::<Permutation>(&text).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn aligned_response_stands_where_the_link_points() {
        let pi = Permutation::from_vec(vec![2, 0, 1]).unwrap();
        // Two responses: both go where the link points.
        let responses = [10.0, 20.0, 30.0, -1.0, -2.0, -3.0];
        let mut aligned = [0.0; 6];
        pi.align(&responses, &mut aligned);
        for row in 0..3 {
            for first in [0, 3] {
                assert_eq!(aligned[first + pi.column_of(row)], responses[first + row]);
            }
        }
    }

    #[test]
    fn random_sparse_moves_exactly_as_many_rows_as_asked() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for num_moved in [0, 2, 3, 7, 20] {
            let pi = Permutation::random_sparse(20, num_moved, &mut rng);
            pi.check();
            assert_eq!(pi.num_moved(), num_moved);
        }
    }

    #[test]
    fn assigning_an_equal_permutation_is_no_new_version() {
        let mut pi = Permutation::from_vec(vec![1, 0, 2]).unwrap();
        let same = pi.clone();
        pi.assign(&same);
        assert_eq!(pi.version(), 0);
        pi.assign(&Permutation::identity(3));
        assert_eq!(pi.version(), 1);
        pi.check();
    }

    proptest! {
        #[test]
        fn exchanges_keep_inverse_and_moved_set(
            start in Just((0..12usize).collect::<Vec<_>>()).prop_shuffle(),
            exchanges in prop::collection::vec((0..12usize, 0..12usize), 0..60),
        ) {
            let mut pi = Permutation::from_vec(start).unwrap();
            pi.check();
            for (i, j) in exchanges {
                if i == j {
                    continue;
                }
                let (expected, version) = (pi.num_moved_after(i, j), pi.version());
                let (a, b) = (pi.column_of(i), pi.column_of(j));
                pi.exchange(i, j);
                pi.check();
                prop_assert_eq!(pi.num_moved(), expected);
                prop_assert_eq!((pi.column_of(i), pi.column_of(j)), (b, a));
                prop_assert!(pi.version() > version);
            }
        }
    }
}
