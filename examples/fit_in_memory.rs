//! A fit of arrays in memory: a regression line whose responses 1 to 6 of 60 are linked to the wrong rows.
//!
//!     cargo run --release --example fit_in_memory

use ndarray::Array2;
use serde_json::json;
use unshuffle::{Fit, FitError, Method};

fn main() -> Result<(), FitError> {
    let x = Array2::from_shape_fn((60, 1), |(row, _)| (row as f64 * 0.37).sin());
    let mut y: Vec<f64> = (0..60)
        .map(|row| 1.0 + 2.0 * x[[row, 0]] + 0.1 * (row as f64 * 12.9898).sin())
        .collect();
    y[..6].reverse();

    let spec = json!({"model": {"stan": "linear"}, "sampler": {"seed": 1}});
    let posterior = Fit::of_arrays(&spec, &x, &y, &["x"])?.in_memory()?;

    for method in [Method::Recommended, Method::AsLinked] {
        for coefficient in posterior.coefficients_by(method) {
            let (name, estimate) = (&coefficient.name, coefficient.estimate);
            println!("{:12} {name}: {estimate:.2}", method.name());
        }
    }
    let links = posterior.links.expect("links are sampled by default");
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
