//! Fits of several responses against the exact joint posterior: two responses at n = 5, and a list of one at n = 6.
//!
//! Probabilities and means of the draws are compared by z-tests with MCSEs from `unshuffle::posterior::diagnostics`. The error rate
//! of the whole file is declared as 1e-3 and shared by the tests of 4 right runs, at most 40 each (Bonferroni): 6.2e-6 a test, two-sided.

use std::fs;

use crate::enumeration::{Enumeration, num_moved};
use crate::study::{all_permutations, sampled};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::{Value, json};
use unshuffle::internals::config;
use unshuffle::internals::fit::{Prepared, prepare};
use unshuffle::internals::model::{Outputs, Pairs};
use unshuffle::internals::numerics::mean;
use unshuffle::internals::numerics::rng::{DrawSeeds, stream};
use unshuffle::internals::posterior::mcse_mean;
use unshuffle::internals::sampler::chain::LinkedPairs;
use unshuffle::internals::sampler::links::LinkKernel;
use unshuffle::links::{ActiveSet, Permutation, Prior};

/// The 1 - 3.1e-6 quantile of the normal distribution.
const LIMIT: f64 = 4.518;
const MOST_TESTS: usize = 40;

const X: [f64; 5] = [-1.2, -0.5, 0.3, 0.9, 1.6];
/// Rows 1, 3 and 4 look like a cycle of three; neither response alone says so clearly.
const Y: [[f64; 5]; 2] = [[0.4, -0.7, 1.1, -0.9, 2.2], [-1.1, 0.2, 0.8, 1.5, -1.4]];
/// So large that slopes and links can change sign together often enough for the MCSEs to be right: with half of it two
/// modes of opposite slopes hold a chain for hundreds of iterations, even one that draws the links exactly.
const SD: [f64; 2] = [1.6, 1.3];
const PRIOR_VARIANCE: f64 = 4.0;

/// Draws by chain: the links, and what is compared of the parameters.
struct Draws {
    links: Vec<Vec<Vec<usize>>>,
    /// By parameter, then by chain.
    parameters: Vec<Vec<Vec<f64>>>,
}

/// What they are compared with: permutations, their probabilities, and means of the parameters.
struct Exact {
    permutations: Vec<Vec<usize>>,
    probability: Vec<f64>,
    means: Vec<f64>,
}

/// The slope of one response given the links: precision and precision times mean.
fn slope_given(response: usize, alpha: f64, aligned: impl Iterator<Item = f64>) -> (f64, f64) {
    let variance = SD[response] * SD[response];
    let sxx: f64 = X.iter().map(|x| x * x).sum();
    let sxy: f64 = X.iter().zip(aligned).map(|(x, y)| x * y).sum();
    let precision = alpha * sxx / variance + 1.0 / PRIOR_VARIANCE;
    (precision, alpha * sxy / variance)
}

/// Links enumerated, slopes integrated; `moves` says which responses go where a link points.
fn exact(alpha: f64, moves: [bool; 2]) -> Exact {
    let prior = Prior::beta_binomial(X.len(), 1.0, 1.0);
    let permutations = all_permutations(X.len());
    let mut weights = Vec::new();
    let mut slopes = Vec::new();
    for pi in &permutations {
        let given: Vec<(f64, f64)> = (0..2)
            .map(|k| {
                let mut aligned = Y[k];
                if moves[k] {
                    (0..X.len()).for_each(|row| aligned[pi[row]] = Y[k][row]);
                }
                slope_given(k, alpha, aligned.into_iter())
            })
            .collect();
        // The factors that are left out are the same for all links.
        let fit: f64 = given
            .iter()
            .map(|(precision, b)| 0.5 * b * b / precision)
            .sum();
        weights.push((fit + prior.log_weight(num_moved(pi))).exp());
        slopes.push(
            given
                .iter()
                .map(|(precision, b)| b / precision)
                .collect::<Vec<f64>>(),
        );
    }
    let total: f64 = weights.iter().sum();
    let probability: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    let mean_of = |k: usize| probability.iter().zip(&slopes).map(|(p, s)| p * s[k]).sum();
    Exact {
        means: vec![mean_of(0), mean_of(1)],
        permutations,
        probability,
    }
}

