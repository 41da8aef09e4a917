//! Every kernel against full enumeration at n = 5, and planted wrong kernels that must fail.
//!
//! Each replicate starts at an exact draw from the enumerated posterior and takes one step. If the
//! kernel leaves the posterior invariant, where it ends is again an exact draw, independent of the
//! other replicates: a plain chi-square test, no thinning. z is Wilson and Hilferty's normal score;
//! a right kernel exceeds 4.5 with probability 3e-6, and there are about 80 such tests.

use super::acceptance::{Acceptance, Barker, Metropolis, Target};
use super::active_set::Direction;
use super::moved_groups::MovedGroups;
use super::pair::DenseLogLik;
use super::*;
use crate::model::Family;
use crate::numerics::log_gamma;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

const N: usize = 5;
pub(crate) const LIMIT: f64 = 4.5;

pub(super) fn all_permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        all = all
            .into_iter()
            .flat_map(|prefix: Vec<usize>| {
                (0..n)
                    .filter(|k| !prefix.contains(k))
                    .map(|k| prefix.iter().copied().chain([k]).collect())
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

/// Unrelated responses and fitted values.
pub(super) fn random_pairs(
    family: Family,
    n: usize,
    temperature: f64,
    seed: u64,
) -> FamilyLogLik<Family> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut normals = |n| -> Vec<f64> { (0..n).map(|_| rng.sample(StandardNormal)).collect() };
    let (response, fitted) = (normals(n), normals(n));
    let allowed = |z: f64| match family {
        Family::Poisson => z.exp().round(),
        Family::Logistic => f64::from(u8::from(z > 0.0)),
        _ => z,
    };
    let response = response.into_iter().map(allowed).collect();
    let mut pair = FamilyLogLik::new(family, response, temperature);
    pair.update(0.7, |eta| eta.copy_from_slice(&fitted));
    pair
}

pub(super) fn dense<L: PairLogLik>(pair: &L, sign: f64) -> DenseLogLik {
    let n = pair.len();
    DenseLogLik::new(Array2::from_shape_fn((n, n), |(i, j)| {
        sign * pair.pair(i, j)
    }))
}

/// The posterior by enumeration.
pub(crate) struct Enumeration {
    permutations: Vec<Permutation>,
    cumulative: Vec<f64>,
    probability: Vec<f64>,
}

impl Enumeration {
    pub fn new<L: PairLogLik>(pair: &L, prior: &Prior) -> Self {
        Self::of_log_weights(pair.len(), |pi| pair.total(pi) + prior.log_prior(pi))
    }

    pub fn of_log_weights(n: usize, log_weight: impl Fn(&Permutation) -> f64) -> Self {
        let permutations = all_permutations(n)
            .into_iter()
            .map(|forward| Permutation::from_vec(forward).unwrap());
        Self::of_list(permutations.collect(), log_weight)
    }

    /// `permutations` are in lexicographic order.
    pub fn of_list(
        permutations: Vec<Permutation>,
        log_weight: impl Fn(&Permutation) -> f64,
    ) -> Self {
        let weights: Vec<f64> = permutations.iter().map(|pi| log_weight(pi).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let probability: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        let cumulative = probability
            .iter()
            .scan(0.0, |total, p| {
                *total += p;
                Some(*total)
            })
            .collect();
        Self {
            permutations,
            cumulative,
            probability,
        }
    }

    pub fn draw<R: Rng>(&self, rng: &mut R) -> &Permutation {
        let u: f64 = rng.random();
        let index = self.cumulative.partition_point(|&total| total <= u);
        // Rounding may leave the total below one; the last state with mass takes the rest.
        let last = self.probability.iter().rposition(|&p| p > 0.0).unwrap();
        &self.permutations[index.min(last)]
    }

    pub fn len(&self) -> usize {
        self.permutations.len()
    }

    pub fn index(&self, pi: &Permutation) -> usize {
        // In lexicographic order.
        self.permutations
            .binary_search_by(|other| other.as_slice().cmp(pi.as_slice()))
            .unwrap()
    }

    /// Counts of where `step` ends from exact draws.
    pub fn replicate<R: Rng>(
        &self,
        draws: usize,
        rng: &mut R,
        mut step: impl FnMut(&mut Permutation, &mut R),
    ) -> Vec<f64> {
        let mut counts = vec![0.0; self.permutations.len()];
        for _ in 0..draws {
            let mut pi = self.draw(rng).clone();
            step(&mut pi, rng);
            pi.check();
            counts[self.index(&pi)] += 1.0;
        }
        counts
    }

    /// z of the chi-square statistic, cells with an expectation below 5 pooled.
    pub fn score(&self, counts: &[f64]) -> f64 {
        let draws: f64 = counts.iter().sum();
        let (mut chi_square, mut cells) = (0.0, 0.0);
        let (mut rare, mut rare_expected) = (0.0, 0.0);
        for (&count, &p) in counts.iter().zip(&self.probability) {
            if p == 0.0 {
                assert_eq!(count, 0.0, "a permutation without prior mass was visited");
            } else if draws * p < 5.0 {
                rare += count;
                rare_expected += draws * p;
            } else {
                chi_square += (count - draws * p).powi(2) / (draws * p);
                cells += 1.0;
            }
        }
        if rare_expected >= 5.0 {
            chi_square += (rare - rare_expected).powi(2) / rare_expected;
            cells += 1.0;
        }
        wilson_hilferty(chi_square, cells - 1.0)
    }

    pub fn total_variation(&self, counts: &[f64]) -> f64 {
        let draws: f64 = counts.iter().sum();
        let differences = counts.iter().zip(&self.probability);
        0.5 * differences
            .map(|(count, p)| (count / draws - p).abs())
            .sum::<f64>()
    }
}

pub(crate) fn wilson_hilferty(chi_square: f64, degrees: f64) -> f64 {
    let spread = 2.0 / (9.0 * degrees);
    ((chi_square / degrees).cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// The default prior of configs: no error with probability one half, and Beta(1, 9) otherwise.
pub(crate) const DOUBTING: RatePrior = RatePrior {
    a: 1.0,
    b: 9.0,
    no_error: 0.5,
};

fn priors() -> [Prior; 5] {
    [
        Prior::uniform(N, 3),
        Prior::uniform(N, N),
        Prior::hamming(N, 0.6),
        Prior::beta_binomial(N, 1.0, 1.0),
        Prior::new(PriorKind::BetaBinomial(DOUBTING), LinkSpace::free(N)),
    ]
}

const FAMILIES: [Family; 5] = [
    Family::Gaussian,
    Family::AsymmetricLaplace { tau: 0.3 },
    Family::StudentT { nu: 4.0 },
    Family::Poisson,
    Family::Logistic,
];

const DRAWS: usize = 40_000;

#[test]
fn active_set_leaves_every_posterior_invariant() {
    for (k, family) in FAMILIES.into_iter().enumerate() {
        for (m, prior) in priors().iter().enumerate() {
            let seed = (10 * k + m) as u64;
            let pair = random_pairs(family, N, 0.8, seed);
            let exact = Enumeration::new(&pair, prior);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut kernel = ActiveSet::new(2.0);
            let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
                kernel.step(pi, &pair, prior, rng);
            }));
            assert!(z < LIMIT, "{family:?}, {:?}: z = {z}", prior.kind());
            let plain = dense(&pair, 1.0);
            let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
                kernel.step(pi, &plain, prior, rng);
            }));
            assert!(z < LIMIT, "dense {family:?}, {:?}: z = {z}", prior.kind());
        }
    }
}

