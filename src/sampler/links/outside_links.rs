//! The links of one chain where responses may come from outside the file.

use super::outside::OutsidePrior;
use super::outside_set::OutsideSet;
use super::outside_switch::{BothParts, OutsideSwitch};
use super::pair::PairLogLik;
use super::permutation::{NOBODY, OUTSIDE, Permutation};
use super::prior::Prior;
use super::row_mixture::GivenMoved;
use super::update::UpdateInfo;
use rand::Rng;
use std::borrow::Cow;

/// Switches that an iteration tries, where responses may come from outside or not.
const SWITCHES: usize = 4;

/// The prior of partial permutations with its kernel, and the law of a response that belongs to nobody.
#[derive(Clone, Debug)]
pub struct OutsideLinks<'m> {
    prior: Cow<'m, OutsidePrior>,
    kernel: OutsideSet,
    switch: OutsideSwitch,
    /// The tempered log density of each response that belongs to nobody.
    log_marginal: Vec<f64>,
    /// The same up to the terms that the pair likelihood leaves out.
    outside: Vec<f64>,
}

impl<'m> OutsideLinks<'m> {
    /// `log_marginal` is the tempered log density of each response that belongs to nobody.
    pub fn new(prior: &'m OutsidePrior, log_marginal: Vec<f64>) -> Self {
        assert_eq!(
            log_marginal.len(),
            prior.num_rows(),
            "one log density a row"
        );
        Self {
            prior: Cow::Borrowed(prior),
            kernel: OutsideSet::default(),
            switch: OutsideSwitch::default(),
            outside: Vec::with_capacity(log_marginal.len()),
            log_marginal,
        }
    }

    /// The prior of partial permutations.
    pub fn prior(&self) -> &OutsidePrior {
        &self.prior
    }

    /// Sets each row's log odds of being wrong.
    pub fn set_log_odds(&mut self, log_odds: &[f64]) {
        self.prior.to_mut().set_log_odds(log_odds);
    }

    /// One update of the links, given that just the rows that `wrong` moves are where it is given. `own` is the tempered log
    /// density of a response at its own link, normalised, of which `pair` may leave out terms that no permutation changes.
    pub fn step_as<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        pair: &L,
        own: impl Fn(usize) -> f64,
        wrong: Option<&Permutation>,
        rng: &mut R,
    ) -> UpdateInfo {
        match wrong {
            None => self.step(pi, pair, own, rng),
            Some(state) => self.step_given_wrong(pi, pair, own, state, rng),
        }
    }

    fn step<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        pair: &L,
        own: impl Fn(usize) -> f64,
        rng: &mut R,
    ) -> UpdateInfo {
        self.fill_outside(pair, own);
        self.kernel.step(pi, pair, &self.outside, &self.prior, rng)
    }

    /// A draw of whether responses may come from outside, with the links that it changes.
    pub fn draw_may_be_outside<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        pair: &L,
        own: impl Fn(usize) -> f64,
        whole: &Prior,
        rng: &mut R,
    ) -> bool {
        let mut may_be_outside = self.prior.draw_may_be_outside(whole, pi, rng);
        if self.prior.share().no_error == 0.0 {
            return may_be_outside;
        }
        self.fill_outside(pair, own);
        let model = BothParts {
            pair,
            outside: &self.outside,
            partial: &self.prior,
            whole,
        };
        for _ in 0..SWITCHES {
            may_be_outside = self.switch.step(pi, may_be_outside, &model, rng);
        }
        may_be_outside
    }

    /// Links that other rows than those of `state` move are changed first, as little as that takes.
    fn step_given_wrong<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        links: &mut Permutation,
        pair: &L,
        own: impl Fn(usize) -> f64,
        state: &Permutation,
        rng: &mut R,
    ) -> UpdateInfo {
        follow(links, state);
        if state.num_moved() == 0 {
            return UpdateInfo::default();
        }
        self.fill_outside(pair, own);
        for (row, outside) in self.outside.iter_mut().enumerate() {
            if !state.is_moved(row) {
                *outside = f64::NEG_INFINITY;
            }
        }
        let pair = GivenMoved { pair, state };
        self.kernel
            .step(links, &pair, &self.outside, &self.prior, rng)
    }

    fn fill_outside<L: PairLogLik + ?Sized>(&mut self, pair: &L, own: impl Fn(usize) -> f64) {
        self.outside.clear();
        let rows = self.log_marginal.iter().enumerate();
        self.outside
            .extend(rows.map(|(row, marginal)| marginal - own(row) + pair.pair(row, row)));
    }
}

/// Makes just the rows wrong that `state` moves: others go home, and who is in their way goes outside.
fn follow(links: &mut Permutation, state: &Permutation) {
    for row in (0..state.num_present()).filter(|&row| !state.is_moved(row)) {
        if links.is_moved(row) {
            match links.row_of(row) {
                NOBODY => {}
                holder => links.place(holder, OUTSIDE),
            }
            links.place(row, row);
        }
    }
    for &row in state.moved() {
        if !links.is_moved(row) {
            links.place(row, OUTSIDE);
        }
    }
}
