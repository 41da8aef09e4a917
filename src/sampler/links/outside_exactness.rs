//! Partial permutations against full enumeration, and planted wrong kernels that must fail.
//!
//! As in `exactness`: each replicate starts at an exact draw and takes one step, and z is a normal score that a right kernel
//! exceeds at 4.5 with probability 3e-6. There are about 30 such tests.

use super::acceptance::{Acceptance, Metropolis};
use super::exactness::{DOUBTING, Enumeration, LIMIT, dense, random_pairs};
use super::outside_set::OutsideSet;
use super::outside_switch::{BothParts, OutsideSwitch};
use super::*;
use crate::model::Family;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution};

const SHARE: RatePrior = RatePrior {
    a: 1.0,
    b: 2.0,
    no_error: 0.0,
};
const DRAWS: usize = 40_000;

/// What is known of the links of some rows, of which the first have a response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub num_rows: usize,
    pub num_present: usize,
    blocks: Option<Vec<usize>>,
    safe: Option<Vec<bool>>,
    matches: Option<Vec<f64>>,
    candidates: Option<Vec<(usize, usize, f64)>>,
    /// Of the blocks, where each has its own.
    rates: Option<Vec<RatePrior>>,
}

impl Case {
    fn facts(&self) -> LinkFacts<'_> {
        LinkFacts {
            block_of_row: self.blocks.as_deref(),
            safe: self.safe.as_deref(),
            match_probability: self.matches.as_deref(),
            candidates: self.candidates.as_deref(),
        }
    }

    pub fn outside(&self, kind: PriorKind, share: RatePrior) -> OutsidePrior {
        let numbers = (self.num_rows, self.num_present);
        match (&self.rates, &self.blocks) {
            (Some(rates), Some(blocks)) => {
                OutsidePrior::by_block(rates, blocks, share, numbers, self.facts())
            }
            _ => OutsidePrior::new(kind, share, numbers.0, numbers.1, self.facts()),
        }
    }

    pub fn whole(&self, kind: PriorKind) -> Prior {
        let space = LinkSpace::new(self.num_rows, self.facts());
        match (&self.rates, &self.blocks) {
            (Some(rates), Some(blocks)) => Prior::by_block(rates, blocks, space),
            _ => Prior::new(kind, space),
        }
    }

    /// Whether each block has a rate of its own.
    pub fn has_rates(&self) -> bool {
        self.rates.is_some()
    }

    /// The rates of the blocks in another order.
    pub fn with_rates_exchanged(&self) -> Case {
        let mut other = self.clone();
        other.rates.as_mut().expect("rates of blocks").reverse();
        other
    }

    /// Gives every row the same match probability.
    pub fn set_matches(&mut self, probability: f64) {
        self.matches = Some(vec![probability; self.num_rows]);
    }

    /// All partial permutations that the facts leave possible, in lexicographic order.
    pub fn partial_permutations(&self) -> Vec<Permutation> {
        let is_safe = |row: usize| self.safe.as_ref().is_some_and(|safe| safe[row]);
        let block = |row: usize| self.blocks.as_ref().map_or(0, |blocks| blocks[row]);
        let is_candidate = |row: usize, column: usize| {
            let listed = |&(i, j, _): &(usize, usize, f64)| (i, j) == (row, column);
            self.candidates
                .as_ref()
                .is_none_or(|pairs| pairs.iter().any(listed))
        };
        let possible = |row: usize, column: usize| {
            let may_move = !is_safe(row) && column != row;
            column == row && (row < self.num_present)
                || may_move && column == OUTSIDE
                || may_move
                    && column != OUTSIDE
                    && !is_safe(column)
                    && block(row) == block(column)
                    && is_candidate(row, column)
        };
        let mut all = vec![Vec::new()];
        for row in 0..self.num_present {
            all = all
                .into_iter()
                .flat_map(|prefix: Vec<usize>| {
                    (0..self.num_rows)
                        .chain([OUTSIDE])
                        .filter(|&c| possible(row, c) && (c == OUTSIDE || !prefix.contains(&c)))
                        .map(|c| prefix.iter().copied().chain([c]).collect())
                        .collect::<Vec<_>>()
                })
                .collect();
        }
        all.into_iter()
            .map(|forward| Permutation::from_partial(forward, self.num_rows).unwrap())
            .collect()
    }
}

/// Blocks of rows that all have a response.
pub(crate) fn blocks_of(blocks: &[usize]) -> Case {
    Case {
        blocks: Some(blocks.to_vec()),
        ..free(blocks.len(), blocks.len())
    }
}

