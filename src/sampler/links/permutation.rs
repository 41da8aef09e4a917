//! A permutation of the rows, its inverse and the set of moved rows, kept in step.

use rand::Rng;
use rand::seq::{SliceRandom, index};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Position of a row that is not in the moved set.
const FIXED: usize = usize::MAX;

/// The column of a response that belongs to nobody in the file.
pub const OUTSIDE: usize = usize::MAX;
/// The row of predictors whose response is not in the file.
pub const NOBODY: usize = usize::MAX;

/// The link `row -> column`: response `i` belongs to the predictors at `column_of(i)`.
///
/// It is a partial permutation where responses may come from outside the file: such a row has the column [`OUTSIDE`], and
/// the predictors that nobody claims have the row [`NOBODY`]. Rows from `num_present` on have predictors and no response.
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
    num_outside: usize,
    num_present: usize,
    version: u64,
}

/// A permutation in a file: the moved rows with their columns, in the order of `Permutation::moved`. Kernels draw from
/// that list, so a chain that is resumed needs it in the same order.
#[derive(Clone, Serialize, Deserialize)]
struct SavedPermutation {
    len: usize,
    /// Rows with a response, where that is not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    present: Option<usize>,
    /// Without a column for a response from outside.
    moved: Vec<(usize, Option<usize>)>,
}

impl From<Permutation> for SavedPermutation {
    fn from(pi: Permutation) -> Self {
        let column = |row: usize| (!pi.is_outside(row)).then_some(pi.forward[row]);
        Self {
            len: pi.len(),
            present: (pi.num_present < pi.len()).then_some(pi.num_present),
            moved: pi.moved.iter().map(|&row| (row, column(row))).collect(),
        }
    }
}

impl TryFrom<SavedPermutation> for Permutation {
    type Error = PermutationError;

