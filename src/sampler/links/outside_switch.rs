//! Step 2 where responses may come from outside the file: the switch between the prior of whole permutations, under which
//! none does, and that of partial ones.
//!
//! Given the links, whether responses may come from outside is a draw from two numbers. But where they may, it is rare that
//! none does, so that this draw alone hardly ever changes the answer. A switch changes the links with it:
//!
//! - Outwards: o of the d moved rows, o uniform on 1, ..., d, leave their places in a random order i_1, ..., i_o.
//! - Inwards: the rows from outside, in a random order, take the free places. Row i_k takes a place c of those still free with
//!   probability w(i_k, c) / S_k, where w(i, c) is the density of the response at c over its density outside, times the prior
//!   weight of the link, and S_k is the sum of w(i_k, c) (Rosenbluth and Rosenbluth 1955; Siepmann and Frenkel 1992).
//!
//! Each is the reverse of the other with the same order of rows. The Metropolis ratio of a switch inwards is
//!
//!   P(whole) / P(partial) * S_1 * ... * S_o * o! (d - o)! / (d! d),
//!
//! with P the priors but for the weights of links, which w has. That of a switch outwards is its inverse.

use super::outside::OutsidePrior;
use super::pair::PairLogLik;
use super::permutation::{NOBODY, OUTSIDE, Permutation};
use super::prior::Prior;
use crate::numerics::gamma::log_gamma;
use rand::Rng;
use rand::seq::SliceRandom;

/// The most rows that a switch moves: its cost grows with their square.
const MOST_ROWS: usize = 1000;

/// The switch, with room to work in.
#[derive(Clone, Debug, Default)]
pub(super) struct OutsideSwitch {
    /// i_1, ..., i_o.
    rows: Vec<usize>,
    /// Their places inside.
    places: Vec<usize>,
    weights: Vec<f64>,
}

/// p(pi | theta, y) of both parts, up to a constant.
pub(super) struct BothParts<'a, L: ?Sized> {
    pub pair: &'a L,
    /// The tempered log density of each response outside, up to the terms that `pair` leaves out.
    pub outside: &'a [f64],
    pub partial: &'a OutsidePrior,
    pub whole: &'a Prior,
}

impl<L: PairLogLik + ?Sized> BothParts<'_, L> {
    /// w(row, place).
    #[inline]
    fn weight(&self, row: usize, place: usize) -> f64 {
        if row == place || !self.partial.places().same_group(row, place) {
            return 0.0;
        }
        let fit = self.pair.pair(row, place) - self.outside[row];
        (fit + self.log_link(row, place)).exp()
    }

    fn log_link(&self, row: usize, place: usize) -> f64 {
        self.partial.log_link(row, place) - self.partial.log_link(row, OUTSIDE)
    }

    /// log P(whole) / P(partial) of the same links but for `rows`, which are at `places` or outside; `pi` has them there, and
    /// then has them at the other.
    fn log_prior_ratio(&self, pi: &mut Permutation, rows: &[usize], places: &[usize]) -> f64 {
        let links = rows.iter().zip(places);
        let of_links: f64 = links.clone().map(|(&i, &c)| self.log_link(i, c)).sum();
        let parts = |pi: &Permutation| self.partial.log_parts(self.whole, pi);
        let is_outside = pi.is_outside(rows[0]);
        let before = parts(pi)[usize::from(is_outside)];
        for (&row, &place) in links {
            pi.place(row, if is_outside { place } else { OUTSIDE });
        }
        let after = parts(pi)[usize::from(!is_outside)];
        let inwards = if is_outside {
            after - before
        } else {
            before - after
        };
        inwards - of_links
    }
}

impl OutsideSwitch {
    /// One switch, tried at the answer `may_be_outside`; returns the answer afterwards. It leaves the joint posterior of the
    /// links and the answer invariant.
    pub fn step<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        may_be_outside: bool,
        model: &BothParts<'_, L>,
        rng: &mut R,
    ) -> bool {
        let log_sums = match may_be_outside {
            true => self.propose_inwards(pi, model, rng),
            false => self.propose_outwards(pi, model, rng),
        };
        let Some(log_sums) = log_sums else {
            return may_be_outside;
        };
        let (moved, changed) = (pi.num_moved(), self.rows.len());
        let log_inwards = model.log_prior_ratio(pi, &self.rows, &self.places) + log_sums
            - log_choices(moved, changed);
        let log_ratio = if may_be_outside {
            log_inwards
        } else {
            -log_inwards
        };
        if rng.random::<f64>().ln() < log_ratio {
            return !may_be_outside;
        }
        for (&row, &place) in self.rows.iter().zip(&self.places) {
            pi.place(row, if may_be_outside { OUTSIDE } else { place });
        }
        may_be_outside
    }

    /// The rows from outside with places for them, and log S_1 ... S_o; None where some row finds no place.
    fn propose_inwards<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &Permutation,
        model: &BothParts<'_, L>,
        rng: &mut R,
    ) -> Option<f64> {
        if !(1..=MOST_ROWS).contains(&pi.num_outside()) {
            return None;
        }
        let Self {
            rows,
            places,
            weights,
        } = self;
        rows.clear();
        rows.extend(pi.moved().iter().filter(|&&row| pi.is_outside(row)));
        rows.shuffle(rng);
        places.clear();
        let all = model.partial.places().members().iter();
        places.extend(all.filter(|&&place| pi.row_of(place) == NOBODY));
        let mut log_sums = 0.0;
        for (k, &row) in rows.iter().enumerate() {
            weights.clear();
            weights.extend(places[k..].iter().map(|&place| model.weight(row, place)));
            let sum: f64 = weights.iter().sum();
            let mut left = rng.random::<f64>() * sum;
            let drawn = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            places.swap(k, k + drawn?);
            log_sums += sum.ln();
        }
        Some(log_sums)
    }

    /// Some moved rows with their places, and log S_1 ... S_o of their way back.
    fn propose_outwards<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &Permutation,
        model: &BothParts<'_, L>,
        rng: &mut R,
    ) -> Option<f64> {
        let num_moved = pi.num_moved();
        if num_moved == 0 {
            return None;
        }
        let changed = rng.random_range(1..=num_moved);
        if changed > MOST_ROWS {
            return None;
        }
        let Self { rows, places, .. } = self;
        rows.clear();
        rows.extend_from_slice(pi.moved());
        for k in 0..changed {
            rows.swap(k, rng.random_range(k..num_moved));
        }
        rows.truncate(changed);
        places.clear();
        places.extend(rows.iter().map(|&row| pi.column_of(row)));
        let sum = |(k, &row): (usize, &usize)| -> f64 {
            let free = places[k..].iter();
            free.map(|&place| model.weight(row, place)).sum()
        };
        Some(rows.iter().enumerate().map(sum).map(f64::ln).sum())
    }
}

/// log d! d / (o! (d - o)!): the ordered choices of o of d rows over the orders of o rows, and d numbers of rows to choose.
fn log_choices(moved: usize, changed: usize) -> f64 {
    let log_factorial = |k: usize| log_gamma(k as f64 + 1.0);
    log_factorial(moved) - log_factorial(changed) - log_factorial(moved - changed)
        + (moved as f64).ln()
}
