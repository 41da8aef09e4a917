//! The default sampler: moves on the set of moved rows and on the rows that look mislinked.

use super::acceptance::{Acceptance, ExchangeLogLik, HOPELESS, Metropolis, Target};
use super::alias::split;
use super::columns::ColumnProposal;
use super::moved_groups::MovedGroups;
use super::pair::PairLogLik;
use super::permutation::Permutation;
use super::prior::Prior;
use super::rows::RowProposal;
use super::space::LinkSpace;
use super::update::{Move, UpdateInfo};
use super::walk::CandidateWalk;
use rand::Rng;

/// Proposals for each row that is expected to be mislinked. Measured at n = 250 and 20 000, ESS per
/// second is flat from 20 to 80; at 40 a step costs about as much as a few gradients.
const DEFAULT_EFFORT: f64 = 40.0;
/// The same beside joint moves of the links and theta, which carry d and the pairs far already. A choice between 4 and 10,
/// each tried once on seven real files on a busy machine; 8 itself was not measured.
const EFFORT_BESIDE_COLLAPSED: f64 = 8.0;
/// Rows added to the expected number of mislinked ones, so that clean data are searched as well.
const SPARE_ROWS: f64 = 10.0;

/// How often each kind of move is proposed.
///
/// Birth and death are equally frequent: their proposal ratios assume it.
#[derive(Clone, Copy, Debug)]
struct Mix {
    rewire: f64,
    insert_or_remove: f64,
    birth_or_death: f64,
    relink: f64,
}

/// Whether rows are inserted or removed. A step begins with either, at random, and turns round where a proposal is refused:
/// a guided walk (Gustafson 1998), in which d goes on in one direction instead of to and fro.
///
/// With v for the direction, a proposal from (pi, v) to (pi', v) is the reverse of one from (pi', -v) to (pi, -v), and a
/// refusal, from (pi, v) to (pi, -v), is its own. So with v uniform at the start and forgotten at the end, a step is
/// reversible, whatever moves it is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    Insert,
    Remove,
}

impl Direction {
    pub fn draw<R: Rng + ?Sized>(rng: &mut R) -> Self {
        match rng.random() {
            true => Self::Insert,
            false => Self::Remove,
        }
    }

    fn turn(&mut self) {
        *self = match self {
            Self::Insert => Self::Remove,
            Self::Remove => Self::Insert,
        };
    }
}

/// Groups that `ActiveSet::only` can select.
#[cfg(test)]
pub(super) const NUM_GROUPS: usize = 4;

/// The five moves that need no fitted values.
const PLAIN: Mix = Mix {
    rewire: 0.4,
    insert_or_remove: 0.4,
    birth_or_death: 0.2,
    relink: 0.0,
};

/// With fitted values, relinking replaces most of the rewiring; d itself still moves by insertion.
const WITH_LOCATIONS: Mix = Mix {
    rewire: 0.05,
    insert_or_remove: 0.35,
    birth_or_death: 0.1,
    relink: 0.5,
};

/// With theta integrated out, what is wanted is that d moves far: mostly insertion and removal.
const COLLAPSED: Mix = Mix {
    rewire: 0.1,
    insert_or_remove: 0.7,
    birth_or_death: 0.1,
    relink: 0.1,
};

/// The same where few moved rows are out of the question: pairs that move or go home together are then hardly accepted.
const COLLAPSED_MANY: Mix = Mix {
    rewire: 0.1,
    insert_or_remove: 0.79,
    birth_or_death: 0.01,
    relink: 0.1,
};

/// The same where most rows are moved: beta depends on how they are paired. In a file of 1388 rows, 1100 of them moved, beta
/// had twice the effective draws in 1.6 times the time.
const COLLAPSED_MOST: Mix = Mix {
    rewire: 0.4,
    insert_or_remove: 0.19,
    birth_or_death: 0.01,
    relink: 0.4,
};

/// How many rows are moved while `Collapsed` samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// Few, at times.
    Few,
    Many,
    /// More than half of the rows that can move, on average.
    Most,
}

