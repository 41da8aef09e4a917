//! q: which rows are proposed. Rows that fit badly where they stand are proposed more often.

use super::alias::{AliasTable, split};
use super::pair::PairLogLik;
use super::space::LinkSpace;
use rand::Rng;

/// The least share of the draws that are uniform over all rows, so that every row is proposed at times. Such shares are multiples
/// of 1 / `PARTS`.
const UNIFORM_SHARE: f64 = 0.2;
const PARTS: usize = 64;
/// Rows whose probability of being mislinked exceeds this make up the suspicious set.
const SUSPICIOUS: f64 = 0.02;
/// Where moves in and out of the set of moved rows count: above this probability of being mislinked the weight of a row falls,
/// to the share that is left to a row that is surely mislinked.
const NEARLY_SURE: f64 = 0.8;
const LEFT_TO_SURE: f64 = 0.05;
/// The largest share of the draws that are uniform.
const LARGEST_UNIFORM_SHARE: f64 = 0.8;
/// The mixture's share of mislinked rows: where it starts and how often it is re-estimated.
const START_SHARE: f64 = 0.05;
const EM_STEPS: usize = 4;

/// q_i = (1 - eta) r_i / sum r + eta / n over the n rows that can move, with r_i = 0 outside the suspicious set.
///
/// r_i is the probability that row i is mislinked under a two-part mixture, its fit at its own link
/// against the marginal density of y. It depends on theta and the data, never on the permutation:
/// that is what keeps the proposal ratios exact within a sweep.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowProposal {
    /// q of each row.
    probability: Vec<f64>,
    /// The odds of a mismatch for each row, in the order of `LinkSpace::members`.
    odds: Vec<f64>,
    suspicious: Vec<usize>,
    alias: AliasTable,
    groups: SuspiciousGroups,
    base: f64,
    uniform_share: f64,
    /// The same in parts of `PARTS`.
    uniform_parts: usize,
    expected_mislinked: f64,
    /// Whether rows that are surely mislinked, which hardly ever leave the set of moved rows, are drawn less often than by r_i, and
    /// all rows uniformly as often as the rows outside the suspicious set hold of sum r.
    is_by_doubt: bool,
}

/// Where there are several groups: the suspicious rows of each, for draws inside one.
#[derive(Clone, Debug, Default)]
struct SuspiciousGroups {
    /// Group g has suspicious[bounds[g]..bounds[g + 1]].
    bounds: Vec<usize>,
    /// Sums of q - base over the suspicious rows up to each.
    cumulative: Vec<f64>,
}

impl RowProposal {
    /// Draws rows by how open it is whether they are mislinked.
    pub fn by_doubt() -> Self {
        Self {
            is_by_doubt: true,
            ..Self::default()
        }
    }

    /// Recomputes q at the current theta.
    pub fn update<L: PairLogLik + ?Sized>(&mut self, pair: &L, space: &LinkSpace) {
        if self.probability.len() != pair.len() || self.odds.len() != space.num_movable() {
            self.resize(space);
        }
        for (&row, odds) in space.members().iter().zip(&mut self.odds) {
            let log_ratio = pair.log_mislink_ratio(row) + space.log_odds(row).unwrap_or(0.0);
            // Beyond these bounds r_i is 0 or 1 to double precision; NaN is no evidence.
            *odds = if log_ratio.is_nan() {
                1.0
            } else {
                log_ratio.clamp(-50.0, 300.0).exp()
            };
        }
        // Log odds that are known leave no share to be found: they stand in the ratio already.
        let share = match space.members().first().and_then(|&row| space.log_odds(row)) {
            Some(_) => 0.5,
            None => self.mixture_share(),
        };
        let mislinked = |odds: f64| share * odds / (share * odds + 1.0 - share);
        self.suspicious.clear();
        let is_by_doubt = self.is_by_doubt;
        let in_doubt =
            |r: f64| LEFT_TO_SURE + (1.0 - LEFT_TO_SURE) * (1.0 - r) / (1.0 - NEARLY_SURE);
        let weight = |r: f64| match is_by_doubt {
            true => r * in_doubt(r).min(1.0),
            false => r,
        };
        let (mut sum, mut suspicious_sum, mut rest) = (0.0, 0.0, 0.0);
        for (&row, &odds) in space.members().iter().zip(&self.odds) {
            let r = mislinked(odds);
            sum += r;
            self.probability[row] = 0.0;
            if r > SUSPICIOUS {
                self.suspicious.push(row);
                suspicious_sum += weight(r);
                self.probability[row] = weight(r);
            } else {
                rest += r;
            }
        }
        self.expected_mislinked = sum;
        self.uniform_share = if self.suspicious.is_empty() {
            1.0
        } else if is_by_doubt {
            (rest / (rest + suspicious_sum)).clamp(UNIFORM_SHARE, LARGEST_UNIFORM_SHARE)
        } else {
            UNIFORM_SHARE
        };
        let parts = (self.uniform_share * PARTS as f64).ceil();
        (self.uniform_parts, self.uniform_share) = (parts as usize, parts / PARTS as f64);
        self.base = self.uniform_share / space.num_movable() as f64;
        if !self.suspicious.is_empty() {
            let probability = &self.probability;
            self.alias
                .rebuild(self.suspicious.iter().map(|&row| probability[row]));
        }
        let scale = (1.0 - self.uniform_share) / suspicious_sum.max(f64::MIN_POSITIVE);
        for &row in space.members() {
            let probability = &mut self.probability[row];
            *probability = *probability * scale + self.base;
        }
        if space.num_groups() > 1 {
            let above_base = self
                .suspicious
                .iter()
                .map(|&row| self.probability[row] - self.base);
            self.groups.update(&self.suspicious, above_base, space);
        }
    }