/// The pairs of another theta, whose proposals are far from those of the target.
fn other_pairs(seed: usize) -> FamilyLogLik<Family> {
    let mut pair = random_pairs(Family::Gaussian, N, 0.8, seed as u64);
    let fitted = pair.fitted().to_vec();
    pair.update(0.05, |eta| eta.copy_from_slice(&fitted));
    pair
}

/// Proposals that are kept from another theta still leave the posterior of this one invariant, but not where the choice of
/// that theta depends on the links.
#[test]
fn kept_proposals_leave_every_posterior_invariant() {
    for (m, prior) in priors().iter().enumerate() {
        let seed = 40 + m as u64;
        let pair = random_pairs(Family::Gaussian, N, 0.8, seed);
        let exact = Enumeration::new(&pair, prior);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut kernel = ActiveSet::new(2.0);
        kernel.keep_proposals(&other_pairs(90), prior.space());
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            kernel.step(pi, &pair, prior, rng);
        }));
        assert!(z < LIMIT, "{:?}: z = {z}", prior.kind());
    }
    let prior = Prior::beta_binomial(N, 1.0, 1.0);
    let pair = random_pairs(Family::Gaussian, N, 0.8, 43);
    let exact = Enumeration::new(&pair, &prior);
    let others: Vec<_> = (0..exact.len()).map(other_pairs).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(43);
    // So few proposals that a step does not forget where it started.
    let mut kernel = ActiveSet::new(0.3);
    let z = exact.score(&exact.replicate(2 * DRAWS, &mut rng, |pi, rng| {
        kernel.keep_proposals(&others[exact.index(pi)], prior.space());
        kernel.step(pi, &pair, &prior, rng);
    }));
    assert!(z > LIMIT, "proposals that follow the links: z = {z}");
}

