//! Writes docs/families.md: every shipped family on simulated data with a fifth of the rows mislinked, and the cost of the
//! `stan` family beside a native one.
//!
//!     cargo run -p pages -- families > docs/families.md

use std::sync::atomic::AtomicBool;

use crate::support::{compiler, root};
use ndarray::Axis;
use serde_json::{Value, json};
use unshuffle::Posterior;
use unshuffle::internals::config;
use unshuffle::internals::data::Dataset;
use unshuffle::internals::fit::Program;
use unshuffle::internals::model::Family;
use unshuffle::internals::model::stan::Compiler;
use unshuffle::internals::numerics::{mean, sd};
use unshuffle::internals::sampler::chain::Silent;
use unshuffle::internals::study::simulate::{DesignName, Settings, simulate};

const NUM_ROWS: usize = 250;
const NUM_PREDICTORS: usize = 2;
const MISLINKED: f64 = 0.2;
const NUM_REPEATS: u64 = 6;
const SIGMA: f64 = 0.5;
/// Rows of the fits that are timed, with their number of draws.
const TIMED: [(usize, usize); 2] = [(250, 500), (2000, 150)];

/// A law of the response, with the intercept of its data.
const FAMILIES: [(Family, &str, f64); 7] = [
    (Family::Gaussian, "linear", 2.0),
    (Family::AsymmetricLaplace { tau: 0.5 }, "quantile", 2.0),
    (Family::StudentT { nu: 4.0 }, "student_t", 2.0),
    (Family::Poisson, "poisson", 2.0),
    (Family::Logistic, "logistic", 0.0),
    (
        Family::NegativeBinomial { phi: 5.0 },
        "negative_binomial",
        2.0,
    ),
    (Family::Gamma { shape: 5.0 }, "gamma", 2.0),
];

/// A compiled program and the rest of its config.
struct Method {
    settings: Value,
    program: Program,
}

impl Method {
    fn new(settings: Value, compiler: &Compiler) -> anyhow::Result<Method> {
        let model = parsed(&settings)?.model;
        let program = Program::compile(&model, compiler)?;
        Ok(Method { settings, program })
    }

    fn fit(&self, data: &Dataset, others: &Value, seed: u64) -> anyhow::Result<Posterior> {
        let mut settings = self.settings.clone();
        for (key, value) in others.as_object().into_iter().flatten() {
            settings[key] = value.clone();
        }
        let folder = tempfile::tempdir()?;
        let mut config = parsed(&settings)?;
        config.sampler.seed = seed;
        config.output = folder.path().to_path_buf();
        let prepared = self.program.with_data(config, data.clone())?;
        Ok(prepared.sample(2, &AtomicBool::new(false), &Silent)?)
    }
}

fn parsed(settings: &Value) -> anyhow::Result<config::Config> {
    Ok(config::of_arrays(settings, &root().join("families.json"))?)
}

fn estimates(fitted: &Posterior, count: usize) -> Vec<f64> {
    let estimate = |k: usize| {
        let name = format!("beta.{k}");
        let row = fitted.summary().iter().find(|row| row.name == name);
        row.and_then(|row| row.mean).unwrap_or(f64::NAN)
    };
    (1..=count).map(estimate).collect()
}

fn settings(errors: Family, intercept: f64, num_rows: usize) -> Settings {
    let additive = errors.facts().is_additive;
    // An asymmetric Laplace error of scale 1 has the standard deviation 2.8.
    let sigma = if matches!(errors, Family::AsymmetricLaplace { .. }) {
        SIGMA / 3.0
    } else {
        SIGMA
    };
    Settings {
        predictors: Some(NUM_PREDICTORS),
        intercept: Some(intercept),
        errors: Some(errors),
        sigma: additive.then_some(sigma),
        mislinked: Some(MISLINKED),
        ..Settings::new(DesignName::General, num_rows)
    }
}

/// Prints the page.
pub fn print() -> anyhow::Result<()> {
    let compiler = compiler()?;
    println!("# Every family, and what the `stan` family costs\n");
    println!("Written by `cargo run -p pages -- families > docs/families.md`.\n");
    println!("## With a fifth of the rows mislinked\n");
    println!(
        "{NUM_REPEATS} simulated data sets of {NUM_ROWS} rows, {NUM_PREDICTORS} predictors and an intercept for each family (`unshuffle simulate --design general \
         --errors ... --mislinked {MISLINKED}`). Mean absolute error of the coefficients, with its standard error over the data sets, of three fits of the same Stan \
         program: *naive* takes the links as they are (`\"update\": {{\"name\": \"none\"}}`), *unshuffle* is the default, *oracle* is told the right links.\n"
    );
    println!(
        "| model | pair likelihoods | naive | unshuffle | oracle | moved rows (true: {:.0}) | largest R-hat |",
        MISLINKED * NUM_ROWS as f64
    );
    println!("|---|---|---|---|---|---|---|");
    let mut worse = Vec::new();
    for (errors, model, intercept) in FAMILIES {
        let [naive, unshuffle] = table_row(errors, model, intercept, &compiler)?;
        worse.extend((unshuffle > naive).then_some(model));
    }
    println!(
        "\nSlopes are 1. Two chains, 500 iterations of warm-up and 500 draws each. *Moved rows* is the posterior mean number of rows that belong elsewhere; the largest R-hat is \
         that of a coefficient over all data sets.\n"
    );
    if !worse.is_empty() {
        println!(
            "The links as they are have smaller errors here for: {}. Where responses say little of the links, the posterior spreads over wrong links that fit better than the truth.\n",
            worse.join(", ")
        );
    }
    cost(&compiler)
}

