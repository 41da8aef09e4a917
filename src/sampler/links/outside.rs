//! Responses that belong to nobody in the file: the prior of partial permutations.
//!
//! Each of n rows that are not safe is linked wrongly with probability r, whatever the reason; the prior of r is that of
//! whole permutations. A wrong link comes from outside with probability phi, and the other wrong rows of a group carry
//! a uniform injection into its free places, none into its own. A group without a free place cannot have one such row
//! alone: its response then comes from outside. So every set of wrong rows is possible, and r and phi integrate out:
//!
//!   p(pi) = E[r^w (1 - r)^(n - w)] * E[phi^(o - L) (1 - phi)^d] / product over groups of A(d_g, o_g + e_g)
//!
//! with w = o + d wrong rows, o of them from outside; L groups whose only wrong row is from outside and that have no
//! place without a response; e_g such places; and A(d, h) the number of injections of d rows into their own places and h
//! others in which no row keeps its own. It sums to one over all partial permutations.

use super::block_rates::{BlockRates, log_wrong};
use super::permutation::Permutation;
use super::prior::{Prior, PriorKind};
use super::rate_prior::RatePrior;
use super::space::{LinkFacts, LinkSpace};
use super::wrong_sets::WrongSets;
use crate::numerics::gamma::{log_beta, log_gamma};
use rand::Rng;
use rand_distr::{Beta, Distribution};

/// The prior of partial permutations. `share.no_error` is the probability that no response comes from outside; the links
/// then have the prior of whole permutations.
#[derive(Clone, Debug)]
pub struct OutsidePrior {
    share: RatePrior,
    rate: Option<RatePrior>,
    places: LinkSpace,
    present: LinkSpace,
    num_present: usize,
    /// Places of each group that have no response.
    num_absent: Vec<usize>,
    /// log E[r^w (1 - r)^(n - w)], by w.
    log_wrong: Vec<f64>,
    /// P(r = 0 | no row is wrong).
    no_error_if_none_wrong: f64,
    /// Where each group has a rate of its own; `log_wrong` is then 0.
    by_block: Option<BlockRates>,
    /// log Gamma(a + k), log Gamma(b + k) and log Gamma(a + b + k) of the share.
    log_share: [Vec<f64>; 3],
    /// The constants of both parts.
    log_constant: f64,
    log_factorial: Vec<f64>,
}

/// Wrong rows of one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct GroupCount {
    pub moved: usize,
    pub outside: usize,
}

/// Wrong rows of all groups.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub wrong: usize,
    pub outside: usize,
    /// Groups whose only wrong row had to come from outside.
    pub lone: usize,
}

impl OutsidePrior {
    /// `facts` are those of `num_rows` rows, of which only the first `num_present` have a response.
    ///
    /// # Panics
    /// For priors that count permutations instead of rows.
    pub fn new(
        kind: PriorKind,
        share: RatePrior,
        num_rows: usize,
        num_present: usize,
        facts: LinkFacts,
    ) -> Self {
        share.check();
        assert!(
            num_present == num_rows || share.no_error == 0.0,
            "places without a response have no whole permutations"
        );
        let places = LinkSpace::places(num_rows, facts);
        let present = LinkSpace::present(num_rows, num_present, facts);
        let n = present.num_movable();
        let (rate, (log_wrong, no_error_if_none_wrong)) = match kind {
            PriorKind::BetaBinomial(rate) => (Some(rate), log_wrong(n, rate)),
            PriorKind::MatchProbability => (None, (vec![0.0; n + 1], 0.0)),
            PriorKind::Uniform { .. } | PriorKind::Hamming { .. } => {
                panic!("this prior does not say how likely a row is wrong")
            }
        };
        let is_absent = |row: &&usize| **row >= num_present;
        let groups = 0..places.num_groups();
        let num_absent = groups.map(|g| places.group(g).iter().filter(is_absent).count());
        let table = |start: f64| (0..=n).map(|k| log_gamma(start + k as f64)).collect();
        let mut prior = Self {
            num_absent: num_absent.collect(),
            log_share: [table(share.a), table(share.b), table(share.a + share.b)],
            log_constant: 0.0,
            log_factorial: (0..=num_rows).map(|k| log_gamma(k as f64 + 1.0)).collect(),
            share,
            rate,
            places,
            present,
            num_present,
            log_wrong,
            no_error_if_none_wrong,
            by_block: None,
        };
        prior.log_constant = prior.log_constant();
        prior
    }

