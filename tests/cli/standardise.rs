//! `sampler.standardise` through the real compiler: another road to the same posterior, in fewer steps.

use std::fmt::Write;
use std::fs;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use unshuffle::Posterior;
use unshuffle::hmc::LogDensity;
use unshuffle::internals::fit::prepare;
use unshuffle::internals::model::{Standardised, ThetaGivenPi};
use unshuffle::internals::sampler::chain::{LinkedDensity, Silent};

use crate::common::{Project, compiler, positive_linear, program};

/// Predictors of scale 1e6 and 1e-6, both far from zero, with two pairs of rows that were swapped.
fn badly_scaled(changes: &[(&str, Value)]) -> Project {
    let project = Project::new(&[]);
    let wave = |k: usize, speed: f64| (k as f64 * speed + (k * k) as f64 * 0.37).sin();
    let row = |k: usize| {
        let (large, small) = (1e6 * (4.0 + wave(k, 1.1)), 1e-6 * (6.0 + wave(k, 2.3)));
        let response = 1.0 + 2e-6 * large - 1.5e6 * small + 0.2 * wave(k, 3.7);
        (large, small, response)
    };
    let mut responses: Vec<f64> = (0..60).map(|k| row(k).2).collect();
    responses.swap(3, 40);
    responses.swap(11, 25);
    let mut csv = "large,small,y\n".to_string();
    for (k, response) in responses.iter().enumerate() {
        let (large, small, _) = row(k);
        writeln!(csv, "{large},{small},{response}").unwrap();
    }
    project.write("data.csv", &csv);
    project.write("wide.stan", &program("wide.stan").text);
    let mut all = vec![
        ("model.stan", json!("wide.stan")),
        ("model.data", json!({"prior_sd": [1e3, 1e-3, 1e9]})),
        ("data.predictors", json!(["large", "small"])),
        ("permutation.update.name", json!("active_set")),
        ("sampler.draws", json!(1000)),
        ("sampler.warmup", json!(1000)),
    ];
    all.extend(changes.iter().cloned());
    project.configure(&all);
    project
}

fn fit(project: &Project) -> Posterior {
    let prepared = prepare(project.config(), &compiler()).unwrap();
    prepared
        .sample(2, &AtomicBool::new(false), &Silent)
        .unwrap()
}

fn num_gradients(fitted: &Posterior) -> u64 {
    fitted
        .outcomes()
        .iter()
        .map(|chain| chain.num_gradients)
        .sum()
}

#[test]
fn the_density_is_the_same_at_mapped_points_and_its_gradient_is_that_of_the_coordinates() {
    let project = badly_scaled(&[]);
    let prepared = prepare(project.config(), &compiler()).unwrap();
    let (model, data) = (&prepared.model, &prepared.data);
    let coordinates =
        Standardised::new(model, data.x.view(), data.has_intercept(), &[1.0]).unwrap();
    let mut plain = ThetaGivenPi::new(model, &data.response);
    let mut standard = ThetaGivenPi::new(model, &data.response).in_coordinates(Some(&coordinates));
    let position = [-2.0, 0.2, 1.9, -1.4];
    let mut theta = vec![0.0; 4];
    standard.theta_at(&position, &mut theta);
    let back = standard.position_of(theta.clone());
    for (a, b) in position.iter().zip(&back) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    let mut gradient = vec![0.0; 4];
    let here = standard
        .log_density_gradient(&position, &mut gradient)
        .unwrap();
    let mut unused = vec![0.0; 4];
    let there = plain.log_density_gradient(&theta, &mut unused).unwrap();
    assert!((here - there).abs() < 1e-9 * there.abs(), "{here} {there}");
    for k in 0..4 {
        let step = 1e-5;
        let ends = [step, -step].map(|step| {
            let mut moved = position;
            moved[k] += step;
            standard.log_density_gradient(&moved, &mut unused).unwrap()
        });
        let difference = (ends[0] - ends[1]) / (2.0 * step);
        let size = gradient[k].abs().max(1.0);
        assert!(
            (difference - gradient[k]).abs() < 1e-4 * size,
            "coordinate {k}: {difference} {}",
            gradient[k]
        );
    }
}

#[test]
fn the_posterior_is_that_of_a_fit_in_theta_itself_with_fewer_gradients() {
    let metric = |name: &str| ("sampler.metric", json!(name));
    let project = badly_scaled(&[metric("diagonal"), ("sampler.standardise", json!(true))]);
    let standard = fit(&project);
    let saved = fs::read_to_string(project.path("out/draws_1.csv")).unwrap();
    assert!(saved.contains("# unshuffle_coordinates = orthogonal ("));
    let off = ("sampler.standardise", json!(false));
    let dense = fit(&badly_scaled(&[metric("dense"), off.clone()]));
    let diagonal = fit(&badly_scaled(&[metric("diagonal"), off]));
    let [ours, of_dense, of_diagonal] = [&standard, &dense, &diagonal].map(num_gradients);
    eprintln!("gradients: standardised {ours}, dense {of_dense}, diagonal {of_diagonal}");
    for name in ["beta.1", "beta.2", "beta.3", "sigma2", "n_moved"] {
        let of = |fitted: &Posterior| {
            let row = fitted
                .summary()
                .iter()
                .find(|row| row.name == name)
                .unwrap();
            (row.mean.unwrap(), row.mcse.unwrap())
        };
        let ((mean, own), (theirs, other)) = (of(&standard), of(&dense));
        let mcse = own.hypot(other);
        eprintln!("{name}: z = {:.2}", (mean - theirs) / mcse);
        // Five quantities beyond 4 standard errors by chance: less than once in 3000 seeds.
        assert!(
            (mean - theirs).abs() < 4.0 * mcse,
            "{name}: {mean} {theirs} {mcse}"
        );
    }
    // Measured: 25 582 against 199 963 and 298 894.
    assert!(4 * ours < of_dense && 4 * ours < of_diagonal);
}

#[test]
fn a_program_without_a_plain_beta_is_told_so() {
    let project = Project::new(&[
        ("model.stan", json!("my linear.stan")),
        ("sampler.standardise", json!(true)),
    ]);
    let file = project.write("my linear.stan", &positive_linear());
    let error = prepare(project.config(), &compiler()).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!(
            "{} has no unconstrained `vector[D] beta` with 2 values, one for each column of X, which the config's \
             sampler.standardise needs: declare `vector[D] beta;` in `parameters`, or remove sampler.standardise",
            file.display()
        )
    );
}