/// Metropolis moves that exchange the columns of two rows, proposed where exchanges can pay.
///
/// The number of proposals and their distributions are functions of theta and the data only, so
/// a step leaves p(pi | theta, y) invariant.
#[derive(Clone, Debug)]
pub struct ActiveSet {
    effort: f64,
    plain: Mix,
    with_locations: Mix,
    rows: RowProposal,
    columns: ColumnProposal,
    walk: CandidateWalk,
    groups: MovedGroups,
    num_proposals: u64,
    /// Whether proposals stay as they are when theta moves.
    is_kept: bool,
}

impl Default for ActiveSet {
    fn default() -> Self {
        Self::new(DEFAULT_EFFORT)
    }
}

impl ActiveSet {
    /// `effort`: proposals per expected mislinked row and step.
    pub fn new(effort: f64) -> Self {
        assert!(
            effort > 0.0 && effort.is_finite(),
            "the effort must be positive and finite, got {effort}"
        );
        Self {
            effort,
            plain: PLAIN,
            with_locations: WITH_LOCATIONS,
            rows: RowProposal::default(),
            columns: ColumnProposal::default(),
            walk: CandidateWalk::default(),
            groups: MovedGroups::default(),
            num_proposals: 0,
            is_kept: false,
        }
    }

    /// For chains that have joint moves of the links and theta as well.
    pub fn beside_collapsed() -> Self {
        Self::new(EFFORT_BESIDE_COLLAPSED)
    }

    /// Proposals for `Collapsed`, which decides on their number.
    pub(super) fn collapsed() -> Self {
        Self {
            with_locations: COLLAPSED,
            rows: RowProposal::by_doubt(),
            ..Self::default()
        }
    }

    /// Proposals for `Collapsed` where so many rows are moved.
    pub(super) fn expect(&mut self, moved: Moved) {
        self.with_locations = match moved {
            Moved::Few => COLLAPSED,
            Moved::Many => COLLAPSED_MANY,
            Moved::Most => COLLAPSED_MOST,
        };
    }

    /// One group of moves alone: rewire, insert or remove, birth or death, relink.
    #[cfg(test)]
    pub(super) fn only(group: usize, effort: f64) -> Self {
        let share = |of: usize| if of == group { 1.0 } else { 0.0 };
        let mut kernel = Self::new(effort);
        kernel.with_locations = Mix {
            rewire: share(0),
            insert_or_remove: share(1),
            birth_or_death: share(2),
            relink: share(3),
        };
        kernel
    }

