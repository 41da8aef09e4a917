//! The paper's sampler: checkerboard swaps with Barker's acceptance, without the proposals that cannot swap.

use super::acceptance::{Acceptance, Barker, Target};
use super::assignment::ModeSearch;
use super::pair::PairLogLik;
use super::permutation::Permutation;
use super::prior::Prior;
use super::update::{Move, UpdateInfo};
use rand::Rng;
use rand_distr::{Binomial, Distribution};

/// Where each step starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// At the mode, as in the paper. Not a Gibbs step for finite `steps`: biased towards the mode.
    Mode,
    /// Where the chain is. Exact.
    Current,
}

/// `steps` proposals of the paper's section II.B.
///
/// Of these, a cell (r1, c1) is a checkerboard's corner with probability 1/n if it holds a 1, and
/// else with probability 1/(n-1): 2/n in all, and then the two rows are a uniform pair. So the
/// number of real swaps is Binomial(steps, 2/n), and only these are carried out.
#[derive(Clone, Debug)]
pub struct Checkerboard {
    steps: u64,
    restart: Restart,
    search: ModeSearch,
}

impl Checkerboard {
    pub fn new(steps: u64, restart: Restart) -> Self {
        Self {
            steps,
            restart,
            search: ModeSearch::default(),
        }
    }

    pub fn step<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        pair: &L,
        prior: &Prior,
        rng: &mut R,
    ) -> UpdateInfo {
        let mut info = UpdateInfo::default();
        if self.restart == Restart::Mode {
            let mode = self.search.find(pi, pair, prior);
            info.gap_bound = Some(mode.gap_bound);
            pi.assign(&mode.permutation);
        }
        self.swap_with::<Barker, L, R>(pi, pair, prior, rng, &mut info);
        info
    }

    pub(super) fn swap_with<A: Acceptance, L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &self,
        pi: &mut Permutation,
        pair: &L,
        prior: &Prior,
        rng: &mut R,
        info: &mut UpdateInfo,
    ) {
        let num_rows = pi.len();
        if num_rows < 2 {
            return;
        }
        let mut target = Target::new(pi, pair, prior);
        let num_swaps = Binomial::new(self.steps, 2.0 / num_rows as f64)
            .expect("2/n is a probability for n >= 2")
            .sample(rng);
        for _ in 0..num_swaps {
            let i = rng.random_range(0..num_rows);
            let other = rng.random_range(0..num_rows - 1);
            let j = other + usize::from(other >= i);
            let accepted = target.try_exchange::<A, R>(i, j, 1.0, rng);
            info.count(Move::Swap, accepted);
        }
    }
}
