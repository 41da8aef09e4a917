//! Every kernel against full enumeration at n = 6 with blocks, safe rows, match probabilities and candidate pairs, alone
//! and together; planted mistakes in each of them must fail.
//!
//! As in `exactness`: steps from exact draws, a chi-square, and z above 4.5 with probability 3e-6 for a right kernel.

use super::acceptance::Metropolis;
use super::exactness::{
    DOUBTING, Enumeration, InvertedBarker, LIMIT, WithoutRatio, dense, random_pairs,
};
use super::*;
use crate::model::Family;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const N: usize = 6;
const DRAWS: usize = 30_000;
const CLEARLY: f64 = 8.0;

const BLOCKS: [usize; N] = [0, 1, 0, 1, 0, 1];
const SAFE: [bool; N] = [false, false, false, true, false, false];
const MATCH: [f64; N] = [0.4, 0.7, 0.2, 0.5, 0.9, 0.35];
/// 0 -> 2 -> 4 -> 0 closes only as a cycle of three; 1, 3 and 5 may exchange in pairs; 0 -> 1 leads back by 1 -> 4.
const PAIRS: [(usize, usize, f64); 11] = [
    (0, 2, 1.0),
    (2, 4, 2.0),
    (4, 0, 1.0),
    (1, 3, 1.0),
    (3, 1, 0.5),
    (3, 5, 4.0),
    (5, 3, 1.0),
    (1, 5, 3.0),
    (5, 1, 1.0),
    (0, 1, 1.5),
    (1, 4, 0.7),
];

/// Each fact alone, some in pairs, and all together.
fn spaces() -> Vec<(&'static str, LinkSpace)> {
    let none = LinkFacts::default();
    let blocks = LinkFacts {
        block_of_row: Some(&BLOCKS),
        ..none
    };
    let safe = LinkFacts {
        safe: Some(&SAFE),
        ..none
    };
    let matches = LinkFacts {
        match_probability: Some(&MATCH),
        ..none
    };
    let pairs = LinkFacts {
        candidates: Some(&PAIRS),
        ..none
    };
    let all = LinkFacts {
        block_of_row: Some(&[0, 1, 0, 1, 0, 1]),
        safe: Some(&[false, false, false, false, false, true]),
        match_probability: Some(&MATCH),
        candidates: Some(&PAIRS),
    };
    [
        ("blocks", blocks),
        ("safe rows", safe),
        ("match probabilities", matches),
        ("candidate pairs", pairs),
        (
            "blocks and safe rows",
            LinkFacts {
                safe: Some(&SAFE),
                ..blocks
            },
        ),
        (
            "blocks and match probabilities",
            LinkFacts {
                match_probability: Some(&MATCH),
                ..blocks
            },
        ),
        (
            "safe rows and candidate pairs",
            LinkFacts {
                safe: Some(&SAFE),
                ..pairs
            },
        ),
        (
            "match probabilities and candidate pairs",
            LinkFacts {
                match_probability: Some(&MATCH),
                ..pairs
            },
        ),
        ("all together", all),
    ]
    .map(|(name, facts)| (name, LinkSpace::new(N, facts)))
    .to_vec()
}

/// The priors that make sense on a space.
fn kinds(space: &LinkSpace) -> Vec<PriorKind> {
    let mut kinds = vec![
        PriorKind::Uniform { max_moved: 4 },
        PriorKind::Uniform { max_moved: N },
        PriorKind::Hamming { theta: 0.5 },
        PriorKind::BetaBinomial(RatePrior::beta(1.0, 1.0)),
        PriorKind::BetaBinomial(DOUBTING),
    ];
    if space.log_odds(0).is_some() {
        kinds.push(PriorKind::MatchProbability);
    }
    kinds
}

/// Blocks with rates of their own, alone and with a safe row, of which the second was audited.
fn by_block(rates: [RatePrior; 2]) -> Vec<(String, Prior, FamilyLogLik<Family>)> {
    [None, Some(&SAFE[..])]
        .map(|safe| {
            let facts = LinkFacts {
                block_of_row: Some(&BLOCKS),
                safe,
                ..LinkFacts::default()
            };
            let prior = Prior::by_block(&rates, &BLOCKS, LinkSpace::new(N, facts));
            let pair = random_pairs(Family::Gaussian, N, 0.8, 77);
            (format!("rates by block, {safe:?}"), prior, pair)
        })
        .into()
}

