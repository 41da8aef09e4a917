//! s(column | row): which link is proposed for a row. Fitted values near its response come first.

use super::pair::Locations;
use super::rows::RowProposal;
use super::space::LinkSpace;
use rand::Rng;

/// Shares of the three parts of s: the row's own column, near columns among the suspicious rows,
/// near columns among all rows, always of the row's own group.
pub(super) const HOME: f64 = 0.15;
const NEAR_SUSPICIOUS: f64 = 0.5;

/// How far a proposed column is from the response, in ranks of the fitted values: m = 1 is the next
/// one on either side, with probability ln(1 + 1/m) / (2 ln(K + 1)) among the K columns of the group.
///
/// This law is uniform on the log scale, so no width has to be tuned to sigma or n. Ranks depend on
/// theta and the data only, so s(column | row) is the same before and after a move. Places have 32 bits: each chain of a large
/// file has two of these.
#[derive(Clone, Debug, Default)]
struct Ranking {
    /// Columns group by group, in increasing order of their fitted value within each.
    order: Vec<u32>,
    /// Group g has order[bounds[g]..bounds[g + 1]].
    bounds: Vec<usize>,
    /// Place of each column in `order`, or `ABSENT`.
    rank: Vec<u32>,
    /// For each row, the place in `order` before which its group's fitted values are below its response.
    start: Vec<u32>,
    /// ln(K + 1) of each group.
    log_span: Vec<f64>,
}

const ABSENT: u32 = u32::MAX;

/// Steps whose ln(1 + 1/m) is kept: they take most of the draws.
const NUM_KEPT_STEPS: usize = 1 << 14;

#[inline]
fn log_step(step: usize) -> f64 {
    (1.0 / step as f64).ln_1p()
}

impl Ranking {
    fn resize(&mut self, space: &LinkSpace) {
        let num_rows = space.num_rows();
        self.order.clear();
        self.order.reserve(num_rows);
        self.bounds.clear();
        self.bounds.reserve(space.num_groups() + 1);
        self.log_span.clear();
        self.log_span.reserve(space.num_groups());
        self.rank.resize(num_rows, ABSENT);
        self.start.resize(num_rows, 0);
    }

    fn clear(&mut self) {
        self.order.clear();
        self.bounds.clear();
        self.bounds.push(0);
        self.log_span.clear();
    }

    fn push(&mut self, column: usize) {
        self.rank[column] = self.order.len() as u32;
        self.order.push(column as u32);
    }

    fn close_group(&mut self) {
        let size = self.order.len() - self.bounds.last().expect("starts with a zero");
        self.log_span.push((size as f64 + 1.0).ln());
        self.bounds.push(self.order.len());
    }

    #[inline]
    fn group(&self, group: usize) -> &[u32] {
        &self.order[self.bounds[group]..self.bounds[group + 1]]
    }

    #[inline]
    fn draw<R: Rng + ?Sized>(&self, row: usize, group: usize, rng: &mut R) -> Option<usize> {
        // u in [0, 1) sends exp(u ln(K + 1)) to [1, K + 1).
        let step = (rng.random::<f64>() * self.log_span[group]).exp() as usize;
        let start = self.start[row] as usize - self.bounds[group];
        let place = if rng.random::<bool>() {
            start + step - 1
        } else {
            start.checked_sub(step)?
        };
        self.group(group).get(place).map(|&column| column as usize)
    }

