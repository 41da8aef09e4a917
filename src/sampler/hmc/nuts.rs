//! The multinomial no-U-turn sampler, as in Stan 2.21 and later.
//!
//! Hoffman and Gelman (2014) build the doubling trajectory; Betancourt (2017, appendix A.3-A.5)
//! replaces the slice by multinomial weights exp(-H) and the criterion by the generalised one on
//! rho. Stan 2.21 adds the checks across the seam of two subtrees, without which trajectories of
//! near-iid normals can pass a full turn unnoticed.

use std::mem::swap;

use rand::Rng;

use super::kernel::StepInfo;
use super::leapfrog::{Dynamics, MAX_ENERGY_ERROR, PhasePoint};
use super::state::State;
use super::target::MovingTarget;
use crate::numerics::dot;
use crate::sampler::hmc::{EvalError, LogDensity};

/// Trajectory buffers, allocated once: one subtree for each depth and three points.
#[derive(Debug)]
pub(super) struct Nuts {
    max_depth: u32,
    /// The latest and the earliest point of the trajectory.
    forward: PhasePoint,
    backward: PhasePoint,
    trajectory: Subtree,
    extension: Subtree,
    /// `scratch[d]` holds the second half of a subtree of depth d + 1 while it is built.
    scratch: Vec<Subtree>,
}

/// What is known of a run of neighbouring points: its edges, its rho and one of its points.
#[derive(Debug)]
struct Subtree {
    begin: Edge,
    end: Edge,
    rho: Vec<f64>,
    /// log of the sum of exp(H0 - H) over the points.
    log_weight: f64,
    proposal: Proposal,
}

#[derive(Debug)]
struct Edge {
    momentum: Vec<f64>,
    velocity: Vec<f64>,
}

#[derive(Debug)]
struct Proposal {
    position: Vec<f64>,
    gradient: Vec<f64>,
    log_density: f64,
    energy: f64,
}

/// How the proposal of a joined trajectory is drawn from those of its two halves.
#[derive(Clone, Copy)]
enum Draw {
    /// Exact multinomial sampling by the share of the weights, within subtrees.
    Multinomial,
    /// Towards the new half, min(1, w_new / w_old): moves farther, at the top level only.
    Progressive,
}

impl Nuts {
    pub fn new(dim: usize, max_depth: u32) -> Self {
        assert!(max_depth >= 1, "max_depth must be at least 1");
        Self {
            max_depth,
            forward: PhasePoint::new(dim),
            backward: PhasePoint::new(dim),
            trajectory: Subtree::new(dim),
            extension: Subtree::new(dim),
            scratch: (1..max_depth).map(|_| Subtree::new(dim)).collect(),
        }
    }

    pub fn transition<T: LogDensity, R: Rng + ?Sized>(
        &mut self,
        dynamics: &Dynamics,
        target: &mut MovingTarget<T>,
        state: &mut State,
        rng: &mut R,
    ) -> Result<StepInfo, EvalError> {
        let initial_energy = self.forward.start(state, &dynamics.metric, rng);
        self.backward.copy_from(&self.forward);
        self.trajectory
            .set_single(&self.forward, initial_energy, 0.0);

        let mut builder = Builder {
            dynamics,
            target,
            rng,
            time: dynamics.step_size,
            initial_energy,
            num_leapfrog: 0,
            sum_accept: 0.0,
            divergent: false,
        };
        let mut depth = 0;
        while depth < self.max_depth {
            let time = if builder.rng.random::<bool>() {
                dynamics.step_size
            } else {
                -dynamics.step_size
            };
            if time != builder.time {
                // `end` is always the side that grows.
                builder.time = time;
                swap(&mut self.trajectory.begin, &mut self.trajectory.end);
                swap(&mut self.forward, &mut self.backward);
            }
            if !builder.build(
                depth,
                &mut self.forward,
                &mut self.extension,
                &mut self.scratch,
            )? {
                break;
            }
            depth += 1;
            if !self
                .trajectory
                .join(&mut self.extension, Draw::Progressive, builder.rng)
            {
                break;
            }
        }

        let num_leapfrog = builder.num_leapfrog;
        let accept_stat = builder.sum_accept / f64::from(num_leapfrog);
        let divergent = builder.divergent;
        let chosen = &mut self.trajectory.proposal;
        swap(&mut state.position, &mut chosen.position);
        swap(&mut state.gradient, &mut chosen.gradient);
        state.log_density = chosen.log_density;
        Ok(StepInfo {
            accept_stat,
            step_size: dynamics.step_size,
            tree_depth: depth,
            num_leapfrog,
            divergent,
            energy: chosen.energy,
            log_density: chosen.log_density,
        })
    }
}

