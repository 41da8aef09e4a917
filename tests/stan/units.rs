//! Answers do not depend on units: every shipped model is fitted again with rescaled and shifted responses and predictors.
//!
//! Two statistics compare a fit with that of the same file in other units. The coefficients, the error scales and the
//! number of moved rows, taken back to the first units, differ by a z-score: beyond 4.5 by chance once in 150 000. The
//! probabilities of rows differ by a root mean square, which is set against that of two fits of the same file with
//! different seeds: a ratio beyond 2.5 has a probability of 1e-4 when 20 rows count. There are some 150 z-scores and 35 ratios:
//! by chance one seed in 200 fails. Every fit has the default settings, but for the number of draws.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use ndarray::{Axis, s};
use serde_json::{Value, json};
use unshuffle::Posterior;
use unshuffle::internals::config::{self, Config};
use unshuffle::internals::data::Dataset;
use unshuffle::internals::fit::{Program, read_data};
use unshuffle::internals::posterior::summarize;
use unshuffle::internals::sampler::chain::Silent;

use crate::common::compiler;

const MAX_Z: f64 = 4.5;
const MAX_RATIO: f64 = 2.5;

/// Other units: y becomes shift + scale * y, and so do the predictors.
#[derive(Debug, Clone, Copy)]
struct Units {
    y: (f64, f64),
    x: (f64, f64),
}

const PLAIN: Units = Units {
    y: (0.0, 1.0),
    x: (0.0, 1.0),
};
const LARGE_Y: Units = Units {
    y: (0.0, 1000.0),
    ..PLAIN
};
const FAR_Y: Units = Units {
    y: (1e6, 1.0),
    ..PLAIN
};
const SMALL_X: Units = Units {
    x: (0.0, 1e-3),
    ..PLAIN
};
const FAR_X: Units = Units {
    x: (2000.0, 5.0),
    ..PLAIN
};
const ALL: [Units; 4] = [LARGE_Y, FAR_Y, SMALL_X, FAR_X];

/// A shipped config, with its program compiled.
struct Model {
    config: Config,
    program: Program,
    data: Dataset,
    /// Whether coefficients are logs, to which the scale of the response adds.
    log_link: bool,
}

/// The quantities of one draw, by name.
type Draw<'a> = &'a dyn Fn(&str) -> f64;

/// What is compared, in the units of the file.
struct Answer {
    /// By name, one vector of draws for each chain.
    quantities: Vec<(String, Vec<Vec<f64>>)>,
    /// That each row is moved, or shifted.
    rows: Vec<f64>,
}

impl Model {
    /// The first `num_rows` rows of the data of configs/NAME.json, with further settings.
    fn new(name: &str, num_rows: usize, settings: Value) -> Model {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.json"));
        let settings: Vec<String> = settings
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let config = config::load(&file, &settings).unwrap();
        let program = Program::compile(&config.model, &compiler()).unwrap();
        let data = first_rows(read_data(&config).unwrap(), num_rows);
        Model {
            log_link: name.ends_with("_survival")
                || ["gamma", "log_normal", "poisson", "negative_binomial"].contains(&name),
            config,
            program,
            data,
        }
    }

    fn answer(&self, units: Units, seed: u64) -> Answer {
        let folder = tempfile::tempdir().unwrap();
        let mut config = self.config.clone();
        config.sampler.draws = 600;
        config.sampler.warmup = 600;
        config.sampler.seed = seed;
        config.output = folder.path().to_path_buf();
        let data = in_units(&self.data, units);
        let prepared = self.program.with_data(config, data.clone()).unwrap();
        let fitted = prepared
            .sample(2, &AtomicBool::new(false), &Silent)
            .unwrap();
        for finding in fitted.findings() {
            let text = finding.to_string();
            assert!(!text.contains("prior standard deviations"), "{text}");
        }
        self.back(&fitted, &data, units)
    }