fn free(num_rows: usize, num_present: usize) -> Case {
    Case {
        num_rows,
        num_present,
        ..Case::default()
    }
}

/// Nothing known; blocks, one of a single row; safe rows; both; match probabilities in blocks; candidates; places without
/// a response, alone, in blocks, among candidates, and in a block of their own; blocks with rates of their own, alone, with a
/// safe row and with a place.
pub(crate) fn cases() -> Vec<Case> {
    let blocks = Some(vec![0, 1, 0, 0, 1]);
    let safe = Some(vec![false, true, false, false, false]);
    let matches = Some(vec![0.9, 0.4, 0.6, 0.2, 0.7]);
    // The second block was audited: four of ten links were wrong.
    let rates = Some(vec![DOUBTING, DOUBTING.after_audit(10, 4, 1.0)]);
    // Row 4 is a candidate of nobody, and row 3 has none.
    let pairs = [(0, 1), (1, 2), (2, 0), (1, 0), (4, 3), (2, 3)];
    let weighted = |&(i, j): &(usize, usize)| (i, j, 1.0 + (i + 2 * j) as f64 / 3.0);
    let candidates: Option<Vec<_>> = Some(pairs.iter().map(weighted).collect());
    vec![
        free(4, 4),
        Case {
            blocks: Some(vec![0, 1, 0, 0]),
            ..free(4, 4)
        },
        Case {
            blocks: blocks.clone(),
            ..free(5, 5)
        },
        Case {
            safe: safe.clone(),
            ..free(5, 5)
        },
        Case {
            blocks: blocks.clone(),
            safe: safe.clone(),
            ..free(5, 5)
        },
        Case {
            blocks: blocks.clone(),
            matches,
            ..free(5, 5)
        },
        Case {
            candidates: candidates.clone(),
            ..free(5, 5)
        },
        Case {
            candidates: candidates.clone(),
            safe,
            ..free(5, 5)
        },
        free(5, 3),
        Case {
            blocks,
            ..free(5, 4)
        },
        Case {
            candidates,
            ..free(5, 3)
        },
        // The second block is that of a place alone, which no row reaches.
        Case {
            blocks: Some(vec![0, 2, 0, 2, 1, 2]),
            ..free(6, 4)
        },
        Case {
            rates: rates.clone(),
            blocks: Some(vec![0, 1, 0, 0, 1]),
            ..free(5, 5)
        },
        Case {
            rates: rates.clone(),
            blocks: Some(vec![0, 1, 0, 0, 1]),
            safe: Some(vec![true, false, false, false, false]),
            ..free(5, 5)
        },
        Case {
            rates,
            blocks: Some(vec![0, 1, 0, 0, 1]),
            ..free(5, 4)
        },
    ]
}

/// With match probabilities where the case has them, else with a rate.
pub(crate) fn kind_of(case: &Case) -> PriorKind {
    match case.matches {
        Some(_) => PriorKind::MatchProbability,
        None => PriorKind::BetaBinomial(DOUBTING),
    }
}

fn log_outside(num_rows: usize) -> Vec<f64> {
    (0..num_rows).map(|row| -1.2 - 0.3 * row as f64).collect()
}

fn total(pi: &Permutation, pair: &impl PairLogLik, outside: &[f64]) -> f64 {
    let rows = 0..pi.num_present();
    rows.map(|row| match pi.column_of(row) {
        OUTSIDE => outside[row],
        column => pair.pair(row, column),
    })
    .sum()
}

#[test]
fn the_prior_sums_to_one_over_all_partial_permutations() {
    for case in cases() {
        if case.candidates.is_some() {
            continue;
        }
        let all = case.partial_permutations();
        let sum = |log_prior: &dyn Fn(&Permutation) -> f64| -> f64 {
            all.iter().map(|pi| log_prior(pi).exp()).sum()
        };
        let kind = kind_of(&case);
        let prior = case.outside(kind, SHARE);
        let found = sum(&|pi| prior.log_prior_given_outside(pi));
        assert!((found - 1.0).abs() < 1e-10, "{case:?}: {found}");
        if case.num_present == case.num_rows {
            let share = RatePrior {
                no_error: 0.3,
                ..SHARE
            };
            let (prior, whole) = (case.outside(kind, share), case.whole(kind));
            let found = sum(&|pi| prior.log_prior(&whole, pi));
            assert!((found - 1.0).abs() < 1e-8, "both parts, {case:?}: {found}");
        }
    }
}

