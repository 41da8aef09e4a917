//! Where a chain starts.

use std::sync::Arc;

use bridgestan::{Rng, StanLibrary};
use ndarray::{ArrayView2, CowArray, Ix2};
use rand::RngCore;
use rand_distr::{Distribution, StandardNormal};
use serde_json::{Map, Value, json};

use crate::baseline::{generalised_with_offset, least_squares};
use crate::config::{Config, Init};
use crate::data::Dataset;
use crate::model::{Family, ModelError, ResponseKind, StanModel, Standardised, WEIGHT};
use crate::numerics::rng;
use crate::sampler::links::PairFamily;

/// Stan's own default on the unconstrained scale.
const STAN_RADIUS: f64 = 2.0;

/// A point with a finite log density for `chain`, given the links as they are.
///
/// With `Init::Auto`, programs that have `vector[D] beta` start within two standard errors of an estimate: of a
/// generalised linear model where the kind of the response asks for one, of least squares where they have `sigma2` or
/// `sigma`; so do programs with `matrix[D, K] beta` and one of these for each response. Others with `beta` start where
/// every |x'beta| is at most 2: it may be a log or log odds, which Stan's own start makes huge where a predictor is
/// large. All else starts as in Stan. Given `coordinates`, these are estimates with centred predictors, so that the start
/// does not depend on where the predictors have their zero. `all` are the rows of `data`, then places without a response.
pub fn initial_values(
    model: &StanModel,
    coordinates: Option<&Standardised>,
    config: &Config,
    (data, all): (&Dataset, &Dataset),
    chain: usize,
    rng: &mut impl rand::Rng,
    stan_rng: &mut Rng<Arc<StanLibrary>>,
) -> Result<Vec<f64>, ModelError> {
    let mut start = |mut values: Map<String, Value>, radius: f64| {
        values.remove(&config.model.response);
        if model.is_weighted() {
            let weights = data.weights.as_ref().map(|w| w.values().to_vec());
            let mut weights = weights.unwrap_or_else(|| vec![1.0; data.num_rows()]);
            weights.resize(all.num_rows(), 0.0);
            values.insert(WEIGHT.into(), json!(weights));
        }
        let response = match model.shape().columns {
            None => serde_json::to_string(&all.response).expect("floats are JSON"),
            Some(_) => rows_of(all_responses(all)).to_string(),
        };
        let values = with_entry(&values, &config.model.response, response);
        model.initialize(values, radius, stan_rng)
    };
    let point = match &config.sampler.init {
        Init::Uniform(radius) => start(Map::new(), *radius),
        Init::Values(values) => start(values.clone(), STAN_RADIUS),
        Init::Auto => {
            let mut guess = guess(model, coordinates, config, data, rng);
            if matches!(config.model.family(), Family::Robust { .. }) {
                // Stan's own start would spread the scales of the rows over several orders of magnitude.
                let mut noise = || -> f64 { 0.2 * rng.sample::<f64, _>(StandardNormal) };
                let names = model.theta_names().iter();
                let num_gamma = names.filter(|name| name.starts_with("gamma.")).count();
                let gamma: Vec<f64> = (0..num_gamma).map(|_| noise()).collect();
                guess.insert("gamma".into(), json!(gamma));
                guess.insert("nu".into(), json!(8.0 * noise().exp()));
            }
            start(guess, STAN_RADIUS).or_else(|_| start(Map::new(), STAN_RADIUS))
        }
    };
    point.map_err(|message| ModelError::Initial {
        chain,
        message,
        advice: match &config.sampler.init {
            Init::Values(_) => "correct the starting values in the config's sampler.init",
            _ => "give starting values in the config's sampler.init",
        },
    })
}

/// Refuses a user's own starting values that no chain can start from, before anything is sampled or written.
pub fn check_values(
    model: &StanModel,
    coordinates: Option<&Standardised>,
    config: &Config,
    data: (&Dataset, &Dataset),
) -> Result<(), ModelError> {
    if !matches!(config.sampler.init, Init::Values(_)) {
        return Ok(());
    }
    // The stream of the checks: those of the chains begin where they did.
    let mut rng = rng::stream(config.sampler.seed, usize::MAX);
    let mut stan_rng = model.rng(rng.next_u32())?;
    initial_values(model, coordinates, config, data, 1, &mut rng, &mut stan_rng).map(drop)
}

