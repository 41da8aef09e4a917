//! The shipped Stan programs, compiled, against their densities written out in Rust.

use std::ffi::CString;
use std::path::PathBuf;

use bridgestan::{Model, StanLibrary, open_library};
use serde_json::{Value, json};
use unshuffle::permutation::log_gamma;
use unshuffle::stan::{Cache, Compiler, SilentBuild, Toolchain, shipped_model};

const N: usize = 6;
const ALPHA: f64 = 0.7;
const BETA: [f64; 2] = [0.4, -1.3];
const Y: [f64; N] = [0.3, -2.0, 1.1, 4.5, -0.25, 0.0];
const X2: [f64; N] = [0.5, 1.5, -0.7, 2.2, -1.0, 0.1];
const COUNTS: [f64; N] = [0.0, 3.0, 1.0, 7.0, 2.0, 0.0];
const LOG_2PI: f64 = 1.837_877_066_409_345_3;

fn library(name: &str) -> StanLibrary {
    let cache = Cache::locate().unwrap();
    let named = std::env::var_os("BRIDGESTAN")
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from);
    let toolchain = Toolchain::find_or_fetch(named.as_deref(), &cache, &SilentBuild).unwrap();
    let compiler = Compiler::new(toolchain, cache, &SilentBuild, 2).unwrap();
    let source = shipped_model(name).unwrap().source();
    open_library(compiler.compile(&source).unwrap().library).unwrap()
}

/// Six rows, two columns, and the program's own entry of the data block.
fn data(own: Option<(&str, f64)>) -> CString {
    let x: Vec<[f64; 2]> = X2.iter().map(|&x2| [1.0, x2]).collect();
    let mut data = json!({"N": N, "D": 2, "X": x, "alpha": ALPHA, "weighted": 0});
    if let Some((key, value)) = own {
        data[key] = Value::from(value);
    }
    CString::new(data.to_string()).unwrap()
}

fn fitted() -> impl Iterator<Item = f64> {
    X2.iter().map(|x2| BETA[0] + BETA[1] * x2)
}

fn residuals() -> Vec<f64> {
    Y.iter().zip(fitted()).map(|(y, mu)| y - mu).collect()
}

fn normal(u: f64, variance: f64) -> f64 {
    -0.5 * (LOG_2PI + variance.ln() + u * u / variance)
}

/// Normal(0, 1000) for beta and for every positive parameter.
fn log_prior(positive: &[f64]) -> f64 {
    BETA.iter()
        .chain(positive)
        .map(|v| normal(*v, 1000.0))
        .sum()
}

fn unconstrained(positive: &[f64], y: [f64; N]) -> Vec<f64> {
    let logs = positive.iter().map(|v| v.ln());
    BETA.into_iter().chain(logs).chain(y).collect()
}

/// The density of the errors' models, whose responses are `Y` and whose priors are those of `log_prior`.
fn check<'lib>(
    library: &'lib StanLibrary,
    own: Option<(&str, f64)>,
    positive: &[f64],
    log_lik: &[f64],
) -> Model<&'lib StanLibrary> {
    let expected = log_prior(positive) + ALPHA * log_lik.iter().sum::<f64>();
    check_density(library, own, positive, Y, expected)
}

/// Checks the density with and without the Jacobian of the positive parameters, and its gradient by differences.
fn check_density<'lib>(
    library: &'lib StanLibrary,
    own: Option<(&str, f64)>,
    positive: &[f64],
    y: [f64; N],
    expected: f64,
) -> Model<&'lib StanLibrary> {
    let model = Model::new(library, Some(data(own)), 1).unwrap();
    let point = unconstrained(positive, y);
    let jacobian: f64 = positive.iter().map(|v| v.ln()).sum();
    for (with_jacobian, expected) in [(false, expected), (true, expected + jacobian)] {
        let found = model.log_density(&point, false, with_jacobian).unwrap();
        let close = (found - expected).abs() < 1e-10 * expected.abs().max(1.0);
        assert!(close, "{own:?}: Stan {found}, closed form {expected}");
    }
    let mut gradient = vec![0.0; point.len()];
    model
        .log_density_gradient(&point, true, true, &mut gradient)
        .unwrap();
    for (k, slope) in gradient.iter().enumerate() {
        let at = |step: f64| {
            let mut moved = point.clone();
            moved[k] += step;
            model.log_density(&moved, false, true).unwrap()
        };
        let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
        assert!((slope - difference).abs() < 1e-6 * difference.abs().max(1.0));
    }
    model
}