/// The largest |z| over events of the links and means of the parameters, and what it is of.
fn worst(draws: &Draws, exact: &Exact) -> (f64, String) {
    let num_rows = exact.permutations[0].len();
    let mut tests: Vec<(String, f64, Vec<Vec<f64>>)> = Vec::new();
    for (k, column) in draws.parameters.iter().enumerate() {
        tests.push((format!("mean {k}"), exact.means[k], column.clone()));
    }
    let mut event = |what: String, holds: &dyn Fn(&[usize]) -> bool| {
        let cells = exact.permutations.iter().zip(&exact.probability);
        let p: f64 = cells.filter(|(pi, _)| holds(pi)).map(|(_, p)| p).sum();
        // Rarer events are too few among the draws for a normal approximation.
        if p > 0.002 {
            let indicator = |pi: &Vec<usize>| f64::from(u8::from(holds(pi)));
            let chains = draws.links.iter();
            let chains = chains.map(|chain| chain.iter().map(indicator).collect());
            tests.push((what, p, chains.collect()));
        }
    };
    for d in 0..=num_rows {
        event(format!("P(d = {d})"), &|pi| num_moved(pi) == d);
    }
    for row in 0..num_rows {
        event(format!("P(row {} moved)", row + 1), &|pi| pi[row] != row);
    }
    let mut order: Vec<usize> = (0..exact.permutations.len()).collect();
    order.sort_by(|a, b| exact.probability[*b].total_cmp(&exact.probability[*a]));
    for &k in order.iter().take(15) {
        let best = &exact.permutations[k];
        event(format!("P({best:?})"), &|pi| pi == best);
    }
    assert!((10..=MOST_TESTS).contains(&tests.len()));
    let found = tests.into_iter().map(|(what, exact, draws)| {
        let chains: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
        let found = mean(&draws.concat()).unwrap();
        let z = (found - exact) / mcse_mean(&chains).unwrap_or(0.0);
        (
            z.abs(),
            format!("{what}: exact {exact:.4}, found {found:.4}, z = {z:.2}"),
        )
    });
    found.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
}

fn accepts(draws: &Draws, exact: &Exact) {
    let (z, what) = worst(draws, exact);
    println!("worst of the tests: {what}");
    assert!(z < LIMIT, "{what}");
}

fn rejects(draws: &Draws, exact: &Exact) {
    let (z, what) = worst(draws, exact);
    println!("planted error found by: {what}");
    assert!(z > LIMIT, "the planted error was not found: {what}");
}