/// Links drawn as the prior says that they go wrong, against its formula.
#[test]
fn the_prior_is_that_of_its_mechanism() {
    let (r, phi) = (Beta::new(2.0, 3.0).unwrap(), Beta::new(1.0, 2.0).unwrap());
    let rate = RatePrior {
        a: 2.0,
        b: 3.0,
        no_error: 0.2,
    };
    let facts = [
        free(4, 4),
        Case {
            blocks: Some(vec![0, 1, 0, 0, 1]),
            ..free(5, 4)
        },
    ];
    for case in facts {
        let prior = case.outside(PriorKind::BetaBinomial(rate), SHARE);
        let all = case.partial_permutations();
        let exact = |prior: &OutsidePrior| {
            Enumeration::of_list(all.clone(), |pi| prior.log_prior_given_outside(pi))
        };
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let by_formula = exact(&prior);
        let mut counts = vec![0.0; all.len()];
        for _ in 0..200_000 {
            let r = match rng.random::<f64>() < rate.no_error {
                true => 0.0,
                false => r.sample(&mut rng),
            };
            let pi = mechanism(&case, r, phi.sample(&mut rng), &mut rng);
            counts[by_formula.index(&pi)] += 1.0;
        }
        let z = by_formula.score(&counts);
        assert!(z < LIMIT, "{case:?}: z = {z}");
        // Another prior of the share is noticed.
        let other = case.outside(PriorKind::BetaBinomial(rate), RatePrior::beta(2.0, 2.0));
        assert!(exact(&other).score(&counts) > LIMIT);
    }
}

fn mechanism(case: &Case, r: f64, phi: f64, rng: &mut ChaCha8Rng) -> Permutation {
    let block = |row: usize| case.blocks.as_ref().map_or(0, |blocks| blocks[row]);
    let wrong: Vec<bool> = (0..case.num_present)
        .map(|_| rng.random::<f64>() < r)
        .collect();
    let mut outside: Vec<bool> = wrong
        .iter()
        .map(|wrong| *wrong && rng.random::<f64>() < phi)
        .collect();
    for row in 0..case.num_present {
        let beside = |&other: &usize| other != row && block(other) == block(row);
        let is_alone = (0..case.num_rows)
            .filter(beside)
            .all(|other| other < case.num_present && !wrong[other]);
        outside[row] |= wrong[row] && is_alone;
    }
    // A uniform injection of the others, by rejection.
    loop {
        let mut forward = vec![OUTSIDE; case.num_present];
        let mut taken: Vec<bool> = (0..case.num_rows)
            .map(|row| row < case.num_present && !wrong[row])
            .collect();
        let is_found = (0..case.num_present).all(|row| {
            if !wrong[row] || outside[row] {
                forward[row] = if wrong[row] { OUTSIDE } else { row };
                return true;
            }
            let column = rng.random_range(0..case.num_rows);
            let is_free = !taken[column] && column != row && block(column) == block(row);
            taken[column] = true;
            forward[row] = column;
            is_free
        });
        if is_found {
            return Permutation::from_partial(forward, case.num_rows).unwrap();
        }
    }
}

/// Takes the proposal ratio for its inverse.
struct InverseRatio;

impl Acceptance for InverseRatio {
    fn accept<R: Rng + ?Sized>(log_change: f64, ratio: f64, rng: &mut R) -> bool {
        Metropolis::accept(log_change, 1.0 / ratio, rng)
    }
}

fn score<A: Acceptance>(
    case: &Case,
    exact: &Enumeration,
    pair: &impl PairLogLik,
    outside: &[f64],
    prior: &OutsidePrior,
) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(case.num_present as u64);
    let mut kernel = OutsideSet::new(2.0);
    exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
        kernel.step_with::<A, _, _>(pi, pair, outside, prior, rng);
    }))
}

