//! Sets of wrong rows, where each row has its own log odds of being wrong.
//!
//! In a group of whole permutations no row is wrong alone. Let p_i = odds_i / (1 + odds_i); sums over the sets that are left
//! are those of independent rows times the probability that not just one of them is wrong.

use super::outside::{OutsidePrior, draw_beta};
use super::permutation::{OUTSIDE, Permutation};
use super::prior::{Prior, PriorKind};
use super::rate_prior::RatePrior;
use super::rate_regression::slice;
use super::space::LinkSpace;
use rand::Rng;

/// Which sets of wrong rows are possible. Candidates are left out of account.
#[derive(Clone, Copy, Debug)]
pub enum WrongSets<'a> {
    /// Those of whole permutations: no row is wrong alone in its group.
    Whole(&'a Prior),
    /// All, where responses may come from outside.
    Partial(&'a OutsidePrior),
}

impl WrongSets<'_> {
    pub(super) fn space(&self) -> &LinkSpace {
        match self {
            Self::Whole(prior) => prior.space(),
            Self::Partial(prior) => prior.present(),
        }
    }

    /// Whether `draw_log_odds` knows this prior: each row has odds of its own, or all rows those of one rate. Where several
    /// groups of whole permutations have one rate, its prior knows of them.
    pub fn have_odds(&self) -> bool {
        match self {
            Self::Whole(prior) if prior.space().candidates().is_some() => false,
            Self::Whole(prior) => match prior.kind() {
                PriorKind::MatchProbability => true,
                PriorKind::BetaBinomial(_) => {
                    !prior.is_by_block() && prior.space().num_groups() == 1
                }
                PriorKind::Uniform { .. } | PriorKind::Hamming { .. } => false,
            },
            Self::Partial(prior) => prior.places().candidates().is_none() && !prior.is_by_block(),
        }
    }

    /// The log odds of each row being wrong, where `have_odds`; None where the rate is 0. Where they are those of one rate it is
    /// drawn: first given the wrong rows of `links`, and from there without them, each row's log odds changing by `log_ratio`
    /// in the light of its response.
    pub fn draw_log_odds<R: Rng + ?Sized>(
        &self,
        links: &Permutation,
        log_ratio: &[f64],
        rng: &mut R,
    ) -> Option<Vec<f64>> {
        let (prior, rate) = match self {
            Self::Whole(prior) => match prior.kind() {
                PriorKind::BetaBinomial(rate) => {
                    (Some(rate), prior.draw_rate(links.num_moved(), rng))
                }
                _ => (None, None),
            },
            Self::Partial(prior) => (prior.rate_prior(), prior.draw_rate(links, rng)),
        };
        let (Some(prior), Some(rate)) = (prior, rate) else {
            let known = self.space().all_log_odds();
            return Some(known.expect("odds of single rows").to_vec());
        };
        let num_movable = self.space().num_movable() as f64;
        let mut odds_given_responses = log_ratio.to_vec();
        let mut log_likelihood = |log_odds: f64| {
            let rows = odds_given_responses.iter_mut().zip(log_ratio);
            rows.for_each(|(odds, ratio)| *odds = log_odds + ratio);
            num_movable * log_right(log_odds) + self.log_total(&odds_given_responses)
        };
        let given_links = (rate > 0.0).then(|| log_odds_of(rate));
        let switched = switch(given_links, prior, &mut log_likelihood, rng);
        let RatePrior { a, b, .. } = prior;
        let mut log_density = |log_odds: f64| {
            a * log_right(-log_odds) + b * log_right(log_odds) + log_likelihood(log_odds)
        };
        let moved = switched.map(|log_odds| slice(log_odds, &mut log_density, rng));
        let drawn = switch(moved, prior, &mut log_likelihood, rng)?;
        Some(vec![drawn; log_ratio.len()])
    }

    /// The log of the sum of the products of odds over all possible sets.
    pub(super) fn log_total(&self, log_odds: &[f64]) -> f64 {
        let space = self.space();
        let group = |group: usize| {
            let rows = space.group(group).iter().map(|&row| log_odds[row]);
            let log_all: f64 = rows.clone().map(log_1p_exp).sum();
            match self {
                Self::Whole(_) => log_all + not_just_one(rows).ln(),
                Self::Partial(_) => log_all,
            }
        };
        (0..space.num_groups()).map(group).sum()
    }

    /// Makes just these rows wrong; where their responses belong instead is arbitrary.
    pub fn apply(&self, is_wrong: &[bool], links: &mut Permutation) {
        match self {
            Self::Partial(_) => {
                for row in (0..links.num_present()).filter(|&row| is_wrong[row]) {
                    links.place(row, OUTSIDE);
                }
                for row in (0..links.num_present()).filter(|&row| !is_wrong[row]) {
                    if links.is_moved(row) {
                        links.place(row, row);
                    }
                }
            }
            Self::Whole(prior) => {
                let mut forward: Vec<usize> = (0..links.len()).collect();
                let space = prior.space();
                for group in (0..space.num_groups()).map(|group| space.group(group)) {
                    let wrong = group.iter().copied().filter(|&row| is_wrong[row]);
                    let mut last = None;
                    for row in wrong {
                        if let Some(last) = last {
                            forward.swap(last, row);
                        }
                        last = Some(row);
                    }
                }
                let cycles = Permutation::from_vec(forward).expect("exchanges");
                links.assign(&cycles);
            }
        }
    }

    /// A set with probability in proportion to the product of its odds; `is_wrong` is set for each row.
    pub fn draw<R: Rng + ?Sized>(&self, log_odds: &[f64], is_wrong: &mut [bool], rng: &mut R) {
        is_wrong.fill(false);
        let space = self.space();
        let mut rest = Vec::new();
        for rows in (0..space.num_groups()).map(|group| space.group(group)) {
            match self {
                Self::Partial(_) => {
                    for &row in rows {
                        is_wrong[row] = rng.random::<f64>() < logistic(log_odds[row]);
                    }
                }
                Self::Whole(_) => draw_group(rows, log_odds, is_wrong, &mut rest, rng),
            }
        }
    }
}

