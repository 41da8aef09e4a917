//! Where a chain starts.

use std::sync::Arc;

use bridgestan::{Rng, StanLibrary};
use rand_distr::{Distribution, StandardNormal};
use serde_json::{Map, Value, json};

use super::{ModelError, StanModel};
use crate::baseline::least_squares;
use crate::config::Init;
use crate::data::Dataset;

/// Stan's own default on the unconstrained scale.
const STAN_RADIUS: f64 = 2.0;

/// A point with a finite log density for `chain`, given the responses as they were linked; `block` is their name in the
/// program.
///
/// With `Init::Auto`, programs that have `vector[D] beta` and `sigma2` or `sigma`, or `matrix[D, K] beta` and one of
/// these for each response, start within two standard errors of least squares; all else starts as in Stan.
pub fn initial_values(
    model: &StanModel,
    init: &Init,
    block: &str,
    data: &Dataset,
    chain: usize,
    rng: &mut impl rand::Rng,
    stan_rng: &mut Rng<Arc<StanLibrary>>,
) -> Result<Vec<f64>, ModelError> {
    let response = match model.shape().columns {
        None => json!(data.response),
        Some(_) => rows_of(all_responses(data)),
    };
    let mut start = |mut values: Map<String, Value>, radius: f64| {
        values.insert(block.to_string(), response.clone());
        model.initialize(&Value::Object(values).to_string(), radius, stan_rng)
    };
    let point = match init {
        Init::Uniform(radius) => start(Map::new(), *radius),
        Init::Values(values) => start(values.clone(), STAN_RADIUS),
        Init::File(_) => unreachable!("a file of values is read before sampling"),
        Init::Auto => {
            let guess = near_least_squares(model, data, rng);
            start(guess, STAN_RADIUS).or_else(|_| start(Map::new(), STAN_RADIUS))
        }
    };
    point.map_err(|message| ModelError::Initial { chain, message })
}

/// Each response with least squares of its own.
fn near_least_squares(
    model: &StanModel,
    data: &Dataset,
    rng: &mut impl rand::Rng,
) -> Map<String, Value> {
    let names = model.theta_names();
    let num_beta = names.iter().filter(|n| n.starts_with("beta.")).count();
    let has = |name: &str| names.iter().any(|known| known == name);
    let (num_columns, num_responses) = (data.x.ncols(), model.shape().num_responses());
    let by_response = has(&format!("beta.{num_columns}.{num_responses}"));
    let num_wanted = match by_response {
        true => num_columns * num_responses,
        false => num_columns,
    };
    let has_scale = ["sigma2", "sigma"]
        .iter()
        .any(|name| has(name) || has(&format!("{name}.{num_responses}")));
    let mut values = Map::new();
    if num_beta != num_wanted || !has_scale {
        return values;
    }
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let guesses = all_responses(data).map(|response| {
        let fit = least_squares(data.x.view(), response);
        let beta = fit.beta.iter().zip(&fit.standard_error);
        let beta: Vec<f64> = beta
            .map(|(beta, error)| beta + 2.0 * error * normal())
            .collect();
        // An exact fit has no residual variance, but Stan needs a positive one.
        let sigma2 = fit.sigma2.max(f64::MIN_POSITIVE.sqrt()) * (0.5 * normal()).exp();
        (beta, sigma2)
    });
    let (beta, sigma2): (Vec<Vec<f64>>, Vec<f64>) = guesses.unzip();
    let sigma = sigma2.iter().map(|sigma2| sigma2.sqrt()).collect();
    let beta = match by_response {
        true => rows_of(beta.iter().map(Vec::as_slice)),
        false => json!(beta[0]),
    };
    values.insert("beta".into(), beta);
    for (name, scales) in [("sigma2", sigma2), ("sigma", sigma)] {
        let scales = match has(name) {
            true => json!(scales[0]),
            false => json!(scales),
        };
        values.insert(name.into(), scales);
    }
    values
}

fn all_responses(data: &Dataset) -> impl Iterator<Item = &[f64]> {
    let further = data.further_responses.iter().map(Vec::as_slice);
    [data.response.as_slice()].into_iter().chain(further)
}

/// A matrix as Stan's JSON has it, from its columns.
fn rows_of<'a>(columns: impl Iterator<Item = &'a [f64]>) -> Value {
    let columns: Vec<&[f64]> = columns.collect();
    let row = |i| columns.iter().map(|column| column[i]).collect::<Vec<f64>>();
    json!((0..columns[0].len()).map(row).collect::<Vec<_>>())
}