/// The values of one generated quantity, the last of its program.
fn generated(
    library: &StanLibrary,
    model: &Model<&StanLibrary>,
    name: &str,
    point: &[f64],
) -> Vec<f64> {
    let names: Vec<&str> = model.param_names(true, true).split(',').collect();
    let first = format!("{name}.1");
    let first = names.iter().position(|name| *name == first).unwrap();
    let mut rng = bridgestan::Rng::new(library, 1).unwrap();
    let mut outputs = vec![0.0; names.len()];
    model
        .param_constrain(point, true, true, &mut outputs, Some(&mut rng))
        .unwrap();
    outputs.split_off(first)
}

/// The density of a generalised linear model, and its `log_lik`. Of counts, the program may leave out their factorials.
fn check_generalised(
    name: &str,
    positive: &[f64],
    y: [f64; N],
    log_mass: impl Fn(f64, f64) -> f64,
) {
    let library = library(name);
    let log_lik: Vec<f64> = y
        .iter()
        .zip(fitted())
        .map(|(&y, eta)| log_mass(y, eta))
        .collect();
    let variance = if name == "logistic" { 6.25 } else { 25.0 };
    let beta: f64 = BETA.iter().map(|b| normal(*b, variance)).sum();
    // Gamma(2, 0.1).
    let others = positive.iter().map(|v| 0.01f64.ln() + v.ln() - 0.1 * v);
    let factorials: f64 = match name {
        "poisson" | "negative_binomial" => y.iter().map(|y| log_gamma(y + 1.0)).sum(),
        _ => 0.0,
    };
    let tempered = ALPHA * (log_lik.iter().sum::<f64>() + factorials);
    let expected = beta + others.sum::<f64>() + tempered;
    let model = check_density(&library, None, positive, y, expected);
    let found = generated(&library, &model, "log_lik", &unconstrained(positive, y));
    assert_eq!(found.len(), N);
    for (found, expected) in found.iter().zip(log_lik) {
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    }
}

#[test]
fn poisson() {
    check_generalised("poisson", &[], COUNTS, |y, eta| {
        y * eta - eta.exp() - log_gamma(y + 1.0)
    });
}

#[test]
fn logistic() {
    check_generalised("logistic", &[], [0.0, 1.0, 1.0, 0.0, 1.0, 0.0], |y, eta| {
        let p = 1.0 / (1.0 + (-eta).exp());
        if y == 1.0 { p.ln() } else { (1.0 - p).ln() }
    });
}

#[test]
fn negative_binomial() {
    let phi: f64 = 1.8;
    check_generalised("negative_binomial", &[phi], COUNTS, |y, eta| {
        let p = phi / (phi + eta.exp());
        let ways = log_gamma(y + phi) - log_gamma(phi) - log_gamma(y + 1.0);
        ways + phi * p.ln() + y * (1.0 - p).ln()
    });
}

#[test]
fn gamma() {
    let shape: f64 = 2.3;
    let amounts = [0.3, 2.0, 1.1, 4.5, 0.25, 0.7];
    check_generalised("gamma", &[shape], amounts, |y, eta| {
        let rate = shape / eta.exp();
        shape * rate.ln() - log_gamma(shape) + (shape - 1.0) * y.ln() - rate * y
    });
}

#[test]
fn linear() {
    let log_lik: Vec<f64> = residuals().iter().map(|u| normal(*u, 1.7)).collect();
    check(&library("linear"), None, &[1.7], &log_lik);
}

#[test]
fn quantile() {
    let library = library("quantile");
    let sigma = 0.8;
    for tau in [0.1, 0.5, 0.95] {
        let log_lik: Vec<f64> = residuals()
            .iter()
            .map(|&u| {
                let rho = if u < 0.0 { u * (tau - 1.0) } else { u * tau };
                f64::ln(tau * (1.0 - tau) / sigma) - rho / sigma
            })
            .collect();
        check(&library, Some(("tau", tau)), &[sigma], &log_lik);
    }
}

