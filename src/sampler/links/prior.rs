//! Priors on the permutation: a table of log weights by the number of moved rows, and what is known of single links.

use super::block_rates::BlockRates;
use super::permutation::Permutation;
use super::rate::Rate;
use super::rate_prior::RatePrior;
use super::space::LinkSpace;
use super::wrong_sets::WrongSets;
use crate::numerics::gamma::{log_beta, log_derangements, log_gamma};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Binomial, Distribution};

/// The members of the one shape that priors have here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PriorKind {
    /// Every permutation that moves at most `max_moved` rows is as likely as any other.
    Uniform {
        /// Most moved rows.
        max_moved: usize,
    },
    /// Each moved row costs `theta`.
    Hamming {
        /// How far the log probability falls with each moved row.
        theta: f64,
    },
    /// Each row is mislinked with the same unknown probability, the mislinked rows of each group carrying a uniform
    /// derangement; that probability is integrated out.
    BetaBinomial(RatePrior),
    /// Each row is mislinked with the probability that its log odds in the space say, the mislinked rows of each group
    /// carrying a uniform derangement.
    MatchProbability,
}

/// log p(pi) = `g[d]` - sum over groups of log D(d_group) + sum over moved rows of `LinkSpace::log_link`.
///
/// `g[1]` is minus infinity. With one group its derangements are part of g; uniform and Hamming have none.
#[derive(Clone, Debug)]
pub struct Prior {
    kind: PriorKind,
    space: LinkSpace,
    log_weight: Vec<f64>,
    /// log D_k for k up to the size of the largest group, where there are several.
    log_derangements: Option<Vec<f64>>,
    /// Where there are several groups; with one, its posterior is a Beta distribution.
    rate: Option<Rate>,
    /// P(the rate is 0 | no row is moved); 0 where the prior has no such point.
    no_error_if_none_moved: f64,
    /// Where each group has a rate of its own; all weights are then those of groups.
    by_block: Option<BlockRates>,
}

impl Prior {
    /// A prior on the permutations that `space` allows.
    pub fn new(kind: PriorKind, space: LinkSpace) -> Self {
        let n = space.num_movable();
        let (has_groups, largest) = (
            space.num_groups() > 1,
            space.group_sizes().max().unwrap_or(0),
        );
        let deranged = matches!(
            kind,
            PriorKind::BetaBinomial(_) | PriorKind::MatchProbability
        );
        // No permutation moves one row alone, so D_1 = 0; as a weight that is impossible, not infinitely likely.
        let log_group = |k: usize| {
            if k == 1 {
                f64::INFINITY
            } else {
                log_derangements(k)
            }
        };
        let by_group = (deranged && has_groups).then(|| (0..=largest).map(log_group).collect());
        let (mut rate, mut no_error_if_none_moved) = (None, 0.0);
        let mut log_weight: Vec<f64> = match kind {
            PriorKind::Uniform { max_moved } => (0..=n)
                .map(|d| {
                    if d <= max_moved {
                        0.0
                    } else {
                        f64::NEG_INFINITY
                    }
                })
                .collect(),
            PriorKind::Hamming { theta } => {
                assert!(theta.is_finite(), "theta must be finite, got {theta}");
                (0..=n).map(|d| -theta * d as f64).collect()
            }
            PriorKind::BetaBinomial(prior) => {
                prior.check();
                let RatePrior { a, b, no_error } = prior;
                let mut table = if has_groups {
                    let rate = rate.insert(Rate::new(a, b, space.group_sizes()));
                    rate.log_weights()
                } else {
                    beta_binomial(n, a, b)
                };
                no_error_if_none_moved = mix_no_error(&mut table, no_error);
                table
            }
            PriorKind::MatchProbability if has_groups => vec![0.0; n + 1],
            PriorKind::MatchProbability => (0..=n).map(|d| -log_derangements(d)).collect(),
        };
        if let Some(weight) = log_weight.get_mut(1) {
            *weight = f64::NEG_INFINITY;
        }
        Self {
            kind,
            space,
            log_weight,
            log_derangements: by_group,
            rate,
            no_error_if_none_moved,
            by_block: None,
        }
    }

