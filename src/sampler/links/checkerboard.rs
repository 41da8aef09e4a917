//! The paper's sampler: checkerboard swaps with Barker's acceptance, without the proposals that cannot swap.

use super::acceptance::{Acceptance, Barker, Target};
use super::assignment::ModeSearch;
use super::moved_groups::MovedGroups;
use super::pair::PairLogLik;
use super::permutation::Permutation;
use super::prior::Prior;
use super::update::{Move, UpdateInfo};
use rand::Rng;
use rand_distr::{Binomial, Distribution};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the swaps of each iteration start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// Each step starts from the current links, which samples the posterior exactly.
    #[default]
    Current,
    /// Each step starts from the most probable links, as in the paper; biased towards them.
    // Not a Gibbs step for a finite number of proposals.
    Mode,
}

/// `steps` proposals of the paper's section II.B.
///
/// Of these, a cell (r1, c1) is a checkerboard's corner with probability 1/n if it holds a 1, and
/// else with probability 1/(n-1): 2/n in all, and then the two rows are a uniform pair. So the
/// number of real swaps is Binomial(steps, 2/n), and only these are carried out.
///
/// Where rows can only move in groups, c1 is a column of r1's group: a checkerboard is met with probability 2/n_g, in
/// all 2 G/n for G groups, each group being as likely as any other.
#[derive(Clone, Debug)]
pub struct Checkerboard {
    steps: u64,
    restart: Restart,
    search: ModeSearch,
    groups: MovedGroups,
}

impl Checkerboard {
    /// A kernel of `steps` proposals for each update.
    pub fn new(steps: u64, restart: Restart) -> Self {
        Self {
            steps,
            restart,
            search: ModeSearch::default(),
            groups: MovedGroups::default(),
        }
    }

    /// One update of the links.
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
        &mut self,
        pi: &mut Permutation,
        pair: &L,
        prior: &Prior,
        rng: &mut R,
        info: &mut UpdateInfo,
    ) {
        let space = prior.space();
        let num_groups = space.num_groups();
        if num_groups == 0 {
            return;
        }
        let mut target = Target::new(pi, pair, prior, &mut self.groups);
        let share = 2.0 * num_groups as f64 / space.num_movable() as f64;
        let num_swaps = Binomial::new(self.steps, share)
            .expect("groups have two rows at least")
            .sample(rng);
        for _ in 0..num_swaps {
            let group = match num_groups {
                1 => 0,
                _ => rng.random_range(0..num_groups),
            };
            let rows = space.group(group);
            let i = rng.random_range(0..rows.len());
            let other = rng.random_range(0..rows.len() - 1);
            let j = other + usize::from(other >= i);
            let accepted = target.try_exchange::<A, R>(rows[i], rows[j], 1.0, rng);
            info.count(Move::Swap, accepted);
        }
    }
}