    /// Gives up what only the next update needs, and would make anew.
    pub fn release(&mut self) {
        self.odds = Vec::new();
    }

    fn resize(&mut self, space: &LinkSpace) {
        let num_rows = space.num_rows();
        self.odds.clear();
        self.odds.resize(space.num_movable(), 0.0);
        self.probability.clear();
        self.probability.resize(num_rows, 0.0);
        self.suspicious.clear();
        self.suspicious.reserve(num_rows);
        self.alias.reserve(num_rows);
        self.groups.bounds.reserve(space.num_groups() + 1);
        self.groups.cumulative.reserve(num_rows);
    }

    /// A few EM steps for the share of mislinked rows, kept inside (0, 1).
    fn mixture_share(&self) -> f64 {
        let num_rows = self.odds.len() as f64;
        let mut share = START_SHARE;
        for _ in 0..EM_STEPS {
            let sum: f64 = self
                .odds
                .iter()
                .map(|odds| share * odds / (share * odds + 1.0 - share))
                .sum();
            share = (sum / num_rows).clamp(1.0 / (num_rows + 1.0), 0.9);
        }
        share
    }

    #[inline]
    pub fn draw<R: Rng + ?Sized>(&self, space: &LinkSpace, rng: &mut R) -> usize {
        let members = space.members();
        let bits = rng.next_u64();
        if self.suspicious.is_empty() {
            return members[split(bits, members.len()).0];
        }
        match split(bits, PARTS) {
            (part, rest) if part < self.uniform_parts => members[split(rest, members.len()).0],
            (_, rest) => self.suspicious[self.alias.pick(rest)],
        }
    }

    /// A row of `group` with probability q_row / `group_probability(group)`.
    #[inline]
    pub fn draw_in_group<R: Rng + ?Sized>(
        &self,
        space: &LinkSpace,
        group: usize,
        rng: &mut R,
    ) -> usize {
        if space.num_groups() == 1 {
            return self.draw(space, rng);
        }
        let members = space.group(group);
        let uniform = self.base * members.len() as f64;
        let (first, cumulative) = self.groups.of(group);
        let above = cumulative
            .last()
            .map_or(0.0, |last| last - self.groups.before(first));
        let place = rng.random::<f64>() * (uniform + above);
        if place < uniform || cumulative.is_empty() {
            members[rng.random_range(0..members.len())]
        } else {
            let sum = self.groups.before(first) + place - uniform;
            let within = cumulative.partition_point(|total| *total <= sum);
            self.suspicious[first + within.min(cumulative.len() - 1)]
        }
    }

    /// The sum of q over the rows of a group.
    #[inline]
    pub fn group_probability(&self, space: &LinkSpace, group: usize) -> f64 {
        if space.num_groups() == 1 {
            return 1.0;
        }
        let (first, cumulative) = self.groups.of(group);
        let above = cumulative
            .last()
            .map_or(0.0, |last| last - self.groups.before(first));
        self.base * space.group(group).len() as f64 + above
    }

    /// q_row.
    #[inline]
    pub fn probability(&self, row: usize) -> f64 {
        self.probability[row]
    }