/// Extends the trajectory in one direction, and keeps the tallies of the transition.
struct Builder<'a, T, R: ?Sized> {
    dynamics: &'a Dynamics,
    target: &'a mut MovingTarget<T>,
    rng: &'a mut R,
    /// Signed time of a leapfrog step.
    time: f64,
    initial_energy: f64,
    num_leapfrog: u32,
    sum_accept: f64,
    divergent: bool,
}

impl<T: LogDensity, R: Rng + ?Sized> Builder<'_, T, R> {
    /// Adds 2^depth points after `front`; false where they diverge or turn back on themselves.
    fn build(
        &mut self,
        depth: u32,
        front: &mut PhasePoint,
        tree: &mut Subtree,
        scratch: &mut [Subtree],
    ) -> Result<bool, EvalError> {
        if depth == 0 {
            return self.build_leaf(front, tree);
        }
        let (scratch, second) = scratch.split_at_mut(depth as usize - 1);
        let second = &mut second[0];
        Ok(self.build(depth - 1, front, tree, scratch)?
            && self.build(depth - 1, front, second, scratch)?
            && tree.join(second, Draw::Multinomial, self.rng))
    }

    fn build_leaf(
        &mut self,
        front: &mut PhasePoint,
        leaf: &mut Subtree,
    ) -> Result<bool, EvalError> {
        let energy = front.leapfrog(self.time, &self.dynamics.metric, self.target)?;
        let energy_error = energy - self.initial_energy;
        self.num_leapfrog += 1;
        self.sum_accept += (-energy_error).exp().min(1.0);
        if energy_error > MAX_ENERGY_ERROR {
            self.divergent = true;
            return Ok(false);
        }
        leaf.set_single(front, energy, -energy_error);
        Ok(true)
    }
}

impl Subtree {
    fn new(dim: usize) -> Self {
        let zeros = || vec![0.0; dim];
        let edge = || Edge {
            momentum: zeros(),
            velocity: zeros(),
        };
        Self {
            begin: edge(),
            end: edge(),
            rho: zeros(),
            log_weight: f64::NEG_INFINITY,
            proposal: Proposal {
                position: zeros(),
                gradient: zeros(),
                log_density: f64::NEG_INFINITY,
                energy: f64::INFINITY,
            },
        }
    }

    fn set_single(&mut self, point: &PhasePoint, energy: f64, log_weight: f64) {
        for edge in [&mut self.begin, &mut self.end] {
            edge.momentum.copy_from_slice(&point.momentum);
            edge.velocity.copy_from_slice(&point.velocity);
        }
        self.rho.copy_from_slice(&point.momentum);
        self.log_weight = log_weight;
        self.proposal.position.copy_from_slice(&point.position);
        self.proposal.gradient.copy_from_slice(&point.gradient);
        self.proposal.log_density = point.log_density;
        self.proposal.energy = energy;
    }

    /// Appends `next`, which begins where `self` ends; false where the whole has made a U-turn.
    fn join<R: Rng + ?Sized>(&mut self, next: &mut Self, draw: Draw, rng: &mut R) -> bool {
        // Betancourt (2017), eq. A.4.2: both edges must still move along rho. First over the
        // whole, then over each half with the nearest point of the other.
        let goes_on = no_turn(&self.begin, &next.end, &self.rho, &next.rho)
            && no_turn(&self.begin, &next.begin, &self.rho, &next.begin.momentum)
            && no_turn(&self.end, &next.end, &self.end.momentum, &next.rho);

        let log_total = log_sum_exp(self.log_weight, next.log_weight);
        let log_reference = match draw {
            Draw::Multinomial => log_total,
            Draw::Progressive => self.log_weight,
        };
        // A probability above one accepts, so no minimum is needed.
        if rng.random::<f64>() < (next.log_weight - log_reference).exp() {
            swap(&mut self.proposal, &mut next.proposal);
        }
        self.log_weight = log_total;
        swap(&mut self.end, &mut next.end);
        for (sum, term) in self.rho.iter_mut().zip(&next.rho) {
            *sum += term;
        }
        goes_on
    }
}

/// Whether both edges move along rho = `part` + `rest`.
fn no_turn(begin: &Edge, end: &Edge, part: &[f64], rest: &[f64]) -> bool {
    [begin, end]
        .iter()
        .all(|edge| dot(&edge.velocity, part) + dot(&edge.velocity, rest) > 0.0)
}

fn log_sum_exp(a: f64, b: f64) -> f64 {
    let larger = a.max(b);
    if larger == f64::NEG_INFINITY {
        return larger;
    }
    larger + (-(a - b).abs()).exp().ln_1p()
}