    /// The rates of wrong links of the blocks are independent, each with its own prior; `rates` are by the numbers in
    /// `block_of_row`. There are no candidate pairs, so that the rows of a block that can move are one group.
    pub fn by_block(rates: &[RatePrior], block_of_row: &[usize], space: LinkSpace) -> Self {
        assert!(!space.has_link_weights(), "nothing known of single links");
        let block_of = |group: usize| block_of_row[space.group(group)[0]];
        let sizes = space.group_sizes().enumerate();
        let groups = sizes.map(|(group, size)| (block_of(group), size));
        let by_block = BlockRates::of_permutations(rates, groups);
        let any = *rates.first().expect("a rate for each block");
        // One block of all rows: only their number counts.
        let mut log_weight = match space.is_free() && space.num_groups() == 1 {
            true => by_block.table(0).to_vec(),
            false => vec![0.0; space.num_movable() + 1],
        };
        if let Some(weight) = log_weight.get_mut(1) {
            *weight = f64::NEG_INFINITY;
        }
        Self {
            kind: PriorKind::BetaBinomial(any),
            space,
            log_weight,
            log_derangements: None,
            rate: None,
            no_error_if_none_moved: 0.0,
            by_block: Some(by_block),
        }
    }

    /// Every permutation that moves at most `max_moved` rows is equally probable.
    pub fn uniform(num_rows: usize, max_moved: usize) -> Self {
        Self::new(PriorKind::Uniform { max_moved }, LinkSpace::free(num_rows))
    }

    /// The probability falls by exp(-theta) with each moved row.
    pub fn hamming(num_rows: usize, theta: f64) -> Self {
        Self::new(PriorKind::Hamming { theta }, LinkSpace::free(num_rows))
    }

    /// Without a probability of no error.
    pub fn beta_binomial(num_rows: usize, a: f64, b: f64) -> Self {
        let kind = PriorKind::BetaBinomial(RatePrior::beta(a, b));
        Self::new(kind, LinkSpace::free(num_rows))
    }

    /// One group with a table of its own: what the mode search needs inside a larger space.
    pub(crate) fn from_table(kind: PriorKind, log_weight: Vec<f64>) -> Self {
        Self {
            kind,
            space: LinkSpace::free(log_weight.len() - 1),
            log_weight,
            log_derangements: None,
            rate: None,
            no_error_if_none_moved: 0.0,
            by_block: None,
        }
    }

    /// Which prior it is.
    pub fn kind(&self) -> PriorKind {
        self.kind
    }

    /// Which links are possible.
    pub fn space(&self) -> &LinkSpace {
        &self.space
    }

    /// The number of rows.
    pub fn num_rows(&self) -> usize {
        self.space.num_rows()
    }

    /// `g[d]`.
    #[inline]
    pub fn log_weight(&self, num_moved: usize) -> f64 {
        self.log_weight[num_moved]
    }

    /// Log probability by the number of moved rows, up to a constant.
    pub fn table(&self) -> &[f64] {
        &self.log_weight
    }

    /// What a group that moves k rows takes from the log prior: log D_k where these are not part of g, and all of its weight
    /// where it has a rate of its own.
    #[inline]
    pub(crate) fn log_group(&self, group: usize, num_moved: usize) -> f64 {
        if let Some(by_block) = self.by_block.as_ref().filter(|_| !self.space.is_free()) {
            return -by_block.log_weight(group, num_moved);
        }
        self.log_derangements
            .as_ref()
            .map_or(0.0, |table| table[num_moved])
    }

    /// Whether each block has a rate of its own.
    pub(super) fn is_by_block(&self) -> bool {
        self.by_block.is_some()
    }

    /// Whether every possible permutation has the same weight.
    pub fn is_flat(&self) -> bool {
        let by_number = match self.kind {
            PriorKind::Uniform { max_moved } => max_moved >= self.space.num_movable(),
            PriorKind::Hamming { theta } => theta == 0.0,
            PriorKind::BetaBinomial(_) | PriorKind::MatchProbability => false,
        };
        by_number && !self.space.has_link_weights()
    }

    /// log p(pi), up to a constant; minus infinity where the space does not allow it.
    pub fn log_prior(&self, pi: &Permutation) -> f64 {
        let space = &self.space;
        if space.is_free() {
            return self.log_weight(pi.num_moved());
        }
        let mut moved_in_group = vec![0; space.num_groups()];
        let mut sum = 0.0;
        for &row in pi.moved() {
            let column = pi.column_of(row);
            if !space.same_group(row, column) {
                return f64::NEG_INFINITY;
            }
            moved_in_group[space.group_of_movable(row)] += 1;
            sum += space.log_link(row, column);
        }
        let groups = moved_in_group.into_iter().enumerate();
        let groups: f64 = groups.map(|(group, k)| self.log_group(group, k)).sum();
        sum + self.log_weight(pi.num_moved()) - groups
    }

