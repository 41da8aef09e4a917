//! Which links are possible and how likely they are before the data: groups of rows, log odds, candidate pairs.

use super::components::components;

/// The group of a row that cannot move.
const FIXED: usize = usize::MAX;

/// What is known of the links of `num_rows` rows. Nothing known is `LinkFacts::default()`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkFacts<'a> {
    /// For each row the number of its block: it can only be relinked inside.
    pub block_of_row: Option<&'a [usize]>,
    /// Rows whose link is known to be right.
    pub safe: Option<&'a [bool]>,
    /// For each row the probability that its link is right, above 0; 1 makes it safe.
    pub match_probability: Option<&'a [f64]>,
    /// (row, column, weight above 0): the only links possible besides a row's own. No pair may stand here twice.
    pub candidates: Option<&'a [(usize, usize, f64)]>,
}

/// The permutations that are possible, in groups: a permutation moves rows inside their groups only.
///
/// Groups are the blocks without safe rows; with candidate pairs, the strongly connected parts of these, since a cycle
/// never leaves such a part. Groups of one row do not exist: such a row cannot move.
#[derive(Clone, Debug)]
pub struct LinkSpace {
    group_of: Vec<usize>,
    /// Rows that can move, group by group, in increasing order within each.
    members: Vec<usize>,
    /// Group g has members[bounds[g]..bounds[g + 1]].
    bounds: Vec<usize>,
    /// log P(wrong) / P(right) of each row, where that is known.
    log_odds: Option<Vec<f64>>,
    candidates: Option<Candidates>,
    is_free: bool,
}

/// Which links a space is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Permutations,
    Places,
    /// The number of rows with a response.
    Present(usize),
}

/// For each row the columns it may move to, sorted, and log((n_g - 1) v): v are the weights scaled to sum to one and
/// n_g is the size of the group, so that equal weights for all others in the group are no information.
#[derive(Clone, Debug)]
pub(crate) struct Candidates {
    bounds: Vec<usize>,
    columns: Vec<usize>,
    log_weight: Vec<f64>,
}

impl Candidates {
    pub fn of(&self, row: usize) -> (&[usize], &[f64]) {
        let range = self.range(row);
        (&self.columns[range.clone()], &self.log_weight[range])
    }

    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.bounds[row]..self.bounds[row + 1]
    }

    pub fn len(&self) -> usize {
        self.columns.len()
    }

    #[inline]
    fn log_weight(&self, row: usize, column: usize) -> f64 {
        let (columns, weights) = self.of(row);
        match columns.binary_search(&column) {
            Ok(place) => weights[place],
            Err(_) => f64::NEG_INFINITY,
        }
    }
}

impl LinkSpace {
    /// Every permutation is possible.
    pub fn free(num_rows: usize) -> Self {
        Self::new(num_rows, LinkFacts::default())
    }

    /// The links that these facts leave possible.
    pub fn new(num_rows: usize, facts: LinkFacts) -> Self {
        Self::of(num_rows, facts, Kind::Permutations)
    }

    /// The places of partial permutations, in which a response may also belong to nobody.
    ///
    /// Groups are the blocks without safe rows, of one row and more; with candidate pairs, the connected parts of these:
    /// where a place is empty, links need not close to cycles.
    pub(crate) fn places(num_rows: usize, facts: LinkFacts) -> Self {
        Self::of(num_rows, facts, Kind::Places)
    }

    /// As [`LinkSpace::places`], without the rows from `num_present` on, which have no response that could be moved.
    pub(crate) fn present(num_rows: usize, num_present: usize, facts: LinkFacts) -> Self {
        Self::of(num_rows, facts, Kind::Present(num_present))
    }

