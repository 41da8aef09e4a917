//! Groups whose rates of wrong links are independent of one another, each with a prior of its own: blocks that were audited
//! one by one.
//!
//! Given the rates, rows of different groups have nothing to do with each other, so the prior is a product over groups, and
//! each rate integrates out by itself: the weight of a group depends on how many of its rows are wrong.

use super::prior::mix_no_error;
use super::rate::Rate;
use super::rate_prior::RatePrior;
use crate::numerics::gamma::{log_beta, log_derangements, log_gamma};
use rand::Rng;
use rand_distr::{Beta, Distribution};

/// The rates of wrong links of all blocks.
#[derive(Clone, Debug)]
pub(super) struct BlockRates {
    /// By block, also of blocks that have no row whose link can be wrong.
    priors: Vec<RatePrior>,
    groups: Vec<GroupRate>,
}

/// A group: its block and its number of rows.
pub(super) type Group = (usize, usize);

/// The rate of one group.
#[derive(Clone, Debug)]
struct GroupRate {
    block: usize,
    prior: RatePrior,
    /// Where a row cannot be wrong alone; elsewhere the posterior of the rate is a Beta distribution.
    of_permutations: Option<Rate>,
    /// The log probability of one set of wrong rows, or of one permutation that moves them, by their number.
    log_weight: Vec<f64>,
    /// The log of how many of these there are, by the number of wrong rows.
    log_ways: Vec<f64>,
    /// P(the rate is 0 | no row is wrong).
    no_error_if_none: f64,
}

impl BlockRates {
    /// Of whole permutations, in which a row of a group cannot move alone. `priors` are by block.
    pub fn of_permutations(priors: &[RatePrior], groups: impl Iterator<Item = Group>) -> Self {
        let group = |(block, size): Group| {
            let RatePrior { a, b, no_error } = priors[block];
            let rate = Rate::new(a, b, std::iter::once(size));
            let mut log_weight = rate.log_weights();
            for (d, weight) in log_weight.iter_mut().enumerate() {
                *weight -= log_derangements(d);
            }
            let no_error_if_none = mix_no_error(&mut log_weight, no_error);
            if let Some(weight) = log_weight.get_mut(1) {
                *weight = f64::NEG_INFINITY;
            }
            let ways = |d: usize| match d {
                1 => f64::NEG_INFINITY,
                _ => log_choose(size, d) + log_derangements(d),
            };
            GroupRate {
                block,
                prior: priors[block],
                of_permutations: Some(rate),
                log_weight,
                log_ways: (0..=size).map(ways).collect(),
                no_error_if_none,
            }
        };
        Self::of(priors, groups.map(group).collect())
    }

    /// Of sets of wrong rows, all of which are possible.
    pub fn of_sets(priors: &[RatePrior], groups: impl Iterator<Item = Group>) -> Self {
        let group = |(block, size): Group| {
            let (log_weight, no_error_if_none) = log_wrong(size, priors[block]);
            GroupRate {
                block,
                prior: priors[block],
                of_permutations: None,
                log_weight,
                log_ways: (0..=size).map(|w| log_choose(size, w)).collect(),
                no_error_if_none,
            }
        };
        Self::of(priors, groups.map(group).collect())
    }

    fn of(priors: &[RatePrior], groups: Vec<GroupRate>) -> Self {
        priors.iter().for_each(|prior| prior.check());
        let priors = priors.to_vec();
        Self { priors, groups }
    }

    /// The log probabilities of a group, by its number of wrong rows.
    pub fn table(&self, group: usize) -> &[f64] {
        &self.groups[group].log_weight
    }

    /// The log probability of one permutation, or of one set of wrong rows, of a group.
    #[inline]
    pub fn log_weight(&self, group: usize, num_wrong: usize) -> f64 {
        self.groups[group].log_weight[num_wrong]
    }

    /// A draw of each block's rate given the numbers of wrong rows of the groups. A block without any has its prior.
    pub fn draw<R: Rng + ?Sized>(&self, num_wrong: &[usize], rng: &mut R) -> Vec<f64> {
        assert_eq!(num_wrong.len(), self.groups.len(), "one number a group");
        let mut rates = vec![None; self.priors.len()];
        for (group, &wrong) in self.groups.iter().zip(num_wrong) {
            rates[group.block] = Some(group.draw(wrong, rng));
        }
        let rates = rates.into_iter().zip(&self.priors);
        rates
            .map(|(rate, prior)| rate.unwrap_or_else(|| draw_prior(*prior, rng)))
            .collect()
    }