#[test]
fn student_t() {
    let library = library("student_t");
    let sigma: f64 = 0.8;
    for nu in [1.0, 4.0, 30.5] {
        let constant = log_gamma(0.5 * (nu + 1.0))
            - log_gamma(0.5 * nu)
            - 0.5 * (nu * std::f64::consts::PI).ln()
            - sigma.ln();
        let log_lik: Vec<f64> = residuals()
            .iter()
            .map(|u| constant - 0.5 * (nu + 1.0) * (u * u / (nu * sigma * sigma)).ln_1p())
            .collect();
        check(&library, Some(("nu", nu)), &[sigma], &log_lik);
    }
}

#[test]
fn robust() {
    let library = library("robust");
    let (sigma, slope, nu): (f64, f64, f64) = (0.8, 0.3, 3.7);
    let mut values: Value = serde_json::from_str(data(None).to_str().unwrap()).unwrap();
    let priors = json!({
        "X_centre": [0.0, 0.4], "beta_location": [0.5, 0.0], "beta_scale": [3.0, 2.0], "sigma_scale": 1.5
    });
    for (key, value) in priors.as_object().unwrap() {
        values[key] = value.clone();
    }
    let mean = X2.iter().sum::<f64>() / N as f64;
    let sd = (X2.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (N as f64 - 1.0)).sqrt();
    let log_lik: Vec<f64> = residuals()
        .iter()
        .zip(X2)
        .map(|(u, x2)| {
            let scale = sigma * (slope * (x2 - mean) / sd).exp();
            log_gamma(0.5 * (nu + 1.0))
                - log_gamma(0.5 * nu)
                - 0.5 * (nu * std::f64::consts::PI).ln()
                - scale.ln()
                - 0.5 * (nu + 1.0) * (u * u / (nu * scale * scale)).ln_1p()
        })
        .collect();
    let prior = normal(BETA[0] + 0.4 * BETA[1] - 0.5, 9.0)
        + normal(BETA[1], 4.0)
        + normal(sigma, 2.25)
        + normal(slope, 0.25)
        + 0.01f64.ln()
        + nu.ln()
        - 0.1 * nu;
    let theta = [BETA[0], BETA[1], sigma.ln(), slope, (nu - 1.0).ln()];
    let weights = [1.0, 0.0, 2.5, 1.0, 0.0, 0.3];
    for weighted in [false, true] {
        values["weighted"] = json!(u8::from(weighted));
        let text = CString::new(values.to_string()).unwrap();
        let model = Model::new(&library, Some(text), 1).unwrap();
        let of_row = |i: usize| if weighted { weights[i] } else { 1.0 };
        let sum: f64 = (0..N).map(|i| of_row(i) * log_lik[i]).sum();
        let point = match weighted {
            true => [&theta[..], &Y, &weights].concat(),
            false => [&theta[..], &Y].concat(),
        };
        let found = model.log_density(&point, false, false).unwrap();
        let expected = prior + ALPHA * sum;
        let close = (found - expected).abs() < 1e-10 * expected.abs().max(1.0);
        assert!(
            close,
            "weighted {weighted}: Stan {found}, closed form {expected}"
        );
    }
}

/// Two responses, the second a made-up function of the first.
fn second_response() -> Vec<f64> {
    Y.iter().map(|y| 0.5 - (1.3 * y).sin()).collect()
}

fn several(num_responses: usize) -> CString {
    let mut data: Value = serde_json::from_str(data(None).to_str().unwrap()).unwrap();
    data["K"] = json!(num_responses);
    CString::new(data.to_string()).unwrap()
}