    fn of(num_rows: usize, facts: LinkFacts, kind: Kind) -> Self {
        for len in [
            facts.block_of_row.map(<[_]>::len),
            facts.safe.map(<[_]>::len),
            facts.match_probability.map(<[_]>::len),
        ] {
            assert!(len.is_none_or(|len| len == num_rows), "one fact for a row");
        }
        let is_safe = |row: usize| {
            facts.safe.is_some_and(|safe| safe[row])
                || facts.match_probability.is_some_and(|p| p[row] >= 1.0)
        };
        let block_of = |row: usize| facts.block_of_row.map_or(0, |blocks| blocks[row]);
        let pairs: Option<Vec<(usize, usize, f64)>> = facts.candidates.map(|pairs| {
            let possible = |&&(row, column, weight): &&(usize, usize, f64)| {
                assert!(weight > 0.0, "weights of candidates are positive");
                let free = !is_safe(row) && !is_safe(column);
                row != column && free && block_of(row) == block_of(column)
            };
            pairs.iter().filter(possible).copied().collect()
        });
        let label: Vec<usize> = match &pairs {
            Some(pairs) => {
                let edges = pairs.iter().map(|&(row, column, _)| (row, column));
                let back = edges.clone().map(|(row, column)| (column, row));
                // With every edge in both directions, strong components are the connected parts.
                let back = back.filter(|_| kind != Kind::Permutations);
                components(num_rows, edges.chain(back))
            }
            None => (0..num_rows).map(block_of).collect(),
        };
        let num_present = match kind {
            Kind::Present(number) => number,
            _ => num_rows,
        };
        let mut rows_of = vec![Vec::new(); label.iter().max().map_or(0, |last| last + 1)];
        for row in (0..num_present).filter(|&row| !is_safe(row)) {
            rows_of[label[row]].push(row);
        }
        let smallest = if kind == Kind::Permutations { 2 } else { 1 };
        let mut group_of = vec![FIXED; num_rows];
        let mut members = Vec::with_capacity(num_rows);
        let mut bounds = vec![0];
        for rows in rows_of.into_iter().filter(|rows| rows.len() >= smallest) {
            rows.iter()
                .for_each(|&row| group_of[row] = bounds.len() - 1);
            members.extend(rows);
            bounds.push(members.len());
        }
        let log_odds = facts.match_probability.map(|probability| {
            let log_odds = |p: f64| {
                assert!(p > 0.0, "a link that is certainly wrong has no log odds");
                if p < 1.0 {
                    (1.0 - p).ln() - p.ln()
                } else {
                    f64::NEG_INFINITY
                }
            };
            probability.iter().copied().map(log_odds).collect()
        });
        let mut space = Self {
            is_free: members.len() == num_rows
                && bounds.len() <= 2
                && log_odds.is_none()
                && pairs.is_none(),
            group_of,
            members,
            bounds,
            log_odds,
            candidates: None,
        };
        space.candidates = pairs.map(|pairs| space.scaled(pairs));
        space
    }

    /// Candidates inside the groups, by row, with weights relative to a uniform choice in the group.
    fn scaled(&self, mut pairs: Vec<(usize, usize, f64)>) -> Candidates {
        pairs.retain(|&(row, column, _)| {
            self.group_of[row] != FIXED && self.group_of[row] == self.group_of[column]
        });
        pairs.sort_by_key(|&(row, column, _)| (row, column));
        let mut candidates = Candidates {
            bounds: vec![0],
            columns: Vec::with_capacity(pairs.len()),
            log_weight: Vec::with_capacity(pairs.len()),
        };
        let mut rest = pairs.as_slice();
        for row in 0..self.num_rows() {
            let (of_row, others) = rest.split_at(rest.partition_point(|pair| pair.0 == row));
            rest = others;
            let sum: f64 = of_row.iter().map(|pair| pair.2).sum();
            for &(_, column, weight) in of_row {
                let others = self.group(self.group_of[row]).len() - 1;
                candidates.columns.push(column);
                candidates
                    .log_weight
                    .push((others as f64 * weight / sum).ln());
            }
            candidates.bounds.push(candidates.columns.len());
        }
        candidates
    }

    /// The number of rows.
    pub fn num_rows(&self) -> usize {
        self.group_of.len()
    }