    fn try_from(saved: SavedPermutation) -> Result<Self, PermutationError> {
        let len = saved.len;
        let present = saved.present.unwrap_or(len).min(len);
        let mut forward: Vec<usize> = (0..present).collect();
        for &(row, column) in &saved.moved {
            let to = column.unwrap_or(OUTSIDE);
            let Some(entry) = forward.get_mut(row) else {
                let column = column.unwrap_or(row);
                return Err(PermutationError::OutOfRange { row, column, len });
            };
            if *entry != row || to == row {
                return Err(PermutationError::NotMoved { row });
            }
            *entry = to;
        }
        let mut pi = Self::from_partial(forward, len)?;
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
            num_outside: 0,
            num_present: len,
            version: 0,
        }
    }

    /// Every link kept as given, where only the first `num_present` rows have a response.
    pub fn identity_of_present(num_present: usize, len: usize) -> Self {
        Self::from_partial((0..num_present).collect(), len).expect("every row at its own place")
    }

    /// The permutation with `pi(i) = forward[i]`.
    pub fn from_vec(forward: Vec<usize>) -> Result<Self, PermutationError> {
        let len = forward.len();
        if let Some(row) = forward.iter().position(|&column| column >= len) {
            let column = forward[row];
            return Err(PermutationError::OutOfRange { row, column, len });
        }
        Self::from_partial(forward, len)
    }

    /// The partial permutation with `pi(i) = forward[i]`, which may be [`OUTSIDE`]; the other rows of `len` have no response.
    pub fn from_partial(mut forward: Vec<usize>, len: usize) -> Result<Self, PermutationError> {
        let num_present = forward.len();
        let mut inverse = vec![NOBODY; len];
        for (row, &column) in forward.iter().enumerate().filter(|(_, c)| **c != OUTSIDE) {
            if column >= len {
                return Err(PermutationError::OutOfRange { row, column, len });
            }
            if inverse[column] != NOBODY {
                let first = inverse[column];
                return Err(PermutationError::Repeated {
                    first,
                    second: row,
                    column,
                });
            }
            inverse[column] = row;
        }
        forward.resize(len, OUTSIDE);
        let mut permutation = Self {
            forward,
            inverse,
            moved: Vec::with_capacity(len),
            position: vec![FIXED; len],
            num_outside: 0,
            num_present,
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

    /// The number of rows that have a response; they are the first ones.
    #[inline]
    pub fn num_present(&self) -> usize {
        self.num_present
    }

    /// The number of responses that belong to nobody in the file.
    #[inline]
    pub fn num_outside(&self) -> usize {
        self.num_outside
    }

    /// Whether the response of `row` belongs to nobody in the file.
    #[inline]
    pub fn is_outside(&self, row: usize) -> bool {
        self.forward[row] == OUTSIDE && row < self.num_present
    }

    /// pi(row): the predictors that response `row` belongs to, or [`OUTSIDE`].
    #[inline]
    pub fn column_of(&self, row: usize) -> usize {
        self.forward[row]
    }

    /// The inverse: the response that belongs to predictors `column`, or [`NOBODY`].
    #[inline]
    pub fn row_of(&self, column: usize) -> usize {
        self.inverse[column]
    }

    /// `pi(i)` for each row i.
    pub fn as_slice(&self) -> &[usize] {
        &self.forward
    }

    /// The rows with pi(i) != i, those outside among them, in no particular order.
    #[inline]
    pub fn moved(&self) -> &[usize] {
        &self.moved
    }

    /// The number of rows with `pi(i) != i`.
    #[inline]
    pub fn num_moved(&self) -> usize {
        self.moved.len()
    }

    /// Whether `row` has a response and `pi(row) != row`.
    #[inline]
    pub fn is_moved(&self, row: usize) -> bool {
        self.forward[row] != row && row < self.num_present
    }

    /// A number that changes with the permutation.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Writes the response in the order of the predictors: `aligned[j] = response[inverse(j)]`. Several responses stand
    /// one behind the other, and a link moves all of them. Predictors that nobody claims keep their own response as a
    /// placeholder: their weight in the likelihood is 0.
    pub fn align(&self, responses: &[f64], aligned: &mut [f64]) {
        let len = self.len();
        assert!(responses.len().is_multiple_of(len));
        assert_eq!(aligned.len(), responses.len());
        let columns = aligned.chunks_exact_mut(len);
        for (aligned, response) in columns.zip(responses.chunks_exact(len)) {
            for (column, (value, &row)) in aligned.iter_mut().zip(&self.inverse).enumerate() {
                *value = response[if row == NOBODY { column } else { row }];
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

    /// Links `row`, which has a response, to a column that nobody claims, or to [`OUTSIDE`].
    pub fn place(&mut self, row: usize, to: usize) {
        debug_assert!(row < self.num_present);
        debug_assert!(to == OUTSIDE || self.inverse[to] == NOBODY);
        let from = self.forward[row];
        if from == OUTSIDE {
            self.num_outside -= 1;
        } else {
            self.inverse[from] = NOBODY;
        }
        if to == OUTSIDE {
            self.num_outside += 1;
        } else {
            self.inverse[to] = row;
        }
        self.forward[row] = to;
        self.note(row);
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
        assert_eq!(self.num_present, other.num_present);
        self.forward.copy_from_slice(&other.forward);
        self.inverse.copy_from_slice(&other.inverse);
        self.collect_moved();
        self.version += 1;
    }

    fn collect_moved(&mut self) {
        self.moved.clear();
        self.position.fill(FIXED);
        let present = &self.forward[..self.num_present];
        self.num_outside = present.iter().filter(|column| **column == OUTSIDE).count();
        for row in 0..self.num_present {
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
        let present = &self.forward[..self.num_present];
        for (row, &column) in present.iter().enumerate() {
            assert!(column == OUTSIDE || self.inverse[column] == row);
            if self.is_moved(row) {
                assert_eq!(self.moved[self.position[row]], row);
            } else {
                assert_eq!(self.position[row], FIXED);
            }
        }
        for (column, &row) in self.inverse.iter().enumerate() {
            assert!(row == NOBODY || self.forward[row] == column);
        }
        let num_outside = present.iter().filter(|c| **c == OUTSIDE).count();
        assert_eq!(num_outside, self.num_outside);
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
