//! Links without feedback: the row mixture, in which theta says nothing of a moved row, and the links of its moved rows.
//!
//! The state is a permutation whose moved set M is that of the row mixture
//!     p(M, theta) ~ p(theta) * product over rows that stay of p(y_i | x_i, theta) * product over M of m(y_i) * P(M),
//! with m the fixed marginal law of the responses and P(M) the prior's mass of all permutations that move just M. Where
//! the moved rows go is uniform given M (up to the prior's own weights), so any exact kernel samples it unchanged.
//! What is reported of the links is a second permutation, drawn given theta and M, which nothing else depends on.

use super::active_set::ActiveSet;
use super::pair::{Locations, PairLogLik};
use super::permutation::Permutation;
use super::prior::Prior;
use super::space::LinkSpace;
use rand::Rng;

/// l(i, i) is the log density of y[i] at its own link, l(i, j) that of its marginal law, wherever it goes.
#[derive(Clone, Copy, Debug)]
pub struct RowMixture<'a> {
    /// alpha * log p(y[i] | X[i], theta), normalised.
    pub own: &'a [f64],
    /// alpha * log m(y[i]).
    pub marginal: &'a [f64],
}

impl PairLogLik for RowMixture<'_> {
    fn len(&self) -> usize {
        self.own.len()
    }

    #[inline]
    fn pair(&self, row: usize, column: usize) -> f64 {
        if row == column {
            self.own[row]
        } else {
            self.marginal[row]
        }
    }

    fn log_mislink_ratio(&self, row: usize) -> f64 {
        self.marginal[row] - self.own[row]
    }
}

/// Far more than any evidence that a proposal heeds, and within its bounds.
const CERTAIN: f64 = 50.0;

/// The pair likelihood given that just the rows that `state` moves are moved.
struct GivenMoved<'a, L: ?Sized> {
    pair: &'a L,
    state: &'a Permutation,
}

impl<L: PairLogLik + ?Sized> PairLogLik for GivenMoved<'_, L> {
    fn len(&self) -> usize {
        self.pair.len()
    }

    #[inline]
    fn pair(&self, row: usize, column: usize) -> f64 {
        match (self.state.is_moved(row), row == column) {
            (true, false) => self.pair.pair(row, column),
            (false, true) => 0.0,
            _ => f64::NEG_INFINITY,
        }
    }

    fn log_mislink_ratio(&self, row: usize) -> f64 {
        if self.state.is_moved(row) {
            CERTAIN
        } else {
            -CERTAIN
        }
    }

    fn locations(&self) -> Option<Locations<'_>> {
        // No assignment of all rows is sought here.
        let known = self.pair.locations()?;
        Some(Locations {
            is_best_sorted: false,
            ..known
        })
    }
}

/// Where the moved rows of a state belong, drawn given theta.
///
/// While theta and the moved set stand still, steps leave p(links | moved set, theta) invariant. When they change, a step
/// starts from the links before, changed as little as the new set allows.
#[derive(Clone, Debug)]
pub struct LinksGivenMoved {
    links: Permutation,
    kernel: ActiveSet,
}

impl LinksGivenMoved {
    pub fn new(num_rows: usize) -> Self {
        Self {
            links: Permutation::identity(num_rows),
            kernel: ActiveSet::default(),
        }
    }

    pub fn links(&self) -> &Permutation {
        &self.links
    }

    /// Draws the links of the rows that `state` moves.
    pub fn step<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        state: &Permutation,
        pair: &L,
        prior: &Prior,
        rng: &mut R,
    ) {
        self.follow(state, prior.space(), rng);
        if state.num_moved() > 2 {
            let pair = GivenMoved { pair, state };
            self.kernel.step(&mut self.links, &pair, prior, rng);
        }
    }

    /// Makes the links move the same rows as `state`.
    fn follow<R: Rng + ?Sized>(&mut self, state: &Permutation, space: &LinkSpace, rng: &mut R) {
        let links = &mut self.links;
        let differs = |links: &Permutation, row: usize| links.is_moved(row) != state.is_moved(row);
        if !(0..state.len()).any(|row| differs(links, row)) {
            return;
        }
        if space.candidates().is_some() {
            // Few links are possible, and these are.
            links.assign(state);
            return;
        }
        for row in (0..state.len()).filter(|&row| !state.is_moved(row)) {
            if links.is_moved(row) {
                // The row goes home, and who held its place takes the one it leaves.
                links.exchange(row, links.row_of(row));
            }
        }
        for &row in state.moved() {
            if !links.is_moved(row) {
                let group = space.group(space.group_of_movable(row));
                let start = rng.random_range(0..group.len());
                let (before, behind) = group.split_at(start);
                let mut others = behind.iter().chain(before);
                let other = others.find(|&&other| other != row && state.is_moved(other));
                links.exchange(row, *other.expect("no row moves alone in its group"));
            }
        }
    }
}