    /// The logarithm of the sum of `log_prior` over all permutations; not known where there are candidate pairs, which then
    /// count as they are, and for the priors that count permutations.
    pub(crate) fn log_total(&self) -> f64 {
        match self.space.all_log_odds() {
            Some(log_odds) if self.kind == PriorKind::MatchProbability => {
                WrongSets::Whole(self).log_total(log_odds)
            }
            _ => 0.0,
        }
    }

    /// Sets each row's log odds of being wrong, for a prior of match probabilities.
    pub(crate) fn set_log_odds(&mut self, log_odds: &[f64]) {
        assert_eq!(self.kind, PriorKind::MatchProbability);
        self.space.set_log_odds(log_odds);
    }

    /// P(d rows are moved) for d = 0..=n, before any data; not known where there are candidate pairs.
    ///
    /// With one group it is exact, the weight of one permutation times how many move so many. Otherwise it is the
    /// histogram of 20 000 draws, the same at every call.
    pub fn num_moved_probabilities(&self) -> Option<Vec<f64>> {
        if self.space.candidates().is_some() {
            return None;
        }
        if let Some(by_block) = &self.by_block {
            return Some(by_block.num_wrong_probabilities());
        }
        let n = self.space.num_movable();
        if self.space.num_groups() <= 1 && !self.space.has_link_weights() {
            return Some(self.one_group_probabilities());
        }
        const DRAWS: usize = 20_000;
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut counts = vec![0.0; n + 1];
        let draws = if n > 2000 { DRAWS / 10 } else { DRAWS };
        for _ in 0..draws {
            counts[self.draw_num_moved(&mut rng)?] += 1.0 / draws as f64;
        }
        if let PriorKind::BetaBinomial(RatePrior { no_error, .. }) = self.kind {
            counts.iter_mut().for_each(|count| *count *= 1.0 - no_error);
            counts[0] += no_error;
        }
        Some(counts)
    }

    fn one_group_probabilities(&self) -> Vec<f64> {
        let log_factorial = |k: usize| log_gamma(k as f64 + 1.0);
        let n = self.space.num_movable();
        let log_probability = |d: usize| {
            let choose = log_factorial(n) - log_factorial(d) - log_factorial(n - d);
            match d {
                1 => f64::NEG_INFINITY,
                _ => self.log_weight[d] + choose + log_derangements(d),
            }
        };
        let logs: Vec<f64> = (0..=n).map(log_probability).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }

    /// A draw of d from the prior, given that the linkage made errors where the prior doubts that; none for priors that
    /// count permutations inside several groups.
    fn draw_num_moved(&self, rng: &mut impl Rng) -> Option<usize> {
        let rho = self.rate.as_ref().map(|rate| rate.draw_prior_rho(rng));
        let mut total = 0;
        for group in 0..self.space.num_groups() {
            let rows = self.space.group(group);
            total += loop {
                let moved = match (rho, self.kind) {
                    (Some(rho), _) => {
                        Binomial::new(rows.len() as u64, rho).ok()?.sample(rng) as usize
                    }
                    (None, PriorKind::MatchProbability) => {
                        let wrong = |&&row: &&usize| {
                            let odds = self.space.log_odds(row).expect("match probabilities").exp();
                            rng.random::<f64>() * (1.0 + odds) < odds
                        };
                        rows.iter().filter(wrong).count()
                    }
                    _ => return None,
                };
                if moved != 1 {
                    break moved;
                }
            };
        }
        Some(total)
    }

    /// Draws of the mismatch rates of the blocks, where each has its own, and of all rows together.
    pub fn draw_block_rates<R: Rng + ?Sized>(
        &self,
        pi: &Permutation,
        rng: &mut R,
    ) -> Option<(Vec<f64>, f64)> {
        let by_block = self.by_block.as_ref()?;
        let mut moved = vec![0; self.space.num_groups()];
        for &row in pi.moved() {
            moved[self.space.group_of_movable(row)] += 1;
        }
        let rates = by_block.draw(&moved, rng);
        let overall = by_block.overall(&rates);
        Some((rates, overall))
    }

    /// A draw of the mismatch rate given `d` moved rows; only the beta-binomial has one.
    ///
    /// With one group it is Beta(a + d, b + n - d), n being the rows that can move. Where no row is moved it may also be
    /// exactly 0.
    pub fn draw_rate<R: Rng + ?Sized>(&self, num_moved: usize, rng: &mut R) -> Option<f64> {
        let PriorKind::BetaBinomial(RatePrior { a, b, .. }) = self.kind else {
            return None;
        };
        // A prior without such a point takes no random number for it.
        let no_error = self.no_error_if_none_moved;
        if num_moved == 0 && no_error > 0.0 && rng.random::<f64>() < no_error {
            return Some(0.0);
        }
        if let Some(rate) = &self.rate {
            return Some(rate.draw(num_moved, rng));
        }
        let fixed = (self.space.num_movable() - num_moved) as f64;
        let posterior = Beta::new(a + num_moved as f64, b + fixed).expect("a and b are positive");
        Some(posterior.sample(rng))
    }
}

