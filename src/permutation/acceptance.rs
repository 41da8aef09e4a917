//! The target of the permutation step and the two rules by which a proposed exchange is accepted.

use super::pair::PairLogLik;
use super::permutation::Permutation;
use super::prior::Prior;
use rand::Rng;

/// p(pi | theta, y) up to a constant, at the current permutation.
pub(crate) struct Target<'a, L: ?Sized> {
    pub pi: &'a mut Permutation,
    pub pair: &'a L,
    pub prior: &'a Prior,
}

impl<'a, L: PairLogLik + ?Sized> Target<'a, L> {
    /// # Panics
    /// When the sizes differ, or the current permutation has no prior mass: no chain may be there.
    pub fn new(pi: &'a mut Permutation, pair: &'a L, prior: &'a Prior) -> Self {
        assert_eq!(pi.len(), pair.len(), "permutation and pair likelihood");
        assert_eq!(pi.len(), prior.num_rows(), "permutation and prior");
        assert!(
            prior.log_weight(pi.num_moved()) > f64::NEG_INFINITY,
            "the prior excludes the current permutation, which moves {} rows",
            pi.num_moved()
        );
        Self { pi, pair, prior }
    }

    /// The change of sum l + g when rows `i` and `j` exchange their columns.
    #[inline]
    pub fn log_change(&self, i: usize, j: usize) -> f64 {
        let after = self.prior.log_weight(self.pi.num_moved_after(i, j));
        if after == f64::NEG_INFINITY {
            return after;
        }
        let (a, b) = (self.pi.column_of(i), self.pi.column_of(j));
        let pair = self.pair;
        after - self.prior.log_weight(self.pi.num_moved())
            + (pair.pair(i, b) - pair.pair(i, a))
            + (pair.pair(j, a) - pair.pair(j, b))
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
            self.pi.exchange(i, j);
        }
        accepted
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
