//! Step 2 where responses may come from outside the file: moves of partial permutations.

use super::acceptance::{Acceptance, HOPELESS, Metropolis};
use super::columns::{ColumnProposal, HOME};
use super::outside::{Counts, GroupCount, OutsidePrior};
use super::pair::PairLogLik;
use super::permutation::{NOBODY, OUTSIDE, Permutation};
use super::rows::RowProposal;
use super::update::{Move, UpdateInfo};
use super::walk::CandidateWalk;
use rand::Rng;

/// Proposals for each row that is expected to be mislinked, and rows added to these, as of the active set.
const DEFAULT_EFFORT: f64 = 40.0;
const SPARE_ROWS: f64 = 10.0;
/// Share of the proposals that send a row outside.
const TO_OUTSIDE: f64 = 0.2;
/// Proposals between outside and the places that nobody claims, for each other proposal.
const FREE_PLACES: f64 = 1.0;

/// Metropolis moves of one row to another place or outside. The row that holds the place takes the one that is left, be it
/// outside; a place that nobody claims stays empty.
///
/// Row i ~ q draws a place c ~ s(. | i), outside among them. q, s and the number of proposals depend on theta and the data
/// only, so a step leaves p(pi | theta, y) invariant. Every partial permutation is reached: all rows can go outside one by
/// one, and from there to any place that is possible for them.
///
/// s knows where a row would fit and not which places are free, of which there are few. So as many proposals take a wrong
/// row, uniformly, from outside to a free place, or from its place outside: the number of responses from outside mixes by
/// these.
#[derive(Clone, Debug)]
pub struct OutsideSet {
    effort: f64,
    rows: RowProposal,
    columns: ColumnProposal,
    walk: CandidateWalk,
    groups: Vec<GroupCount>,
    free: FreePlaces,
}

impl Default for OutsideSet {
    fn default() -> Self {
        Self::new(DEFAULT_EFFORT)
    }
}

impl OutsideSet {
    /// `effort`: proposals per expected mislinked row and step.
    pub fn new(effort: f64) -> Self {
        Self {
            effort,
            rows: RowProposal::default(),
            columns: ColumnProposal::default(),
            walk: CandidateWalk::default(),
            groups: Vec::new(),
            free: FreePlaces::default(),
        }
    }