    /// One update of the links given the pair likelihood; the posterior is invariant under it.
    pub fn step<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        pair: &L,
        prior: &Prior,
        rng: &mut R,
    ) -> UpdateInfo {
        self.step_with::<Metropolis, L, R>(pi, pair, prior, rng)
    }

    pub(super) fn step_with<A: Acceptance, L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        pair: &L,
        prior: &Prior,
        rng: &mut R,
    ) -> UpdateInfo {
        let mut info = UpdateInfo::default();
        let space = prior.space();
        if space.num_movable() < 2 {
            return info;
        }
        // Taken out while the target borrows it.
        let mut groups = std::mem::take(&mut self.groups);
        let mut target = Target::new(pi, pair, prior, &mut groups);
        if !self.is_kept {
            self.update_proposals(pair, space);
        }
        let num_proposals = self.num_proposals;
        if let Some(candidates) = space.candidates() {
            self.walk.update(space, candidates);
            for _ in 0..num_proposals {
                let walk = &mut self.walk;
                let accepted = walk.propose::<A, L, R>(&self.rows, candidates, &mut target, rng);
                info.count(Move::Walk, accepted);
            }
        } else {
            let mix = match pair.locations() {
                Some(_) => self.with_locations,
                None => self.plain,
            };
            let mut direction = Direction::draw(rng);
            for _ in 0..num_proposals {
                let (kind, accepted) =
                    self.propose::<A, &L, R>(mix, &mut direction, &mut target, rng);
                info.count(kind, accepted);
            }
        }
        self.groups = groups;
        info
    }

    /// The number of proposals and their distributions, at the theta of `pair`.
    fn update_proposals<L: PairLogLik + ?Sized>(&mut self, pair: &L, space: &LinkSpace) {
        self.rows.update(pair, space);
        let active = self.rows.expected_mislinked() + SPARE_ROWS;
        self.num_proposals = (self.effort * active).ceil() as u64;
        if let (Some(locations), None) = (pair.locations(), space.candidates()) {
            self.columns.update(&locations, &self.rows, space);
        }
    }

    /// Keeps the proposals of the theta of `pair` from now on, until the next call. They are those of no later theta, so a
    /// step is exact only where the calls do not depend on later states: before draws are saved.
    pub fn keep_proposals<L: PairLogLik + ?Sized>(&mut self, pair: &L, space: &LinkSpace) {
        if space.num_movable() >= 2 {
            self.update_proposals(pair, space);
            self.release();
            self.is_kept = true;
        }
    }

    /// Fixes the proposals at the theta of `pair`, which has locations.
    pub(super) fn fix<L: PairLogLik>(&mut self, pair: &L, space: &LinkSpace) {
        self.rows.update(pair, space);
        let locations = pair.locations().expect("a family with locations");
        self.columns.update(&locations, &self.rows, space);
        self.release();
    }

    /// Gives up what only later updates need: none follow soon.
    fn release(&mut self) {
        self.rows.release();
        self.columns.release();
    }

    /// One proposal from the distributions of the last `fix`, towards any target.
    #[inline]
    pub(super) fn propose_fixed<A: Acceptance, E: ExchangeLogLik, R: Rng + ?Sized>(
        &self,
        direction: &mut Direction,
        target: &mut Target<'_, E>,
        rng: &mut R,
    ) -> (Move, bool) {
        self.propose::<A, E, R>(self.with_locations, direction, target, rng)
    }

    #[inline]
    fn propose<A: Acceptance, E: ExchangeLogLik, R: Rng + ?Sized>(
        &self,
        mix: Mix,
        direction: &mut Direction,
        target: &mut Target<'_, E>,
        rng: &mut R,
    ) -> (Move, bool) {
        let mut u = rng.random::<f64>();
        if u < mix.relink {
            return (Move::Relink, self.relink::<A, E, R>(target, rng));
        }
        u -= mix.relink;
        if u < mix.rewire {
            return (Move::Rewire, rewire::<A, E, R>(target, rng));
        }
        u -= mix.rewire;
        if u < mix.insert_or_remove {
            let done = match direction {
                Direction::Insert => (Move::Insert, self.insert::<A, E, R>(target, rng)),
                Direction::Remove => (Move::Remove, self.remove::<A, E, R>(target, rng)),
            };
            if !done.1 {
                direction.turn();
            }
            return done;
        }
        if u < mix.insert_or_remove + mix.birth_or_death {
            if rng.random() {
                return (Move::PairBirth, self.pair_birth::<A, E, R>(target, rng));
            }
            return (Move::PairDeath, self.pair_death::<A, E, R>(target, rng));
        }
        // Rounding of the shares leaves a sliver: propose nothing there.
        (Move::Rewire, false)
    }

    /// A fixed row i ~ q enters before a uniform j in M, of its group: pi'(i) = pi(j), pi'(j) = i.
    fn insert<A: Acceptance, E: ExchangeLogLik, R: Rng + ?Sized>(
        &self,
        target: &mut Target<'_, E>,
        rng: &mut R,
    ) -> bool {
        let d = target.pi.num_moved();
        if d < 2 {
            return false;
        }
        let i = self.rows.draw(target.prior.space(), rng);
        if target.pi.is_moved(i) {
            return false;
        }
        let Some(j) = uniform(target.moved_beside(i), rng) else {
            return false;
        };
        let (d, d_group) = (d as f64, target.moved_beside(i).len() as f64);
        let ratio = d_group / ((d + 1.0) * self.rows.probability(i));
        target.try_exchange::<A, R>(i, j, ratio, rng)
    }

    /// A uniform i in M, in a cycle of three or more, goes home: pi'(i) = i, pi'(j) = pi(i).
    fn remove<A: Acceptance, E: ExchangeLogLik, R: Rng + ?Sized>(
        &self,
        target: &mut Target<'_, E>,
        rng: &mut R,
    ) -> bool {
        let d = target.pi.num_moved();
        if d < 3 {
            return false;
        }
        let Some(i) = uniform(target.pi.moved(), rng) else {
            return false;
        };
        let j = target.pi.row_of(i);
        if target.pi.column_of(i) == j {
            return false;
        }
        let (d, d_group) = (d as f64, target.moved_beside(i).len() as f64);
        let ratio = self.rows.probability(i) * d / (d_group - 1.0);
        target.try_exchange::<A, R>(i, j, ratio, rng)
    }

    /// Two fixed rows of one group, both from q, are transposed.
    fn pair_birth<A: Acceptance, E: ExchangeLogLik, R: Rng + ?Sized>(
        &self,
        target: &mut Target<'_, E>,
        rng: &mut R,
    ) -> bool {
        let space = target.prior.space();
        let i = self.rows.draw(space, rng);
        let group = space.group_of_movable(i);
        let j = self.rows.draw_in_group(space, group, rng);
        if i == j || target.pi.is_moved(i) || target.pi.is_moved(j) {
            return false;
        }
        let d = target.pi.num_moved() as f64;
        let forward = self.rows.probability(i) * self.rows.probability(j)
            / self.rows.group_probability(space, group);
        target.try_exchange::<A, R>(i, j, 1.0 / ((d + 2.0) * forward), rng)
    }

    /// A uniform i in M, in a cycle of two, goes home together with its partner.
    fn pair_death<A: Acceptance, E: ExchangeLogLik, R: Rng + ?Sized>(
        &self,
        target: &mut Target<'_, E>,
        rng: &mut R,
    ) -> bool {
        let Some(i) = uniform(target.pi.moved(), rng) else {
            return false;
        };
        let j = target.pi.column_of(i);
        if target.pi.column_of(j) != i {
            return false;
        }
        let space = target.prior.space();
        let d = target.pi.num_moved() as f64;
        let reverse = self.rows.probability(i) * self.rows.probability(j)
            / self
                .rows
                .group_probability(space, space.group_of_movable(i));
        target.try_exchange::<A, R>(i, j, d * reverse, rng)
    }

    /// Row i ~ q is linked to column c ~ s(. | i); the row j that held c takes i's old column a.
    ///
    /// The same exchange arises from (i, c) and from (j, a), and its reverse from (i, a) and (j, c):
    /// ratio = (q_i s(a|i) + q_j s(c|j)) / (q_i s(c|i) + q_j s(a|j)).
    fn relink<A: Acceptance, E: ExchangeLogLik, R: Rng + ?Sized>(
        &self,
        target: &mut Target<'_, E>,
        rng: &mut R,
    ) -> bool {
        let space = target.prior.space();
        let i = self.rows.draw(space, rng);
        let Some(c) = self.columns.draw(i, space, rng) else {
            return false;
        };
        let a = target.pi.column_of(i);
        if a == c {
            return false;
        }
        let j = target.pi.row_of(c);
        let log_change = target.log_change(i, j);
        if log_change < HOPELESS {
            return false;
        }
        let (q_i, q_j) = (self.rows.probability(i), self.rows.probability(j));
        let s = |row, column| self.columns.probability(row, column, space);
        let forward = q_i * s(i, c) + q_j * s(j, a);
        let reverse = q_i * s(i, a) + q_j * s(j, c);
        let accepted = A::accept(log_change, reverse / forward, rng);
        if accepted {
            target.exchange(i, j);
        }
        accepted
    }
}

/// Two uniform rows of M, of one group, exchange columns; refused when one of them would go home.
fn rewire<A: Acceptance, E: ExchangeLogLik, R: Rng + ?Sized>(
    target: &mut Target<'_, E>,
    rng: &mut R,
) -> bool {
    let Some(i) = uniform(target.pi.moved(), rng) else {
        return false;
    };
    let Some(j) = uniform(target.moved_beside(i), rng) else {
        return false;
    };
    if i == j || target.pi.column_of(j) == i || target.pi.column_of(i) == j {
        return false;
    }
    target.try_exchange::<A, R>(i, j, 1.0, rng)
}

#[inline]
fn uniform<R: Rng + ?Sized>(rows: &[usize], rng: &mut R) -> Option<usize> {
    (!rows.is_empty()).then(|| rows[split(rng.next_u64(), rows.len()).0])
}
