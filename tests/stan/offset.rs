//! Shipped programs with an offset: adding c x to the linear predictor is the same as adding c to the coefficient of x, in the
//! density, its gradient and `log_lik`.

use std::ffi::CString;

use bridgestan::{Model, StanLibrary};
use serde_json::json;

use crate::shipped_densities::{N, X2, library};

const C: f64 = 0.37;
const WEIGHTS: [f64; N] = [1.0, 0.0, 2.5, 1.0, 0.4, 0.3];

/// The data block of any program: entries that it does not declare are ignored.
fn data(alpha: f64, weighted: bool, offset: Option<&[f64]>, is_time: bool) -> CString {
    let x: Vec<[f64; 2]> = X2.iter().map(|&x2| [1.0, x2]).collect();
    let wide = |values: [f64; 2]| match is_time {
        true => json!(values.map(|value| [value, 1.0])),
        false => json!(values),
    };
    let data = json!({
        "N": N, "D": 2, "X": x, "alpha": alpha, "weighted": u8::from(weighted), "K": 2,
        "has_offset": u8::from(offset.is_some()), "offsets": offset.unwrap_or_default(),
        "X_centre": [0.0, 0.45], "beta_location": wide([0.6, -0.2]), "beta_scale": wide([3.1, 1.7]),
        "sigma_scale": 2.3, "sigma2_scale": 4.7, "tau_scale": [1.3], "tau": 0.3, "nu": 4,
        "J": 2, "L": 1, "group": [1, 2, 1, 1, 2, 2], "Z": [[1], [1], [1], [1], [1], [1]]
    });
    CString::new(data.to_string()).unwrap()
}

/// A program of the named model with its rows, responses and weights at a point.
struct Case<'lib> {
    library: &'lib StanLibrary,
    name: &'lib str,
    weighted: bool,
}

impl Case<'_> {
    fn model(&self, alpha: f64, offset: Option<&[f64]>) -> Model<&StanLibrary> {
        let is_time = self.name.ends_with("_survival");
        let data = data(alpha, self.weighted, offset, is_time);
        Model::new(self.library, Some(data), 1).unwrap()
    }

    /// Each parameter has its own value; `slope` is that of the coefficient of x.
    fn point(&self, model: &Model<&StanLibrary>, slope: f64) -> Vec<f64> {
        let mut responses = match self.name {
            "logistic" => vec![0.0, 1.0, 1.0, 0.0, 1.0, 0.0],
            "poisson" | "negative_binomial" => vec![0.0, 3.0, 1.0, 7.0, 2.0, 0.0],
            _ => vec![0.3, 2.0, 1.1, 4.5, 0.25, 0.7],
        };
        // Of times, whether the event was seen.
        responses.extend([1.0, 0.0, 1.0, 1.0, 0.0, 1.0]);
        let mut responses = responses.into_iter();
        let names = model.param_unc_names().split(',').enumerate();
        let value = |(k, name): (usize, &str)| {
            let block = name.split('.').next().unwrap();
            let number = name.split('.').nth(1).map(|n| n.parse::<usize>().unwrap());
            match (block, number) {
                ("beta", Some(1)) => 0.4,
                ("beta", _) => slope,
                ("y", _) => responses.next().unwrap(),
                ("weight", Some(row)) => WEIGHTS[row - 1],
                _ => 0.3 - 0.07 * k as f64,
            }
        };
        names.map(value).collect()
    }

    /// The tempered log likelihood alone, its gradient, and `log_lik` where there is one.
    fn at(&self, slope: f64, offset: Option<&[f64]>) -> (f64, Vec<f64>, Vec<f64>) {
        let density = |alpha: f64| {
            let model = self.model(alpha, offset);
            let point = self.point(&model, slope);
            let mut gradient = vec![0.0; point.len()];
            let value = model.log_density_gradient(&point, true, true, &mut gradient);
            (value.unwrap(), gradient)
        };
        let ((all, of_all), (prior, of_prior)) = (density(0.7), density(0.0));
        let gradient = of_all.iter().zip(&of_prior).map(|(a, b)| a - b);
        let model = self.model(0.7, offset);
        let names: Vec<&str> = model.param_names(true, true).split(',').collect();
        let mut outputs = vec![0.0; names.len()];
        let mut rng = bridgestan::Rng::new(self.library, 1).unwrap();
        let point = self.point(&model, slope);
        let found = model.param_constrain(&point, true, true, &mut outputs, Some(&mut rng));
        found.unwrap();
        let log_lik = outputs.iter().zip(&names);
        let log_lik = log_lik.filter(|(_, name)| name.starts_with("log_lik."));
        (
            all - prior,
            gradient.collect(),
            log_lik.map(|(v, _)| *v).collect(),
        )
    }
}

fn close(found: &[f64], expected: &[f64]) -> bool {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9 * b.abs().max(1.0);
    found.len() == expected.len() && found.iter().zip(expected).all(near)
}

fn offset_is_a_known_slope(name: &str) {
    let library = library(name);
    let offset: Vec<f64> = X2.iter().map(|x| C * x).collect();
    for weighted in [false, true] {
        let case = Case {
            library: &library,
            name,
            weighted,
        };
        let (with, expected) = (case.at(-0.6, Some(&offset)), case.at(C - 0.6, None));
        assert!(
            close(&[with.0], &[expected.0]),
            "{name}: {with:?} {expected:?}"
        );
        assert!(close(&with.1, &expected.1), "{name}: {with:?} {expected:?}");
        assert!(close(&with.2, &expected.2), "{name}: {with:?} {expected:?}");
        // A program that ignores its offset.
        let ignored = case.at(-0.6, None);
        assert!(!close(&[ignored.0], &[expected.0]), "{name}");
    }
}

macro_rules! programs {
    ($($name:ident),*) => { $(#[test] fn $name() { offset_is_a_known_slope(stringify!($name)); })* };
}

programs!(
    linear,
    quantile,
    student_t,
    robust,
    logistic,
    poisson,
    negative_binomial,
    gamma,
    log_normal,
    hierarchical,
    weibull_survival,
    log_normal_survival
);

/// All shipped programs but two have one, as `docs/models.md` says.
#[test]
fn all_others_take_none() {
    use unshuffle::internals::model::stan::{shipped_model, shipped_names};
    let without = shipped_names().into_iter().filter(|name| {
        let program = shipped_model(name).unwrap().stan;
        !program.contains("offsets")
    });
    assert_eq!(without.collect::<Vec<_>>(), ["multivariate", "mean_shift"]);
}
