//! Survey weights in Step 1: whole weights are repeated rows, and a program that does not weigh its rows is found.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use unshuffle::hmc::LogDensity;
use unshuffle::internals::config;
use unshuffle::internals::fit::{Prepared, prepare};
use unshuffle::internals::model::ThetaGivenPi;
use unshuffle::internals::sampler::chain::LinkedDensity;

use crate::common::program;

const X: [f64; 6] = [-1.3, -0.6, 0.2, 0.7, 1.1, 1.9];
const COUNTS: [f64; 6] = [1.0, 0.0, 3.0, 1.0, 0.0, 7.0];
const ZERO_ONE: [f64; 6] = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0];
const WEIGHTS: [usize; 6] = [2, 1, 3, 1, 2, 1];

fn prepared(folder: &Path, text: &str, model: Value, weights: Value) -> Result<Prepared, String> {
    fs::write(folder.join("data.csv"), text).unwrap();
    let config = json!({
        "model": model,
        "data": {"file": "data.csv", "formula": "y ~ x", "weights": weights},
        "output": "out"
    });
    let config = config::parse(&config.to_string(), &folder.join("fit.json"), &[]).unwrap();
    prepare(config, &crate::study::compiler()).map_err(|error| error.to_string())
}

/// The log density and its gradient at a few positions, with the weights that a chain that keeps the links has.
fn densities(prepared: &Prepared) -> Vec<(f64, Vec<f64>)> {
    let responses = prepared.data.responses();
    let mut density = ThetaGivenPi::new(&prepared.model, &responses);
    if let Some(weights) = &prepared.data.weights {
        density.weights_mut().copy_from_slice(weights.values());
    }
    let place = |k: usize| ((k as f64 + 0.3) * 0.618_033_988_749_895).fract() - 0.5;
    let dim = density.dim();
    let positions = (0..5).map(|first| (0..dim).map(|k| place(dim * first + k)).collect());
    let positions: Vec<Vec<f64>> = positions.collect();
    let at = |position: &Vec<f64>| {
        let mut gradient = vec![0.0; dim];
        let value = density.log_density_gradient(position, &mut gradient);
        (value.unwrap(), gradient)
    };
    positions.iter().map(at).collect()
}

/// Where every link is kept: equal gradients, and log densities that differ by one constant.
#[test]
fn whole_weights_are_repeated_rows() {
    for (name, y) in [
        ("linear", COUNTS),
        ("poisson", COUNTS),
        ("logistic", ZERO_ONE),
    ] {
        let model = json!({"stan": name, "priors": "paper"});
        let folder = tempfile::tempdir().unwrap();
        let row = |row: usize| format!("{},{},{}\n", X[row], y[row], WEIGHTS[row]);
        let once: String = (0..6).map(row).collect();
        let repeated: String = (0..6).map(|k| row(k).repeat(WEIGHTS[k])).collect();
        let read = |rows: &str, weights: Value| {
            let text = format!("x,y,w\n{rows}");
            let prepared = prepared(folder.path(), &text, model.clone(), weights);
            densities(&prepared.unwrap_or_else(|error| panic!("{error}")))
        };
        let weighted = read(&once, json!("w"));
        let repeated = read(&repeated, Value::Null);
        let forgotten = read(&once, Value::Null);
        let constant = weighted[0].0 - repeated[0].0;
        let mut far = 0.0f64;
        for ((found, expected), without) in weighted.iter().zip(&repeated).zip(&forgotten) {
            let error = (found.0 - expected.0 - constant).abs();
            assert!(error < 1e-9 * found.0.abs().max(1.0), "{name}: {error}");
            for ((a, b), c) in found.1.iter().zip(&expected.1).zip(&without.1) {
                assert!((a - b).abs() < 1e-9 * a.abs().max(1.0), "{name}: {a} {b}");
                far = far.max((a - c).abs());
            }
        }
        // The same comparison finds weights that are forgotten.
        assert!(far > 0.1, "{name}: {far}");
    }
}

/// Weights of 0 and 1 would not tell it from a right one.
#[test]
fn a_program_that_squares_its_weights_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let program = program("linear_weighted_log_lik.stan").label;
    let rows: String = (0..6)
        .map(|row| format!("{},{},{}\n", X[row], COUNTS[row], WEIGHTS[row]))
        .collect();
    let text = format!("x,y,w\n{rows}");
    for with in ["predictors", "response"] {
        let squared = json!({"mistake": 1});
        let model = json!({"stan": program, "family": {"name": "stan"}, "data": squared});
        let weights = json!({"column": "w", "with": with});
        let refused = prepared(folder.path(), &text, model, weights);
        let sentence = refused.err().unwrap();
        assert!(
            sentence.contains("disagree about the likelihood with the weights of data.weights"),
            "{sentence}"
        );
    }
}
