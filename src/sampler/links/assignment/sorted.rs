//! The flat prior's mode for convex losses and exponential families: sorted responses meet sorted fitted values.

use super::super::pair::Locations;
use super::super::permutation::Permutation;
use super::super::space::LinkSpace;

/// For a convex loss of response - fitted, and for y * fitted, uncrossing two pairs never costs, so
/// the sorted matching of each group is a best assignment. O(n log n).
pub(super) fn assign(locations: &Locations<'_>, space: &LinkSpace) -> Permutation {
    let mut forward: Vec<usize> = (0..space.num_rows()).collect();
    let sorted = |group: usize, by: &[f64]| {
        let mut rows = space.group(group).to_vec();
        rows.sort_by(|&i, &j| by[i].total_cmp(&by[j]));
        rows
    };
    for group in 0..space.num_groups() {
        let rows = sorted(group, locations.response);
        for (row, column) in rows.into_iter().zip(sorted(group, locations.fitted)) {
            forward[row] = column;
        }
    }
    Permutation::from_vec(forward).expect("two orders of the same rows make a permutation")
}