    /// The rates of wrong links of the blocks are independent, each with its own prior; `rates` are by the numbers of
    /// `block_of_row`. There are no candidate pairs. The numbers of rows are those of all and of rows with a response.
    pub fn by_block(
        rates: &[RatePrior],
        block_of_row: &[usize],
        share: RatePrior,
        (num_rows, num_present): (usize, usize),
        facts: LinkFacts,
    ) -> Self {
        let any = *rates.first().expect("a rate for each block");
        let kind = PriorKind::BetaBinomial(any);
        let mut prior = Self::new(kind, share, num_rows, num_present, facts);
        assert!(!prior.places.has_link_weights(), "nothing known of links");
        let places = &prior.places;
        let groups = (0..places.num_groups()).map(|group| {
            let rows = places.group(group);
            (block_of_row[rows[0]], rows.len() - prior.num_absent[group])
        });
        prior.by_block = Some(BlockRates::of_sets(rates, groups));
        prior.log_wrong.fill(0.0);
        prior.no_error_if_none_wrong = 0.0;
        prior
    }

    /// Of the share, and of the log odds where these are known.
    fn log_constant(&self) -> f64 {
        let odds = self.present.all_log_odds();
        let of_rows = odds.map_or(0.0, |odds| WrongSets::Partial(self).log_total(odds));
        -of_rows - log_beta(self.share.a, self.share.b)
    }

    /// Sets each row's log odds of being wrong, for a prior of match probabilities.
    pub(crate) fn set_log_odds(&mut self, log_odds: &[f64]) {
        assert!(self.rate.is_none(), "rows have odds of their own");
        self.places.set_log_odds(log_odds);
        self.present.set_log_odds(log_odds);
        self.log_constant = self.log_constant();
    }

    /// The prior of the share of wrong links whose response comes from outside.
    pub fn share(&self) -> RatePrior {
        self.share
    }

    /// Places in groups, those without a response among them.
    pub(super) fn places(&self) -> &LinkSpace {
        &self.places
    }

    /// Rows whose link can be wrong, in groups.
    pub(super) fn present(&self) -> &LinkSpace {
        &self.present
    }

    /// The number of rows that have a response.
    pub fn num_present(&self) -> usize {
        self.num_present
    }

    /// The number of rows whose link can be wrong.
    pub fn num_movable(&self) -> usize {
        self.present.num_movable()
    }

    /// The number of rows of predictors.
    pub fn num_rows(&self) -> usize {
        self.places.num_rows()
    }

    /// The part of the log prior that all groups share.
    #[inline]
    pub(super) fn log_counts(&self, counts: Counts) -> f64 {
        let Counts {
            wrong,
            outside,
            lone,
        } = counts;
        let [a, b, both] = &self.log_share;
        let (by_choice, moved) = (outside - lone, wrong - outside);
        self.log_wrong[wrong] + a[by_choice] + b[moved] - both[by_choice + moved]
    }

    /// The part of one group: minus log A(d, h), and its rate where that is its own.
    #[inline]
    pub(super) fn log_group(&self, group: usize, count: GroupCount) -> f64 {
        let of_rate = match &self.by_block {
            Some(by_block) => by_block.log_weight(group, count.moved + count.outside),
            None => 0.0,
        };
        if count.moved == 0 {
            return of_rate;
        }
        let free = count.outside + self.num_absent[group];
        let all = self.log_factorial[count.moved + free] - self.log_factorial[free];
        of_rate - (all + share_without_fixed_points(count.moved, free).ln())
    }

