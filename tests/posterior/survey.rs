//! Fits with survey weights against the exact pseudo-posterior of links and parameters, enumerated at n = 6.
//!
//! The density of a pair is raised to the weight of its predictors or of its response. As in `joint`: z-tests with MCSEs. The
//! error rate of the whole file is declared as 1e-3 and shared by the tests of 4 right runs, at most 40 each: 6.3e-6 a test.

use serde_json::{Value, json};
use unshuffle::links::Prior;

use crate::enumeration::{Enumeration, SHIPPED, num_moved};
use crate::joint::{MOST_TESTS, WEIGHTS, X, Y, fit};

/// The 1 - 3.1e-6 quantile of the normal distribution.
const LIMIT: f64 = 4.517;
const _: () = assert!(MOST_TESTS <= 40);

fn exact(alpha: f64, weight: impl Fn(usize, usize) -> f64) -> Enumeration {
    let prior = Prior::beta_binomial(X.len(), 1.0, 1.0);
    let log_links = |pi: &[usize]| prior.log_weight(num_moved(pi));
    Enumeration::with_weights(SHIPPED, &X, &Y, alpha, weight, log_links)
}

/// The draws are those of the pseudo-posterior whose weights stay with the predictors (`with_predictors`), or move with the
/// response; and neither those of the other nor of one without weights.
fn accepts_only(with_predictors: bool, alpha: f64, seed: u64, mut settings: Value) {
    let with = if with_predictors {
        "predictors"
    } else {
        "response"
    };
    settings["known"] = json!({"weights": {"column": "w", "with": with}});
    settings["temperature"] = json!(alpha);
    let draws = fit(seed, settings);
    let by_predictors = exact(alpha, |_, j| WEIGHTS[j]);
    let by_response = exact(alpha, |i, _| WEIGHTS[i]);
    let (right, wrong) = match with_predictors {
        true => (by_predictors, by_response),
        false => (by_response, by_predictors),
    };
    let worst = draws.worst(&right);
    println!("{with}: worst of the tests: {worst}");
    assert!(worst.z.abs() < LIMIT, "{worst}");
    for other in [wrong, exact(alpha, |_, _| 1.0)] {
        let worst = draws.worst(&other);
        println!("{with}: planted error found by: {worst}");
        assert!(worst.z.abs() > LIMIT, "{worst}");
    }
}

#[test]
fn weights_of_the_predictors() {
    accepts_only(true, 1.0, 31, json!({}));
}

#[test]
fn weights_of_the_responses() {
    accepts_only(false, 1.0, 32, json!({}));
}

#[test]
fn tempered_weights_and_checkerboard_moves() {
    let permutation = json!({"update": {"name": "checkerboard"}});
    accepts_only(false, 0.5, 33, json!({"permutation": permutation}));
}

#[test]
fn weights_of_the_predictors_with_pair_likelihoods_from_the_program() {
    let program = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/stan/linear_weighted_log_lik.stan"
    );
    let model = json!({"stan": program, "family": {"name": "stan"}, "data": {"mistake": 0}});
    accepts_only(true, 1.0, 34, json!({"model": model}));
}