#[test]
fn moves_leave_every_posterior_invariant() {
    for (k, case) in cases().iter().enumerate() {
        let prior = case.outside(kind_of(case), SHARE);
        let pair = random_pairs(Family::Gaussian, case.num_rows, 0.8, 5 + k as u64);
        let outside = log_outside(case.num_rows);
        let exact = Enumeration::of_list(case.partial_permutations(), |pi| {
            total(pi, &pair, &outside) + prior.log_prior_given_outside(pi)
        });
        let z = score::<Metropolis>(case, &exact, &pair, &outside, &prior);
        assert!(z < LIMIT, "{case:?}: z = {z}");
        // Without fitted values places are proposed uniformly.
        let plain = dense(&pair, 1.0);
        let z = score::<Metropolis>(case, &exact, &plain, &outside, &prior);
        assert!(z < LIMIT, "dense, {case:?}: z = {z}");
        let z = score::<InverseRatio>(case, &exact, &pair, &outside, &prior);
        assert!(z > LIMIT, "inverse ratio, {case:?}: z = {z}");
        let shifted: Vec<f64> = outside.iter().map(|log| log + 1.0).collect();
        let z = score::<Metropolis>(case, &exact, &pair, &shifted, &prior);
        assert!(z > LIMIT, "another marginal law, {case:?}: z = {z}");
        let other = case.outside(kind_of(case), RatePrior::beta(3.0, 1.0));
        let z = score::<Metropolis>(case, &exact, &pair, &outside, &other);
        assert!(z > LIMIT, "another share, {case:?}: z = {z}");
    }
}

/// Whether responses may come from outside is drawn, then the links by the kernel of that answer.
#[test]
fn both_parts_together_leave_their_posterior_invariant() {
    let share = RatePrior {
        no_error: 0.4,
        ..SHARE
    };
    for (k, case) in cases().iter().enumerate() {
        if case.num_present < case.num_rows {
            continue;
        }
        let kind = kind_of(case);
        let (prior, whole) = (case.outside(kind, share), case.whole(kind));
        let pair = random_pairs(Family::Gaussian, case.num_rows, 0.8, 25 + k as u64);
        let outside = log_outside(case.num_rows);
        let own = |row: usize| pair.log_density(row, row);
        let of_row = |row: usize| outside[row] + own(row) - pair.pair(row, row);
        let marginal: Vec<f64> = (0..case.num_rows).map(of_row).collect();
        let exact = Enumeration::of_list(case.partial_permutations(), |pi| {
            total(pi, &pair, &outside) + prior.log_prior(&whole, pi)
        });
        let step = |is_drawn: bool| {
            let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
            let mut whole_links = ActiveSet::new(2.0);
            let mut links = OutsideLinks::new(&prior, marginal.clone());
            exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
                let may_be = match is_drawn {
                    true => links.draw_may_be_outside(pi, &pair, own, &whole, rng),
                    false => pi.num_outside() > 0,
                };
                if may_be {
                    links.step_as(pi, &pair, own, None, rng);
                } else {
                    whole_links.step(pi, &pair, &whole, rng);
                }
            }))
        };
        let z = step(true);
        assert!(z < LIMIT, "{case:?}: z = {z}");
        let z = step(false);
        assert!(z > LIMIT, "no draw, {case:?}: z = {z}");
    }
}

/// The answer given the links, then one switch.
#[test]
fn switches_leave_both_parts_invariant() {
    let share = RatePrior {
        no_error: 0.9,
        ..SHARE
    };
    for (k, case) in cases().iter().enumerate() {
        let is_whole = |pi: &Permutation| pi.num_outside() == 0 && pi.num_moved() > 0;
        let has_whole = case.partial_permutations().iter().any(is_whole);
        if case.num_present < case.num_rows || !has_whole {
            continue;
        }
        let kind = kind_of(case);
        let (prior, whole) = (case.outside(kind, share), case.whole(kind));
        let pair = random_pairs(Family::Gaussian, case.num_rows, 0.8, 45 + k as u64);
        let outside = log_outside(case.num_rows);
        let exact = Enumeration::of_list(case.partial_permutations(), |pi| {
            total(pi, &pair, &outside) + prior.log_prior(&whole, pi)
        });
        let score = |outside: &[f64], partial: &OutsidePrior| {
            let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
            let mut switch = OutsideSwitch::default();
            let model = BothParts {
                pair: &pair,
                outside,
                partial,
                whole: &whole,
            };
            exact.score(&exact.replicate(5 * DRAWS, &mut rng, |pi, rng| {
                let may_be = prior.draw_may_be_outside(&whole, pi, rng);
                let may_be = switch.step(pi, may_be, &model, rng);
                assert!(may_be || pi.num_outside() == 0);
            }))
        };
        let z = score(&outside, &prior);
        assert!(z < LIMIT, "{case:?}: z = {z}");
        let shifted: Vec<f64> = outside.iter().map(|log| log + 1.0).collect();
        let z = score(&shifted, &prior);
        assert!(z > LIMIT, "another marginal law, {case:?}: z = {z}");
        let other = RatePrior { a: 9.0, ..share };
        let z = score(&outside, &case.outside(kind, other));
        assert!(z > LIMIT, "another share, {case:?}: z = {z}");
    }
}

