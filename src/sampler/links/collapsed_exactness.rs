//! The collapsed kernel against full enumeration of the marginal posterior of the links, and planted wrong kernels.
//!
//! As in `exactness`: steps from exact draws, a chi-square, and z above 4.5 with probability 3e-6 for a right kernel.

use super::active_set::Moved;
use super::exactness::{Enumeration, LIMIT, WithoutRatio};
use super::*;
use crate::baseline::least_squares;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

const N: usize = 6;
const DIM: usize = 2;
const DRAWS: usize = 30_000;
const CLEARLY: f64 = 8.0;

/// Few proposals, so that a wrong ratio is not hidden by a step that forgets where it came from.
const NUM_PROPOSALS: usize = 12;

const BLOCKS: [usize; N] = [0, 1, 0, 1, 0, 1];
const SAFE: [bool; N] = [false, false, false, true, false, false];
const MATCH: [f64; N] = [0.4, 0.7, 0.2, 0.5, 0.9, 0.35];

/// A probability of its own for links that are all right, as configs have by default.
const NO_ERROR: RatePrior = RatePrior {
    a: 1.0,
    b: 9.0,
    no_error: 0.5,
};

/// An intercept far from zero and one predictor.
fn data() -> (Array2<f64>, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    let x = Array2::from_shape_fn((N, DIM), |(_, k)| if k == 0 { 1.0 } else { normal() });
    let y = (0..N).map(|i| 100.0 + x[(i, 1)] + 0.8 * normal()).collect();
    (x, y)
}

/// p~(pi | y) with the residual sum of squares of each permutation by least squares.
fn enumerate(prior: &Prior, exponent: f64) -> Enumeration {
    let (x, y) = data();
    Enumeration::of_log_weights(N, |pi| {
        let mut aligned = vec![0.0; N];
        pi.align(&y, &mut aligned);
        let rss = least_squares(x.view(), &aligned).sigma2 * (N - DIM) as f64;
        prior.log_prior(pi) - exponent * rss.ln()
    })
}

fn kernel(temperature: f64, space: &LinkSpace) -> Collapsed {
    let (x, y) = data();
    let collapsed = Collapsed::new(x.view(), &y, temperature, space).unwrap();
    collapsed.with_num_proposals(NUM_PROPOSALS)
}

fn spaces() -> Vec<(&'static str, LinkSpace)> {
    let none = LinkFacts::default();
    let facts = [
        ("free", none),
        (
            "blocks",
            LinkFacts {
                block_of_row: Some(&BLOCKS),
                ..none
            },
        ),
        (
            "safe rows and match probabilities",
            LinkFacts {
                safe: Some(&SAFE),
                match_probability: Some(&MATCH),
                ..none
            },
        ),
    ];
    let space = |(name, facts)| (name, LinkSpace::new(N, facts));
    facts.map(space).to_vec()
}

#[test]
fn the_marginal_posterior_is_invariant_in_every_space() {
    for (k, (name, space)) in spaces().into_iter().enumerate() {
        for kind in [
            PriorKind::BetaBinomial(RatePrior::beta(1.0, 1.0)),
            PriorKind::BetaBinomial(NO_ERROR),
            PriorKind::Uniform { max_moved: 4 },
            PriorKind::Hamming { theta: 0.5 },
        ] {
            for (temperature, moved) in [(1.0, Moved::Few), (0.7, Moved::Many), (1.0, Moved::Most)]
            {
                let prior = Prior::new(kind, space.clone());
                let exponent = 0.5 * (temperature * N as f64 - DIM as f64);
                let exact = enumerate(&prior, exponent);
                let mut collapsed = kernel(temperature, &space).with_moved(moved);
                let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
                let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
                    collapsed.start(pi);
                    collapsed.step(pi, &prior, rng);
                }));
                assert!(
                    z < LIMIT,
                    "{name}, {kind:?}, {temperature}, {moved:?}: z = {z}"
                );
            }
        }
    }
}

