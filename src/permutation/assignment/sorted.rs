//! The flat prior's mode for convex losses: sorted responses meet sorted fitted values.

use super::super::pair::Locations;
use super::super::permutation::Permutation;

/// For a convex loss of response - fitted, uncrossing two pairs never costs, so the sorted
/// matching is a best assignment. O(n log n).
pub(super) fn assign(locations: &Locations<'_>) -> Permutation {
    let mut columns: Vec<usize> = (0..locations.fitted.len()).collect();
    columns.sort_by(|&i, &j| locations.fitted[i].total_cmp(&locations.fitted[j]));
    let mut forward = vec![0; columns.len()];
    for (&row, &column) in locations.response_order.iter().zip(&columns) {
        forward[row] = column;
    }
    Permutation::from_vec(forward).expect("two orders of the same rows make a permutation")
}
