//! Which rows enter the assignment problem when there are too many for all of them.

use super::super::pair::PairLogLik;
use super::super::permutation::Permutation;
use super::super::space::LinkSpace;

/// A row whose own link is less likely than a random one may want to move.
const THRESHOLD: f64 = 0.0;

/// All rows that can move, by group, if there are at most `max_rows`. Otherwise in each group the rows moved now, then
/// the rows with the largest `log_mislink_ratio` above the threshold, up to `max_rows`. The others stay at home.
pub(super) fn select<L: PairLogLik + ?Sized>(
    current: &Permutation,
    pair: &L,
    space: &LinkSpace,
    max_rows: usize,
) -> Vec<Vec<usize>> {
    let groups = (0..space.num_groups()).map(|group| space.group(group));
    if space.num_movable() <= max_rows {
        return groups.map(<[_]>::to_vec).collect();
    }
    let suspects = |group: &[usize]| {
        let mut rows: Vec<(f64, usize)> = group
            .iter()
            .filter_map(|&row| {
                let ratio = pair.log_mislink_ratio(row);
                if current.is_moved(row) {
                    Some((f64::INFINITY, row))
                } else {
                    (ratio > THRESHOLD).then_some((ratio, row))
                }
            })
            .collect();
        if rows.len() > max_rows {
            rows.select_nth_unstable_by(max_rows, |a, b| b.0.total_cmp(&a.0));
            rows.truncate(max_rows);
        }
        let mut rows: Vec<usize> = rows.into_iter().map(|(_, row)| row).collect();
        rows.sort_unstable();
        rows
    };
    groups
        .map(suspects)
        .filter(|rows| rows.len() >= 2)
        .collect()
}
