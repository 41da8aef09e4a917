//! The shipped Stan programs, compiled, against their densities written out in Rust.

use std::ffi::CString;

use bridgestan::{Model, StanLibrary, open_library};
use serde_json::{Value, json};
use unshuffle::internals::model::stan::{Compiler, SilentBuild, shipped_model};
use unshuffle::internals::numerics::log_gamma;

pub(super) const N: usize = 6;
pub(super) const ALPHA: f64 = 0.7;
pub(super) const BETA: [f64; 2] = [0.4, -1.3];
pub(super) const Y: [f64; N] = [0.3, -2.0, 1.1, 4.5, -0.25, 0.0];
pub(super) const X2: [f64; N] = [0.5, 1.5, -0.7, 2.2, -1.0, 0.1];
const COUNTS: [f64; N] = [0.0, 3.0, 1.0, 7.0, 2.0, 0.0];
const LOG_2PI: f64 = 1.837_877_066_409_345_3;

pub(super) fn library(name: &str) -> StanLibrary {
    let compiler = Compiler::find(None, &SilentBuild, 2).unwrap();
    let source = shipped_model(name).unwrap().source();
    open_library(compiler.compile(&source).unwrap().library).unwrap()
}

/// The numbers of the priors, for one response.
#[derive(Clone, Copy)]
pub(super) struct Priors {
    /// The intercept's prior is at this value of the predictor.
    centre: f64,
    pub(super) location: [f64; 2],
    pub(super) scale: [f64; 2],
    /// Of sigma and of sigma2, and of sigma_f2.
    error: [f64; 2],
}

/// Normal(0, 1000) for the errors' models, as in the paper; `width` for the others.
pub(super) fn paper(width: f64) -> Priors {
    Priors {
        centre: 0.0,
        location: [0.0; 2],
        scale: [width; 2],
        error: [1000f64.sqrt(); 2],
    }
}

/// Every number differs from every other, so that none can take another's place.
pub(super) const SCALED: Priors = Priors {
    centre: 0.45,
    location: [0.6, -0.2],
    scale: [3.1, 1.7],
    error: [2.3, 4.7],
};

impl Priors {
    /// The log density of an intercept and a slope.
    pub(super) fn of_coefficients(self, beta: [f64; 2]) -> f64 {
        let centred = [beta[0] + self.centre * beta[1], beta[1]];
        let terms = (0..2).map(|k| {
            let u = centred[k] - self.location[k];
            normal(u, self.scale[k].powi(2))
        });
        terms.sum()
    }

    /// The log density of error scales, which are above zero: without the factor 2 that Stan leaves out.
    pub(super) fn of_errors(self, scales: &[f64]) -> f64 {
        let pairs = scales.iter().zip(self.error);
        pairs
            .map(|(value, scale)| normal(*value, scale * scale))
            .sum()
    }
}

/// Six rows, two columns, and the program's own entry of the data block.
pub(super) fn data(own: Option<(&str, f64)>, priors: Priors) -> CString {
    let x: Vec<[f64; 2]> = X2.iter().map(|&x2| [1.0, x2]).collect();
    let mut data = json!({
        "N": N, "D": 2, "X": x, "alpha": ALPHA, "weighted": 0, "has_offset": 0, "offsets": [],
        "X_centre": [0.0, priors.centre], "beta_location": priors.location, "beta_scale": priors.scale,
        "sigma_scale": priors.error[0], "sigma2_scale": priors.error[0], "sigma_f2_scale": priors.error[1]
    });
    if let Some((key, value)) = own {
        data[key] = Value::from(value);
    }
    CString::new(data.to_string()).unwrap()
}

pub(super) fn fitted() -> impl Iterator<Item = f64> {
    X2.iter().map(|x2| BETA[0] + BETA[1] * x2)
}

pub(super) fn residuals() -> Vec<f64> {
    Y.iter().zip(fitted()).map(|(y, mu)| y - mu).collect()
}

pub(super) fn normal(u: f64, variance: f64) -> f64 {
    -0.5 * (LOG_2PI + variance.ln() + u * u / variance)
}

fn unconstrained(positive: &[f64], y: [f64; N]) -> Vec<f64> {
    let logs = positive.iter().map(|v| v.ln());
    BETA.into_iter().chain(logs).chain(y).collect()
}

/// The density of the errors' models, whose responses are `Y`, with both kinds of priors.
fn check<'lib>(
    library: &'lib StanLibrary,
    own: Option<(&str, f64)>,
    positive: &[f64],
    log_lik: &[f64],
) -> Model<&'lib StanLibrary> {
    let check = |priors: Priors| {
        let prior = priors.of_coefficients(BETA) + priors.of_errors(positive);
        let expected = prior + ALPHA * log_lik.iter().sum::<f64>();
        check_density(library, own, priors, positive, Y, expected)
    };
    check(SCALED);
    check(paper(1000f64.sqrt()))
}