    /// Whether the only wrong row of a group had to come from outside.
    #[inline]
    pub(super) fn is_lone(&self, group: usize, count: GroupCount) -> bool {
        count.moved == 0 && count.outside == 1 && self.num_absent[group] == 0
    }

    /// What linking `row` to `column` adds to the log prior.
    #[inline]
    pub(super) fn log_link(&self, row: usize, column: usize) -> f64 {
        if column == super::OUTSIDE {
            return self.places.log_odds(row).unwrap_or(0.0);
        }
        self.places.log_link(row, column)
    }

    /// Counts of the wrong rows; `groups` is filled.
    pub(super) fn count(&self, pi: &Permutation, groups: &mut Vec<GroupCount>) -> Counts {
        groups.clear();
        groups.resize(self.places.num_groups(), GroupCount::default());
        for &row in pi.moved() {
            let count = &mut groups[self.places.group_of_movable(row)];
            match pi.is_outside(row) {
                true => count.outside += 1,
                false => count.moved += 1,
            }
        }
        let lone = groups.iter().enumerate();
        Counts {
            wrong: pi.num_moved(),
            outside: pi.num_outside(),
            lone: lone.filter(|(g, count)| self.is_lone(*g, **count)).count(),
        }
    }

    /// log p(pi) where responses may come from outside. Without candidates it sums to one over all partial permutations.
    pub fn log_prior_given_outside(&self, pi: &Permutation) -> f64 {
        let is_possible = |&row: &usize| {
            let column = pi.column_of(row);
            self.present.group_of(row).is_some()
                && (column == super::OUTSIDE || self.places.same_group(row, column))
        };
        if !pi.moved().iter().all(is_possible) {
            return f64::NEG_INFINITY;
        }
        let mut groups = Vec::new();
        let counts = self.count(pi, &mut groups);
        let of_groups = groups.iter().enumerate();
        let of_groups: f64 = of_groups.map(|(g, count)| self.log_group(g, *count)).sum();
        let moved = pi.moved().iter();
        let of_links: f64 = moved.map(|&r| self.log_link(r, pi.column_of(r))).sum();
        self.log_constant + self.log_counts(counts) + of_groups + of_links
    }

    /// log p(pi) of both parts; `whole` is the prior of whole permutations.
    pub fn log_prior(&self, whole: &Prior, pi: &Permutation) -> f64 {
        let [none, some] = self.log_parts(whole, pi);
        let largest = none.max(some);
        largest + ((none - largest).exp() + (some - largest).exp()).ln()
    }

    /// log P(no response from outside, pi) and log P(responses may come from outside, pi).
    pub(super) fn log_parts(&self, whole: &Prior, pi: &Permutation) -> [f64; 2] {
        let none = self.share.no_error;
        let of_whole = match none > 0.0 && pi.num_outside() == 0 {
            true => none.ln() + whole.log_prior(pi) - whole.log_total(),
            false => f64::NEG_INFINITY,
        };
        let of_partial = (-none).ln_1p() + self.log_prior_given_outside(pi);
        [of_whole, of_partial]
    }

    /// A draw of whether responses may come from outside, given the links.
    pub fn draw_may_be_outside<R: Rng + ?Sized>(
        &self,
        whole: &Prior,
        pi: &Permutation,
        rng: &mut R,
    ) -> bool {
        if self.share.no_error == 0.0 || pi.num_outside() > 0 {
            return true;
        }
        let [none, some] = self.log_parts(whole, pi);
        rng.random::<f64>() * (1.0 + (none - some).exp()) < 1.0
    }