/// Links given the set of wrong rows, for fits without feedback.
#[test]
fn links_given_the_wrong_rows_leave_their_posterior_invariant() {
    for case in [free(5, 5), cases().remove(6), free(5, 4)] {
        let prior = case.outside(kind_of(&case), SHARE);
        let pair = random_pairs(Family::Gaussian, case.num_rows, 1.0, 8);
        let mut forward: Vec<usize> = (0..case.num_present).collect();
        forward[..3].fill(OUTSIDE);
        let state = Permutation::from_partial(forward, case.num_rows).unwrap();
        let same = |pi: &Permutation| (0..case.num_present).all(|r| pi.is_moved(r) == (r < 3));
        let marginal = log_outside(case.num_rows);
        let log_weight = |pi: &Permutation| {
            let base = |row: usize| pair.log_density(row, row) - pair.pair(row, row);
            let outside: Vec<f64> = (0..case.num_rows).map(|r| marginal[r] - base(r)).collect();
            match same(pi) {
                true => total(pi, &pair, &outside) + prior.log_prior_given_outside(pi),
                false => f64::NEG_INFINITY,
            }
        };
        let exact = Enumeration::of_list(case.partial_permutations(), log_weight);
        let mut links = OutsideLinks::new(&prior, marginal.clone());
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut score = |own: &dyn Fn(usize) -> f64| {
            exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
                links.step_as(pi, &pair, own, Some(&state), rng);
            }))
        };
        let z = score(&|row| pair.log_density(row, row));
        assert!(z < LIMIT, "{case:?}: z = {z}");
        let z = score(&|row| pair.log_density(row, row) + 0.5);
        assert!(z > LIMIT, "another density, {case:?}: z = {z}");
        // Any links are first made to move the same rows.
        for pi in case.partial_permutations() {
            let mut links_now = pi;
            links.step_as(&mut links_now, &pair, |_| 0.0, Some(&state), &mut rng);
            links_now.check();
            assert!(same(&links_now));
        }
    }
}

#[test]
fn rates_given_the_links_have_their_beta_posteriors() {
    let case = Case {
        blocks: Some(vec![0, 0, 0, 0, 1, 1]),
        ..free(6, 6)
    };
    let prior = case.outside(PriorKind::BetaBinomial(RatePrior::beta(2.0, 3.0)), SHARE);
    // One of two wrong rows of the first block from outside, and a lone one in the second.
    let forward = vec![OUTSIDE, 0, 2, 3, OUTSIDE, 5];
    let pi = Permutation::from_partial(forward, 6).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let draws = 20_000;
    let mut mean = |draw: &dyn Fn(&mut ChaCha8Rng) -> f64| {
        (0..draws).map(|_| draw(&mut rng)).sum::<f64>() / f64::from(draws)
    };
    // Beta(5, 6) has a standard deviation of 0.144; Beta(2, 3) of 0.2. Five standard errors.
    let rate = mean(&|rng| prior.draw_rate(&pi, rng).unwrap());
    assert!(
        (rate - 5.0 / 11.0).abs() < 5.0 * 0.144 / f64::from(draws).sqrt(),
        "{rate}"
    );
    let share = mean(&|rng| prior.draw_share(&pi, rng));
    assert!(
        (share - 2.0 / 5.0).abs() < 5.0 * 0.2 / f64::from(draws).sqrt(),
        "{share}"
    );
}

/// From all links kept, every partial permutation is reached.
#[test]
fn all_partial_permutations_are_reached() {
    for case in cases() {
        let prior = case.outside(kind_of(&case), SHARE);
        let pair = random_pairs(Family::Gaussian, case.num_rows, 0.5, 31);
        let outside = log_outside(case.num_rows);
        let all = case.partial_permutations();
        let exact = Enumeration::of_list(all.clone(), |pi| {
            total(pi, &pair, &outside) + prior.log_prior_given_outside(pi)
        });
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let mut kernel = OutsideSet::new(10.0);
        let mut pi = Permutation::identity_of_present(case.num_present, case.num_rows);
        let mut counts = vec![0.0; all.len()];
        for _ in 0..10_000 {
            kernel.step(&mut pi, &pair, &outside, &prior, &mut rng);
            counts[exact.index(&pi)] += 1.0;
        }
        // Noise alone gives up to 0.08 with some 500 cells.
        let found = exact.total_variation(&counts);
        assert!(found < 0.12, "{case:?}: total variation {found}");
    }
}
