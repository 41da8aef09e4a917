//! Time per iteration at the paper's largest design, beside what its scheme took with rstan.

#[path = "../tests/support/study.rs"]
mod study;

use clap::Parser;
use serde_json::{Value, json};
use study::Study;
use unshuffle::simulate::{Design, simulate};

/// Seconds per iteration of the paper's scheme, written in R with rstan for the parameters, at this size.
const RSTAN_SECONDS: f64 = 0.105;
const NUM_ROWS: usize = 250;

/// Time per iteration at the paper's largest design, beside what its scheme took with rstan.
#[derive(Parser)]
struct Arguments {
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Data sets; the fastest and the median chain over all are shown.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    #[arg(long, default_value_t = 1000)]
    warmup: usize,
    #[arg(long, default_value_t = 1000)]
    draws: usize,
}

/// Milliseconds per iteration of one chain.
#[derive(Clone, Copy)]
struct Chain {
    step_one: f64,
    step_two: f64,
    total: f64,
}

fn main() {
    let arguments = Arguments::parse();
    println!(
        "n = {NUM_ROWS}, D = 20: ms per iteration, warm-up included; median chain (fastest chain)"
    );
    println!(
        "update                   step 1            step 2            total             times faster than rstan"
    );
    for update in [
        json!({"name": "active_set"}),
        json!({"name": "checkerboard", "steps": 10 * NUM_ROWS}),
        json!({"name": "none"}),
    ] {
        let mut chains = run(&arguments, &update);
        chains.sort_by(|a, b| a.total.total_cmp(&b.total));
        let (median, fastest) = (chains[chains.len() / 2], chains[0]);
        let cell = |of: fn(&Chain) -> f64| format!("{:.4} ({:.4})", of(&median), of(&fastest));
        println!(
            "{:20} {:>17} {:>17} {:>17}   {:.0} ({:.0})",
            update["name"].as_str().unwrap_or_default(),
            cell(|chain| chain.step_one),
            cell(|chain| chain.step_two),
            cell(|chain| chain.total),
            1000.0 * RSTAN_SECONDS / median.total,
            1000.0 * RSTAN_SECONDS / fastest.total,
        );
    }
}

fn run(arguments: &Arguments, update: &Value) -> Vec<Chain> {
    let study = Study::new(json!({
        "model": {"stan": "linear"},
        "permutation": {"update": update},
        "sampler": {"chains": 4, "warmup": arguments.warmup, "draws": arguments.draws}
    }));
    let mut chains = Vec::new();
    for repeat in 0..arguments.repeats as u64 {
        let seed = arguments.seed * 1000 + repeat;
        let simulated = simulate(&Design::paper(NUM_ROWS), seed).expect("a possible design");
        // One chain at a time, so that chains do not slow each other.
        for outcome in study.fit(&simulated.dataset(), seed, 1).outcomes {
            let iterations = (arguments.warmup + arguments.draws) as f64;
            let per_iteration = |seconds: f64| 1000.0 * seconds / iterations;
            chains.push(Chain {
                step_one: per_iteration(outcome.step_one_seconds),
                step_two: per_iteration(outcome.step_two_seconds),
                total: per_iteration(outcome.warmup_seconds + outcome.sampling_seconds),
            });
        }
    }
    chains
}