    /// A draw of the mismatch rate given the links where responses may come from outside; None for match probabilities.
    pub fn draw_rate<R: Rng + ?Sized>(&self, pi: &Permutation, rng: &mut R) -> Option<f64> {
        let RatePrior { a, b, .. } = self.rate?;
        let no_error = self.no_error_if_none_wrong;
        if pi.num_moved() == 0 && no_error > 0.0 && rng.random::<f64>() < no_error {
            return Some(0.0);
        }
        let (wrong, right) = (pi.num_moved(), self.num_movable() - pi.num_moved());
        Some(draw_beta(a + wrong as f64, b + right as f64, rng))
    }

    /// The prior of the rate that all rows have; None where they have their own.
    pub(super) fn rate_prior(&self) -> Option<RatePrior> {
        self.rate
    }

    /// Whether each block has a rate of its own.
    pub(super) fn is_by_block(&self) -> bool {
        self.by_block.is_some()
    }

    /// Draws of the mismatch rates of the blocks, where each has its own, and of all rows together.
    pub fn draw_block_rates<R: Rng + ?Sized>(
        &self,
        pi: &Permutation,
        rng: &mut R,
    ) -> Option<(Vec<f64>, f64)> {
        let by_block = self.by_block.as_ref()?;
        let mut groups = Vec::new();
        self.count(pi, &mut groups);
        let wrong: Vec<usize> = groups.iter().map(|c| c.moved + c.outside).collect();
        let rates = by_block.draw(&wrong, rng);
        let overall = by_block.overall(&rates);
        Some((rates, overall))
    }

    /// A draw of the share of wrong links from outside, given the links where responses may come from outside.
    pub fn draw_share<R: Rng + ?Sized>(&self, pi: &Permutation, rng: &mut R) -> f64 {
        let Counts {
            wrong,
            outside,
            lone,
        } = self.count(pi, &mut Vec::new());
        let RatePrior { a, b, .. } = self.share;
        let (by_choice, moved) = (outside - lone, wrong - outside);
        draw_beta(a + by_choice as f64, b + moved as f64, rng)
    }

    /// P(w rows are wrong) for w = 0..=n before any data, of both parts; None for priors other than the beta-binomial, and
    /// where the prior of whole permutations has none.
    pub fn num_wrong_probabilities(&self, whole: &Prior) -> Option<Vec<f64>> {
        self.rate?;
        let n = self.num_movable();
        let none = self.share.no_error;
        let log_factorial = |k: usize| log_gamma(k as f64 + 1.0);
        let choose = |w: usize| log_factorial(n) - log_factorial(w) - log_factorial(n - w);
        let of_partial = (self.log_wrong.iter().enumerate())
            .map(|(w, log_wrong)| (1.0 - none) * (log_wrong + choose(w)).exp());
        let mut all: Vec<f64> = match &self.by_block {
            None => of_partial.collect(),
            Some(by_block) => {
                let of_groups = by_block.num_wrong_probabilities().into_iter();
                of_groups.map(|p| (1.0 - none) * p).collect()
            }
        };
        if none > 0.0 {
            let of_whole = whole.num_moved_probabilities()?;
            (all.iter_mut().zip(of_whole)).for_each(|(all, p)| *all += none * p);
        }
        Some(all)
    }
}

/// The share of the injections of d rows into their own places and h others that leave no row at its own, by inclusion
/// and exclusion: the sum over k of (-1)^k / k! times the product over j < k of (d - j) / (d + h - j).
fn share_without_fixed_points(d: usize, h: usize) -> f64 {
    if d == 1 {
        // As a difference it would lose digits.
        return h as f64 / (h + 1) as f64;
    }
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..=d {
        let (left, all) = ((d - k + 1) as f64, (d + h - k + 1) as f64);
        term *= -left / (all * k as f64);
        sum += term;
        if term.abs() < 1e-17 {
            break;
        }
    }
    sum
}

pub(super) fn draw_beta<R: Rng + ?Sized>(a: f64, b: f64, rng: &mut R) -> f64 {
    let law = Beta::new(a, b).expect("both parameters are positive");
    law.sample(rng)
}
