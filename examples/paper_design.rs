//! The paper's experiment with default settings: errors of the coefficients and of the links, beside the oracle's.

#[path = "../tests/support/study.rs"]
mod study;

use std::time::Instant;

use clap::{Parser, ValueEnum};
use ndarray::Axis;
use serde_json::{Value, json};
use study::{Study, StudyFit, in_parallel};
use unshuffle::baseline::least_squares;
use unshuffle::data::Dataset;
use unshuffle::diagnostics::mean;
use unshuffle::links_summary::LinksSummary;
use unshuffle::simulate::{Design, Errors, PAPER_REVERSED, Simulated, Truth, simulate};

const TAU: f64 = 0.5;
/// The paper gives its errors in this unit.
const UNIT: f64 = 1e-4;

/// The paper's experiment with default settings: errors of the coefficients and of the links, beside the oracle's.
#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, default_value_t = 20)]
    repeats: usize,
    #[arg(long, value_enum, default_value_t = Model::Linear)]
    model: Model,
    /// The temperature: a number, or 1/n.
    #[arg(long, default_value = "1")]
    alpha: String,
    #[arg(long, value_delimiter = ',', default_value = "100,150,200,250")]
    rows: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Model {
    Linear,
    Quantile,
}

impl Model {
    fn settings(self) -> Value {
        match self {
            Model::Linear => json!({"stan": "linear"}),
            Model::Quantile => json!({
                "stan": "quantile",
                "family": {"name": "asymmetric_laplace", "tau": TAU},
                "data": {"tau": TAU}
            }),
        }
    }

    fn design(self, num_rows: usize) -> Design {
        let errors = match self {
            Model::Linear => Errors::Normal,
            Model::Quantile => Errors::AsymmetricLaplace { tau: TAU },
        };
        Design {
            errors,
            ..Design::paper(num_rows)
        }
    }
}

/// Of one simulated data set.
struct Errs {
    beta: f64,
    oracle: f64,
    links: f64,
    links_without_copies: f64,
    divergences: usize,
}

fn main() {
    let arguments = Arguments::parse();
    let model = arguments.model;
    let temperature: Value =
        serde_json::from_str(&arguments.alpha).unwrap_or_else(|_| json!(arguments.alpha));
    let fits = Study::new(json!({"model": model.settings(), "temperature": temperature}));
    // The quantile model has no closed form: its oracle is the same posterior, given the true links.
    let oracle = (model == Model::Quantile).then(|| {
        let update = json!({"update": {"name": "none"}});
        Study::new(json!({"model": model.settings(), "permutation": update}))
    });
    println!(
        "errors in units of 1e-4, means over {} repeats",
        arguments.repeats
    );
    println!(
        "   n  |beta|  oracle  ratio   d_H/n^2  without copies  (largest)  divergences  seconds"
    );
    for &num_rows in &arguments.rows {
        let start = Instant::now();
        let design = model.design(num_rows);
        let errs = in_parallel(arguments.repeats, |repeat| {
            let seed = arguments.seed * 1000 + repeat as u64;
            let simulated = simulate(&design, seed).expect("the paper's design is possible");
            errors_of(&simulated, seed, &fits, oracle.as_ref())
        });
        let average =
            |of: fn(&Errs) -> f64| mean(&errs.iter().map(of).collect::<Vec<_>>()).unwrap();
        let (beta, oracle) = (average(|e| e.beta), average(|e| e.oracle));
        println!(
            "{num_rows:4} {:7.2} {:7.2} {:6.3} {:9.3} {:15.3} {:10.3} {:12} {:8.1}",
            beta / UNIT,
            oracle / UNIT,
            beta / oracle,
            average(|e| e.links) / UNIT,
            average(|e| e.links_without_copies) / UNIT,
            errs.iter().map(|e| e.links).fold(0.0, f64::max) / UNIT,
            errs.iter().map(|e| e.divergences).sum::<usize>(),
            start.elapsed().as_secs_f64()
        );
    }
}

fn errors_of(simulated: &Simulated, seed: u64, fits: &Study, oracle: Option<&Study>) -> Errs {
    let data = simulated.dataset();
    let truth = &simulated.truth;
    let right = Dataset {
        x: data.x.select(Axis(0), &truth.pi),
        ..data.clone()
    };
    let oracle_beta = match oracle {
        None => least_squares(right.x.view(), &right.response).beta,
        Some(oracle) => posterior_mean(&oracle.fit(&right, seed, 1), truth.beta.len()),
    };
    let fit = fits.fit(&data, seed, 1);
    let links = fit.links.as_ref().expect("links are updated by default");
    Errs {
        beta: mean_error(&posterior_mean(&fit, truth.beta.len()), &truth.beta),
        oracle: mean_error(&oracle_beta, &truth.beta),
        links: link_error(links, truth, &[]),
        links_without_copies: link_error(links, truth, &[0, PAPER_REVERSED]),
        divergences: fit.outcomes.iter().map(|chain| chain.num_divergences).sum(),
    }
}

fn posterior_mean(fit: &StudyFit, num_coefficients: usize) -> Vec<f64> {
    (1..=num_coefficients)
        .map(|k| mean(&fit.pooled(&format!("beta.{k}"))).expect("finite draws"))
        .collect()
}

fn mean_error(found: &[f64], truth: &[f64]) -> f64 {
    let errors = found
        .iter()
        .zip(truth)
        .map(|(found, truth)| (found - truth).abs());
    errors.sum::<f64>() / truth.len() as f64
}

/// The sum of |PiHat - Pi0| over all rows but `left_out`, over n^2.
fn link_error(links: &LinksSummary, truth: &Truth, left_out: &[usize]) -> f64 {
    let num_rows = links.num_rows();
    let kept = (0..num_rows).filter(|row| !left_out.contains(row));
    let sum: f64 = kept
        .map(|row| {
            let mut difference = vec![0.0; num_rows];
            for (column, probability) in links.row(row).partners {
                difference[column] += probability;
            }
            for (_, column, probability) in truth.pi0.iter().filter(|entry| entry.0 == row) {
                difference[*column] -= probability;
            }
            difference.iter().map(|entry| entry.abs()).sum::<f64>()
        })
        .sum();
    sum / (num_rows * num_rows) as f64
}
