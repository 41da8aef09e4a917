//! Coverage of 90 % intervals for the coefficients where 10 % and 30 % of the links are wrong.

#[path = "../tests/support/study.rs"]
mod study;

use std::time::Instant;

use clap::Parser;
use ndarray::Axis;
use serde_json::json;
use study::{Study, in_parallel};
use unshuffle::baseline::{LeastSquares, least_squares};
use unshuffle::diagnostics::quantile;
use unshuffle::simulate::{Design, Errors, Links, simulate};

const LEVEL: f64 = 0.9;
const NUM_PREDICTORS: usize = 3;
const SIGMA: f64 = 0.5;
/// sd(x'beta) = 1.2 sqrt(3) = 2.1.
const BETA: f64 = 1.2;
/// Of the normal distribution, for LEVEL.
const NORMAL_QUANTILE: f64 = 1.645;

/// Coverage of 90 % intervals for the coefficients where 10 % and 30 % of the links are wrong.
#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, default_value_t = 200)]
    repeats: usize,
    #[arg(long, default_value_t = 200)]
    rows: usize,
    #[arg(long, value_delimiter = ',', default_value = "0.1,0.3")]
    mislinked: Vec<f64>,
}

/// An interval's width and whether it holds the truth.
type Interval = (f64, bool);

fn main() {
    let arguments = Arguments::parse();
    let study = Study::new(json!({
        "model": {"stan": "linear"},
        "sampler": {"chains": 2, "warmup": 500, "draws": 1000}
    }));
    println!(
        "{} fits each, n = {}, {NUM_PREDICTORS} coefficients and an intercept, sigma = {SIGMA}",
        arguments.repeats, arguments.rows
    );
    println!("                     posterior          true links         links as given");
    println!("mislinked  coverage  (se)    width  coverage  width  coverage  width  seconds");
    for &fraction in &arguments.mislinked {
        let start = Instant::now();
        let design = Design {
            num_rows: arguments.rows,
            num_predictors: NUM_PREDICTORS,
            x_scale: 1.0,
            beta: BETA,
            intercept: Some(1.0),
            sigma: SIGMA,
            errors: Errors::Normal,
            links: Links::Random { fraction },
        };
        let intervals = in_parallel(arguments.repeats, |repeat| {
            intervals(&study, &design, arguments.seed * 1000 + repeat as u64)
        });
        let intervals: Vec<[Interval; 3]> = intervals.into_iter().flatten().collect();
        let [(coverage, width), oracle, naive] = [0, 1, 2].map(|k| averages(&intervals, k));
        let error = (coverage * (1.0 - coverage) / intervals.len() as f64).sqrt();
        println!(
            "{fraction:9} {coverage:9.3}  ({error:.3}) {width:6.3} {:9.3} {:6.3} {:9.3} {:6.3} {:8.1}",
            oracle.0,
            oracle.1,
            naive.0,
            naive.1,
            start.elapsed().as_secs_f64()
        );
    }
}

/// For each coefficient the posterior's interval, and those of least squares with the true links and with the given ones.
fn intervals(study: &Study, design: &Design, seed: u64) -> Vec<[Interval; 3]> {
    let simulated = simulate(design, seed).expect("this design is possible");
    let (data, truth) = (simulated.dataset(), &simulated.truth);
    let fit = study.fit(&data, seed, 1);
    let right = data.x.select(Axis(0), &truth.pi);
    let oracle = least_squares(right.view(), &data.response);
    let naive = least_squares(data.x.view(), &data.response);
    let classical = |fit: &LeastSquares, k: usize| {
        let reach = NORMAL_QUANTILE * fit.standard_error[k];
        interval(fit.beta[k] - reach, fit.beta[k] + reach, truth.beta[k])
    };
    (0..truth.beta.len())
        .map(|k| {
            let draws = fit.pooled(&format!("beta.{}", k + 1));
            let end = |probability| quantile(&draws, probability).expect("finite draws");
            let (low, high) = (end(0.5 - LEVEL / 2.0), end(0.5 + LEVEL / 2.0));
            let ours = interval(low, high, truth.beta[k]);
            [ours, classical(&oracle, k), classical(&naive, k)]
        })
        .collect()
}

fn interval(low: f64, high: f64, truth: f64) -> Interval {
    (high - low, low <= truth && truth <= high)
}

/// Coverage and mean width of the k-th of three intervals.
fn averages(intervals: &[[Interval; 3]], k: usize) -> (f64, f64) {
    let count = intervals.len() as f64;
    let covering = intervals.iter().filter(|of| of[k].1).count();
    let width: f64 = intervals.iter().map(|of| of[k].0).sum();
    (covering as f64 / count, width / count)
}