    #[inline]
    pub fn is_suspicious(&self, row: usize) -> bool {
        self.probability[row] > self.base
    }

    /// The sum of r_i.
    pub fn expected_mislinked(&self) -> f64 {
        self.expected_mislinked
    }
}

impl SuspiciousGroups {
    fn update(
        &mut self,
        suspicious: &[usize],
        above_base: impl Iterator<Item = f64>,
        space: &LinkSpace,
    ) {
        self.cumulative.clear();
        let mut sum = 0.0;
        self.cumulative.extend(above_base.map(|above| {
            sum += above;
            sum
        }));
        self.bounds.clear();
        self.bounds.push(0);
        let mut end = 0;
        for group in 0..space.num_groups() {
            while suspicious
                .get(end)
                .is_some_and(|&row| space.group_of_movable(row) == group)
            {
                end += 1;
            }
            self.bounds.push(end);
        }
    }

    /// Where the group starts among the suspicious rows, and the sums up to each of its rows.
    #[inline]
    fn of(&self, group: usize) -> (usize, &[f64]) {
        let (first, end) = (self.bounds[group], self.bounds[group + 1]);
        (first, &self.cumulative[first..end])
    }

    #[inline]
    fn before(&self, first: usize) -> f64 {
        if first == 0 {
            0.0
        } else {
            self.cumulative[first - 1]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::FamilyLogLik;
    use super::*;
    use crate::model::Family;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn probabilities_sum_to_one_and_are_what_is_drawn() {
        let mut pair =
            FamilyLogLik::new(Family::Gaussian, vec![0.0, 3.0, -2.0, 1.0, 0.5, 5.0], 1.0);
        pair.update(0.02, |eta| {
            eta.copy_from_slice(&[0.01, -2.0, 3.0, 1.01, 0.49, 5.0])
        });
        let mut rows = RowProposal::default();
        rows.update(&pair, &LinkSpace::free(pair.len()));
        assert!(rows.is_suspicious(1) && rows.is_suspicious(2) && !rows.is_suspicious(0));
        let sum: f64 = (0..6).map(|row| rows.probability(row)).sum();
        assert!((sum - 1.0).abs() < 1e-14);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let draws = 100_000;
        let mut counts = [0.0; 6];
        for _ in 0..draws {
            counts[rows.draw(&LinkSpace::free(6), &mut rng)] += 1.0;
        }
        for (row, count) in counts.iter().enumerate() {
            let expected = f64::from(draws) * rows.probability(row);
            // Five standard deviations for each of six rows: error rate below 1e-5.
            assert!(
                (count - expected).abs() < 5.0 * expected.sqrt(),
                "row {row}"
            );
        }
    }

    #[test]
    fn rows_in_doubt_come_first_where_moves_in_and_out_count() {
        // Row 1 fits nowhere near its place, row 2 may or may not, the others fit.
        let mut response = vec![0.0; 40];
        (response[1], response[2]) = (9.0, 2.8);
        let mut pair = FamilyLogLik::new(Family::Gaussian, response, 1.0);
        pair.update(1.0, |eta| eta.fill(0.0));
        let space = LinkSpace::free(pair.len());
        let (mut plain, mut by_doubt) = (RowProposal::default(), RowProposal::by_doubt());
        plain.update(&pair, &space);
        by_doubt.update(&pair, &space);
        let ratio = |rows: &RowProposal| rows.probability(2) / rows.probability(1);
        assert!(ratio(&plain) < 1.0 && ratio(&by_doubt) > 2.0);
        assert!(by_doubt.is_suspicious(1) && by_doubt.is_suspicious(2));
        let sum: f64 = (0..40).map(|row| by_doubt.probability(row)).sum();
        assert!((sum - 1.0).abs() < 1e-14);
    }

    #[test]
    fn no_suspicion_means_uniform() {
        let mut pair = FamilyLogLik::new(Family::Gaussian, vec![-9.0, 0.0, 9.0], 1.0);
        pair.update(0.1, |eta| eta.copy_from_slice(&[-9.0, 0.0, 9.0]));
        let mut rows = RowProposal::default();
        rows.update(&pair, &LinkSpace::free(pair.len()));
        assert!((0..3).all(|row| !rows.is_suspicious(row)));
        assert!((0..3).all(|row| (rows.probability(row) - 1.0 / 3.0).abs() < 1e-15));
    }
}