/// The text of `values` and one more entry, which is text already: as a JSON value each of its numbers would take as much
/// memory as ten of them.
fn with_entry(values: &Map<String, Value>, name: &str, entry: String) -> String {
    let mut text = entry;
    text.insert_str(0, &format!("{{{}:", json!(name)));
    for (name, value) in values {
        text.push_str(&format!(",{}:{value}", json!(name)));
    }
    text.push('}');
    text
}

fn guess(
    model: &StanModel,
    coordinates: Option<&Standardised>,
    config: &Config,
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
    if num_beta != num_wanted {
        return Map::new();
    }
    let design = Design::new(coordinates, data);
    let (family, kind) = (config.model.family(), config.model.response_kind());
    let is_additive = family.facts().is_additive && family.response_kind() == kind;
    if (kind == ResponseKind::Real || is_additive) && has_scale {
        return near_least_squares(&design, family, data, by_response, has, rng);
    }
    if by_response {
        return Map::new();
    }
    let x = design.x.view();
    let beta = match generalised_with_offset(kind, x, &data.response, data.offset.as_deref()) {
        Some(fit) => near(&fit.beta, &fit.standard_error, rng),
        None => small_coefficients(x, rng),
    };
    let beta = design.of_predictors(beta);
    Map::from_iter([("beta".into(), json!(beta))])
}

/// The predictors, centred where the sampler's coordinates are.
struct Design<'a> {
    coordinates: Option<&'a Standardised>,
    x: CowArray<'a, f64, Ix2>,
}

impl<'a> Design<'a> {
    fn new(coordinates: Option<&'a Standardised>, data: &'a Dataset) -> Design<'a> {
        let x = data.x.view();
        Design {
            coordinates,
            x: match coordinates {
                Some(coordinates) => coordinates.centred(x).into(),
                None => x.into(),
            },
        }
    }

    /// Coefficients of this design become those of the predictors themselves.
    fn of_predictors(&self, mut beta: Vec<f64>) -> Vec<f64> {
        if let Some(coordinates) = self.coordinates {
            coordinates.uncentre(&mut beta);
        }
        beta
    }
}

fn near(beta: &[f64], standard_error: &[f64], rng: &mut impl rand::Rng) -> Vec<f64> {
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let pairs = beta.iter().zip(standard_error);
    pairs
        .map(|(beta, error)| beta + 2.0 * error * normal())
        .collect()
}

fn small_coefficients(x: ArrayView2<f64>, rng: &mut impl rand::Rng) -> Vec<f64> {
    let share = STAN_RADIUS / x.ncols() as f64;
    let columns = x.columns().into_iter();
    columns
        .map(|column| {
            let largest = column.fold(0.0, |largest: f64, x| largest.max(x.abs()));
            rng.random_range(-share..share) / largest.max(f64::MIN_POSITIVE)
        })
        .collect()
}

/// Each response, on the scale of x'beta, with least squares of its own; `has` knows the parameters of the program by name.
fn near_least_squares(
    design: &Design,
    family: Family,
    data: &Dataset,
    by_response: bool,
    has: impl Fn(&str) -> bool,
    rng: &mut impl rand::Rng,
) -> Map<String, Value> {
    let guesses = all_responses(data).map(|response| {
        let mut locations: Vec<f64> = response.iter().map(|&y| family.location(y)).collect();
        let offset = data.offset.iter().flatten();
        (locations.iter_mut().zip(offset)).for_each(|(location, offset)| *location -= offset);
        let fit = least_squares(design.x.view(), &locations);
        let beta = design.of_predictors(near(&fit.beta, &fit.standard_error, rng));
        let z: f64 = StandardNormal.sample(rng);
        // An exact fit has no residual variance, but Stan needs a positive one.
        let sigma2 = fit.sigma2.max(f64::MIN_POSITIVE.sqrt()) * (0.5 * z).exp();
        (beta, sigma2)
    });
    let (beta, sigma2): (Vec<Vec<f64>>, Vec<f64>) = guesses.unzip();
    let sigma = sigma2.iter().map(|sigma2| sigma2.sqrt()).collect();
    let beta = match by_response {
        true => rows_of(beta.iter().map(Vec::as_slice)),
        false => json!(beta[0]),
    };
    let mut values = Map::from_iter([("beta".into(), beta)]);
    for (name, scales) in [("sigma2", sigma2), ("sigma", sigma)] {
        let scales: Vec<f64> = scales;
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