    /// One update of the links; `outside` is the tempered log density of each response that belongs to nobody, up to the
    /// terms that `pair` leaves out.
    pub fn step<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        pair: &L,
        outside: &[f64],
        prior: &OutsidePrior,
        rng: &mut R,
    ) -> UpdateInfo {
        self.step_with::<Metropolis, L, R>(pi, pair, outside, prior, rng)
    }

    pub(super) fn step_with<A: Acceptance, L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        pi: &mut Permutation,
        pair: &L,
        outside: &[f64],
        prior: &OutsidePrior,
        rng: &mut R,
    ) -> UpdateInfo {
        assert_eq!(pi.len(), prior.num_rows(), "permutation and prior");
        assert_eq!(
            pi.num_present(),
            prior.num_present(),
            "rows with a response"
        );
        let mut info = UpdateInfo::default();
        if prior.num_movable() == 0 {
            return info;
        }
        let place = self.update_proposals(pair, prior);
        let mut room = (
            std::mem::take(&mut self.groups),
            std::mem::take(&mut self.free),
        );
        let mut target = Target::new(pi, pair, outside, prior, &mut room);
        let active = self.rows.expected_mislinked() + SPARE_ROWS;
        for _ in 0..(self.effort * active).ceil() as u64 {
            let accepted = self.propose::<A, L, R>(place, &mut target, rng);
            info.count(Move::Relink, accepted);
        }
        for _ in 0..(FREE_PLACES * self.effort * active).ceil() as u64 {
            let accepted = target.leave_or_enter::<A, R>(rng);
            info.count(Move::LeaveOrEnter, accepted);
        }
        (self.groups, self.free) = room;
        info
    }

    /// Moves to the theta of `pair`; how places are proposed.
    fn update_proposals<L: PairLogLik + ?Sized>(
        &mut self,
        pair: &L,
        prior: &OutsidePrior,
    ) -> PlaceProposal {
        self.rows.update(pair, prior.present());
        let places = prior.places();
        if let Some(candidates) = places.candidates() {
            self.walk.update(places, candidates);
            return PlaceProposal::Candidates;
        }
        match pair.locations() {
            Some(locations) => {
                self.columns.update(&locations, &self.rows, places);
                PlaceProposal::Near
            }
            None => PlaceProposal::Uniform,
        }
    }

    /// A place c for `row`; None where the draw falls off the end of the ranks.
    fn draw_place<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        by: PlaceProposal,
        row: usize,
        (pair, prior): (&L, &OutsidePrior),
        rng: &mut R,
    ) -> Option<usize> {
        if rng.random::<f64>() < TO_OUTSIDE {
            return Some(OUTSIDE);
        }
        let places = prior.places();
        match by {
            PlaceProposal::Near => self.columns.draw(row, places, rng),
            PlaceProposal::Candidates => {
                let candidates = places.candidates().expect("checked by the caller");
                if candidates.of(row).0.is_empty() {
                    return Some(row);
                }
                Some(self.walk.draw(row, candidates, pair, rng))
            }
            PlaceProposal::Uniform if rng.random::<f64>() < HOME => Some(row),
            PlaceProposal::Uniform => {
                let group = places.group(places.group_of_movable(row));
                Some(group[rng.random_range(0..group.len())])
            }
        }
    }

    /// s(place | row), for a place that is possible.
    fn probability<L: PairLogLik + ?Sized>(
        &mut self,
        by: PlaceProposal,
        row: usize,
        place: usize,
        (pair, prior): (&L, &OutsidePrior),
    ) -> f64 {
        if place == OUTSIDE {
            return TO_OUTSIDE;
        }
        let places = prior.places();
        let inside = match by {
            PlaceProposal::Near => self.columns.probability(row, place, places),
            PlaceProposal::Candidates => {
                let candidates = places.candidates().expect("checked by the caller");
                match candidates.of(row).0.is_empty() {
                    true => 1.0,
                    false => self.walk.probability(row, place, candidates, pair),
                }
            }
            PlaceProposal::Uniform => {
                let size = places.group(places.group_of_movable(row)).len() as f64;
                let home = if row == place { HOME } else { 0.0 };
                home + (1.0 - HOME) / size
            }
        };
        (1.0 - TO_OUTSIDE) * inside
    }

    /// Row i ~ q draws the place c ~ s(. | i) and leaves a.
    ///
    /// Where nobody holds c, or c is outside, i moves alone, and the reverse is i drawing a: s(a|i) / s(c|i). Otherwise j,
    /// who holds c, takes a. Where a is outside, only i proposes that, and only j its reverse: q_j s(c|j) / (q_i s(c|i)).
    /// Else it arises from (i, c) and from (j, a), as a relink of the active set.
    fn propose<A: Acceptance, L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        by: PlaceProposal,
        target: &mut Target<'_, L>,
        rng: &mut R,
    ) -> bool {
        let model = (target.pair, target.prior);
        let i = self.rows.draw(target.prior.present(), rng);
        let a = target.pi.column_of(i);
        let Some(c) = self.draw_place(by, i, model, rng).filter(|&c| c != a) else {
            return false;
        };
        let j = match c {
            OUTSIDE => NOBODY,
            _ => target.pi.row_of(c),
        };
        let both = [(i, a, c), (j, c, a)];
        let changes = if j == NOBODY { &both[..1] } else { &both[..] };
        let log_change = target.log_change(changes);
        if log_change < HOPELESS {
            return false;
        }
        let mut s = |row, place| self.probability(by, row, place, model);
        let ratio = if j == NOBODY {
            s(i, a) / s(i, c)
        } else {
            let (s_c, back_c) = (s(i, c), s(j, c));
            let (back_a, s_a) = match a {
                OUTSIDE => (0.0, 0.0),
                _ => (s(i, a), s(j, a)),
            };
            let (q_i, q_j) = (self.rows.probability(i), self.rows.probability(j));
            (q_i * back_a + q_j * back_c) / (q_i * s_c + q_j * s_a)
        };
        let accepted = A::accept(log_change, ratio, rng);
        if accepted {
            target.apply(changes);
        }
        accepted
    }
}

/// How places are proposed.
#[derive(Clone, Copy, Debug)]
enum PlaceProposal {
    /// By how near their fitted values are.
    Near,
    Candidates,
    Uniform,
}

/// p(pi | theta, y) where responses may come from outside, up to a constant.
struct Target<'a, L: ?Sized> {
    pi: &'a mut Permutation,
    pair: &'a L,
    outside: &'a [f64],
    prior: &'a OutsidePrior,
    counts: Counts,
    groups: &'a mut [GroupCount],
    free: &'a mut FreePlaces,
}

/// A row of one group with its old and its new column.
type Change = (usize, usize, usize);

impl<'a, L: PairLogLik + ?Sized> Target<'a, L> {
    /// `groups` and `free` are room to work in, of any earlier content.
    fn new(
        pi: &'a mut Permutation,
        pair: &'a L,
        outside: &'a [f64],
        prior: &'a OutsidePrior,
        (groups, free): &'a mut (Vec<GroupCount>, FreePlaces),
    ) -> Self {
        let counts = prior.count(pi, groups);
        free.fill(pi, prior);
        Self {
            pi,
            pair,
            outside,
            prior,
            counts,
            groups,
            free,
        }
    }