#[test]
fn multivariate() {
    let library = library("multivariate");
    let model = Model::new(&library, Some(several(2)), 1).unwrap();
    let second = second_response();
    let (slopes, sigma2, unconstrained) = ([0.2, 0.7], [1.7, 0.4], 0.55f64);
    let r = unconstrained.tanh();
    let [s1, s2] = sigma2.map(f64::sqrt);
    // The density of two correlated normals as textbooks have it, without a Cholesky factor.
    let log_lik: Vec<f64> = (0..N)
        .map(|i| {
            let a = residuals()[i] / s1;
            let b = (second[i] - slopes[0] - slopes[1] * X2[i]) / s2;
            let square = (a * a - 2.0 * r * a * b + b * b) / (1.0 - r * r);
            -LOG_2PI - (s1 * s2).ln() - 0.5 * (1.0 - r * r).ln() - 0.5 * square
        })
        .collect();
    // The correlation of two is uniform in (-1, 1): density 1/2.
    let prior: f64 = slopes.iter().map(|v| normal(*v, 1000.0)).sum::<f64>() - 2f64.ln();
    let expected = log_prior(&sigma2) + prior + ALPHA * log_lik.iter().sum::<f64>();
    let logs = sigma2.map(f64::ln);
    let theta = [&BETA[..], &slopes, &logs, &[unconstrained]].concat();
    let point = [&theta[..], &Y, &second].concat();
    let jacobian = logs.iter().sum::<f64>() + (1.0 - r * r).ln();
    for (with_jacobian, expected) in [(false, expected), (true, expected + jacobian)] {
        let found = model.log_density(&point, false, with_jacobian).unwrap();
        let close = (found - expected).abs() < 1e-10 * expected.abs().max(1.0);
        assert!(close, "Stan {found}, closed form {expected}");
    }
    let names: Vec<&str> = model.param_names(true, true).split(',').collect();
    let mut rng = bridgestan::Rng::new(&library, 1).unwrap();
    let mut outputs = vec![0.0; names.len()];
    model
        .param_constrain(&point, true, true, &mut outputs, Some(&mut rng))
        .unwrap();
    let first = names.iter().position(|name| *name == "log_lik.1").unwrap();
    assert_eq!(names[first - 1], "correlation.1");
    assert!((outputs[first - 1] - r).abs() < 1e-12);
    for (found, expected) in outputs[first..].iter().zip(&log_lik) {
        assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    }
}

#[test]
fn multivariate_with_one_response_is_linear() {
    let (single, several_library) = (library("linear"), library("multivariate"));
    let linear = Model::new(&single, Some(data(None)), 1).unwrap();
    let list = Model::new(&several_library, Some(several(1)), 1).unwrap();
    assert_eq!(list.param_unc_num(), linear.param_unc_num());
    for shift in [0.0, 0.37, 0.81] {
        let place = |k: usize| ((k as f64 + shift) * 0.618_033_988_749_895).fract() * 6.0 - 3.0;
        let point: Vec<f64> = (1..=linear.param_unc_num()).map(place).collect();
        let evaluate = |model: &Model<&StanLibrary>| {
            let mut gradient = vec![0.0; point.len()];
            let value = model.log_density_gradient(&point, false, true, &mut gradient);
            gradient.push(value.unwrap());
            gradient
        };
        for (found, expected) in evaluate(&list).iter().zip(evaluate(&linear)) {
            let close = (found - expected).abs() < 1e-12 * expected.abs().max(1.0);
            assert!(close, "{found} {expected}");
        }
    }
}

#[test]
fn mean_shift() {
    let library = library("mean_shift");
    let (sigma2, sigma_f2) = (0.6, 3.5);
    for k in [0.0, 1.5, N as f64] {
        let p = k / N as f64;
        // The densities themselves, without logarithms of sums: plain where the program is careful.
        let shifted = |u: f64| p * normal(u, sigma2 + sigma_f2).exp();
        let unshifted = |u: f64| (1.0 - p) * normal(u, sigma2).exp();
        let residuals = residuals();
        let log_lik: Vec<f64> = residuals
            .iter()
            .map(|&u| (shifted(u) + unshifted(u)).ln())
            .collect();
        let positive = [sigma2, sigma_f2];
        let model = check(&library, Some(("k", k)), &positive, &log_lik);

        let found = generated(&library, &model, "p_shifted", &unconstrained(&positive, Y));
        assert_eq!(found.len(), N);
        for (found, &u) in found.iter().zip(&residuals) {
            let expected = shifted(u) / (shifted(u) + unshifted(u));
            assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
    }
}

#[test]
fn more_shifted_rows_than_rows_are_refused() {
    let library = library("mean_shift");
    let own = Some(("k", N as f64 + 1.0));
    assert!(Model::new(&library, Some(data(own)), 1).is_err());
}
