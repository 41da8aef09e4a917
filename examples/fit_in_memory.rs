//! A fit of arrays in memory: a regression line whose responses 1 to 6 of 60 are linked to the wrong rows.
//!
//!     cargo run --release --example fit_in_memory

use std::path::Path;
use std::sync::atomic::AtomicBool;

use ndarray::Array2;
use unshuffle::config;
use unshuffle::data::{Dataset, INTERCEPT};
use unshuffle::fit::Program;
use unshuffle::model::stan::{Compiler, SilentBuild};
use unshuffle::sampler::chain::Silent;

const CONFIG: &str = r#"{
    "model": { "stan": "linear" },
    "data": { "file": "(memory)", "response": "y", "predictors": ["x"] },
    "sampler": { "seed": 1 }
}"#;

fn main() -> anyhow::Result<()> {
    // y = 1 + 2 x with small errors; the first six responses are in reverse order.
    let x = |row: usize| (row * 7 % 60) as f64 / 10.0;
    let mut y: Vec<f64> = (0..60)
        .map(|row| 1.0 + 2.0 * x(row) + 0.1 * (row as f64 * 12.9898).sin())
        .collect();
    y[..6].reverse();
    let design = Array2::from_shape_fn((60, 2), |(row, k)| if k == 0 { 1.0 } else { x(row) });
    let data = Dataset::new(vec![INTERCEPT.into(), "x".into()], design, y);

    let compiler = Compiler::find(None, &SilentBuild, 2)?;
    let output = tempfile::tempdir()?;
    let mut config = config::parse(CONFIG, Path::new("memory.json"), &[])?;
    config.output = output.path().to_path_buf();
    let program = Program::compile(&config.model, &compiler)?;
    let fitted = program
        .with_data(config, data)?
        .sample(2, &AtomicBool::new(false), &Silent)?;

    for row in fitted
        .summary()
        .iter()
        .filter(|row| row.name.starts_with("beta."))
    {
        println!("{}: {:.2}", row.name, row.mean.unwrap_or(f64::NAN));
    }
    let links = fitted.links.expect("links are sampled by default");
    for row in (0..links.num_rows()).filter(|&row| links.row(row).p_moved > 0.5) {
        let (place, probability) = links.row(row).partners[0];
        println!(
            "response {} belongs to row {} with probability {probability:.2}",
            row + 1,
            place + 1
        );
    }
    Ok(())
}
