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

/// A point with a finite log density for `chain`, given the response in the order of its links.
///
/// With `Init::Auto`, programs that have `vector[D] beta` and `sigma2` or `sigma` start within two standard errors of
/// least squares. Those with `beta` alone start where every |x'beta| is at most 2: it may be a log or log odds, which
/// Stan's own start makes huge where a predictor is large. All else starts as in Stan.
pub fn initial_values(
    model: &StanModel,
    init: &Init,
    response: (&str, &[f64]),
    data: &Dataset,
    chain: usize,
    rng: &mut impl rand::Rng,
    stan_rng: &mut Rng<Arc<StanLibrary>>,
) -> Result<Vec<f64>, ModelError> {
    let (block, aligned) = response;
    let mut start = |mut values: Map<String, Value>, radius: f64| {
        values.insert(block.to_string(), json!(aligned));
        model.initialize(&Value::Object(values).to_string(), radius, stan_rng)
    };
    let point = match init {
        Init::Uniform(radius) => start(Map::new(), *radius),
        Init::Values(values) => start(values.clone(), STAN_RADIUS),
        Init::File(_) => unreachable!("a file of values is read before sampling"),
        Init::Auto => {
            let guess = guess(model, data, aligned, rng);
            start(guess, STAN_RADIUS).or_else(|_| start(Map::new(), STAN_RADIUS))
        }
    };
    point.map_err(|message| ModelError::Initial { chain, message })
}

fn guess(
    model: &StanModel,
    data: &Dataset,
    aligned: &[f64],
    rng: &mut impl rand::Rng,
) -> Map<String, Value> {
    let names = model.theta_names();
    let num_beta = names.iter().filter(|n| n.starts_with("beta.")).count();
    let has = |name: &str| names.iter().any(|known| known == name);
    if num_beta != data.x.ncols() {
        Map::new()
    } else if has("sigma2") || has("sigma") {
        near_least_squares(data, aligned, rng)
    } else {
        Map::from_iter([("beta".into(), json!(small_coefficients(data, rng)))])
    }
}

fn small_coefficients(data: &Dataset, rng: &mut impl rand::Rng) -> Vec<f64> {
    let share = STAN_RADIUS / data.x.ncols() as f64;
    let columns = data.x.columns().into_iter();
    columns
        .map(|column| {
            let largest = column.fold(0.0, |largest: f64, x| largest.max(x.abs()));
            rng.random_range(-share..share) / largest.max(f64::MIN_POSITIVE)
        })
        .collect()
}

fn near_least_squares(
    data: &Dataset,
    aligned: &[f64],
    rng: &mut impl rand::Rng,
) -> Map<String, Value> {
    let mut values = Map::new();
    let fit = least_squares(data.x.view(), aligned);
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let beta: Vec<f64> = fit
        .beta
        .iter()
        .zip(&fit.standard_error)
        .map(|(beta, error)| beta + 2.0 * error * normal())
        .collect();
    // An exact fit has no residual variance, but Stan needs a positive one.
    let sigma2 = fit.sigma2.max(f64::MIN_POSITIVE.sqrt()) * (0.5 * normal()).exp();
    values.insert("beta".into(), json!(beta));
    values.insert("sigma2".into(), json!(sigma2));
    values.insert("sigma".into(), json!(sigma2.sqrt()));
    values
}