/// Switches between a rate of 0, `None`, and others: a Metropolis step whose proposal of another rate is a draw of its prior.
/// `log_likelihood` is that of log odds, with the wrong rows summed out; it is 0 where no row is wrong. Given the wrong rows
/// alone, a rate of 0 would be left only where none is wrong by chance, which is rare in a file of some hundred rows.
fn switch<R: Rng + ?Sized>(
    now: Option<f64>,
    prior: RatePrior,
    log_likelihood: &mut dyn FnMut(f64) -> f64,
    rng: &mut R,
) -> Option<f64> {
    let RatePrior { a, b, no_error } = prior;
    if no_error == 0.0 {
        return now;
    }
    let some = now.unwrap_or_else(|| log_odds_of(draw_beta(a, b, rng)));
    let log_some_to_none = (-no_error).ln_1p() - no_error.ln() + log_likelihood(some);
    let (other, log_ratio) = match now {
        None => (Some(some), log_some_to_none),
        Some(_) => (None, -log_some_to_none),
    };
    match rng.random::<f64>().ln() < log_ratio {
        true => other,
        false => now,
    }
}

/// Beyond `CERTAIN`, a rate rounds to 0 or 1.
fn log_odds_of(rate: f64) -> f64 {
    (rate / (1.0 - rate)).ln().clamp(-CERTAIN, CERTAIN)
}

/// log (1 - rate).
#[inline]
fn log_right(log_odds: f64) -> f64 {
    -log_1p_exp(log_odds)
}

/// The rows of one group in turn, given that not just one of them is wrong. `rest` is room to work in.
fn draw_group<R: Rng + ?Sized>(
    rows: &[usize],
    log_odds: &[f64],
    is_wrong: &mut [bool],
    rest: &mut Vec<[f64; 3]>,
    rng: &mut R,
) {
    // The probability that the rows from k on leave not just one wrong, where none, one or more were wrong before.
    rest.clear();
    rest.resize(rows.len() + 1, [1.0, 0.0, 1.0]);
    for (k, &row) in rows.iter().enumerate().rev() {
        let [none, one, _] = rest[k + 1];
        let (right, wrong) = (logistic(-log_odds[row]), logistic(log_odds[row]));
        rest[k] = [right * none + wrong * one, right * one + wrong, 1.0];
    }
    let mut before = 0;
    for (k, &row) in rows.iter().enumerate() {
        let after = (before + 1).min(2);
        let wrong = logistic(log_odds[row]) * rest[k + 1][after];
        if rng.random::<f64>() * rest[k][before] < wrong {
            is_wrong[row] = true;
            before = after;
        }
    }
}

