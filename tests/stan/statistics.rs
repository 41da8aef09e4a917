//! Normal errors through sufficient statistics: the program's own density, or the program itself.

use serde_json::{Value, json};
use unshuffle::hmc::LogDensity;
use unshuffle::internals::fit::{Prepared, prepare};
use unshuffle::internals::model::{GaussianGivenPi, ThetaGivenPi};
use unshuffle::internals::sampler::chain::LinkedDensity;
use unshuffle::links::Permutation;

use crate::common::{LINEAR, Project, compiler};

const NUM_ROWS: usize = 40;

/// Correlated predictors far from zero and of different scale; the linear model, or a program of the user's own.
fn prepared(own: Option<(&str, &str)>, changes: &[(&str, Value)]) -> Prepared {
    let project = Project::new(&[]);
    let wave = |k: usize, speed: f64| (k as f64 * speed + (k * k) as f64 * 0.37).sin();
    let line = |k: usize| {
        let (a, b) = (
            50.0 + wave(k, 1.1),
            3e4 * (1.0 + wave(k, 2.3) + wave(k, 1.1)),
        );
        let y = 10.0 + 2.0 * a - 4e-5 * b + 0.5 * wave(k, 3.7);
        format!("{a},{b},{y}\n")
    };
    let lines: String = (0..NUM_ROWS).map(line).collect();
    project.write("data.csv", &format!("a,b,y\n{lines}"));
    let mut all = vec![("data.predictors", json!(["a", "b"]))];
    if let Some((name, text)) = own {
        project.write(name, text);
        all.push(("model.stan", json!(name)));
        all.push(("model.family", json!({"name": "gaussian"})));
    }
    all.extend(changes.iter().cloned());
    project.configure(&all);
    prepare(project.config(), &compiler()).unwrap()
}

/// A hierarchical regression; `variant` 1 to 4 have likelihoods or priors that need more than sufficient statistics.
const OWN: &str = "
data { int<lower=1> N; int<lower=1> D; matrix[N, D] X; real<lower=0, upper=1> alpha; int variant; }
parameters { vector[D] beta; real<lower=0> sigma; real<lower=0> tau; real mu; vector[N] y; }
model {
  vector[N] scale = rep_vector(sigma, N);
  beta ~ student_t(4, mu, tau);
  tau ~ normal(0, 5);
  mu ~ normal(0, 1);
  sigma ~ exponential(1);
  if (variant == 1) target += -1e-3 * alpha * dot_self(y - X * beta) * beta[1];
  if (variant == 2) scale = sigma * exp(0.01 * (col(X, 2) - 50));
  if (variant == 3) sigma ~ exponential(N);
  if (variant == 4) beta[2] ~ normal(0, 1 + max(col(X, 2)));
  target += alpha * normal_lpdf(y | X * beta, scale);
}
";

fn own(variant: usize, changes: &[(&str, Value)]) -> Prepared {
    let mut all = vec![("model.data", json!({ "variant": variant }))];
    all.extend(changes.iter().cloned());
    prepared(Some(("own.stan", OWN)), &all)
}

/// The largest differences from the program, relative to its values: of the log density, and of its slope along a line.
fn differences(prepared: &Prepared) -> [f64; 2] {
    let gaussian = prepared.gaussian.as_ref().expect("a normal likelihood");
    let responses = prepared.data.responses();
    let mut own = GaussianGivenPi::new(gaussian);
    let mut plain = ThetaGivenPi::new(&prepared.model, &responses);
    let dim = plain.dim();
    let mut rotated = Permutation::identity(NUM_ROWS);
    (1..NUM_ROWS).for_each(|row| rotated.exchange(0, row));
    let mut exchanged = Permutation::identity(NUM_ROWS);
    exchanged.exchange(3, 17);
    let identity = Permutation::identity(NUM_ROWS);
    let mut largest = [0.0f64; 2];
    for (k, pi) in [&rotated, &identity, &exchanged].into_iter().enumerate() {
        own.align(pi, &responses);
        plain.align(pi, &responses);
        assert_eq!(own.response(), plain.response());
        let irregular = |j: usize| ((3 * k + j) as f64 * 1.7).sin();
        let position: Vec<f64> = (0..dim).map(irregular).collect();
        let further: Vec<f64> = (0..dim).map(|j| position[j] + irregular(j + 5)).collect();
        let [mut here, mut there] = [vec![0.0; dim], vec![0.0; dim]];
        own.theta_at(&position, &mut here);
        own.theta_at(&further, &mut there);
        let back = own.position_of(here.clone());
        let lost = back.iter().zip(&position).map(|(a, b)| (a - b).abs());
        assert!(lost.fold(0.0, f64::max) < 1e-8);
        let [mut by_z, mut by_theta] = [vec![0.0; dim], vec![0.0; dim]];
        let value = own.log_density_gradient(&position, &mut by_z).unwrap();
        let expected = plain.log_density_gradient(&here, &mut by_theta).unwrap();
        let slope = |gradient: &[f64], from: &[f64], to: &[f64]| -> f64 {
            let steps = from.iter().zip(to).map(|(from, to)| to - from);
            gradient.iter().zip(steps).map(|(g, step)| g * step).sum()
        };
        let slopes = [
            slope(&by_z, &position, &further),
            slope(&by_theta, &here, &there),
        ];
        let relative = |a: f64, b: f64| (a - b).abs() / b.abs().max(1.0);
        largest[0] = largest[0].max(relative(value, expected));
        largest[1] = largest[1].max(relative(slopes[0], slopes[1]));
    }
    largest
}

#[test]
fn value_and_gradient_are_those_of_the_program() {
    let tempered = [("temperature", json!(0.4))];
    let informative = json!({
        "X_centre": [0, 0, 0], "beta_location": [0, 0, 0], "beta_scale": [1, 1, 1], "sigma2_scale": 1
    });
    let of_the_user = json!({
        "X_centre": [0, 50, 3e4], "beta_location": [100, 2, 1e-5], "beta_scale": [3, 0.1, 1e-5], "sigma2_scale": 0.3
    });
    for prepared in [
        prepared(None, &[]),
        prepared(None, &tempered),
        prepared(None, &[("model.data", of_the_user)]),
        prepared(
            Some(("linear.stan", LINEAR)),
            &[("model.data", informative)],
        ),
        own(0, &tempered),
    ] {
        let [value, slope] = differences(&prepared);
        assert!(value < 1e-9 && slope < 1e-9, "{value} {slope}");
        // A copy of the shipped program may have been edited.
        let is_shipped = prepared.config.model.stan.is_shipped("linear");
        assert_eq!(prepared.gaussian.unwrap().knows_prior(), is_shipped);
    }
}

#[test]
fn other_programs_are_evaluated_themselves() {
    assert!(own(0, &[]).gaussian.is_some());
    for variant in 1..=4 {
        assert!(own(variant, &[]).gaussian.is_none(), "variant {variant}");
    }
    let itself = [("sampler.standardise", json!(false))];
    assert!(prepared(None, &itself).gaussian.is_none());
    let weighted = [
        ("permutation.update.name", json!("active_set")),
        ("permutation.feedback", json!("none")),
    ];
    assert!(prepared(None, &weighted).gaussian.is_none());
}