    /// The number of groups inside which rows can move.
    pub fn num_groups(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Rows that can move at all.
    pub fn num_movable(&self) -> usize {
        self.members.len()
    }

    /// Whether every permutation is possible and nothing is known of any row.
    #[inline]
    pub fn is_free(&self) -> bool {
        self.is_free
    }

    /// All rows that can move, group by group.
    pub(crate) fn members(&self) -> &[usize] {
        &self.members
    }

    pub(crate) fn bounds(&self) -> &[usize] {
        &self.bounds
    }

    /// The rows of one group.
    pub fn group(&self, group: usize) -> &[usize] {
        &self.members[self.bounds[group]..self.bounds[group + 1]]
    }

    /// The number of rows of each group.
    pub fn group_sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.bounds.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// The group of a row; None for a row that cannot move.
    pub fn group_of(&self, row: usize) -> Option<usize> {
        let group = self.group_of[row];
        (group != FIXED).then_some(group)
    }

    /// The group of a row that can move.
    #[inline]
    pub(crate) fn group_of_movable(&self, row: usize) -> usize {
        debug_assert_ne!(self.group_of[row], FIXED);
        self.group_of[row]
    }

    #[inline]
    pub(crate) fn same_group(&self, i: usize, j: usize) -> bool {
        self.group_of[i] == self.group_of[j] && self.group_of[i] != FIXED
    }

    pub(crate) fn candidates(&self) -> Option<&Candidates> {
        self.candidates.as_ref()
    }

    /// Candidate pairs that can be part of a permutation.
    pub fn num_candidates(&self) -> Option<usize> {
        self.candidates.as_ref().map(Candidates::len)
    }

    #[inline]
    pub(crate) fn log_odds(&self, row: usize) -> Option<f64> {
        self.log_odds.as_ref().map(|log_odds| log_odds[row])
    }

    pub(crate) fn all_log_odds(&self) -> Option<&[f64]> {
        self.log_odds.as_deref()
    }

    /// Other log odds for rows that had some.
    pub(crate) fn set_log_odds(&mut self, log_odds: &[f64]) {
        let own = self.log_odds.as_mut().expect("a space with log odds");
        own.copy_from_slice(log_odds);
    }

    /// Whether only d, the number of moved rows, tells permutations apart.
    pub(crate) fn has_link_weights(&self) -> bool {
        self.log_odds.is_some() || self.candidates.is_some()
    }

    /// What linking `row` to `column` adds to the log prior, both in one group; 0 at home.
    #[inline]
    pub fn log_link(&self, row: usize, column: usize) -> f64 {
        if row == column {
            return 0.0;
        }
        let odds = self.log_odds.as_ref().map_or(0.0, |odds| odds[row]);
        let candidates = self.candidates.as_ref();
        odds + candidates.map_or(0.0, |candidates| candidates.log_weight(row, column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_known_is_one_group() {
        let space = LinkSpace::free(4);
        assert!(space.is_free());
        assert_eq!((space.num_groups(), space.num_movable()), (1, 4));
        assert_eq!(LinkSpace::free(1).num_groups(), 0);
    }

    #[test]
    fn blocks_lose_safe_rows_and_single_rows_stay() {
        let facts = LinkFacts {
            block_of_row: Some(&[0, 1, 0, 1, 2, 1]),
            safe: Some(&[false, true, false, false, false, false]),
            ..LinkFacts::default()
        };
        let space = LinkSpace::new(6, facts);
        assert_eq!(space.group(0), [0, 2]);
        assert_eq!(space.group(1), [3, 5]);
        assert_eq!((space.group_of(1), space.group_of(4)), (None, None));
        assert!(!space.is_free() && !space.same_group(1, 1) && !space.same_group(0, 3));
    }

    #[test]
    fn certain_matches_are_safe_and_others_have_log_odds() {
        let facts = LinkFacts {
            match_probability: Some(&[0.9, 1.0, 0.5]),
            ..LinkFacts::default()
        };
        let space = LinkSpace::new(3, facts);
        assert_eq!(space.group(0), [0, 2]);
        assert!((space.log_link(0, 2) - (0.1f64 / 0.9).ln()).abs() < 1e-15);
        assert_eq!((space.log_link(2, 0), space.log_link(2, 2)), (0.0, 0.0));
    }

    /// 0 and 1 may exchange, 2 -> 3 -> 4 -> 2 is a cycle, and 1 -> 2 leads nowhere back.
    #[test]
    fn candidate_pairs_split_rows_into_parts_that_cycles_stay_in() {
        let pairs = [
            (0, 1, 2.0),
            (1, 0, 1.0),
            (1, 2, 5.0),
            (2, 3, 1.0),
            (3, 4, 1.0),
            (4, 2, 1.0),
            (4, 3, 3.0),
        ];
        let facts = LinkFacts {
            candidates: Some(&pairs),
            ..LinkFacts::default()
        };
        let space = LinkSpace::new(6, facts);
        assert!(space.same_group(0, 1) && space.same_group(2, 4) && !space.same_group(1, 2));
        assert_eq!(space.group_of(5), None);
        assert_eq!(space.num_candidates(), Some(6));
        assert_eq!(space.log_link(0, 1), 0.0);
        assert_eq!(space.log_link(1, 0), 0.0);
        assert_eq!(space.log_link(2, 3), 2.0f64.ln());
        assert_eq!(space.log_link(2, 4), f64::NEG_INFINITY);
        assert!((space.log_link(4, 3) - 1.5f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn all_others_as_equal_candidates_are_no_information() {
        let pairs: Vec<_> = (0..5)
            .flat_map(|row| (0..5).map(move |column| (row, column, 7.0)))
            .filter(|pair| pair.0 != pair.1)
            .collect();
        let facts = LinkFacts {
            candidates: Some(&pairs),
            ..LinkFacts::default()
        };
        let space = LinkSpace::new(5, facts);
        assert!((0..5).all(|column| space.log_link(0, column).abs() < 1e-15));
    }
}
