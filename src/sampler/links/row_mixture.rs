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

/// l(i, i) is the log density of `y[i]` at its own link, l(i, j) that of its marginal law, wherever it goes.
#[derive(Clone, Copy, Debug)]
pub struct RowMixture<'a> {
    /// alpha * log p(`y[i]` | `X[i]`, theta), normalised.
    pub own: &'a [f64],
    /// alpha * log m(`y[i]`).
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
pub(super) struct GivenMoved<'a, L: ?Sized> {
    pub pair: &'a L,
    pub state: &'a Permutation,
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

/// Triples for each moved row and step.
const TRIPLES: usize = 20;

/// The orders of three columns.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// Three moved rows of one group draw who has which of their columns, with the probabilities of the six orders.
fn draw_three<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
    links: &mut Permutation,
    pair: &L,
    space: &LinkSpace,
    rng: &mut R,
) {
    let moved = links.moved();
    let i = moved[rng.random_range(0..moved.len())];
    let beside = match space.num_groups() {
        1 => moved,
        _ => space.group(space.group_of_movable(i)),
    };
    let [j, k] = [(); 2].map(|()| beside[rng.random_range(0..beside.len())]);
    if i == j || j == k || i == k || !links.is_moved(j) || !links.is_moved(k) {
        return;
    }
    let rows = [i, j, k];
    let columns = rows.map(|row| links.column_of(row));
    let log_weight = |order: [usize; 3]| -> f64 {
        let chosen = rows.iter().zip(order.map(|of| columns[of]));
        chosen
            .map(|(&row, column)| pair.pair(row, column) + space.log_link(row, column))
            .sum()
    };
    let log_weights = ORDERS.map(log_weight);
    let largest = log_weights.iter().copied().fold(f64::MIN, f64::max);
    let weights = log_weights.map(|weight| (weight - largest).exp());
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    let drawn = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding may leave a sliver: then nothing changes.
    let [a, b, _] = ORDERS[drawn.unwrap_or(0)].map(|of| columns[of]);
    if links.column_of(i) != a {
        links.exchange(i, links.row_of(a));
    }
    if links.column_of(j) != b {
        links.exchange(j, links.row_of(b));
    }
}