/// All that comes before sampling, of a config whose data are `columns` (name and values).
fn prepared(folder: &tempfile::TempDir, columns: &[(&str, &[f64])], settings: Value) -> Prepared {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..columns[0].1.len() {
        let cells = columns.iter().map(|(_, values)| values[row].to_string());
        text += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    fs::write(folder.path().join("data.csv"), text).unwrap();
    let mut config = json!({
        "data": {"file": "data.csv", "predictors": ["x"], "intercept": false},
        "permutation": {"prior": crate::study::flat_rate()},
        "sampler": {"chains": 4, "warmup": 1000, "draws": 15000, "seed": 1, "target_accept": 0.95},
        "output": "out"
    });
    config["model"] = settings["model"].clone();
    config["temperature"] = settings["temperature"].clone();
    config["data"]["response"] = settings["response"].clone();
    let file = folder.path().join("fit.json");
    let config =
        config::parse(&config.to_string(), &file, &[]).unwrap_or_else(|error| panic!("{error}"));
    prepare(config, &crate::study::compiler()).unwrap_or_else(|error| panic!("{error}"))
}

/// A whole fit, read back from its files.
fn fit(prepared: &Prepared, parameters: &[&str]) -> Draws {
    let fitted = sampled(prepared);
    let columns = parameters.iter().map(|name| {
        let columns = fitted
            .chains
            .iter()
            .map(|chain| chain.column(name).unwrap().to_vec());
        columns.collect()
    });
    Draws {
        links: fitted.links,
        parameters: columns.collect(),
    }
}

fn two_responses(folder: &tempfile::TempDir, alpha: f64) -> Prepared {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stan/two_slopes.stan");
    let model = json!({"stan": program, "family": {"name": "stan"}, "data": {"sd": SD}});
    let settings = json!({"model": model, "temperature": alpha, "response": ["food", "rent"]});
    prepared(
        folder,
        &[("x", &X), ("food", &Y[0]), ("rent", &Y[1])],
        settings,
    )
}

#[test]
fn two_responses_are_their_enumeration() {
    let folder = tempfile::tempdir().unwrap();
    let draws = fit(&two_responses(&folder, 1.0), &["beta.1", "beta.2"]);
    accepts(&draws, &exact(1.0, [true, true]));
    // The same draws are not those of a posterior in which a link leaves the second response, or the first, behind.
    rejects(&draws, &exact(1.0, [true, false]));
    rejects(&draws, &exact(1.0, [false, true]));
    let folder = tempfile::tempdir().unwrap();
    let draws = fit(&two_responses(&folder, 0.5), &["beta.1", "beta.2"]);
    accepts(&draws, &exact(0.5, [true, true]));
}

/// Alternates exact draws of the slopes with Step 2 of the fit, and aligns as `align` does.
fn by_hand(align: impl Fn(&Permutation, &[f64], &mut [f64])) -> Draws {
    let folder = tempfile::tempdir().unwrap();
    let prepared = two_responses(&folder, 1.0);
    let responses = prepared.data.responses().into_owned();
    let mut draws = Draws {
        links: Vec::new(),
        parameters: vec![Vec::new(); 2],
    };
    for chain in 1..=4 {
        let mut rng = stream(5, chain);
        let seeds = DrawSeeds::new(u64::from(rng.random::<u32>()), chain);
        let outputs = Outputs::new(&prepared.model, seeds).unwrap();
        let family = prepared.config.model.family();
        let x = prepared.data.x.view();
        let mut pairs = Pairs::new(family, &prepared.model, outputs, x, &responses, 1.0).unwrap();
        let mut update = LinkKernel::ActiveSet(ActiveSet::default());
        let mut pi = Permutation::identity(X.len());
        let mut aligned = responses.clone();
        let mut links = Vec::new();
        let mut slopes = [Vec::new(), Vec::new()];
        for _ in 0..10_000 {
            let theta = [0, 1].map(|k| {
                let column = aligned[k * X.len()..][..X.len()].iter().copied();
                let (precision, b) = slope_given(k, 1.0, column);
                let noise: f64 = StandardNormal.sample(&mut rng);
                b / precision + noise / precision.sqrt()
            });
            pairs.update(&theta).unwrap();
            pairs
                .step(&mut update, &mut pi, &prepared.prior, &mut rng)
                .unwrap();
            align(&pi, &responses, &mut aligned);
            links.push(pi.as_slice().to_vec());
            (0..2).for_each(|k| slopes[k].push(theta[k]));
        }
        draws.links.push(links);
        for (column, slopes) in draws.parameters.iter_mut().zip(slopes) {
            column.push(slopes);
        }
    }
    draws
}

#[test]
fn a_response_that_is_left_behind_is_found() {
    let exact = exact(1.0, [true, true]);
    accepts(&by_hand(Permutation::align), &exact);
    let first_alone = |pi: &Permutation, responses: &[f64], aligned: &mut [f64]| {
        pi.align(&responses[..X.len()], &mut aligned[..X.len()]);
    };
    rejects(&by_hand(first_alone), &exact);
}

/// The data of joint_posterior.rs, where the same posterior is reached with `vector[N] y`.
#[test]
fn a_list_of_one_is_the_single_response() {
    let x = [-1.3, -0.6, 0.2, 0.7, 1.1, 1.9];
    let y = [-0.6, 1.8, 2.7, 1.9, 0.1, 3.9];
    let prior = Prior::beta_binomial(x.len(), 1.0, 1.0);
    let single = Enumeration::new(&x, &y, 0.5, |pi| prior.log_weight(num_moved(pi)));
    let exact = Exact {
        permutations: single.permutations,
        probability: single.probability,
        means: vec![single.slope, single.variance],
    };
    let folder = tempfile::tempdir().unwrap();
    let settings = json!({"model": {"stan": "multivariate", "priors": "paper"}, "temperature": 0.5, "response": ["y"]});
    let prepared = prepared(&folder, &[("x", &x), ("y", &y)], settings);
    accepts(&fit(&prepared, &["beta.1.1", "sigma2.1"]), &exact);
}
