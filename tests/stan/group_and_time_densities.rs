//! The shipped programs of groups and of times, compiled, against their densities written out in Rust.

use std::ffi::CString;

use bridgestan::{Model, StanLibrary};
use serde_json::{Value, json};

use crate::shipped_densities::{
    ALPHA, BETA, N, Priors, SCALED, X2, Y, data, fitted, generated, library, normal, paper,
    residuals,
};

const TIMES: [f64; N] = [0.3, 2.0, 1.1, 4.5, 0.25, 7.0];
const EVENTS: [f64; N] = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0];

/// Both programs of times, each with its density and its survival function as textbooks have them.
#[test]
fn survival() {
    let (shape, sigma) = (1.7f64, 0.8f64);
    let weibull = |time: f64, mu: f64, event: bool| {
        // The density shape / scale (t / scale)^(shape - 1) exp(-(t / scale)^shape), whose logarithm stays a number far out.
        let scaled = time / mu.exp();
        match event {
            true => shape.ln() - mu + (shape - 1.0) * scaled.ln() - scaled.powf(shape),
            false => -scaled.powf(shape),
        }
    };
    let log_normal = |time: f64, mu: f64, event: bool| {
        let z = (time.ln() - mu) / sigma;
        let density = (-0.5 * z * z).exp() / (time * sigma * (2.0 * std::f64::consts::PI).sqrt());
        if event {
            density.ln()
        } else {
            normal_tail(z).ln()
        }
    };
    check_survival("weibull_survival", shape, &weibull);
    check_survival("log_normal_survival", sigma, &log_normal);
}

/// P(Z > z) by Simpson's rule up to where nothing is left.
fn normal_tail(z: f64) -> f64 {
    let (steps, end) = (20_000, 12.0f64);
    let width = (end - z) / steps as f64;
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let weight = |k: usize| match k {
        0 => 1.0,
        k if k == steps => 1.0,
        k if k % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let terms = (0..=steps).map(|k| weight(k) * density(z + k as f64 * width));
    terms.sum::<f64>() * width / 3.0
}

fn check_survival(name: &str, scale: f64, row: &dyn Fn(f64, f64, bool) -> f64) {
    let library = library(name);
    for priors in [SCALED, paper(5.0)] {
        let mut data: Value = serde_json::from_str(data(None, priors).to_str().unwrap()).unwrap();
        data["K"] = json!(2);
        // What stands in the second column is of the events, and must not matter.
        for (key, of) in [
            ("beta_location", priors.location),
            ("beta_scale", priors.scale),
        ] {
            data[key] = json!(of.map(|number| [number, 77.0]));
        }
        let data = CString::new(data.to_string()).unwrap();
        let model = Model::new(&library, Some(data), 1).unwrap();
        let rows: Vec<f64> = fitted()
            .enumerate()
            .map(|(i, mu)| row(TIMES[i], mu, EVENTS[i] == 1.0))
            .collect();
        let prior = priors.of_coefficients(BETA) + normal(scale, 2.5 * 2.5);
        let expected = prior + ALPHA * rows.iter().sum::<f64>();
        let point = [&BETA[..], &[scale.ln()], &TIMES, &EVENTS].concat();
        for (with_jacobian, expected) in [(false, expected), (true, expected + scale.ln())] {
            let found = model.log_density(&point, false, with_jacobian).unwrap();
            assert!(
                (found - expected).abs() < 1e-8,
                "{name}: Stan {found}, closed form {expected}"
            );
        }
        let found = generated(&library, &model, "log_lik", &point);
        assert_eq!(found.len(), N);
        for (found, expected) in found.iter().zip(&rows) {
            assert!(
                (found - expected).abs() < 1e-8,
                "{name}: {found} {expected}"
            );
        }
    }
}

#[test]
fn hierarchical() {
    let library = library("hierarchical");
    for priors in [SCALED, paper(1000f64.sqrt())] {
        check_hierarchical(&library, priors);
    }
}

/// Two coefficients differ between two groups; the deviations are written out, without matrices.
fn check_hierarchical(library: &StanLibrary, priors: Priors) {
    let groups = [1, 2, 2, 1, 2, 1];
    let tau_scale = [1.9, 0.6];
    let mut data: Value = serde_json::from_str(data(None, priors).to_str().unwrap()).unwrap();
    let z_columns: Vec<[f64; 2]> = X2.iter().map(|x2| [1.0, x2 - 0.4]).collect();
    for (key, value) in [
        ("J", json!(2)),
        ("L", json!(2)),
        ("group", json!(groups)),
        ("Z", json!(z_columns)),
        ("tau_scale", json!(tau_scale)),
    ] {
        data[key] = value;
    }
    let data = CString::new(data.to_string()).unwrap();
    let model = Model::new(library, Some(data), 1).unwrap();
    let (sigma2, tau, unconstrained) = (1.7f64, [0.8f64, 0.3], 0.55f64);
    // Column by column: the deviations of group 1, then of group 2.
    let z = [0.4, -1.1, 0.9, 0.2];
    let r = unconstrained.tanh();
    let deviation = |group: usize| {
        let (a, b) = (z[2 * group - 2], z[2 * group - 1]);
        [tau[0] * a, tau[1] * (r * a + (1.0 - r * r).sqrt() * b)]
    };
    let log_lik: Vec<f64> = (0..N)
        .map(|i| {
            let [level, slope] = deviation(groups[i]);
            normal(residuals()[i] - level - slope * (X2[i] - 0.4), sigma2)
        })
        .collect();
    let between: f64 = tau
        .iter()
        .zip(tau_scale)
        .map(|(t, s)| normal(*t, s * s))
        .sum();
    let prior = priors.of_coefficients(BETA) + priors.of_errors(&[sigma2]) + between - 2f64.ln()
        + z.iter().map(|z| normal(*z, 1.0)).sum::<f64>();
    let expected = prior + ALPHA * log_lik.iter().sum::<f64>();
    let logs = [sigma2.ln(), tau[0].ln(), tau[1].ln()];
    let point = [&BETA[..], &logs, &[unconstrained], &z, &Y].concat();
    let jacobian = logs.iter().sum::<f64>() + (1.0 - r * r).ln();
    for (with_jacobian, expected) in [(false, expected), (true, expected + jacobian)] {
        let found = model.log_density(&point, false, with_jacobian).unwrap();
        let close = (found - expected).abs() < 1e-10 * expected.abs().max(1.0);
        assert!(close, "Stan {found}, closed form {expected}");
    }
    let found = generated(library, &model, "log_lik", &point);
    assert_eq!(found.len(), N);
    for (found, expected) in found.iter().zip(&log_lik) {
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    }
}
