//! One step of the permutation given the parameters, by whichever kernel the user chose.

use super::active_set::ActiveSet;
use super::assignment::ModeSearch;
use super::checkerboard::Checkerboard;
use super::pair::PairLogLik;
use super::permutation::Permutation;
use super::prior::Prior;
use rand::Rng;

/// The kernels of Step 2. A chain owns one, so its size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub enum LinkKernel {
    /// Moves proposed in the active set.
    ActiveSet(ActiveSet),
    /// Exchanges of random pairs, as in the paper.
    Checkerboard(Checkerboard),
    /// The mode instead of a draw: the paper's MC-EM.
    Mode(ModeSearch),
}

impl LinkKernel {
    /// Keeps the proposals at the theta of `pair`, where the kernel has any: see [`ActiveSet::keep_proposals`].
    pub fn keep_proposals<L: PairLogLik + ?Sized>(&mut self, pair: &L, prior: &Prior) {
        if let Self::ActiveSet(kernel) = self {
            kernel.keep_proposals(pair, prior.space());
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
        match self {
            Self::ActiveSet(kernel) => kernel.step(pi, pair, prior, rng),
            Self::Checkerboard(kernel) => kernel.step(pi, pair, prior, rng),
            Self::Mode(search) => {
                let mode = search.find(pi, pair, prior);
                pi.assign(&mode.permutation);
                UpdateInfo {
                    gap_bound: Some(mode.gap_bound),
                    ..UpdateInfo::default()
                }
            }
        }
    }
}

/// The kinds of moves that kernels count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Rewire,
    Insert,
    Remove,
    PairBirth,
    PairDeath,
    Relink,
    Swap,
    Walk,
    LeaveOrEnter,
    /// A draw from the posterior given theta, which is always accepted.
    Draw,
}

impl Move {
    pub const ALL: [Self; 10] = [
        Self::Rewire,
        Self::Insert,
        Self::Remove,
        Self::PairBirth,
        Self::PairDeath,
        Self::Relink,
        Self::Swap,
        Self::Walk,
        Self::LeaveOrEnter,
        Self::Draw,
    ];
}

/// How often one kind of move was proposed and accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveCount {
    /// How many were proposed.
    pub proposed: u64,
    /// How many were accepted.
    pub accepted: u64,
}

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UpdateInfo {
    moves: [MoveCount; Move::ALL.len()],
    /// How far the mode that was found can be from the best one, where a mode was sought.
    pub gap_bound: Option<f64>,
}

impl UpdateInfo {
    #[inline]
    pub(crate) fn count(&mut self, kind: Move, accepted: bool) {
        let count = &mut self.moves[kind as usize];
        count.proposed += 1;
        count.accepted += u64::from(accepted);
    }

    /// Of one kind of moves.
    pub fn of(&self, kind: Move) -> MoveCount {
        self.moves[kind as usize]
    }

    /// Over all kinds of moves.
    pub fn total(&self) -> MoveCount {
        self.moves
            .iter()
            .fold(MoveCount::default(), |sum, count| MoveCount {
                proposed: sum.proposed + count.proposed,
                accepted: sum.accepted + count.accepted,
            })
    }
}