fn audited() -> [RatePrior; 2] {
    [DOUBTING, DOUBTING.after_audit(12, 5, 1.0)]
}

/// (name, prior, pairs) of every space and prior.
fn cases() -> impl Iterator<Item = (String, Prior, FamilyLogLik<Family>)> {
    let one_rate = one_rate_cases();
    one_rate.chain(by_block(audited()))
}

fn one_rate_cases() -> impl Iterator<Item = (String, Prior, FamilyLogLik<Family>)> {
    spaces()
        .into_iter()
        .enumerate()
        .flat_map(|(seed, (name, space))| {
            kinds(&space).into_iter().map(move |kind| {
                let pair = random_pairs(Family::Gaussian, N, 0.8, 40 + seed as u64);
                (
                    format!("{name}, {kind:?}"),
                    Prior::new(kind, space.clone()),
                    pair,
                )
            })
        })
}

/// The log prior written out again, from the facts and the definition, not from `LinkSpace`.
#[test]
fn the_log_prior_is_the_product_of_what_is_known() {
    let log_d = |k: usize| [1.0f64, f64::NAN, 1.0, 2.0, 9.0][k].ln();
    let facts = LinkFacts {
        block_of_row: Some(&BLOCKS),
        match_probability: Some(&MATCH),
        ..LinkFacts::default()
    };
    let prior = Prior::new(PriorKind::MatchProbability, LinkSpace::new(N, facts));
    for forward in exactness::all_permutations(N) {
        let pi = Permutation::from_vec(forward.clone()).unwrap();
        let moved: Vec<usize> = (0..N).filter(|&i| forward[i] != i).collect();
        let possible = moved.iter().all(|&i| BLOCKS[i] == BLOCKS[forward[i]]);
        let expected = if possible {
            let odds: f64 = moved
                .iter()
                .map(|&i| ((1.0 - MATCH[i]) / MATCH[i]).ln())
                .sum();
            let in_block = |b| moved.iter().filter(|&&i| BLOCKS[i] == b).count();
            odds - log_d(in_block(0)) - log_d(in_block(1))
        } else {
            f64::NEG_INFINITY
        };
        let found = prior.log_prior(&pi);
        assert!(
            found == expected || (found - expected).abs() < 1e-12,
            "{forward:?}: {found} {expected}"
        );
    }
}

#[test]
fn blocks_of_the_beta_binomial_sum_to_one_and_have_its_rate() {
    let rates = [
        RatePrior::beta(1.0, 1.0),
        RatePrior::beta(2.0, 5.0),
        DOUBTING,
    ];
    for rate in rates {
        let facts = LinkFacts {
            block_of_row: Some(&[0, 1, 0, 1, 1, 1]),
            ..LinkFacts::default()
        };
        let prior = Prior::new(PriorKind::BetaBinomial(rate), LinkSpace::new(N, facts));
        let (mut sum, mut moved) = (0.0, 0.0);
        for forward in exactness::all_permutations(N) {
            let pi = Permutation::from_vec(forward).unwrap();
            let probability = prior.log_prior(&pi).exp();
            sum += probability;
            moved += probability * pi.num_moved() as f64 / N as f64;
        }
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        assert!((moved - rate.mean()).abs() < 1e-9, "{moved}");
        // 20 000 draws: five standard errors of a share.
        let by_draws = prior.num_moved_probabilities().unwrap();
        let mean: f64 = by_draws.iter().enumerate().map(|(d, p)| d as f64 * p).sum();
        assert!((mean / N as f64 - rate.mean()).abs() < 0.02, "{mean}");
        let exact = prior.log_weight(0).exp();
        assert!(
            (by_draws[0] - exact).abs() < 0.02,
            "{} {exact}",
            by_draws[0]
        );
    }
}

#[test]
fn active_set_is_exact_in_every_space() {
    for (seed, (name, prior, pair)) in cases().enumerate() {
        let exact = Enumeration::new(&pair, &prior);
        let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
        let mut kernel = ActiveSet::new(2.0);
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            kernel.step(pi, &pair, &prior, rng);
        }));
        assert!(z < LIMIT, "{name}: z = {z}");
        let plain = dense(&pair, 1.0);
        let z = exact.score(&exact.replicate(DRAWS / 2, &mut rng, |pi, rng| {
            kernel.step(pi, &plain, &prior, rng);
        }));
        assert!(z < LIMIT, "{name}, without locations: z = {z}");
    }
}