/// The probability that not just one of independent rows is wrong, as a sum of positive terms.
fn not_just_one(log_odds: impl Iterator<Item = f64>) -> f64 {
    let (mut none, mut one, mut more) = (1.0, 0.0, 0.0);
    for log_odds in log_odds {
        let (right, wrong) = (logistic(-log_odds), logistic(log_odds));
        more += one * wrong;
        one = one * right + none * wrong;
        none *= right;
    }
    none + more
}

/// Log odds beyond which a row is as good as certain; products of two such probabilities do not vanish.
const CERTAIN: f64 = 300.0;

#[inline]
fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds.clamp(-CERTAIN, CERTAIN)).exp())
}

/// log (1 + odds).
#[inline]
fn log_1p_exp(log_odds: f64) -> f64 {
    let x = log_odds.clamp(-CERTAIN, CERTAIN);
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::super::prior::PriorKind;
    use super::super::rate_prior::RatePrior;
    use super::super::space::LinkFacts;
    use super::*;
    use crate::numerics::gamma::log_beta;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const N: usize = 6;
    const BLOCKS: [usize; N] = [0, 0, 1, 1, 1, 1];

    fn priors() -> (Prior, OutsidePrior) {
        let facts = LinkFacts {
            block_of_row: Some(&BLOCKS),
            match_probability: Some(&[0.5; N]),
            ..LinkFacts::default()
        };
        let kind = PriorKind::MatchProbability;
        let share = RatePrior::beta(1.0, 1.0);
        (
            Prior::new(kind, LinkSpace::new(N, facts)),
            OutsidePrior::new(kind, share, N, N, facts),
        )
    }

    /// The product of odds of each set of rows; 0 for sets that are not possible.
    fn weights(log_odds: &[f64], is_whole: bool) -> Vec<f64> {
        let count = |set: usize, block: usize| {
            let rows = (0..N).filter(|&row| BLOCKS[row] == block);
            rows.filter(|&row| set >> row & 1 == 1).count()
        };
        let weight = |set: usize| -> f64 {
            if is_whole && (0..2).any(|block| count(set, block) == 1) {
                return 0.0;
            }
            let rows = (0..N).filter(|row| set >> row & 1 == 1);
            rows.map(|row| log_odds[row].exp()).product()
        };
        (0..1 << N).map(weight).collect()
    }

    const LOG_ODDS: [f64; N] = [1.5, -2.0, 0.3, -1.0, 2.0, -0.5];

    #[test]
    fn totals_are_sums_over_all_possible_sets() {
        let (whole, partial) = priors();
        for (sets, is_whole) in [
            (WrongSets::Whole(&whole), true),
            (WrongSets::Partial(&partial), false),
        ] {
            let expected: f64 = weights(&LOG_ODDS, is_whole).iter().sum();
            assert!((sets.log_total(&LOG_ODDS) - expected.ln()).abs() < 1e-12);
        }
        // Of the first block only both or none can be wrong; of the second none is.
        let far = [200.0, -150.0, -1e4, -1e4, -1e4, -1e4];
        let found = WrongSets::Whole(&whole).log_total(&far);
        assert!((found - 50.0).abs() < 1e-9, "{found}");
    }

    /// How often the rate is 0, and its mean elsewhere, after many draws, each from where the last one left the links.
    /// With a `power` other than 1, the rate is drawn by a mistaken likelihood.
    fn chain(prior: &Prior, log_ratio: &[f64], power: f64) -> [f64; 2] {
        let sets = WrongSets::Whole(prior);
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let mut links = Permutation::identity(log_ratio.len());
        let mut is_wrong = vec![false; log_ratio.len()];
        let (draws, mut num_zero, mut sum) = (40_000, 0, 0.0);
        let seen: Vec<f64> = log_ratio.iter().map(|ratio| power * ratio).collect();
        for _ in 0..draws {
            is_wrong.fill(false);
            match sets.draw_log_odds(&links, &seen, &mut rng) {
                None => num_zero += 1,
                Some(mut odds) => {
                    sum += logistic(odds[0]);
                    (odds.iter_mut().zip(log_ratio)).for_each(|(odds, ratio)| *odds += ratio);
                    sets.draw(&odds, &mut is_wrong, &mut rng);
                }
            }
            sets.apply(&is_wrong, &mut links);
        }
        let num_some = f64::from(draws - num_zero);
        [f64::from(num_zero) / f64::from(draws), sum / num_some]
    }

    /// The same by quadrature over the rate.
    fn quadrature(rate: RatePrior, log_ratio: &[f64], sets: WrongSets<'_>) -> [f64; 2] {
        let RatePrior { a, b, no_error } = rate;
        let points = 20_000;
        let (mut total, mut mean) = (0.0, 0.0);
        for k in 0..points {
            let rate = (f64::from(k) + 0.5) / f64::from(points);
            let odds: Vec<f64> = (log_ratio.iter())
                .map(|ratio| (rate / (1.0 - rate)).ln() + ratio)
                .collect();
            let rows = log_ratio.len() as f64;
            let log_weight = (a - 1.0) * rate.ln() + (b - 1.0 + rows) * (1.0 - rate).ln();
            let weight = (log_weight - log_beta(a, b) + sets.log_total(&odds)).exp();
            total += weight / f64::from(points);
            mean += rate * weight / f64::from(points);
        }
        let none = no_error / (no_error + (1.0 - no_error) * total);
        [none, mean / total]
    }

    #[test]
    fn rates_of_zero_are_drawn_without_the_wrong_rows() {
        let rate = RatePrior {
            a: 1.0,
            b: 4.0,
            no_error: 0.6,
        };
        let log_ratio: Vec<f64> = (0..60).map(|row| f64::from(row % 6) - 3.5).collect();
        let with = |no_error: f64| {
            let kind = PriorKind::BetaBinomial(RatePrior { no_error, ..rate });
            Prior::new(kind, LinkSpace::new(60, LinkFacts::default()))
        };
        let prior = with(rate.no_error);
        let expected = quadrature(rate, &log_ratio, WrongSets::Whole(&prior));
        assert!(expected[0] > 0.2 && expected[0] < 0.8, "{expected:?}");
        let off = |found: [f64; 2]| [0, 1].map(|k| (found[k] - expected[k]).abs());
        // Monte Carlo errors are below .005 and .001: 40 000 draws, most of which follow a switch.
        let found = off(chain(&prior, &log_ratio, 1.0));
        assert!(
            found[0] < 0.02 && found[1] < 0.004,
            "{found:?} {expected:?}"
        );
        let planted = off(chain(&with(0.4), &log_ratio, 1.0));
        assert!(planted[0] > 0.05, "another prior: {planted:?}");
        let planted = off(chain(&prior, &log_ratio, 2.0));
        assert!(planted[1] > 0.05, "another likelihood: {planted:?}");
    }

    #[test]
    fn links_move_just_the_wrong_rows() {
        let (whole, partial) = priors();
        let mut links = [WrongSets::Whole(&whole), WrongSets::Partial(&partial)]
            .map(|sets| (sets, Permutation::identity(N)));
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let mut is_wrong = [false; N];
        for _ in 0..100 {
            for (sets, links) in &mut links {
                sets.draw(&LOG_ODDS, &mut is_wrong, &mut rng);
                sets.apply(&is_wrong, links);
                links.check();
                assert!((0..N).all(|row| links.is_moved(row) == is_wrong[row]));
            }
        }
    }

    #[test]
    fn sets_are_drawn_in_proportion_to_their_odds() {
        let (whole, partial) = priors();
        let draws = 100_000;
        for (sets, is_whole) in [
            (WrongSets::Whole(&whole), true),
            (WrongSets::Partial(&partial), false),
        ] {
            let mut rng = ChaCha8Rng::seed_from_u64(3);
            let mut counts = vec![0.0; 1 << N];
            let mut is_wrong = [false; N];
            for _ in 0..draws {
                sets.draw(&LOG_ODDS, &mut is_wrong, &mut rng);
                let set: usize = (0..N)
                    .filter(|&row| is_wrong[row])
                    .map(|row| 1 << row)
                    .sum();
                counts[set] += 1.0 / f64::from(draws);
            }
            // With 64 cells noise alone gives up to 0.013.
            let distance = |is_whole| {
                let weights = weights(&LOG_ODDS, is_whole);
                let total: f64 = weights.iter().sum();
                let cells = counts.iter().zip(&weights);
                0.5 * cells.map(|(p, w)| (p - w / total).abs()).sum::<f64>()
            };
            let found = distance(is_whole);
            assert!(found < 0.013, "total variation {found}");
            let planted = distance(!is_whole);
            assert!(planted > 0.1, "other possible sets: {planted}");
        }
    }
}
