//! Kernels with survey weights against full enumeration at n = 5; weights of the other side, forgotten weights and densities
//! without their terms in the response must fail.
//!
//! As in `exactness`: steps from exact draws, a chi-square, and z above 4.5 with probability 3e-6 for a right kernel.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::exactness::{Enumeration, LIMIT, random_pairs};
use super::pair::DenseLogLik;
use super::*;
use crate::model::Family;
use ndarray::Array2;

const N: usize = 5;
const DRAWS: usize = 30_000;
const TEMPERATURE: f64 = 0.8;
const WEIGHTS: [f64; N] = [0.4, 2.5, 1.0, 0.0, 1.7];

/// The posterior from the definition: the sum of alpha w log p over the pairs, and the prior of the links.
fn enumerated(pair: &FamilyLogLik<Family>, side: WeightSide, prior: &Prior) -> Enumeration {
    Enumeration::of_log_weights(N, |pi| {
        let rows = (0..N).map(|i| {
            let j = pi.column_of(i);
            let weight = match side {
                WeightSide::Predictors => WEIGHTS[j],
                WeightSide::Response => WEIGHTS[i],
            };
            TEMPERATURE * weight * pair.log_density(i, j)
        });
        rows.sum::<f64>() + prior.log_prior(pi)
    })
}

fn score(exact: &Enumeration, pair: &impl PairLogLik, prior: &Prior, update: LinkKernel) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut kernel = update;
    let counts = exact.replicate(DRAWS, &mut rng, |pi, rng| {
        kernel.step(pi, pair, prior, rng);
    });
    exact.score(&counts)
}

fn updates() -> [LinkKernel; 2] {
    [
        LinkKernel::ActiveSet(ActiveSet::new(2.0)),
        LinkKernel::Checkerboard(Checkerboard::new(50, Restart::Current)),
    ]
}

#[test]
fn weighted_kernels_leave_the_weighted_posterior_invariant() {
    let block_of_row = [0, 0, 0, 1, 1];
    let blocks = LinkSpace::new(
        N,
        LinkFacts {
            block_of_row: Some(&block_of_row),
            ..LinkFacts::default()
        },
    );
    let priors = [
        Prior::beta_binomial(N, 1.0, 1.0),
        Prior::new(PriorKind::BetaBinomial(super::exactness::DOUBTING), blocks),
    ];
    for (k, family) in [Family::Gaussian, Family::Poisson, Family::Logistic]
        .into_iter()
        .enumerate()
    {
        let pair = random_pairs(family, N, TEMPERATURE, 60 + k as u64);
        for side in [WeightSide::Predictors, WeightSide::Response] {
            let weights = SurveyWeights::new(WEIGHTS.to_vec(), side);
            let weighted = WeightedLogLik {
                pair: &pair,
                weights: &weights,
            };
            for prior in &priors {
                let exact = enumerated(&pair, side, prior);
                for update in updates() {
                    let z = score(&exact, &weighted, prior, update);
                    assert!(z < LIMIT, "{family:?}, {side:?}: z = {z}");
                }
            }
        }
    }
}

#[test]
fn planted_mistakes_of_the_weights_are_found() {
    let prior = Prior::beta_binomial(N, 1.0, 1.0);
    let pair = random_pairs(Family::Gaussian, N, TEMPERATURE, 60);
    for side in [WeightSide::Predictors, WeightSide::Response] {
        let exact = enumerated(&pair, side, &prior);
        let other = match side {
            WeightSide::Predictors => WeightSide::Response,
            WeightSide::Response => WeightSide::Predictors,
        };
        let weights = SurveyWeights::new(WEIGHTS.to_vec(), other);
        let of_other_side = WeightedLogLik {
            pair: &pair,
            weights: &weights,
        };
        for update in updates() {
            let z = score(&exact, &of_other_side, &prior, update);
            assert!(z > LIMIT, "weights of the other side, {side:?}: z = {z}");
        }
        for update in updates() {
            let z = score(&exact, &pair, &prior, update);
            assert!(z > LIMIT, "without weights, {side:?}: z = {z}");
        }
    }
    // Terms that only the response changes do not cancel under weights of the predictors.
    let pair = random_pairs(Family::Poisson, N, TEMPERATURE, 61);
    let exact = enumerated(&pair, WeightSide::Predictors, &prior);
    let without_base = DenseLogLik::new(Array2::from_shape_fn((N, N), |(i, j)| {
        WEIGHTS[j] * pair.pair(i, j)
    }));
    for update in updates() {
        let z = score(&exact, &without_base, &prior, update);
        assert!(z > LIMIT, "without the terms in the response: z = {z}");
    }
}

/// At any permutation the weights of the places are those that the pairs have.
#[test]
fn weights_stand_where_the_permutation_puts_them() {
    let pi = Permutation::from_vec(vec![2, 0, 1, 4, 3]).unwrap();
    for side in [WeightSide::Predictors, WeightSide::Response] {
        let weights = SurveyWeights::new(WEIGHTS.to_vec(), side);
        for (row, own) in WEIGHTS.into_iter().enumerate() {
            let place = pi.column_of(row);
            let expected = match side {
                WeightSide::Predictors => WEIGHTS[place],
                WeightSide::Response => own,
            };
            assert_eq!(weights.at_place(&pi, place), expected);
            assert_eq!(weights.of_pair(row, place), expected);
        }
    }
}
