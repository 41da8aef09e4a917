//! Wrong kernels that the checks must reject, beside right ones of the same build.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::correctness::{ERROR_RATE, gamma_checks, independent_checks};
use super::support::{Chain, assert_all, assert_rejected, settings};
use super::targets::{Gaussian, log_gamma};
use crate::numerics::dot;
use crate::sampler::hmc::leapfrog::PhasePoint;
use crate::sampler::hmc::warmup::Trajectory;
use crate::sampler::hmc::{Metric, MetricKind, MovingTarget, State};

const MEAN: [f64; 3] = [0.0, 1.0, -2.0];
const SD: [f64; 3] = [1.0, 0.8, 0.6];
const NUM_DRAWS: usize = 40_000;

/// Draws with a hand-written transition on a normal target, with M = I.
fn draw_with(
    mut transition: impl FnMut(&mut MovingTarget<Gaussian>, &State, &mut ChaCha8Rng) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let mut target = MovingTarget::new(Gaussian::independent(&MEAN, &SD));
    let mut state = State::new(MEAN.to_vec(), &mut target).unwrap();
    (0..NUM_DRAWS)
        .map(|_| {
            let position = transition(&mut target, &state, &mut rng);
            state = State::new(position.clone(), &mut target).unwrap();
            position
        })
        .collect()
}

/// Static HMC with large steps; without the Metropolis correction if told so.
fn static_draws(corrected: bool) -> Vec<Vec<f64>> {
    let metric = Metric::unit(3);
    draw_with(|target, state, rng| {
        let mut point = PhasePoint::new(3);
        let initial = point.start(state, &metric, rng);
        let mut energy = initial;
        for _ in 0..rng.random_range(1..=3) {
            energy = point.leapfrog(0.8, &metric, target).unwrap();
        }
        let accepted = rng.random::<f64>() < (initial - energy).exp();
        if accepted || !corrected {
            point.position
        } else {
            state.position.clone()
        }
    })
}

#[test]
fn missing_metropolis_correction_is_seen() {
    let right = independent_checks(&static_draws(true), &MEAN, &SD);
    assert_all(ERROR_RATE, &right);
    let wrong = independent_checks(&static_draws(false), &MEAN, &SD);
    assert_rejected(ERROR_RATE, &wrong);
}

#[test]
fn missing_jacobian_is_seen() {
    let settings = settings(MetricKind::Diagonal, Trajectory::Nuts);
    let mut chain = Chain::warmed_up(log_gamma(3.0, false), settings, 22);
    assert_rejected(ERROR_RATE, &gamma_checks(&chain.draws(10_000), 3.0));
}

struct Node {
    position: Vec<f64>,
    momentum: Vec<f64>,
    energy: f64,
}

/// Whether a list of neighbouring nodes, or one of its binary subtrees, has made a U-turn (M = I).
fn turns(nodes: &[Node]) -> bool {
    if nodes.len() < 2 {
        return false;
    }
    let rho: Vec<f64> = (0..3)
        .map(|i| nodes.iter().map(|node| node.momentum[i]).sum())
        .collect();
    let (first, second) = nodes.split_at(nodes.len() / 2);
    [&nodes[0], &nodes[nodes.len() - 1]]
        .iter()
        .any(|edge| dot(&edge.momentum, &rho) <= 0.0)
        || turns(first)
        || turns(second)
}

/// NUTS with large steps that keeps its whole trajectory in a list; right when `weighted`.
fn naive_nuts_draws(weighted: bool) -> Vec<Vec<f64>> {
    let metric = Metric::unit(3);
    draw_with(|target, state, rng| {
        let mut forward = PhasePoint::new(3);
        let initial = forward.start(state, &metric, rng);
        let mut backward = PhasePoint::new(3);
        backward.copy_from(&forward);
        let node = |point: &PhasePoint, energy| Node {
            position: point.position.clone(),
            momentum: point.momentum.clone(),
            energy,
        };
        let mut nodes = vec![node(&forward, initial)];
        while nodes.len() < 64 && !turns(&nodes) {
            let ahead = rng.random::<bool>();
            let (point, time) = if ahead {
                (&mut forward, 0.8)
            } else {
                (&mut backward, -0.8)
            };
            let mut extension = Vec::new();
            for _ in 0..nodes.len() {
                let energy = point.leapfrog(time, &metric, target).unwrap();
                extension.push(node(point, energy));
            }
            if !ahead {
                extension.reverse();
            }
            if turns(&extension) {
                break;
            }
            let at = if ahead { nodes.len() } else { 0 };
            nodes.splice(at..at, extension);
        }
        let weights = nodes.iter().map(|node| {
            if weighted {
                (initial - node.energy).exp()
            } else {
                1.0
            }
        });
        let mut threshold = rng.random::<f64>() * weights.clone().sum::<f64>();
        let chosen = weights.clone().position(|weight| {
            threshold -= weight;
            threshold < 0.0
        });
        nodes.swap_remove(chosen.unwrap_or(0)).position
    })
}

#[test]
fn nuts_that_ignores_the_weights_is_seen() {
    let right = independent_checks(&naive_nuts_draws(true), &MEAN, &SD);
    assert_all(ERROR_RATE, &right);
    let wrong = independent_checks(&naive_nuts_draws(false), &MEAN, &SD);
    assert_rejected(ERROR_RATE, &wrong);
}
