//! The library's front door gives what the command line gives.

use ndarray::Array2;
use serde_json::json;
use unshuffle::{Coefficient, Fit, Method, Posterior};

use crate::common::Project;

fn recommended(posterior: &Posterior) -> Vec<(String, f64)> {
    let coefficients = posterior.coefficients_by(Method::Recommended);
    coefficients.map(|c| (c.name.clone(), c.estimate)).collect()
}

#[test]
fn a_fit_in_memory_has_the_coefficients_of_the_command_line_and_writes_nothing() {
    let project = Project::new(&[("permutation", json!({}))]);
    let in_memory = Fit::from_file(project.path("config.json"));
    let in_memory = in_memory.unwrap().in_memory().unwrap();
    assert!(!project.path("out").exists());
    project.run(&["fit", "config.json"], 0);
    let read = Posterior::read(&project.path("out")).unwrap();
    assert!(!recommended(&read).is_empty());
    for ((name, a), (_, b)) in recommended(&in_memory).iter().zip(recommended(&read)) {
        // The file has fewer digits.
        assert!((a - b).abs() <= 1e-5 * b.abs(), "{name}: {a} {b}");
    }
    let moved = |fit: &Posterior| fit.links.as_ref().unwrap().row(0).p_moved;
    assert_eq!(moved(&in_memory), moved(&read));
}

#[test]
fn arrays_are_fitted_without_a_file() {
    let x = Array2::from_shape_fn((60, 1), |(row, _)| (row as f64 * 0.37).sin());
    let line = |row: usize| 1.0 + 2.0 * x[[row, 0]] + 0.1 * (row as f64 * 12.9898).sin();
    let mut y: Vec<f64> = (0..60).map(line).collect();
    y[..6].reverse();
    let spec =
        json!({"model": {"stan": "linear"}, "sampler": {"chains": 2, "draws": 500, "seed": 1}});
    let fit = Fit::of_arrays(&spec, &x, &y, &["slope"]).unwrap();
    let posterior = fit.threads(1).in_memory().unwrap();
    let coefficients = recommended(&posterior);
    let names: Vec<&str> = coefficients.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["(Intercept)", "slope"]);
    // So few rows cannot tell wrong links from other faults; both answers are near the truth.
    assert!((coefficients[1].1 - 2.0).abs() < 0.15, "{coefficients:?}");
    let is_slope = |c: &&Coefficient| c.name == "slope";
    let joint = posterior.coefficients_by(Method::Joint).find(is_slope);
    let slope = joint.unwrap().estimate;
    assert!((slope - 2.0).abs() < 0.02, "{slope}");
    let links = posterior.links.unwrap();
    assert!(links.row(0).p_moved > 0.9, "{}", links.row(0).p_moved);
    let misspelt = Fit::of_arrays(&json!({"modle": {}}), &x, &y, &["slope"]);
    let message = misspelt.err().unwrap().to_string();
    assert!(message.contains("modle"), "{message}");
}