    /// What the fit says, in the units of the file.
    fn back(&self, fitted: &Posterior, data: &Dataset, units: Units) -> Answer {
        let (shift, scale) = match self.log_link {
            true => (units.y.1.ln(), 1.0),
            false => units.y,
        };
        let draws = |value: &dyn Fn(Draw) -> f64| -> Vec<Vec<f64>> {
            let chains = fitted.chains.iter().map(|chain| {
                let draw = |k: usize| value(&|name: &str| chain.column(name).unwrap()[k]);
                (0..chain.num_draws()).map(draw).collect()
            });
            chains.collect()
        };
        let names = &fitted.chains[0].names;
        let has = |name: &str| names.iter().any(|known| known == name);
        let means = data.x.mean_axis(Axis(0)).unwrap();
        let mut quantities = Vec::new();
        let num_responses = 1 + data.further_responses.len();
        // A time and its event have one linear predictor.
        let num_responses = if has("beta.1") { 1 } else { num_responses };
        for k in 1..=num_responses {
            let suffix = match has("beta.1") {
                true => String::new(),
                false => format!(".{k}"),
            };
            for d in 2..=data.x.ncols() {
                let name = format!("beta.{d}{suffix}");
                let slope = draws(&|value| value(&name) * units.x.1 / scale);
                quantities.push((name, slope));
            }
            let at_means = draws(&|value| {
                let terms = (1..=data.x.ncols())
                    .map(|d| means[d - 1] * value(&format!("beta.{d}{suffix}")));
                (terms.sum::<f64>() - shift) / scale
            });
            quantities.push((format!("at the means{suffix}"), at_means));
            for (name, power) in [("sigma2", 2), ("sigma_f2", 2), ("sigma", 1), ("tau.1", 1)] {
                let name = format!("{name}{suffix}");
                if has(&name) {
                    let found = draws(&|value| value(&name) / scale.powi(power));
                    quantities.push((name, found));
                }
            }
        }
        if has("n_moved__") {
            quantities.push(("n_moved".into(), draws(&|value| value("n_moved__"))));
        }
        let rows = (0..data.num_rows()).map(|row| match &fitted.links {
            Some(links) => mean(&links.share_by_chain(row)),
            None => {
                let shifted = format!("p_shifted.{}", row + 1);
                mean(&draws(&|value| value(&shifted)).concat())
            }
        });
        Answer {
            rows: rows.collect(),
            quantities,
        }
    }

    /// Fits the file as it is and in all `units`; returns what differs beyond chance.
    fn differences(&self, units: &[Units]) -> Vec<String> {
        let plain = self.answer(PLAIN, 1);
        let by_chance = distance(&plain.rows, &self.answer(PLAIN, 2).rows);
        let name = &self.config.name;
        let mut found = Vec::new();
        for &units in units {
            let other = self.answer(units, 3);
            let ratio = distance(&plain.rows, &other.rows) / by_chance;
            eprintln!("{name} {units:?}: rows differ {ratio:.2} times as much as by chance");
            if ratio > MAX_RATIO {
                found.push(format!("{name} {units:?}: rows {ratio:.1}"));
            }
            for ((quantity, a), (_, b)) in plain.quantities.iter().zip(&other.quantities) {
                let z = z(a, b);
                eprintln!("    {quantity}: z = {z:.2}");
                if z.abs() > MAX_Z {
                    found.push(format!("{name} {units:?}: {quantity} {z:.1}"));
                }
            }
        }
        found
    }

    fn is_the_same_in(&self, units: &[Units]) {
        let found = self.differences(units);
        assert!(found.is_empty(), "{found:#?}");
    }
}

fn first_rows(mut data: Dataset, num_rows: usize) -> Dataset {
    let num_rows = num_rows.min(data.num_rows());
    data.x = data.x.slice(s![..num_rows, ..]).to_owned();
    data.response.truncate(num_rows);
    data.further_responses
        .iter_mut()
        .for_each(|response| response.truncate(num_rows));
    data.row_numbers.truncate(num_rows);
    if let Some(groups) = &mut data.groups {
        groups.of_row.truncate(num_rows);
        groups.z = groups.z.slice(s![..num_rows, ..]).to_owned();
    }
    if let Some(ids) = &mut data.row_ids {
        ids.truncate(num_rows);
    }
    data
}

fn in_units(data: &Dataset, units: Units) -> Dataset {
    let change = |(shift, scale): (f64, f64)| move |value: f64| shift + scale * value;
    let mut data = data.clone();
    let responses = std::iter::once(&mut data.response).chain(&mut data.further_responses);
    // Whether an event was seen has no unit.
    let has_unit = |response: &&mut Vec<f64>| response.iter().any(|y| ![0.0, 1.0].contains(y));
    for response in responses.filter(has_unit) {
        response.iter_mut().for_each(|y| *y = change(units.y)(*y));
    }
    // The first column is the intercept.
    for mut column in data.x.columns_mut().into_iter().skip(1) {
        column.mapv_inplace(change(units.x));
    }
    // Beside the intercept these are measured from their means.
    if let Some(groups) = &mut data.groups {
        for mut column in groups.z.columns_mut().into_iter().skip(1) {
            column.mapv_inplace(|value| units.x.1 * value);
        }
    }
    data
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
    (squares.sum::<f64>() / a.len() as f64).sqrt()
}