/// log BetaBinomial(d; n, a, b) - log C(n, d) - log D_d, divided by the mass of d != 1, so that the
/// weights of all permutations sum to one. (rho, d) is conditioned on d != 1 jointly, which leaves
/// rho given d as it was.
fn beta_binomial(num_rows: usize, a: f64, b: f64) -> Vec<f64> {
    let n = num_rows as f64;
    // BetaBinomial(d) / C(n, d) = B(a + d, b + n - d) / B(a, b)
    let log_set = |d: f64| log_beta(a + d, b + n - d) - log_beta(a, b);
    let log_possible = if num_rows == 0 {
        0.0
    } else {
        (-(n.ln() + log_set(1.0)).exp()).ln_1p()
    };
    (0..=num_rows)
        .map(|d| log_set(d as f64) - log_derangements(d) - log_possible)
        .collect()
}

/// Mixes the table of a prior that sums to one over all permutations with a point of probability `no_error` at the
/// identity. Returns the probability of that point given the identity.
pub(super) fn mix_no_error(log_weight: &mut [f64], no_error: f64) -> f64 {
    if no_error == 0.0 {
        return 0.0;
    }
    let by_chance = (1.0 - no_error) * log_weight[0].exp();
    log_weight
        .iter_mut()
        .for_each(|weight| *weight += (-no_error).ln_1p());
    log_weight[0] = (no_error + by_chance).ln();
    no_error / (no_error + by_chance)
}

#[cfg(test)]
mod tests {
    use super::super::exactness::all_permutations;
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn num_moved(forward: &[usize]) -> usize {
        (0..forward.len()).filter(|&i| forward[i] != i).count()
    }

    #[test]
    fn beta_binomial_sums_to_one_over_all_permutations() {
        for (a, b) in [(1.0, 1.0), (0.5, 3.0), (2.0, 40.0)] {
            for n in 2..=7 {
                let prior = Prior::beta_binomial(n, a, b);
                let sum: f64 = all_permutations(n)
                    .iter()
                    .map(|pi| prior.log_weight(num_moved(pi)).exp())
                    .sum();
                assert!((sum - 1.0).abs() < 1e-12, "n = {n}: {sum}");
            }
        }
    }

    fn doubting(num_rows: usize, a: f64, b: f64, no_error: f64) -> Prior {
        let kind = PriorKind::BetaBinomial(RatePrior { a, b, no_error });
        Prior::new(kind, LinkSpace::free(num_rows))
    }

    /// Sums to one, and what is not the point at the identity is the Beta-binomial scaled.
    #[test]
    fn a_probability_of_no_error_is_mixed_in() {
        for (n, no_error) in [(2, 0.5), (5, 0.5), (7, 0.9), (6, 0.01)] {
            let (prior, slab) = (doubting(n, 1.0, 9.0, no_error), doubting(n, 1.0, 9.0, 0.0));
            let mut sum = 0.0;
            for pi in all_permutations(n) {
                let d = num_moved(&pi);
                let weight = prior.log_weight(d).exp();
                let point = if d == 0 { no_error } else { 0.0 };
                let expected = point + (1.0 - no_error) * slab.log_weight(d).exp();
                assert!((weight - expected).abs() < 1e-14);
                sum += weight;
            }
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }
        assert_eq!(
            doubting(9, 1.0, 1.0, 0.0).table(),
            Prior::beta_binomial(9, 1.0, 1.0).table()
        );
        for n in [0, 1] {
            assert!(doubting(n, 1.0, 9.0, 0.5).log_weight(0).abs() < 1e-15);
        }
        let probabilities = doubting(300, 1.0, 9.0, 0.5)
            .num_moved_probabilities()
            .unwrap();
        let slab = Prior::beta_binomial(300, 1.0, 9.0)
            .num_moved_probabilities()
            .unwrap();
        assert!((probabilities[0] - 0.5 - 0.5 * slab[0]).abs() < 1e-12);
        assert!((probabilities[40] - 0.5 * slab[40]).abs() < 1e-12);
    }