/// The kinds of moves follow the number of moved rows, out of those that can move.
#[test]
fn pairs_are_exchanged_more_often_where_most_rows_are_moved() {
    let safe: Vec<bool> = (0..300).map(|row| row < 200).collect();
    let facts = LinkFacts {
        safe: Some(&safe),
        ..LinkFacts::default()
    };
    let x = Array2::from_shape_fn((300, DIM), |(i, k)| if k == 0 { 1.0 } else { i as f64 });
    let y: Vec<f64> = (0..300).map(|i| (i as f64 * 0.7).sin()).collect();
    let space = LinkSpace::new(300, facts);
    let collapsed = Collapsed::new(x.view(), &y, 1.0, &space).unwrap();
    assert_eq!(collapsed.moved(20.0, 5.0), Moved::Few);
    assert_eq!(collapsed.moved(40.0, 5.0), Moved::Many);
    assert_eq!(collapsed.moved(60.0, 5.0), Moved::Most);
}

#[test]
fn wrong_ratios_and_wrong_exponents_are_rejected() {
    for (k, (name, space)) in spaces().into_iter().enumerate() {
        let kind = PriorKind::BetaBinomial(RatePrior::beta(1.0, 1.0));
        let prior = Prior::new(kind, space.clone());
        let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
        let mut collapsed = kernel(1.0, &space);
        let exact = enumerate(&prior, 0.5 * (N - DIM) as f64);
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            collapsed.start(pi);
            collapsed.step_with::<WithoutRatio, _>(pi, &prior, NUM_PROPOSALS, rng);
        }));
        assert!(z > CLEARLY, "{name}, no ratio: z = {z}");
        // Exact draws of a prior that gives no error a probability, and steps that do not know of it.
        let spiked = Prior::new(PriorKind::BetaBinomial(NO_ERROR), space.clone());
        let exact = enumerate(&spiked, 0.5 * (N - DIM) as f64);
        let unaware = Prior::new(
            PriorKind::BetaBinomial(RatePrior::beta(1.0, 9.0)),
            space.clone(),
        );
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            collapsed.start(pi);
            collapsed.step(pi, &unaware, rng);
        }));
        assert!(z > CLEARLY, "{name}, no spike: z = {z}");
        // The exponent of a likelihood whose beta was not integrated out.
        let wrong = enumerate(&prior, 0.5 * N as f64);
        let z = wrong.score(&wrong.replicate(DRAWS, &mut rng, |pi, rng| {
            collapsed.start(pi);
            collapsed.step(pi, &prior, rng);
        }));
        assert!(z > CLEARLY, "{name}, wrong exponent: z = {z}");
    }
}

/// Sums that exchanges update agree with sums computed afresh, also where the responses are far from zero; undoing a
/// step restores the links.
#[test]
fn exchanges_keep_the_sums_of_squares() {
    let n = 300;
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut normal = || rng.sample::<f64, _>(StandardNormal);
    let x = Array2::from_shape_fn((n, 4), |(_, k)| if k == 0 { 1.0 } else { normal() });
    let y: Vec<f64> = (0..n).map(|i| 1e6 + 0.3 * x[(i, 1)] + normal()).collect();
    let prior = Prior::beta_binomial(n, 1.0, 1.0);
    let collapsed = Collapsed::new(x.view(), &y, 1.0, prior.space()).unwrap();
    let mut collapsed = collapsed.with_num_proposals(10_000);
    let mut pi = Permutation::random_sparse(n, 30, &mut rng);
    let before = pi.clone();
    collapsed.start(&pi);
    let info = collapsed.step(&mut pi, &prior, &mut rng);
    assert!(info.total().accepted > 500, "{info:?}");
    let beta = [1e6, 0.3, 0.0, 0.1];
    let kept = collapsed.log_density(&beta, 0.9);
    let mut afresh = collapsed.clone();
    afresh.start(&pi);
    let computed = afresh.log_density(&beta, 0.9);
    assert!((kept - computed).abs() < 1e-4, "{kept} {computed}");
    collapsed.undo(&mut pi);
    assert_eq!(pi, before);
}

#[test]
fn theta_is_left_alone_where_it_cannot_be_integrated_out() {
    let (x, y) = data();
    let free = LinkSpace::free(N);
    // One observation's worth of likelihood for two coefficients.
    assert!(Collapsed::new(x.view(), &y, 1.0 / N as f64, &free).is_none());
    let twice = Array2::from_shape_fn((N, 2), |(i, _)| x[(i, 1)]);
    assert!(Collapsed::new(twice.view(), &y, 1.0, &free).is_none());
    let pairs = [(0, 1, 1.0), (1, 0, 1.0)];
    let facts = LinkFacts {
        candidates: Some(&pairs),
        ..LinkFacts::default()
    };
    assert!(Collapsed::new(x.view(), &y, 1.0, &LinkSpace::new(N, facts)).is_none());
}