#[test]
fn checkerboard_is_invariant_in_every_space() {
    for (seed, (name, prior, pair)) in cases().enumerate() {
        let exact = Enumeration::new(&pair, &prior);
        let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
        let mut kernel = Checkerboard::new(40, Restart::Current);
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            kernel.step(pi, &pair, &prior, rng);
        }));
        assert!(z < LIMIT, "{name}: z = {z}");
    }
}

/// Invariance does not say that every permutation can be reached: long chains from the identity. Swaps reach all that
/// blocks and safe rows allow; what candidate pairs allow, only walks.
#[test]
fn long_chains_reach_every_space() {
    for (seed, (name, prior, pair)) in cases().enumerate() {
        let exact = Enumeration::new(&pair, &prior);
        let mut rng = ChaCha8Rng::seed_from_u64(seed as u64);
        let swaps = LinkKernel::Checkerboard(Checkerboard::new(100, Restart::Current));
        let mut kernels = vec![LinkKernel::ActiveSet(ActiveSet::new(3.0))];
        kernels.extend(prior.space().candidates().is_none().then_some(swaps));
        for mut kernel in kernels {
            let mut pi = Permutation::identity(N);
            let mut counts = vec![0.0; exact.len()];
            for _ in 0..30_000 {
                kernel.step(&mut pi, &pair, &prior, &mut rng);
                counts[exact.index(&pi)] += 1.0;
            }
            let distance = exact.total_variation(&counts);
            assert!(distance < 0.035, "{name}: total variation {distance}");
        }
    }
}

#[test]
fn modes_are_the_best_of_all_that_is_possible() {
    let (mut num_cases, mut num_exact) = (0, 0);
    for (name, prior, _) in cases() {
        for seed in 0..6 {
            let family = [Family::Gaussian, Family::StudentT { nu: 3.0 }][seed as usize % 2];
            let pair = random_pairs(family, N, 0.6, 300 + seed);
            let best = exactness::all_permutations(N)
                .into_iter()
                .map(|forward| Permutation::from_vec(forward).unwrap())
                .map(|pi| pair.total(&pi) + prior.log_prior(&pi))
                .fold(f64::NEG_INFINITY, f64::max);
            for max_rows in [N, 2] {
                let mode = ModeSearch::new(max_rows).find(&Permutation::identity(N), &pair, &prior);
                let found = pair.total(&mode.permutation) + prior.log_prior(&mode.permutation);
                assert!((found - mode.objective).abs() < 1e-9, "{name}");
                assert!(found <= best + 1e-9, "{name}");
                if max_rows == N {
                    assert!(
                        best <= found + mode.gap_bound + 1e-9,
                        "{name}: {best} {found} {}",
                        mode.gap_bound
                    );
                    num_cases += 1;
                    num_exact += usize::from((found - best).abs() < 1e-9);
                }
            }
        }
    }
    assert!(
        num_exact * 100 >= 95 * num_cases,
        "{num_exact} of {num_cases}"
    );
}

/// The mode of a made-up file with candidate pairs or blocks is where the truth is: also with restarts.
#[test]
fn restarts_at_the_mode_stay_inside_the_space() {
    for (name, prior, pair) in cases() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut kernel = Checkerboard::new(20, Restart::Mode);
        let mut pi = Permutation::identity(N);
        for _ in 0..50 {
            kernel.step(&mut pi, &pair, &prior, &mut rng);
            assert!(
                prior.log_prior(&pi) > f64::NEG_INFINITY,
                "{name}: {:?}",
                pi.as_slice()
            );
        }
    }
}

#[test]
fn random_starts_are_possible() {
    let mut some_moved = 0;
    for (name, prior, _) in cases() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        for most in 0..=N {
            let pi = prior.random_links(most, &mut rng);
            assert!(
                pi.num_moved() <= most && prior.log_prior(&pi) > f64::NEG_INFINITY,
                "{name}"
            );
            some_moved += usize::from(pi.num_moved() > 0);
        }
    }
    assert!(some_moved > 40, "{some_moved}");
}

