//! Fits with an offset against the exact posterior of links and parameters: normal errors at n = 6, counts at n = 5.
//!
//! The offset stays with the predictors: the response of row i at the predictors of row j has the linear predictor
//! x_j beta + o_j. Planted errors are a posterior without the offset and one whose offset moves with the response. As in
//! `joint`: z-tests with MCSEs. The error rate of the whole file is declared as 1e-3 and shared by the tests of 4 right runs,
//! at most 40 each: 6.3e-6 a test.

use serde_json::{Value, json};
use unshuffle::links::Prior;

use crate::enumeration::{Enumeration, SHIPPED, num_moved};
use crate::families::{self, X as X_OF_COUNTS};
use crate::joint::{MOST_TESTS, OFFSET, X, Y, fit};
use crate::quadrature::{Law, Posterior};

/// The 1 - 3.1e-6 quantile of the normal distribution.
const LIMIT: f64 = 4.517;
const _: () = assert!(MOST_TESTS <= 40);

/// `offset` is what is added to the linear predictor of the response of row i at the predictors of row j.
fn exact(alpha: f64, offset: impl Fn(usize, usize) -> f64) -> Enumeration {
    let prior = Prior::beta_binomial(X.len(), 1.0, 1.0);
    let log_links = |pi: &[usize]| prior.log_weight(num_moved(pi));
    let response = |i: usize, j: usize| Y[i] - offset(i, j);
    Enumeration::of_pairs(SHIPPED, &X, response, alpha, |_, _| 1.0, log_links)
}

fn accepts_only(alpha: f64, seed: u64, data: Value, mut settings: Value) {
    settings["known"] = data;
    settings["temperature"] = json!(alpha);
    let draws = fit(seed, settings);
    let worst = draws.worst(&exact(alpha, |_, j| OFFSET[j]));
    println!("worst of the tests: {worst}");
    assert!(worst.z.abs() < LIMIT, "{worst}");
    for wrong in [exact(alpha, |_, _| 0.0), exact(alpha, |i, _| OFFSET[i])] {
        let worst = draws.worst(&wrong);
        println!("planted error found by: {worst}");
        assert!(worst.z.abs() > LIMIT, "{worst}");
    }
}

#[test]
fn an_offset_of_normal_errors() {
    accepts_only(1.0, 41, json!({"offset": "o"}), json!({}));
}

/// As a term of a formula, with swaps and a power of the likelihood.
#[test]
fn an_offset_in_a_formula() {
    let data =
        json!({"formula": "y ~ x + offset(2 * o / 2) - 1", "response": null, "predictors": null});
    let permutation = json!({"update": {"name": "checkerboard"}});
    accepts_only(0.5, 42, data, json!({"permutation": permutation}));
}

/// Logs of exposures of counts.
const LOG_EXPOSURE: [f64; 5] = [0.4, -0.9, 0.2, 1.1, -0.3];

#[test]
fn an_offset_of_counts() {
    let y = families::response(Law::Poisson);
    let exact = |offset: &dyn Fn(usize, usize) -> f64| {
        Posterior::with_offset(Law::Poisson, &X_OF_COUNTS, &y, 1.0, offset)
    };
    let right = exact(&|_, j| LOG_EXPOSURE[j]);
    let wrong = [exact(&|_, _| 0.0), exact(&|i, _| LOG_EXPOSURE[i])];
    for family in ["poisson", "stan"] {
        let model = json!({"stan": "poisson", "family": {"name": family}});
        let others = json!({"offset": LOG_EXPOSURE});
        let found = families::tests(Law::Poisson, model, others);
        let (z, what) = found.worst(&right);
        assert!(z < LIMIT, "{family}: {what}");
        for wrong in &wrong {
            let (z, what) = found.worst(wrong);
            assert!(
                z > LIMIT,
                "{family}: the planted error was not found: {what}"
            );
        }
    }
}