/// Checks the density with and without the Jacobian of the positive parameters, and its gradient by differences.
fn check_density<'lib>(
    library: &'lib StanLibrary,
    own: Option<(&str, f64)>,
    priors: Priors,
    positive: &[f64],
    y: [f64; N],
    expected: f64,
) -> Model<&'lib StanLibrary> {
    let model = Model::new(library, Some(data(own, priors)), 1).unwrap();
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
pub(super) fn generated(
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
    // Gamma(2, 0.1).
    let others = positive.iter().map(|v| 0.01f64.ln() + v.ln() - 0.1 * v);
    let others: f64 = others.sum();
    let factorials: f64 = match name {
        "poisson" | "negative_binomial" => y.iter().map(|y| log_gamma(y + 1.0)).sum(),
        _ => 0.0,
    };
    let tempered = ALPHA * (log_lik.iter().sum::<f64>() + factorials);
    let check = |priors: Priors| {
        let expected = priors.of_coefficients(BETA) + others + tempered;
        check_density(&library, None, priors, positive, y, expected)
    };
    check(SCALED);
    let model = check(paper(if name == "logistic" { 2.5 } else { 5.0 }));
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

/// The density of y is that of its logarithm over y; sigma has the prior normal(0, 2.5) whatever the units.
#[test]
fn log_normal() {
    let library = library("log_normal");
    let sigma: f64 = 0.8;
    let amounts = [0.3, 2.0, 1.1, 4.5, 0.25, 0.7];
    let pairs = amounts.iter().zip(fitted());
    let log_lik = pairs.map(|(y, eta): (&f64, f64)| normal(y.ln() - eta, sigma * sigma) - y.ln());
    let tempered = ALPHA * log_lik.sum::<f64>();
    for priors in [SCALED, paper(5.0)] {
        let prior = priors.of_coefficients(BETA) + normal(sigma, 6.25);
        let expected = prior + tempered;
        check_density(&library, None, priors, &[sigma], amounts, expected);
    }
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
    let without_units = normal(slope, 0.25) + 0.01f64.ln() + nu.ln() - 0.1 * nu;
    let theta = [BETA[0], BETA[1], sigma.ln(), slope, (nu - 1.0).ln()];
    let weights = [1.0, 0.0, 2.5, 1.0, 0.0, 0.3];
    let paper = paper(1000f64.sqrt());
    for (priors, weighted) in [
        (SCALED, false),
        (SCALED, true),
        (paper, false),
        (paper, true),
    ] {
        let prior = priors.of_coefficients(BETA) + priors.of_errors(&[sigma]) + without_units;
        let text = data(None, priors);
        let mut values: Value = serde_json::from_str(text.to_str().unwrap()).unwrap();
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

/// With the priors of one response after the other.
fn several(priors: &[Priors]) -> CString {
    let mut data: Value = serde_json::from_str(data(None, priors[0]).to_str().unwrap()).unwrap();
    data["K"] = json!(priors.len());
    let matrix = |of: fn(&Priors) -> [f64; 2]| {
        let row = |d: usize| priors.iter().map(|p| of(p)[d]).collect::<Vec<_>>();
        json!([row(0), row(1)])
    };
    data["beta_location"] = matrix(|p| p.location);
    data["beta_scale"] = matrix(|p| p.scale);
    data["sigma2_scale"] = json!(priors.iter().map(|p| p.error[0]).collect::<Vec<_>>());
    CString::new(data.to_string()).unwrap()
}

#[test]
fn multivariate() {
    let library = library("multivariate");
    let other = Priors {
        location: [-1.1, 0.3],
        scale: [0.9, 5.3],
        error: [0.8, 0.8],
        ..SCALED
    };
    let large = paper(1000f64.sqrt());
    for priors in [[SCALED, other], [large, large]] {
        check_multivariate(&library, priors);
    }
}

fn check_multivariate(library: &StanLibrary, priors: [Priors; 2]) {
    let model = Model::new(library, Some(several(&priors)), 1).unwrap();
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
    let of_response = |k: usize, beta: [f64; 2]| {
        priors[k].of_coefficients(beta) + priors[k].of_errors(&sigma2[k..k + 1])
    };
    let prior = of_response(0, BETA) + of_response(1, slopes) - 2f64.ln();
    let expected = prior + ALPHA * log_lik.iter().sum::<f64>();
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
    let mut rng = bridgestan::Rng::new(library, 1).unwrap();
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
    let linear = Model::new(&single, Some(data(None, SCALED)), 1).unwrap();
    let list = Model::new(&several_library, Some(several(&[SCALED])), 1).unwrap();
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
    assert!(Model::new(&library, Some(data(own, SCALED)), 1).is_err());
}

/// With a single column there is no slope for the prior to centre.
#[test]
fn a_design_of_one_column_has_a_prior_too() {
    let (single, several) = (library("linear"), library("multivariate"));
    let mut data = json!({
        "N": N, "D": 1, "X": [[1], [1], [1], [1], [1], [1]], "alpha": ALPHA, "weighted": 0, "has_offset": 0, "offsets": [],
        "X_centre": [0.0], "beta_location": [0.6], "beta_scale": [3.1], "sigma2_scale": 2.3
    });
    let theta = [0.4, 1.7f64.ln()];
    let log_lik = Y.iter().map(|y| normal(y - 0.4, 1.7));
    let prior = normal(0.4 - 0.6, 3.1 * 3.1) + normal(1.7, 2.3 * 2.3);
    let expected = prior + ALPHA * log_lik.sum::<f64>();
    for (library, name) in [(&single, "linear"), (&several, "multivariate")] {
        if name == "multivariate" {
            data["K"] = json!(1);
            data["beta_location"] = json!([[0.6]]);
            data["beta_scale"] = json!([[3.1]]);
            data["sigma2_scale"] = json!([2.3]);
        }
        let text = CString::new(data.to_string()).unwrap();
        let model = Model::new(library, Some(text), 1).unwrap();
        let found = model.log_density(&[&theta[..], &Y].concat(), false, false);
        let found = found.unwrap();
        assert!(
            (found - expected).abs() < 1e-10,
            "{name}: {found} {expected}"
        );
    }
}