    /// The rate of all rows, given those of the blocks.
    pub fn overall(&self, rates: &[f64]) -> f64 {
        let size = |group: &GroupRate| (group.log_weight.len() - 1) as f64;
        let all: f64 = self.groups.iter().map(size).sum();
        let wrong = self
            .groups
            .iter()
            .map(|group| size(group) * rates[group.block]);
        wrong.sum::<f64>() / all.max(1.0)
    }

    /// P(so many rows are wrong in all), before any data.
    pub fn num_wrong_probabilities(&self) -> Vec<f64> {
        let mut all = vec![1.0];
        for group in &self.groups {
            let of_group = group.log_weight.iter().zip(&group.log_ways);
            let of_group: Vec<f64> = of_group.map(|(w, ways)| (w + ways).exp()).collect();
            let mut next = vec![0.0; all.len() + of_group.len() - 1];
            for (i, p) in all.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                for (k, q) in of_group.iter().enumerate() {
                    next[i + k] += p * q;
                }
            }
            all = next;
        }
        all
    }
}

impl GroupRate {
    fn draw<R: Rng + ?Sized>(&self, wrong: usize, rng: &mut R) -> f64 {
        let no_error = self.no_error_if_none;
        if wrong == 0 && no_error > 0.0 && rng.random::<f64>() < no_error {
            return 0.0;
        }
        if let Some(rate) = &self.of_permutations {
            return rate.draw(wrong, rng);
        }
        let right = self.log_weight.len() - 1 - wrong;
        let (a, b) = (self.prior.a + wrong as f64, self.prior.b + right as f64);
        Beta::new(a, b).expect("a and b are positive").sample(rng)
    }
}

fn draw_prior<R: Rng + ?Sized>(prior: RatePrior, rng: &mut R) -> f64 {
    if prior.no_error > 0.0 && rng.random::<f64>() < prior.no_error {
        return 0.0;
    }
    let law = Beta::new(prior.a, prior.b).expect("a and b are positive");
    law.sample(rng)
}

/// log E[r^w (1 - r)^(n - w)] for w = 0..=n with the prior's own mass at r = 0, and P(r = 0 | w = 0).
pub(super) fn log_wrong(n: usize, rate: RatePrior) -> (Vec<f64>, f64) {
    rate.check();
    let RatePrior { a, b, no_error } = rate;
    let log_set = |w: usize| log_beta(a + w as f64, b + (n - w) as f64) - log_beta(a, b);
    let mut table: Vec<f64> = (0..=n).map(|w| (-no_error).ln_1p() + log_set(w)).collect();
    let by_chance = table[0].exp();
    table[0] = (no_error + by_chance).ln();
    (table, no_error / (no_error + by_chance))
}

