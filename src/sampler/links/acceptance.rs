//! The target of the permutation step and the two rules by which a proposed exchange is accepted.

use super::moved_groups::MovedGroups;
use super::pair::PairLogLik;
use super::permutation::Permutation;
use super::prior::Prior;
use rand::Rng;

/// The likelihood part of a target: what an exchange of the columns of two rows changes.
pub(crate) trait ExchangeLogLik {
    fn num_rows(&self) -> usize;

    /// The change of the log likelihood when row `i` leaves column `a` for `b`, and row `j` leaves `b` for `a`.
    fn exchange_change(&self, i: usize, a: usize, j: usize, b: usize) -> f64;

    /// That exchange took place.
    fn exchanged(&mut self, i: usize, a: usize, j: usize, b: usize);
}

/// Given theta the pairs are independent, so there is nothing to keep in step.
impl<L: PairLogLik + ?Sized> ExchangeLogLik for &L {
    fn num_rows(&self) -> usize {
        self.len()
    }

    #[inline]
    fn exchange_change(&self, i: usize, a: usize, j: usize, b: usize) -> f64 {
        (self.pair(i, b) - self.pair(i, a)) + (self.pair(j, a) - self.pair(j, b))
    }

    #[inline]
    fn exchanged(&mut self, _i: usize, _a: usize, _j: usize, _b: usize) {}
}

/// p(pi | y) up to a constant, at the current permutation: given theta where `E` is a pair likelihood.
pub(crate) struct Target<'a, E> {
    pub pi: &'a mut Permutation,
    pub pair: E,
    pub prior: &'a Prior,
    groups: &'a mut MovedGroups,
}

impl<'a, E: ExchangeLogLik> Target<'a, E> {
    /// `groups` is room to work in, of any earlier content.
    ///
    /// # Panics
    /// When the sizes differ, or the current permutation has no prior mass: no chain may be there.
    pub fn new(
        pi: &'a mut Permutation,
        pair: E,
        prior: &'a Prior,
        groups: &'a mut MovedGroups,
    ) -> Self {
        assert_eq!(pi.len(), pair.num_rows(), "permutation and likelihood");
        assert_eq!(pi.len(), prior.num_rows(), "permutation and prior");
        assert!(
            prior.log_weight(pi.num_moved()) > f64::NEG_INFINITY,
            "the prior excludes the current permutation, which moves {} rows",
            pi.num_moved()
        );
        debug_assert!(
            prior.log_prior(pi) > f64::NEG_INFINITY,
            "the links that are possible exclude the current permutation"
        );
        groups.fill(prior.space(), pi);
        Self {
            pi,
            pair,
            prior,
            groups,
        }
    }

    /// The moved rows of the group of `row`, which can move.
    #[inline]
    pub fn moved_beside(&self, row: usize) -> &[usize] {
        let space = self.prior.space();
        self.groups.of(space, self.pi, space.group_of_movable(row))
    }

    /// The change of sum l + log prior when rows `i` and `j` exchange their columns.
    #[inline]
    pub fn log_change(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.pi.column_of(i), self.pi.column_of(j));
        let prior = if self.prior.space().is_free() {
            self.prior.log_weight(self.pi.num_moved_after(i, j))
                - self.prior.log_weight(self.pi.num_moved())
        } else if self.prior.space().same_group(i, j) {
            self.log_prior_change([(i, a, b), (j, b, a)].into_iter())
        } else {
            f64::NEG_INFINITY
        };
        if prior == f64::NEG_INFINITY {
            return prior;
        }
        prior + self.pair.exchange_change(i, a, j, b)
    }

    /// The change of the log prior when rows of one group change their columns: (row, old column, new column).
    pub fn log_prior_change(&self, changes: impl Iterator<Item = (usize, usize, usize)>) -> f64 {
        let space = self.prior.space();
        let (mut links, mut more, mut fewer, mut group) = (0.0, 0, 0, 0);
        for (row, old, new) in changes {
            links += space.log_link(row, new) - space.log_link(row, old);
            more += usize::from(old == row);
            fewer += usize::from(new == row);
            group = space.group_of_movable(row);
        }
        if links == f64::NEG_INFINITY {
            return links;
        }
        let in_all = self.pi.num_moved();
        let in_group = self.groups.count(space, self.pi, group);
        let prior = self.prior;
        links + prior.log_weight(in_all + more - fewer)
            - prior.log_weight(in_all)
            - (prior.log_group(group, in_group + more - fewer) - prior.log_group(group, in_group))
    }

    /// Exchanges rows `i` and `j` if the rule accepts; `ratio` is the proposal's reverse/forward.
    #[inline]
    pub fn try_exchange<A: Acceptance, R: Rng + ?Sized>(
        &mut self,
        i: usize,
        j: usize,
        ratio: f64,
        rng: &mut R,
    ) -> bool {
        let accepted = A::accept(self.log_change(i, j), ratio, rng);
        if accepted {
            self.exchange(i, j);
        }
        accepted
    }

    #[inline]
    pub fn exchange(&mut self, i: usize, j: usize) {
        let (a, b) = (self.pi.column_of(i), self.pi.column_of(j));
        self.pair.exchanged(i, a, j, b);
        self.pi.exchange(i, j);
        let space = self.prior.space();
        self.groups.note(space, self.pi, i);
        self.groups.note(space, self.pi, j);
    }
}

/// A rule of acceptance. Production has two; the tests plant wrong ones.
pub(crate) trait Acceptance {
    fn accept<R: Rng + ?Sized>(log_change: f64, ratio: f64, rng: &mut R) -> bool;
}

/// Below this no uniform draw accepts, whatever the proposal ratio of a data set that fits in memory.
pub(crate) const HOPELESS: f64 = -80.0;

/// min(1, exp(change) * ratio).
pub(crate) struct Metropolis;

impl Acceptance for Metropolis {
    #[inline]
    fn accept<R: Rng + ?Sized>(log_change: f64, ratio: f64, rng: &mut R) -> bool {
        if log_change < HOPELESS {
            return false;
        }
        let probability = log_change.exp() * ratio;
        probability >= 1.0 || rng.random::<f64>() < probability
    }
}

/// P(new) / (P(new) + P(old)), the paper's rule; its proposals are symmetric.
pub(crate) struct Barker;

impl Acceptance for Barker {
    #[inline]
    fn accept<R: Rng + ?Sized>(log_change: f64, _ratio: f64, rng: &mut R) -> bool {
        log_change >= HOPELESS && rng.random::<f64>() * (1.0 + (-log_change).exp()) < 1.0
    }
}