/// Errors whose scale belongs to the place where a response comes, as of the family `robust`.
#[test]
fn a_scale_for_each_column_leaves_its_posterior_invariant() {
    let scales = [0.2, 1.5, 0.4, 0.9, 2.5];
    let prior = Prior::beta_binomial(N, 1.0, 1.0);
    for family in [Family::StudentT { nu: 2.5 }, Family::Gaussian] {
        let mut pair = random_pairs(family, N, 0.8, 21);
        let fitted = pair.fitted().to_vec();
        pair.update_by_column(family, |eta, scale| {
            eta.copy_from_slice(&fitted);
            scale.copy_from_slice(&scales);
        });
        let density = |i: usize, j: usize, scale: f64| {
            0.8 * family.at(fitted[j], scale).log_density(pair.response()[i])
        };
        let by_target = Array2::from_shape_fn((N, N), |(i, j)| density(i, j, scales[j]));
        let by_response = Array2::from_shape_fn((N, N), |(i, j)| density(i, j, scales[i]));
        let exact = Enumeration::new(&DenseLogLik::new(by_target), &prior);
        let wrong = DenseLogLik::new(by_response);
        let mut rng = ChaCha8Rng::seed_from_u64(22);
        let mut kernel = ActiveSet::new(2.0);
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            kernel.step(pi, &pair, &prior, rng);
        }));
        assert!(z < LIMIT, "{family:?}: z = {z}");
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            kernel.step(pi, &wrong, &prior, rng);
        }));
        assert!(
            z > LIMIT,
            "{family:?}: the scale of the response was not found, z = {z}"
        );
        let at = pair.locations().unwrap();
        assert!(!at.is_best_sorted);
    }
}

#[test]
fn checkerboard_leaves_every_posterior_invariant() {
    for (k, family) in FAMILIES.into_iter().enumerate() {
        for (m, prior) in priors().iter().enumerate() {
            let seed = (10 * k + m) as u64;
            let pair = random_pairs(family, N, 0.8, seed);
            let exact = Enumeration::new(&pair, prior);
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut kernel = Checkerboard::new(50, Restart::Current);
            let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
                kernel.step(pi, &pair, prior, rng);
            }));
            assert!(z < LIMIT, "{family:?}, {:?}: z = {z}", prior.kind());
        }
    }
}