    #[test]
    fn beta_binomial_sums_to_one_by_derangement_counts() {
        for n in [15usize, 40, 1000] {
            let prior = Prior::beta_binomial(n, 1.0, 1.0);
            let sum: f64 = (0..=n)
                .filter(|&d| d != 1)
                .map(|d| {
                    let choose = log_gamma(n as f64 + 1.0)
                        - log_gamma(d as f64 + 1.0)
                        - log_gamma((n - d) as f64 + 1.0);
                    (prior.log_weight(d) + choose + log_derangements(d)).exp()
                })
                .sum();
            assert!((sum - 1.0).abs() < 1e-9, "n = {n}: {sum}");
        }
    }

    #[test]
    fn numbers_of_moved_rows_have_the_probabilities_of_their_permutations() {
        let n = 6;
        for prior in [
            Prior::uniform(n, 4),
            Prior::hamming(n, 1.5),
            Prior::beta_binomial(n, 2.0, 5.0),
            doubting(n, 1.0, 9.0, 0.5),
        ] {
            let mut by_counting = vec![0.0; n + 1];
            for pi in all_permutations(n) {
                let d = num_moved(&pi);
                by_counting[d] += prior.log_weight(d).exp();
            }
            let sum: f64 = by_counting.iter().sum();
            let probabilities = prior.num_moved_probabilities().unwrap();
            for (counted, probability) in by_counting.iter().zip(&probabilities) {
                assert!((counted / sum - probability).abs() < 1e-12, "{prior:?}");
            }
        }
        let flat = Prior::beta_binomial(20_000, 1.0, 1.0)
            .num_moved_probabilities()
            .unwrap();
        assert!((flat[0] - 1.0 / 20_000.0).abs() < 1e-9 && flat[1] == 0.0);
    }

    #[test]
    fn tables_have_the_documented_shape() {
        let uniform = Prior::uniform(6, 3);
        assert_eq!(uniform.table()[0], 0.0);
        assert_eq!(uniform.table()[1], f64::NEG_INFINITY);
        assert_eq!(uniform.table()[3], 0.0);
        assert_eq!(uniform.table()[4], f64::NEG_INFINITY);
        assert!(!uniform.is_flat() && Prior::uniform(6, 6).is_flat());
        assert_eq!(Prior::hamming(6, 0.5).log_weight(4), -2.0);
        assert_eq!(Prior::uniform(0, 0).table(), [0.0]);
        assert_eq!(Prior::beta_binomial(1, 1.0, 1.0).num_rows(), 1);
    }

    #[test]
    fn rho_has_the_mean_of_its_beta_posterior() {
        let prior = Prior::beta_binomial(50, 1.0, 1.0);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let draws = 20_000;
        let mean = (0..draws)
            .map(|_| prior.draw_rate(4, &mut rng).unwrap())
            .sum::<f64>()
            / f64::from(draws);
        // Beta(5, 47): mean 5/52, standard deviation 0.0405; five standard errors.
        assert!((mean - 5.0 / 52.0).abs() < 5.0 * 0.0405 / f64::from(draws).sqrt());
        assert_eq!(Prior::hamming(50, 1.0).draw_rate(4, &mut rng), None);
    }

    /// (rate, d) drawn from the definition, against the rate drawn given d = 0: how often it is 0, and its mean.
    #[test]
    fn without_moved_rows_the_rate_may_be_zero() {
        let (n, draws) = (12, 200_000);
        let blocks: Vec<usize> = (0..n).map(|row| row / 3).collect();
        let facts = crate::sampler::links::LinkFacts {
            block_of_row: Some(&blocks),
            ..Default::default()
        };
        for space in [LinkSpace::free(n), LinkSpace::new(n, facts)] {
            let kind = |no_error| {
                PriorKind::BetaBinomial(RatePrior {
                    a: 1.0,
                    b: 9.0,
                    no_error,
                })
            };
            let prior = Prior::new(kind(0.3), space.clone());
            // P(no row moved | errors) of the slab alone.
            let slab = Prior::new(kind(0.0), space).log_weight(0).exp();
            let expected = 0.3 / (0.3 + 0.7 * slab);
            let mut rng = ChaCha8Rng::seed_from_u64(6);
            let rates: Vec<f64> = (0..draws)
                .map(|_| prior.draw_rate(0, &mut rng).unwrap())
                .collect();
            let zeros = rates.iter().filter(|rate| **rate == 0.0).count() as f64;
            let error = (expected * (1.0 - expected) / f64::from(draws)).sqrt();
            let share = zeros / f64::from(draws);
            assert!((share - expected).abs() < 5.0 * error, "{share} {expected}");
            // The probability 0.3 alone, the point's share forgotten, is far off.
            assert!((0.3 - expected).abs() > 50.0 * error);
            assert!((0..2000).all(|_| prior.draw_rate(2, &mut rng).unwrap() > 0.0));
        }
    }
}
