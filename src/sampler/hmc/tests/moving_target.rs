//! Gibbs chains whose other block changes the target between transitions.

use std::cell::Cell;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::correctness::ERROR_RATE;
use super::support::{Chain, Check, assert_all, assert_rejected, series, settings};
use super::targets::Gaussian;
use crate::sampler::hmc::warmup::Trajectory;
use crate::sampler::hmc::{EvalError, LogDensity};
use crate::sampler::hmc::{Kernel, MetricKind, MovingTarget, State};

/// x given k of a joint with P(k = 1) = 1/2: unlike means and scales, densities normalised.
struct Switching {
    /// A cell, so that a test can go behind the back of `MovingTarget`.
    k: Cell<usize>,
}

const MEANS: [[f64; 2]; 2] = [[0.0, 0.0], [1.0, -0.5]];
const SDS: [[f64; 2]; 2] = [[1.0, 1.0], [0.5, 2.0]];

impl Switching {
    fn log_density_given(k: usize, x: &[f64]) -> f64 {
        (0..2)
            .map(|i| {
                let z = (x[i] - MEANS[k][i]) / SDS[k][i];
                -0.5 * z * z - SDS[k][i].ln()
            })
            .sum()
    }

    /// Draws k given x.
    fn draw_k(x: &[f64], rng: &mut impl Rng) -> usize {
        let log_odds = Self::log_density_given(1, x) - Self::log_density_given(0, x);
        usize::from(rng.random::<f64>() < 1.0 / (1.0 + (-log_odds).exp()))
    }
}

impl LogDensity for Switching {
    fn dim(&self) -> usize {
        2
    }

    fn log_density_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
        let k = self.k.get();
        for i in 0..2 {
            gradient[i] = -(x[i] - MEANS[k][i]) / SDS[k][i].powi(2);
        }
        Ok(Self::log_density_given(k, x))
    }
}

/// P(k = 1), and the means of x, with the state refreshed after k moved or left stale.
fn switching_checks(trajectory: Trajectory, refreshed: bool, seed: u64) -> Vec<Check> {
    let target = Switching { k: Cell::new(0) };
    let settings = settings(MetricKind::Diagonal, trajectory);
    let mut chain = Chain::warmed_up_with(target, settings, seed, |target, x, rng| {
        target.change().k.set(Switching::draw_k(x, rng));
    });
    let draws: Vec<Vec<f64>> = (0..100_000)
        .map(|_| {
            let k = Switching::draw_k(chain.state.position(), &mut chain.rng);
            if refreshed {
                chain.target.change().k.set(k);
            } else {
                chain.target.density().k.set(k);
            }
            chain.step();
            let x = chain.state.position();
            vec![k as f64, x[0], x[1]]
        })
        .collect();
    vec![
        Check::new("P(k = 1)", series(&draws, |draw| draw[0]), 0.5),
        Check::new("mean of x_0", series(&draws, |draw| draw[1]), 0.5),
        Check::new("mean of x_1", series(&draws, |draw| draw[2]), -0.25),
    ]
}

#[test]
fn refreshed_state_samples_the_joint() {
    for (trajectory, seed) in [(Trajectory::Nuts, 31), (Trajectory::Static, 32)] {
        assert_all(ERROR_RATE, &switching_checks(trajectory, true, seed));
    }
}

#[test]
fn stale_state_is_seen() {
    for (trajectory, seed) in [(Trajectory::Nuts, 31), (Trajectory::Static, 32)] {
        assert_rejected(ERROR_RATE, &switching_checks(trajectory, false, seed));
    }
}

#[test]
#[should_panic(expected = "call State::refresh")]
fn stepping_with_a_stale_state_panics() {
    let mut target = MovingTarget::new(Gaussian::independent(&[0.0], &[1.0]));
    let mut state = State::new(vec![0.0], &mut target).unwrap();
    target.change();
    let mut rng = ChaCha8Rng::seed_from_u64(33);
    let _ = Kernel::nuts(1, 5).step(&mut target, &mut state, &mut rng);
}