/// The same tests must see through planted mistakes in every part of a space.
#[test]
fn wrong_kernels_are_rejected_in_every_space() {
    for (k, (name, space)) in spaces().into_iter().enumerate() {
        let pair = random_pairs(Family::Gaussian, N, 0.8, 40 + k as u64);
        let prior = Prior::new(PriorKind::BetaBinomial(RatePrior::beta(1.0, 1.0)), space);
        let exact = Enumeration::new(&pair, &prior);
        let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
        let mut kernel = ActiveSet::new(2.0);
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            kernel.step_with::<WithoutRatio, _, _>(pi, &pair, &prior, rng);
        }));
        assert!(z > CLEARLY, "{name}, no ratio: z = {z}");
        let mut swaps = Checkerboard::new(200, Restart::Current);
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            swaps.swap_with::<InvertedBarker, _, _>(
                pi,
                &pair,
                &prior,
                rng,
                &mut UpdateInfo::default(),
            );
        }));
        assert!(z > CLEARLY, "{name}, inverted Barker: z = {z}");
    }
}

/// A kernel that takes the audit of one block for that of the other, and one that has the same rate in both.
#[test]
fn a_kernel_with_other_rates_of_the_blocks_is_rejected() {
    let [north, south] = audited();
    for (rates, what) in [
        ([south, north], "the other block's audit"),
        ([north, north], "no audit"),
    ] {
        let told = by_block(rates);
        for ((name, prior, pair), (_, wrong, _)) in by_block(audited()).iter().zip(&told) {
            let exact = Enumeration::new(pair, prior);
            let mut rng = ChaCha8Rng::seed_from_u64(9);
            let mut kernel = ActiveSet::new(3.0);
            let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
                kernel.step(pi, pair, wrong, rng);
            }));
            assert!(z > CLEARLY, "{name}, {what}: z = {z}");
        }
    }
}

/// A kernel that is told a little less than what is known: facts that no test would miss.
#[test]
fn a_kernel_that_ignores_a_fact_is_rejected() {
    let kind = PriorKind::BetaBinomial(RatePrior::beta(1.0, 1.0));
    let none = LinkFacts::default();
    let off_weights: Vec<_> = PAIRS
        .iter()
        .map(|&(row, column, _)| (row, column, 1.0))
        .collect();
    let off_matches = MATCH.map(|p| 1.0 - p);
    for (name, truth, told) in [
        (
            "weights of candidate pairs",
            LinkFacts {
                candidates: Some(&PAIRS),
                ..none
            },
            LinkFacts {
                candidates: Some(&off_weights),
                ..none
            },
        ),
        (
            "match probabilities turned round",
            LinkFacts {
                match_probability: Some(&MATCH),
                ..none
            },
            LinkFacts {
                match_probability: Some(&off_matches),
                ..none
            },
        ),
        (
            "match probabilities inside blocks",
            LinkFacts {
                match_probability: Some(&MATCH),
                block_of_row: Some(&BLOCKS),
                ..none
            },
            LinkFacts {
                block_of_row: Some(&BLOCKS),
                ..none
            },
        ),
    ] {
        let pair = random_pairs(Family::Gaussian, N, 0.8, 7);
        let exact = Enumeration::new(&pair, &Prior::new(kind, LinkSpace::new(N, truth)));
        let wrong = Prior::new(kind, LinkSpace::new(N, told));
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut kernel = ActiveSet::new(3.0);
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            kernel.step_with::<Metropolis, _, _>(pi, &pair, &wrong, rng);
        }));
        assert!(z > CLEARLY, "{name}: z = {z}");
    }
}

/// A kernel that is not told of the probability of no error, on every fact that this prior can have beside it: match
/// probabilities are a prior of their own.
#[test]
fn a_kernel_that_forgets_the_probability_of_no_error_is_rejected() {
    let without_matches = |(_, space): &(&str, LinkSpace)| space.log_odds(0).is_none();
    let spaces = spaces().into_iter().filter(without_matches);
    for (k, (name, space)) in spaces.enumerate() {
        // A weak likelihood, which does not drown the prior of the links as given.
        let pair = random_pairs(Family::Gaussian, N, 0.2, 40 + k as u64);
        let doubting = Prior::new(PriorKind::BetaBinomial(DOUBTING), space.clone());
        let without = RatePrior::beta(DOUBTING.a, DOUBTING.b);
        let without = Prior::new(PriorKind::BetaBinomial(without), space);
        let exact = Enumeration::new(&pair, &doubting);
        let mut rng = ChaCha8Rng::seed_from_u64(k as u64);
        let mut kernel = ActiveSet::new(3.0);
        let z = exact.score(&exact.replicate(DRAWS, &mut rng, |pi, rng| {
            kernel.step(pi, &pair, &without, rng);
        }));
        assert!(z > CLEARLY, "{name}: z = {z}");
    }
}