    /// A wrong row i, uniformly, goes outside if it has a place a, and otherwise to a free place of its group, uniformly.
    ///
    /// It stays wrong, so its draw has the same probability both ways, and one place of f is drawn on one way only: the
    /// ratio is f on the way in and 1 / f on the way out, f being the free places while i is outside.
    fn leave_or_enter<A: Acceptance, R: Rng + ?Sized>(&mut self, rng: &mut R) -> bool {
        let moved = self.pi.moved();
        if moved.is_empty() {
            return false;
        }
        let i = moved[rng.random_range(0..moved.len())];
        let a = self.pi.column_of(i);
        let free = self.free.of(self.prior.places().group_of_movable(i));
        let (c, ratio) = match a {
            OUTSIDE if free.is_empty() => return false,
            OUTSIDE => (free[rng.random_range(0..free.len())], free.len() as f64),
            _ => (OUTSIDE, 1.0 / (free.len() + 1) as f64),
        };
        if c == i {
            return false;
        }
        let change = [(i, a, c)];
        let log_change = self.log_change(&change);
        let accepted = log_change >= HOPELESS && A::accept(log_change, ratio, rng);
        if accepted {
            self.apply(&change);
        }
        accepted
    }

    #[inline]
    fn log_lik(&self, row: usize, column: usize) -> f64 {
        match column {
            OUTSIDE => self.outside[row],
            _ => self.pair.pair(row, column),
        }
    }

    /// Counts of the group and of all after rows of one group change their columns.
    #[inline]
    fn counts_after(&self, changes: &[Change]) -> (usize, GroupCount, Counts) {
        let group = self.prior.places().group_of_movable(changes[0].0);
        let mut count = self.groups[group];
        let mut counts = self.counts;
        counts.lone -= usize::from(self.prior.is_lone(group, count));
        for &(row, old, new) in changes {
            match old {
                OUTSIDE => count.outside -= 1,
                _ => count.moved -= usize::from(old != row),
            }
            match new {
                OUTSIDE => count.outside += 1,
                _ => count.moved += usize::from(new != row),
            }
        }
        let before = self.groups[group];
        counts.outside = counts.outside + count.outside - before.outside;
        counts.wrong = counts.wrong + count.outside + count.moved - before.outside - before.moved;
        counts.lone += usize::from(self.prior.is_lone(group, count));
        (group, count, counts)
    }

    fn log_change(&self, changes: &[Change]) -> f64 {
        let prior = self.prior;
        let links = changes
            .iter()
            .map(|&(row, old, new)| prior.log_link(row, new) - prior.log_link(row, old));
        let links: f64 = links.sum();
        if links == f64::NEG_INFINITY {
            return links;
        }
        let (group, count, counts) = self.counts_after(changes);
        let of_group = prior.log_group(group, count) - prior.log_group(group, self.groups[group]);
        let of_all = prior.log_counts(counts) - prior.log_counts(self.counts);
        let fit = changes
            .iter()
            .map(|&(row, old, new)| self.log_lik(row, new) - self.log_lik(row, old));
        links + of_group + of_all + fit.sum::<f64>()
    }

    fn apply(&mut self, changes: &[Change]) {
        let (group, count, counts) = self.counts_after(changes);
        match *changes {
            [(i, a, _), (j, _, _)] if a != OUTSIDE => self.pi.exchange(i, j),
            [(i, _, c), (j, _, _)] => {
                self.pi.place(j, OUTSIDE);
                self.pi.place(i, c);
            }
            _ => {
                let (row, from, to) = changes[0];
                self.pi.place(row, to);
                if from != OUTSIDE {
                    self.free.add(from, group);
                }
                if to != OUTSIDE {
                    self.free.remove(to, group);
                }
            }
        }
        self.groups[group] = count;
        self.counts = counts;
    }
}

/// The places of each group that nobody claims.
#[derive(Clone, Debug, Default)]
struct FreePlaces {
    by_group: Vec<Vec<usize>>,
    /// Where each free place stands in the list of its group.
    position: Vec<usize>,
}

impl FreePlaces {
    fn fill(&mut self, pi: &Permutation, prior: &OutsidePrior) {
        let places = prior.places();
        self.by_group.iter_mut().for_each(Vec::clear);
        self.by_group.resize(places.num_groups(), Vec::new());
        self.position.resize(places.num_rows(), 0);
        for group in 0..places.num_groups() {
            for &place in places.group(group) {
                if pi.row_of(place) == NOBODY {
                    self.add(place, group);
                }
            }
        }
    }

    #[inline]
    fn of(&self, group: usize) -> &[usize] {
        &self.by_group[group]
    }

    #[inline]
    fn add(&mut self, place: usize, group: usize) {
        let list = &mut self.by_group[group];
        self.position[place] = list.len();
        list.push(place);
    }

    #[inline]
    fn remove(&mut self, place: usize, group: usize) {
        let list = &mut self.by_group[group];
        let hole = self.position[place];
        list.swap_remove(hole);
        if let Some(&filler) = list.get(hole) {
            self.position[filler] = hole;
        }
    }
}