/// Each group of moves alone must be invariant, so that no group hides another's mistake.
#[test]
fn each_move_alone_is_invariant() {
    let pair = random_pairs(Family::Gaussian, N, 0.8, 7);
    for prior in &priors()[3..] {
        let exact = Enumeration::new(&pair, prior);
        for group in 0..active_set::NUM_GROUPS {
            let mut kernel = ActiveSet::only(group, 2.0);
            let mut rng = ChaCha8Rng::seed_from_u64(group as u64);
            let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
                let before = pi.clone();
                let info = kernel.step(pi, &pair, prior, rng);
                if info.total().accepted == 0 {
                    assert_eq!(*pi, before);
                }
            }));
            assert!(z < LIMIT, "{:?}, group {group}: z = {z}", prior.kind());
        }
    }
}

/// Invariance does not say that every permutation can be reached: one long chain from the identity.
#[test]
fn long_chains_from_the_identity_reach_the_posterior() {
    let pair = random_pairs(Family::Gaussian, N, 0.8, 3);
    for prior in &priors()[3..] {
        let exact = Enumeration::new(&pair, prior);
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let kernels = [
            LinkKernel::ActiveSet(ActiveSet::new(4.0)),
            LinkKernel::Checkerboard(Checkerboard::new(250, Restart::Current)),
        ];
        for mut kernel in kernels {
            let mut pi = Permutation::identity(N);
            let mut counts = vec![0.0; exact.permutations.len()];
            for _ in 0..100_000 {
                kernel.step(&mut pi, &pair, prior, &mut rng);
                counts[exact.index(&pi)] += 1.0;
            }
            let distance = exact.total_variation(&counts);
            assert!(distance < 0.02, "{kernel:?}: total variation {distance}");
        }
    }
}

#[test]
fn flat_likelihood_returns_the_beta_binomial() {
    let n = 6;
    let pair = DenseLogLik::new(Array2::zeros((n, n)));
    let prior = Prior::beta_binomial(n, 1.0, 2.0);
    let beta = |a: f64, b: f64| (log_gamma(a) + log_gamma(b) - log_gamma(a + b)).exp();
    let choose = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0];
    let mut expected: Vec<f64> = (0..=n)
        .map(|d| choose[d] * beta(1.0 + d as f64, 2.0 + (n - d) as f64) / beta(1.0, 2.0))
        .collect();
    expected[1] = 0.0;
    let sum: f64 = expected.iter().sum();
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let kernels = [
        LinkKernel::ActiveSet(ActiveSet::new(10.0)),
        LinkKernel::Checkerboard(Checkerboard::new(600, Restart::Current)),
    ];
    for mut kernel in kernels {
        let draws = 40_000;
        let mut counts = vec![0.0; n + 1];
        let mut pi = Permutation::identity(n);
        for _ in 0..draws {
            kernel.step(&mut pi, &pair, &prior, &mut rng);
            counts[pi.num_moved()] += 1.0;
        }
        for d in 0..=n {
            let probability = expected[d] / sum;
            // Steps of 100 proposals are all but independent; six standard errors, and a third
            // more for what correlation is left.
            let error = (probability * (1.0 - probability) / f64::from(draws)).sqrt();
            let difference = (counts[d] / f64::from(draws) - probability).abs();
            assert!(
                difference <= 8.0 * error,
                "{kernel:?}, d = {d}: {difference}"
            );
        }
    }
}