/// Prints the row; returns the errors of naive and unshuffle.
fn table_row(
    errors: Family,
    model: &str,
    intercept: f64,
    compiler: &Compiler,
) -> anyhow::Result<[f64; 2]> {
    let sampler = json!({"chains": 2, "warmup": 500, "draws": 500});
    let method = Method::new(
        json!({"model": {"stan": model}, "sampler": sampler}),
        compiler,
    )?;
    let plain = json!({"permutation": {"update": {"name": "none"}}});
    let design = settings(errors, intercept, NUM_ROWS).design()?;
    let mut found: [Vec<f64>; 3] = Default::default();
    let (mut moved, mut r_hat) = (Vec::new(), 0.0f64);
    for repeat in 1..=NUM_REPEATS {
        let simulated = simulate(&design, repeat)?;
        let wrong = simulated.dataset();
        let mut right = wrong.clone();
        right.x = right.x.select(Axis(0), &simulated.truth.pi);
        let truth = &simulated.truth.beta;
        let none = json!({});
        for (k, (data, others)) in [(&wrong, &plain), (&wrong, &none), (&right, &plain)]
            .into_iter()
            .enumerate()
        {
            let fitted = method.fit(data, others, repeat)?;
            let estimates = estimates(&fitted, truth.len());
            let distances = estimates.iter().zip(truth).map(|(a, b)| (a - b).abs());
            found[k].push(distances.sum::<f64>() / truth.len() as f64);
            if fitted.links.is_some() {
                let of = |name: &str| fitted.summary().iter().find(|row| row.name == name);
                moved.extend(of("n_moved").and_then(|row| row.mean));
                let betas = fitted
                    .summary()
                    .iter()
                    .filter(|row| row.name.starts_with("beta."));
                r_hat = betas.filter_map(|row| row.r_hat).fold(r_hat, f64::max);
            }
        }
    }
    let cell = |values: &[f64]| {
        let error = sd(values).unwrap_or(f64::NAN) / (values.len() as f64).sqrt();
        format!("{:.3} ± {error:.3}", mean(values).unwrap_or(f64::NAN))
    };
    let family = parsed(&method.settings)?.model.family();
    println!(
        "| {model} | {family} | {} | {} | {} | {:.0} | {r_hat:.2} |",
        cell(&found[0]),
        cell(&found[1]),
        cell(&found[2]),
        mean(&moved).unwrap_or(f64::NAN)
    );
    Ok([0, 1].map(|k| mean(&found[k]).unwrap_or(f64::NAN)))
}

/// Milliseconds of one iteration of one chain: all of it, and of the links alone.
fn milliseconds(fitted: &Posterior, iterations: usize) -> [f64; 2] {
    let chains = fitted.outcomes().iter();
    let seconds = chains.fold([0.0, 0.0], |[all, links], chain| {
        let spent = chain.warmup_seconds + chain.sampling_seconds;
        [all + spent, links + chain.step_two_seconds]
    });
    seconds.map(|seconds| 1000.0 * seconds / (iterations * fitted.outcomes().len()) as f64)
}

fn cost(compiler: &Compiler) -> anyhow::Result<()> {
    println!("## What the `stan` family costs\n");
    println!(
        "The linear model with the native family `gaussian`, and the same program with `log_lik` and the family `stan`, which evaluates the program once for each response that \
         a move asks for. A fifth of the rows is mislinked; one chain at a time, times of one iteration in milliseconds.\n"
    );
    println!("| rows | native | of it links | stan | of it links | ratio |");
    println!("|---|---|---|---|---|---|");
    let program = root().join("tests/stan/linear_log_lik.stan");
    let native = json!({"model": {"stan": "linear"}});
    let by_program = json!({"model": {"stan": program, "family": {"name": "stan"}}});
    let native = Method::new(native, compiler)?;
    let by_program = Method::new(by_program, compiler)?;
    for (num_rows, draws) in TIMED {
        let design = settings(Family::Gaussian, 2.0, num_rows).design()?;
        let data = simulate(&design, 1)?.dataset();
        let sampler = json!({"sampler": {"chains": 1, "warmup": draws, "draws": draws}});
        let time = |method: &Method| -> anyhow::Result<[f64; 2]> {
            Ok(milliseconds(&method.fit(&data, &sampler, 1)?, 2 * draws))
        };
        let (first, second) = (time(&native)?, time(&by_program)?);
        println!(
            "| {num_rows} | {:.2} | {:.2} | {:.2} | {:.2} | {:.0} |",
            first[0],
            first[1],
            second[0],
            second[1],
            second[0] / first[0]
        );
    }
    println!("\nOne machine, one run: read the ratios, not the times.");
    Ok(())
}