fn z(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let [a, b] = [a, b].map(|chains| {
        let chains: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
        let summary = summarize("", &chains, None);
        (summary.mean.unwrap(), summary.mcse.unwrap())
    });
    (a.0 - b.0) / a.1.hypot(b.1)
}

#[test]
fn linear() {
    Model::new("quickstart", 235, json!({})).is_the_same_in(&ALL);
}

#[test]
fn quantile() {
    Model::new("quantile", 235, json!({})).is_the_same_in(&ALL);
}

#[test]
fn student_t() {
    Model::new("student_t", 235, json!({})).is_the_same_in(&ALL);
}

#[test]
fn robust() {
    Model::new("robust", 235, json!({})).is_the_same_in(&ALL);
}

#[test]
fn mean_shift() {
    Model::new("mean_shift", 235, json!({})).is_the_same_in(&ALL);
}

#[test]
fn multivariate() {
    Model::new("multivariate", 80, json!({})).is_the_same_in(&ALL);
}

#[test]
fn hierarchical() {
    Model::new("hierarchical", 120, json!({})).is_the_same_in(&ALL);
}

#[test]
fn poisson() {
    Model::new("poisson", 150, json!({})).is_the_same_in(&[SMALL_X, FAR_X]);
}

/// Links of 0 and 1 hardly mix, so few of them may be wrong.
#[test]
fn logistic() {
    let few = json!({"permutation.prior": {"name": "hamming", "theta": 5}});
    Model::new("logistic", 150, few).is_the_same_in(&[SMALL_X, FAR_X]);
}

#[test]
fn negative_binomial() {
    Model::new("negative_binomial", 80, json!({})).is_the_same_in(&[SMALL_X, FAR_X]);
}

#[test]
fn gamma() {
    Model::new("gamma", 80, json!({})).is_the_same_in(&[LARGE_Y, SMALL_X, FAR_X]);
}

#[test]
fn log_normal() {
    Model::new("log_normal", 80, json!({})).is_the_same_in(&[LARGE_Y, SMALL_X, FAR_X]);
}

#[test]
fn weibull_survival() {
    Model::new("weibull_survival", 80, json!({})).is_the_same_in(&[LARGE_Y, SMALL_X, FAR_X]);
}

#[test]
fn log_normal_survival() {
    Model::new("log_normal_survival", 80, json!({})).is_the_same_in(&[LARGE_Y, SMALL_X, FAR_X]);
}

/// Fixed numbers have units: the test must see them, and the diagnostics must say so.
#[test]
fn the_papers_priors_are_found_to_have_units() {
    let model = Model::new("quickstart", 235, json!({"model.priors": "paper"}));
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        model.answer(LARGE_Y, 1);
    }));
    let message = *refused.unwrap_err().downcast::<String>().unwrap();
    assert!(
        message.contains("prior standard deviations") && message.contains("sigma2"),
        "{message}"
    );
    // Without looking at the findings.
    let fit = |units: Units, seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        let mut config = model.config.clone();
        config.sampler.seed = seed;
        config.output = folder.path().to_path_buf();
        let data = in_units(&model.data, units);
        let prepared = model.program.with_data(config, data.clone()).unwrap();
        let fitted = prepared
            .sample(2, &AtomicBool::new(false), &Silent)
            .unwrap();
        model.back(&fitted, &data, units)
    };
    let [plain, again, other] = [(PLAIN, 1), (PLAIN, 2), (LARGE_Y, 3)].map(|(u, s)| fit(u, s));
    let ratio = distance(&plain.rows, &other.rows) / distance(&plain.rows, &again.rows);
    eprintln!("the paper's priors: rows differ {ratio:.2} times as much as by chance");
    assert!(ratio > MAX_RATIO, "{ratio}");
}

/// Engel's own file, in which no link is wrong, in francs and in hundreds of francs.
#[test]
fn engels_households_are_the_same_in_francs_and_in_hundreds_of_francs() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/data/engel.csv");
    let columns = json!({"file": file, "response": "food", "predictors": ["income"]});
    let rates = [1.0, 0.01].map(|unit| {
        let model = Model::new("quickstart", 235, json!({"data": columns}));
        let units = Units {
            y: (0.0, unit),
            x: (0.0, unit),
        };
        let answer = model.answer(units, (1.0 / unit) as u64);
        let moved = answer
            .quantities
            .into_iter()
            .find(|(name, _)| name == "n_moved");
        moved.unwrap().1
    });
    let z = z(&rates[0], &rates[1]);
    let [francs, hundreds] = rates.map(|draws| mean(&draws.concat()));
    eprintln!("moved rows: {francs:.1} in francs, {hundreds:.1} in hundreds, z = {z:.2}");
    assert!(z.abs() < MAX_Z, "{francs} {hundreds} {z}");
}