/// Where the moved rows of a state belong, drawn given theta.
///
/// Exchanges of two rows come from the active set, which knows where a row would fit. They alone do not connect all
/// links of one moved set: any exchange inside a cycle of three sends a row home. So the columns of three rows are also
/// drawn anew from their six orders. While theta and the moved set stand still, steps leave p(links | moved set, theta) invariant. When they change, a step
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

    /// Continues from links that an earlier step drew.
    pub fn resume(&mut self, links: Permutation) {
        self.links = links;
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
            for _ in 0..TRIPLES * state.num_moved() {
                draw_three(&mut self.links, &pair, prior.space(), rng);
            }
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

#[cfg(test)]
mod tests {
    use super::super::exactness::{Enumeration, LIMIT, all_permutations, random_pairs};
    use super::super::family::FamilyLogLik;
    use super::super::marginal::Marginal;
    use super::super::prior::PriorKind;
    use super::super::space::LinkFacts;
    use super::*;
    use crate::model::Family;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const N: usize = 6;

    fn moved_set(pi: &[usize]) -> Vec<bool> {
        pi.iter().enumerate().map(|(i, j)| i != *j).collect()
    }

    fn space(facts: LinkFacts) -> Prior {
        Prior::new(PriorKind::Hamming { theta: 0.3 }, LinkSpace::new(N, facts))
    }

    /// Nothing known; blocks; candidates of which the cycles 1 -> 2 -> 4 -> 1 and back have different weights.
    fn priors() -> [Prior; 3] {
        let pairs: Vec<(usize, usize, f64)> = (0..N)
            .flat_map(|i| {
                (0..N)
                    .filter(move |&j| i != j)
                    .map(move |j| (i, j, 1.0 + i as f64))
            })
            .filter(|&(i, j, _)| (i, j) != (0, 3))
            .collect();
        let blocks = LinkFacts {
            block_of_row: Some(&[0, 1, 1, 0, 1, 0]),
            ..LinkFacts::default()
        };
        let candidates = LinkFacts {
            candidates: Some(&pairs),
            ..LinkFacts::default()
        };
        [
            space(LinkFacts::default()),
            space(blocks),
            space(candidates),
        ]
    }

    /// Total variation between the links of a long chain and p(links | moved set), by enumeration.
    fn distance(
        state: &Permutation,
        prior: &Prior,
        mut step: impl FnMut(&mut LinksGivenMoved, &mut ChaCha8Rng),
    ) -> f64 {
        let pair = random_pairs(Family::Gaussian, N, 1.0, 5);
        let wanted = moved_set(state.as_slice());
        let mut cells: Vec<(Vec<usize>, f64, f64)> = all_permutations(N)
            .into_iter()
            .filter(|pi| moved_set(pi) == wanted)
            .map(|pi| {
                let links = Permutation::from_vec(pi.clone()).unwrap();
                let weight = (pair.total(&links) + prior.log_prior(&links)).exp();
                (pi, weight, 0.0)
            })
            .collect();
        let total: f64 = cells.iter().map(|cell| cell.1).sum();
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let mut links = LinksGivenMoved::new(N);
        let draws = 20_000;
        for _ in 0..draws {
            step(&mut links, &mut rng);
            links.links().check();
            let found = links.links().as_slice();
            let cell = cells.iter_mut().find(|cell| cell.0 == found);
            cell.expect("links of the moved set").2 += 1.0;
        }
        let differences = cells
            .iter()
            .map(|(_, weight, count)| (weight / total - count / f64::from(draws)).abs());
        0.5 * differences.sum::<f64>()
    }

    /// Moved sets of three rows, of five, and of all, each possible under `prior`.
    fn states(prior: &Prior) -> [Permutation; 3] {
        let all = match prior.space().candidates() {
            Some(_) => [5, 2, 4, 0, 1, 3],
            None => [3, 2, 4, 5, 1, 0],
        };
        [[0, 2, 4, 3, 1, 5], [5, 2, 4, 3, 1, 0], all]
            .map(|state| Permutation::from_vec(state.to_vec()).unwrap())
    }

    /// From exact draws, as in `exactness`; nine tests.
    #[test]
    fn links_given_the_moved_set_leave_their_posterior_invariant() {
        let pair = random_pairs(Family::Gaussian, N, 1.0, 5);
        let hotter = random_pairs(Family::Gaussian, N, 0.6, 5);
        for prior in priors() {
            for state in states(&prior) {
                let given = GivenMoved {
                    pair: &pair,
                    state: &state,
                };
                let exact = Enumeration::new(&given, &prior);
                let mut rng = ChaCha8Rng::seed_from_u64(6);
                let mut links = LinksGivenMoved::new(N);
                links.kernel = ActiveSet::new(2.0);
                let mut score = |pair: &FamilyLogLik<Family>| {
                    exact.score(&exact.replicate(10_000, &mut rng, |pi, rng| {
                        links.links.assign(pi);
                        links.step(&state, pair, &prior, rng);
                        pi.assign(&links.links);
                    }))
                };
                let z = score(&pair);
                assert!(z < LIMIT, "{state:?}: z = {z}");
                let z = score(&hotter);
                assert!(
                    z > LIMIT,
                    "{state:?}: another temperature was not found, z = {z}"
                );
            }
        }
    }

    /// With at most 44 cells, noise alone gives a total variation of 0.02.
    #[test]
    fn all_links_of_a_moved_set_are_reached() {
        let pair = random_pairs(Family::Gaussian, N, 1.0, 5);
        for prior in priors() {
            let [three, five, _] = states(&prior);
            for state in [three, five] {
                let found = distance(&state, &prior, |links, rng| {
                    links.step(&state, &pair, &prior, rng);
                });
                assert!(found < 0.03, "{state:?}: total variation {found}");
            }
        }
        // Exchanges of two rows alone never turn a cycle of three round.
        let [prior, ..] = priors();
        let [three, ..] = states(&prior);
        let found = distance(&three, &prior, |links, rng| {
            links.follow(&three, prior.space(), rng);
            let pair = GivenMoved {
                pair: &pair,
                state: &three,
            };
            links.kernel.step(&mut links.links, &pair, &prior, rng);
        });
        assert!(found > 0.1, "a planted mistake was not found: {found}");
    }

    #[test]
    fn links_follow_every_change_of_the_moved_set() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        for prior in priors() {
            let mut links = LinksGivenMoved::new(N);
            for _ in 0..500 {
                let state = prior.random_links(rng.random_range(0..=N), &mut rng);
                links.follow(&state, prior.space(), &mut rng);
                links.links.check();
                let found = moved_set(links.links.as_slice());
                assert_eq!(found, moved_set(state.as_slice()));
                assert!(prior.log_prior(&links.links) > f64::NEG_INFINITY);
            }
        }
    }

    /// The moved set of the row mixture against its own enumeration, and against one whose moved rows keep their fit.
    #[test]
    fn moved_sets_are_those_of_the_row_mixture() {
        let pair = random_pairs(Family::Gaussian, N, 1.0, 7);
        let own: Vec<f64> = (0..N).map(|i| pair.log_density(i, i)).collect();
        let marginal = Marginal::Real.log_density(pair.response(), N);
        let mixture = RowMixture {
            own: &own,
            marginal: &marginal,
        };
        let prior = Prior::beta_binomial(N, 1.0, 1.0);
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let mut kernel = ActiveSet::default();
        let mut state = Permutation::identity(N);
        let mut counts = vec![0.0; 1 << N];
        let bits = |moved: Vec<bool>| -> usize {
            let set = moved.iter().enumerate().filter(|(_, moved)| **moved);
            set.map(|(i, _)| 1 << i).sum()
        };
        let draws = 40_000;
        for _ in 0..draws {
            kernel.step(&mut state, &mixture, &prior, &mut rng);
            counts[bits(moved_set(state.as_slice()))] += 1.0 / f64::from(draws);
        }
        let derangements = [1.0f64, 0.0, 1.0, 2.0, 9.0, 44.0, 265.0];
        let distance = |of_moved: &dyn Fn(usize) -> f64| -> f64 {
            let weight = |set: usize| -> f64 {
                let d = set.count_ones() as usize;
                if d == 1 {
                    return 0.0;
                }
                let row = |i: usize| {
                    if set >> i & 1 == 1 {
                        of_moved(i)
                    } else {
                        own[i]
                    }
                };
                (prior.log_weight(d) + derangements[d].ln() + (0..N).map(row).sum::<f64>()).exp()
            };
            let total: f64 = (0..1 << N).map(weight).sum();
            let cells = counts.iter().enumerate();
            0.5 * cells
                .map(|(set, p)| (p - weight(set) / total).abs())
                .sum::<f64>()
        };
        let right = distance(&|i| marginal[i]);
        assert!(right < 0.03, "total variation {right}");
        let wrong = distance(&|i| own[i]);
        assert!(wrong > 0.1, "a planted mistake was not found: {wrong}");
    }
}