    /// `column` is of the same group as `row`.
    #[inline]
    fn probability(&self, row: usize, group: usize, column: usize, kept: &[f64]) -> f64 {
        let rank = self.rank[column];
        if rank == ABSENT {
            return 0.0;
        }
        let start = self.start[row];
        let step = if rank >= start {
            rank - start + 1
        } else {
            start - rank
        };
        let step = step as usize;
        0.5 * kept.get(step).copied().unwrap_or_else(|| log_step(step)) / self.log_span[group]
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnProposal {
    sorted: Vec<(f64, u32)>,
    /// Rows group by group, in increasing order of their response within each.
    row_order: Vec<u32>,
    next_place: Vec<usize>,
    all: Ranking,
    suspicious: Ranking,
    /// ln(1 + 1/m) of the first steps.
    log_step: Vec<f64>,
    num_rows: usize,
}

impl ColumnProposal {
    /// Recomputes the ranks at the current theta.
    pub fn update(&mut self, locations: &Locations<'_>, rows: &RowProposal, space: &LinkSpace) {
        if self.num_rows != space.num_rows() {
            self.resize(space);
        }
        self.order_rows(locations, space);
        self.all.clear();
        self.suspicious.clear();
        for group in 0..space.num_groups() {
            self.sorted.clear();
            let fitted = |&column: &usize| (locations.fitted[column], column as u32);
            self.sorted.extend(space.group(group).iter().map(fitted));
            self.sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            // One merge of sorted responses and sorted fitted values gives every row its start.
            let mut columns = self.sorted.iter().peekable();
            for &row in &self.row_order[space.bounds()[group]..space.bounds()[group + 1]] {
                let row = row as usize;
                while let Some(&&(_, column)) = columns
                    .peek()
                    .filter(|(value, _)| *value < locations.response[row])
                {
                    place(&mut self.all, &mut self.suspicious, rows, column as usize);
                    columns.next();
                }
                self.all.start[row] = self.all.order.len() as u32;
                self.suspicious.start[row] = self.suspicious.order.len() as u32;
            }
            for &(_, column) in columns {
                place(&mut self.all, &mut self.suspicious, rows, column as usize);
            }
            self.all.close_group();
            self.suspicious.close_group();
        }
    }

    /// A counting sort of the responses' order into groups.
    fn order_rows(&mut self, locations: &Locations<'_>, space: &LinkSpace) {
        let bounds = space.bounds();
        self.next_place.clear();
        self.next_place
            .extend_from_slice(&bounds[..bounds.len() - 1]);
        self.row_order.resize(space.num_movable(), 0);
        for &row in locations.response_order {
            if let Some(group) = space.group_of(row as usize) {
                self.row_order[self.next_place[group]] = row;
                self.next_place[group] += 1;
            }
        }
    }

    fn resize(&mut self, space: &LinkSpace) {
        let num_rows = space.num_rows();
        assert!(
            u32::try_from(num_rows).is_ok_and(|n| n < ABSENT),
            "fewer than 2^32 rows"
        );
        self.num_rows = num_rows;
        self.sorted.clear();
        self.sorted.reserve(num_rows);
        self.next_place.reserve(space.num_groups());
        self.all.resize(space);
        self.suspicious.resize(space);
        self.log_step.clear();
        self.log_step
            .extend((0..=num_rows.min(NUM_KEPT_STEPS)).map(log_step));
    }

    /// Gives up what only the next update needs, and would make anew.
    pub fn release(&mut self) {
        self.sorted = Vec::new();
        self.row_order = Vec::new();
    }

    /// No near suspicious columns where the group has none.
    #[inline]
    fn near_suspicious(&self, group: usize) -> f64 {
        if self.suspicious.group(group).is_empty() {
            0.0
        } else {
            NEAR_SUSPICIOUS
        }
    }

    /// A column for `row`, which can move, or none where the draw falls off the end of the ranks.
    #[inline]
    pub fn draw<R: Rng + ?Sized>(
        &self,
        row: usize,
        space: &LinkSpace,
        rng: &mut R,
    ) -> Option<usize> {
        let group = space.group_of_movable(row);
        let part = rng.random::<f64>();
        if part < HOME {
            Some(row)
        } else if part < HOME + self.near_suspicious(group) {
            self.suspicious.draw(row, group, rng)
        } else {
            self.all.draw(row, group, rng)
        }
    }

    /// s(column | row), both of one group.
    #[inline]
    pub fn probability(&self, row: usize, column: usize, space: &LinkSpace) -> f64 {
        let group = space.group_of_movable(row);
        let near_suspicious = self.near_suspicious(group);
        let home = if row == column { HOME } else { 0.0 };
        let near_all = 1.0 - HOME - near_suspicious;
        let mut sum = home + near_all * self.all.probability(row, group, column, &self.log_step);
        if near_suspicious > 0.0 {
            sum += near_suspicious
                * self
                    .suspicious
                    .probability(row, group, column, &self.log_step);
        }
        sum
    }
}

#[inline]
fn place(all: &mut Ranking, suspicious: &mut Ranking, rows: &RowProposal, column: usize) {
    all.push(column);
    if rows.is_suspicious(column) {
        suspicious.push(column);
    } else {
        suspicious.rank[column] = ABSENT;
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::FamilyLogLik;
    use super::super::pair::PairLogLik;
    use super::super::space::LinkFacts;
    use super::*;
    use crate::model::Family;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// Of rows, of rows inside a group, and of columns: each is drawn as often as its probability says.
    fn draws_agree_with_probabilities(space: &LinkSpace, least_sum: f64) {
        let mut pair =
            FamilyLogLik::new(Family::Gaussian, vec![0.0, 3.0, -2.0, 1.0, 0.5, 5.0], 1.0);
        pair.update(0.5, |eta| {
            eta.copy_from_slice(&[0.1, -2.0, 3.0, 1.2, 0.4, 5.1])
        });
        let mut rows = RowProposal::default();
        rows.update(&pair, space);
        let mut columns = ColumnProposal::default();
        columns.update(&pair.locations().unwrap(), &rows, space);
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let draws = 50_000;
        // Some 50 comparisons at 5.5 standard deviations: error rate below 1e-5.
        let check = |what: &str, counts: [f64; 6], probability: &dyn Fn(usize) -> f64| {
            for (k, count) in counts.iter().enumerate() {
                let expected = f64::from(draws) * probability(k);
                let difference = (count - expected).abs();
                assert!(
                    difference <= 5.5 * expected.sqrt(),
                    "{what} {k}: {count} {expected}"
                );
            }
        };
        let mut counts = [0.0; 6];
        (0..draws).for_each(|_| counts[rows.draw(space, &mut rng)] += 1.0);
        let movable = |row| space.group_of(row).is_some();
        check("row", counts, &|row| {
            if movable(row) {
                rows.probability(row)
            } else {
                0.0
            }
        });
        for group in 0..space.num_groups() {
            let mut counts = [0.0; 6];
            (0..draws).for_each(|_| counts[rows.draw_in_group(space, group, &mut rng)] += 1.0);
            check("row of group", counts, &|row| {
                let inside = space.group(group).contains(&row);
                let share = rows.probability(row) / rows.group_probability(space, group);
                if inside { share } else { 0.0 }
            });
        }
        for row in (0..6).filter(|&row| movable(row)) {
            let mut counts = [0.0; 6];
            for _ in 0..draws {
                if let Some(column) = columns.draw(row, space, &mut rng) {
                    counts[column] += 1.0;
                }
            }
            let probability = |column| {
                let inside = space.same_group(row, column);
                if inside {
                    columns.probability(row, column, space)
                } else {
                    0.0
                }
            };
            let sum: f64 = (0..6).map(probability).sum();
            assert!(sum > least_sum && sum <= 1.0 + 1e-12, "{sum}");
            check("column", counts, &probability);
        }
    }

    #[test]
    fn columns_are_drawn_as_often_as_their_probability_says() {
        draws_agree_with_probabilities(&LinkSpace::free(6), 0.5);
    }

    #[test]
    fn groups_draw_only_their_own() {
        let facts = LinkFacts {
            block_of_row: Some(&[0, 1, 1, 0, 2, 1]),
            ..LinkFacts::default()
        };
        draws_agree_with_probabilities(&LinkSpace::new(6, facts), 0.4);
    }
}