/// The proposal of the paper's section II.B, as written there; where rows move in groups, with the columns of r1's group.
fn literal_checkerboard<L: PairLogLik, R: Rng>(
    steps: usize,
    pi: &mut Permutation,
    pair: &L,
    prior: &Prior,
    rng: &mut R,
) {
    let space = prior.space();
    let group = |row: usize| space.group(space.group_of_movable(row));
    let zero_in_row = |pi: &Permutation, row: usize, rng: &mut R| {
        let columns = group(row);
        let skip = columns.iter().position(|&c| c == pi.column_of(row));
        let k = rng.random_range(0..columns.len() - 1);
        columns[k + usize::from(Some(k) >= skip)]
    };
    for _ in 0..steps {
        let r1 = space.members()[rng.random_range(0..space.num_movable())];
        let c1 = group(r1)[rng.random_range(0..group(r1).len())];
        let (r2, c2) = if pi.column_of(r1) == c1 {
            let c2 = zero_in_row(pi, r1, rng);
            (pi.row_of(c2), c2)
        } else {
            let r2 = pi.row_of(c1);
            (r2, zero_in_row(pi, r2, rng))
        };
        let cell = |row: usize, column: usize| pi.column_of(row) == column;
        let block = [cell(r1, c1), cell(r1, c2), cell(r2, c1), cell(r2, c2)];
        if block != [true, false, false, true] && block != [false, true, true, false] {
            continue;
        }
        let value = |pi: &Permutation| pair.total(pi) + prior.log_prior(pi);
        let mut proposed = pi.clone();
        proposed.exchange(r1, r2);
        let odds = (value(&proposed) - value(pi)).exp();
        if rng.random::<f64>() < odds / (1.0 + odds) {
            *pi = proposed;
        }
    }
}

/// Not only the limit: after few steps from one start the two laws are the same, also in groups of different size.
#[test]
fn collapsed_checkerboard_is_the_papers_loop() {
    let blocks = LinkFacts {
        block_of_row: Some(&[0, 0, 1, 1, 1]),
        ..LinkFacts::default()
    };
    for space in [LinkSpace::free(4), LinkSpace::new(5, blocks)] {
        let n = space.num_rows();
        let pair = random_pairs(Family::Gaussian, n, 0.5, 11);
        let prior = Prior::new(PriorKind::Hamming { theta: 0.4 }, space);
        let exact = Enumeration::new(&pair, &prior);
        let mut start: Vec<usize> = (0..n).collect();
        start.swap(0, 1);
        let start = Permutation::from_vec(start).unwrap();
        for steps in [1, 3, 8] {
            let mut rng = ChaCha8Rng::seed_from_u64(steps);
            let mut kernel = Checkerboard::new(steps, Restart::Current);
            let mut counts = [vec![0.0f64; exact.len()], vec![0.0f64; exact.len()]];
            for _ in 0..100_000 {
                let mut pi = start.clone();
                kernel.step(&mut pi, &pair, &prior, &mut rng);
                counts[0][exact.index(&pi)] += 1.0;
                let mut pi = start.clone();
                literal_checkerboard(steps as usize, &mut pi, &pair, &prior, &mut rng);
                counts[1][exact.index(&pi)] += 1.0;
            }
            // Two samples of one size: sum (a - b)^2 / (a + b) is chi-square, cells - 1 degrees.
            let (mut chi_square, mut cells) = (0.0, 0.0);
            for (a, b) in counts[0].iter().zip(&counts[1]) {
                if a + b >= 10.0 {
                    chi_square += (a - b).powi(2) / (a + b);
                    cells += 1.0;
                }
            }
            assert!(cells >= 5.0);
            let z = wilson_hilferty(chi_square, cells - 1.0);
            assert!(z < LIMIT, "{n} rows, {steps} steps: z = {z}");
        }
    }
}

/// Metropolis that forgets the proposal ratio.
pub(super) struct WithoutRatio;

impl Acceptance for WithoutRatio {
    fn accept<R: Rng + ?Sized>(log_change: f64, _ratio: f64, rng: &mut R) -> bool {
        Metropolis::accept(log_change, 1.0, rng)
    }
}

/// Barker's rule upside down: P(old) / (P(new) + P(old)).
pub(super) struct InvertedBarker;