fn log_choose(n: usize, k: usize) -> f64 {
    let log_factorial = |k: usize| log_gamma(k as f64 + 1.0);
    log_factorial(n) - log_factorial(k) - log_factorial(n - k)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::sampler::links::exactness::all_permutations;
    use crate::sampler::links::{LinkFacts, LinkSpace, OutsidePrior, Permutation, Prior};

    const BLOCKS: [usize; 6] = [0, 1, 0, 1, 1, 0];
    const NORTH: RatePrior = RatePrior {
        a: 1.0,
        b: 9.0,
        no_error: 0.3,
    };

    fn facts<'a>() -> LinkFacts<'a> {
        LinkFacts {
            block_of_row: Some(&BLOCKS),
            ..LinkFacts::default()
        }
    }

    fn south() -> RatePrior {
        NORTH.after_audit(20, 9, 1.0)
    }

    fn whole() -> Prior {
        Prior::by_block(&[NORTH, south()], &BLOCKS, LinkSpace::new(6, facts()))
    }

    /// The log probability of one permutation that moves d of three rows, by the integral over rho: the rate r(rho) is
    /// the expected share of moved rows, none of which moves alone, and it is r that has the prior.
    fn alone(prior: RatePrior, d: usize) -> f64 {
        let possible = |rho: f64| 1.0 - 3.0 * rho * (1.0 - rho).powi(2);
        let rate = |rho: f64| (2.0 * rho * rho * (1.0 - rho) + rho.powi(3)) / possible(rho);
        let steps = 200_000;
        let at = |k: f64| k / f64::from(steps);
        let density = |r: f64| {
            let log = (prior.a - 1.0) * r.ln() + (prior.b - 1.0) * (1.0 - r).ln();
            (log - log_beta(prior.a, prior.b)).exp()
        };
        let term = |k: i32| {
            let (low, high) = (rate(at(f64::from(k))), rate(at(f64::from(k + 1))));
            let rho = at(f64::from(k) + 0.5);
            let sets = rho.powi(d as i32) * (1.0 - rho).powi(3 - d as i32) / possible(rho);
            density(rate(rho)) * (high - low) * sets
        };
        let derangements = [1.0, 0.0, 1.0, 2.0][d];
        let some: f64 = (0..steps).map(term).sum::<f64>() / derangements;
        let none = if d == 0 { prior.no_error } else { 0.0 };
        (none + (1.0 - prior.no_error) * some).ln()
    }

    /// The product of the priors of each block alone, which sums to one.
    #[test]
    fn the_prior_is_the_product_of_the_blocks() {
        let prior = whole();
        let of_blocks = [NORTH, south()].map(|rate| [0, 2, 3].map(|d| alone(rate, d)));
        let table = |block: usize, d: usize| of_blocks[block][d.saturating_sub(1)];
        let mut sum = 0.0;
        let mut by_number = [0.0; 7];
        for forward in all_permutations(6) {
            let pi = Permutation::from_vec(forward.clone()).unwrap();
            let moved = |block: usize| {
                let rows = (0..6).filter(|&row| BLOCKS[row] == block);
                rows.filter(|&row| forward[row] != row).count()
            };
            let is_possible = (0..6).all(|row| BLOCKS[row] == BLOCKS[forward[row]]);
            let found = prior.log_prior(&pi);
            if !is_possible {
                assert_eq!(found, f64::NEG_INFINITY);
                continue;
            }
            let expected = table(0, moved(0)) + table(1, moved(1));
            assert!(
                (found - expected).abs() < 1e-6,
                "{forward:?}: {found} {expected}"
            );
            sum += found.exp();
            by_number[pi.num_moved()] += found.exp();
        }
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        let told = prior.num_moved_probabilities().unwrap();
        for (counted, told) in by_number.iter().zip(&told) {
            assert!((counted - told).abs() < 1e-12, "{by_number:?} {told:?}");
        }
    }

    /// (rate, number of wrong rows) drawn from the definition, against the rate drawn given the number.
    #[test]
    fn rates_given_the_numbers_are_those_of_the_definition() {
        let sizes = [3usize, 4];
        let groups = || [(0, sizes[0]), (1, sizes[1])].into_iter();
        let rates = BlockRates::of_sets(&[NORTH, south()], groups());
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let given = [0usize, 2];
        let mut direct = [Vec::new(), Vec::new()];
        while direct.iter().any(|found| found.len() < 20_000) {
            for (k, prior) in [NORTH, south()].into_iter().enumerate() {
                let rate = draw_prior(prior, &mut rng);
                let wrong = (0..sizes[k]).filter(|_| rng.random::<f64>() < rate);
                if wrong.count() == given[k] {
                    direct[k].push(rate);
                }
            }
        }
        let draws: Vec<Vec<f64>> = (0..20_000).map(|_| rates.draw(&given, &mut rng)).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        for k in 0..2 {
            let found: Vec<f64> = draws.iter().map(|draw| draw[k]).collect();
            let centre = mean(&found);
            let spread = mean(
                &found
                    .iter()
                    .map(|v| (v - centre).powi(2))
                    .collect::<Vec<_>>(),
            );
            let error = (spread / 20_000.0 + spread / direct[k].len() as f64).sqrt();
            let apart = (centre - mean(&direct[k])) / error;
            assert!(apart.abs() < 5.0, "block {k}: {apart} standard errors");
            // The other block's audit would be far off.
            let swapped = BlockRates::of_sets(&[south(), NORTH], groups());
            let wrong: Vec<f64> = (0..20_000)
                .map(|_| swapped.draw(&given, &mut rng)[k])
                .collect();
            assert!(((mean(&wrong) - mean(&direct[k])) / error).abs() > 20.0);
        }
        assert!((rates.overall(&[0.0, 0.7]) - 0.4).abs() < 1e-15);
    }

    #[test]
    fn partial_permutations_sum_to_one_and_count_as_told() {
        let share = RatePrior::beta(2.0, 3.0);
        let rates = [NORTH, south()];
        let prior = OutsidePrior::by_block(&rates, &BLOCKS, share, (6, 6), facts());
        let told = prior.num_wrong_probabilities(&whole()).unwrap();
        assert!((told.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mut by_number = [0.0; 7];
        let case = crate::sampler::links::outside_exactness::blocks_of(&BLOCKS);
        for pi in case.partial_permutations() {
            by_number[pi.num_moved()] += prior.log_prior_given_outside(&pi).exp();
        }
        for (counted, told) in by_number.iter().zip(&told) {
            assert!((counted - told).abs() < 1e-10, "{by_number:?} {told:?}");
        }
    }
}
