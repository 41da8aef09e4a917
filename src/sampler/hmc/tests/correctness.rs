//! Kernels with warm-up against targets whose moments are known.

use super::support::{Chain, Check, assert_all, series, settings};
use super::targets::{Funnel, Gaussian, log_gamma};
use crate::sampler::hmc::Kernel;
use crate::sampler::hmc::MetricKind::{Dense, Diagonal};
use crate::sampler::hmc::warmup::{AdaptationSettings, Trajectory};

/// Over all checks of one test.
pub(super) const ERROR_RATE: f64 = 1e-3;

const MEANS: [f64; 4] = [0.0, -5.0, 300.0, 0.01];
const SDS: [f64; 4] = [1.0, 0.1, 50.0, 0.001];

pub(super) fn independent_checks(draws: &[Vec<f64>], mean: &[f64], sd: &[f64]) -> Vec<Check> {
    let mut checks = Vec::new();
    for i in 0..mean.len() {
        let mean_series = series(draws, |q| q[i]);
        let variance_series = series(draws, |q| (q[i] - mean[i]).powi(2));
        checks.push(Check::new(format!("mean {i}"), mean_series, mean[i]));
        checks.push(Check::new(
            format!("variance {i}"),
            variance_series,
            sd[i] * sd[i],
        ));
    }
    checks
}

pub(super) fn autoregressive_checks(draws: &[Vec<f64>], rho: f64) -> Vec<Check> {
    let mut checks = Vec::new();
    for i in 0..draws[0].len() {
        let mean = i as f64;
        checks.push(Check::new(
            format!("mean {i}"),
            series(draws, |q| q[i]),
            mean,
        ));
        for j in 0..=i {
            let products = series(draws, |q| (q[i] - mean) * (q[j] - j as f64));
            let name = format!("covariance {i} {j}");
            checks.push(Check::new(name, products, rho.powi((i - j) as i32)));
        }
    }
    checks
}

fn funnel_checks(draws: &[Vec<f64>]) -> Vec<Check> {
    // P(v < -1.5 * 1.2815516) = 0.1.
    let tail = |q: &[f64]| if q[0] < -1.922_327_4 { 1.0 } else { 0.0 };
    let mut checks = vec![
        Check::new("mean v", series(draws, |q| q[0]), 0.0),
        Check::new("variance v", series(draws, |q| q[0] * q[0]), 2.25),
        Check::new("tail of v", series(draws, tail), 0.1),
    ];
    for i in 1..draws[0].len() {
        let scaled = series(draws, |q| q[i] * q[i] * (-q[0]).exp());
        checks.push(Check::new(format!("scaled square {i}"), scaled, 1.0));
    }
    checks
}

#[test]
fn independent_normals_of_different_scales() {
    for (trajectory, seed) in [(Trajectory::Nuts, 1), (Trajectory::Static, 2)] {
        let target = Gaussian::independent(&MEANS, &SDS);
        let mut chain = Chain::warmed_up(target, settings(Diagonal, trajectory), seed);
        let draws = chain.draws(40_000);
        assert_all(ERROR_RATE, &independent_checks(&draws, &MEANS, &SDS));
    }
}

#[test]
fn correlated_normal_in_ten_dimensions() {
    for (metric, trajectory, seed) in [
        (Dense, Trajectory::Nuts, 3),
        (Diagonal, Trajectory::Nuts, 4),
        (Dense, Trajectory::Static, 5),
    ] {
        let target = Gaussian::autoregressive(10, 0.8);
        let mut chain = Chain::warmed_up(target, settings(metric, trajectory), seed);
        assert_eq!(chain.kernel.metric().kind(), metric);
        let draws = chain.draws(40_000);
        assert_all(ERROR_RATE, &autoregressive_checks(&draws, 0.8));
    }
}

#[test]
fn moderate_funnel() {
    for (trajectory, seed) in [(Trajectory::Nuts, 6), (Trajectory::Static, 7)] {
        let settings = AdaptationSettings {
            // Small steps: large ones cannot enter the neck.
            target_accept: 0.95,
            ..settings(Diagonal, trajectory)
        };
        let mut chain = Chain::warmed_up(Funnel { dim: 3 }, settings, seed);
        let draws = chain.draws(100_000);
        assert_all(ERROR_RATE, &funnel_checks(&draws));
    }
}

pub(super) fn gamma_checks(draws: &[Vec<f64>], shape: f64) -> Vec<Check> {
    vec![
        Check::new("mean", series(draws, |q| q[0].exp()), shape),
        Check::new(
            "square",
            series(draws, |q| (2.0 * q[0]).exp()),
            shape * (shape + 1.0),
        ),
    ]
}

#[test]
fn positive_parameter_on_the_log_scale() {
    let mut chain = Chain::warmed_up(
        log_gamma(3.0, true),
        settings(Diagonal, Trajectory::Nuts),
        8,
    );
    assert_all(ERROR_RATE, &gamma_checks(&chain.draws(10_000), 3.0));
}

#[test]
fn same_seed_gives_the_same_draws_on_any_thread() {
    let run = || {
        let target = Gaussian::autoregressive(5, 0.5);
        let mut chain = Chain::warmed_up(target, settings(Dense, Trajectory::Nuts), 12);
        chain.draws(50)
    };
    let other = std::thread::spawn(run).join().unwrap();
    assert_eq!(run(), other);
}

/// The energy of a step is that of the accepted point, as Stan's energy__.
#[test]
fn step_info_describes_the_accepted_point() {
    for trajectory in [Trajectory::Nuts, Trajectory::Static] {
        let target = Gaussian::autoregressive(5, 0.5);
        let mut chain = Chain::warmed_up(target, settings(Dense, trajectory), 13);
        for info in chain.infos(100) {
            assert!(
                info.energy >= -info.log_density,
                "kinetic energy below zero"
            );
            assert!((0.0..=1.0).contains(&info.accept_stat));
            assert!(info.num_leapfrog >= 1 && !info.divergent);
            assert_eq!(info.step_size, chain.kernel.step_size());
        }
        let info = chain.step();
        assert_eq!(info.log_density, chain.state.log_density());
    }
}

/// Tiny steps never turn back: all doublings are made, and no more.
#[test]
fn max_depth_bounds_the_trajectory() {
    let target = Gaussian::autoregressive(3, 0.5);
    let mut chain = Chain::warmed_up(target, settings(Diagonal, Trajectory::Nuts), 14);
    chain.kernel = Kernel::nuts(3, 4);
    chain.kernel.set_step_size(1e-4);
    for info in chain.infos(20) {
        assert_eq!((info.tree_depth, info.num_leapfrog), (4, 15));
    }
}