impl Acceptance for InvertedBarker {
    fn accept<R: Rng + ?Sized>(log_change: f64, ratio: f64, rng: &mut R) -> bool {
        log_change > f64::NEG_INFINITY && Barker::accept(-log_change, ratio, rng)
    }
}

/// The same test must see through planted mistakes.
#[test]
fn wrong_kernels_are_rejected() {
    const CLEARLY: f64 = 8.0;
    let pair = random_pairs(Family::Gaussian, N, 0.8, 7);
    let prior = Prior::beta_binomial(N, 1.0, 1.0);
    let exact = Enumeration::new(&pair, &prior);
    let mut rng = ChaCha8Rng::seed_from_u64(5);

    // Rewiring is symmetric: it has no ratio to forget.
    for group in 1..active_set::NUM_GROUPS {
        let mut kernel = ActiveSet::only(group, 2.0);
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            kernel.step_with::<WithoutRatio, _, _>(pi, &pair, &prior, rng);
        }));
        assert!(z > CLEARLY, "no ratio in group {group}: z = {z}");
    }
    let mut kernel = ActiveSet::new(2.0);
    let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
        kernel.step_with::<WithoutRatio, _, _>(pi, &pair, &prior, rng);
    }));
    assert!(z > CLEARLY, "no ratio: z = {z}");

    // Insertions and removals that never turn round.
    let mut fixed = ActiveSet::only(1, 2.0);
    fixed.fix(&pair, prior.space());
    let mut groups = MovedGroups::default();
    let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
        let direction = Direction::draw(rng);
        let mut target = Target::new(pi, &pair, &prior, &mut groups);
        for _ in 0..4 {
            fixed.propose_fixed::<Metropolis, _, _>(&mut direction.clone(), &mut target, rng);
        }
    }));
    assert!(z > CLEARLY, "one direction: z = {z}");

    let hamming = Prior::hamming(N, 0.6);
    let off = Prior::hamming(N, 0.8);
    let exact = Enumeration::new(&pair, &hamming);
    let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
        kernel.step(pi, &pair, &off, rng);
    }));
    assert!(z > CLEARLY, "active set, wrong theta: z = {z}");

    let mut swaps = Checkerboard::new(50, Restart::Current);
    let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
        swaps.step(pi, &pair, &off, rng);
    }));
    assert!(z > CLEARLY, "checkerboard, wrong theta: z = {z}");

    let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
        let mut info = UpdateInfo::default();
        swaps.swap_with::<InvertedBarker, _, _>(pi, &pair, &hamming, rng, &mut info);
    }));
    assert!(z > CLEARLY, "inverted Barker: z = {z}");

    // Kernels that are not told of the probability of no error.
    let doubting = Prior::new(PriorKind::BetaBinomial(DOUBTING), LinkSpace::free(N));
    let without_point = Prior::beta_binomial(N, DOUBTING.a, DOUBTING.b);
    let of_doubting = Enumeration::new(&pair, &doubting);
    let z = of_doubting.score(&of_doubting.replicate(DRAWS, &mut rng, |pi, rng| {
        kernel.step(pi, &pair, &without_point, rng);
    }));
    assert!(z > CLEARLY, "active set, no error forgotten: z = {z}");
    let z = of_doubting.score(&of_doubting.replicate(DRAWS, &mut rng, |pi, rng| {
        swaps.step(pi, &pair, &without_point, rng);
    }));
    assert!(z > CLEARLY, "checkerboard, no error forgotten: z = {z}");

    // Restarting at the mode is the paper's bias; the test sees it.
    let mut restarting = Checkerboard::new(10, Restart::Mode);
    let z = exact.score(&exact.replicate(2_000, &mut rng, |pi, rng| {
        restarting.step(pi, &pair, &hamming, rng);
    }));
    assert!(z > CLEARLY, "restart at the mode: z = {z}");
}
