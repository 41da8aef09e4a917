//! The kernel: one Hamiltonian transition, by NUTS or with static trajectories.

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::leapfrog::Dynamics;
use super::metric::Metric;
use super::nuts::Nuts;
use super::state::State;
use super::static_hmc::StaticHmc;
use super::step_size::find_step_size;
use super::target::MovingTarget;
use crate::sampler::hmc::{EvalError, LogDensity};

/// What happened in one transition, under the names of CmdStan's sampler columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepInfo {
    /// Mean Metropolis acceptance probability over the trajectory (static: of its end point).
    pub accept_stat: f64,
    /// Time of one leapfrog step.
    pub step_size: f64,
    /// Doublings of the trajectory; 0 for static trajectories.
    pub tree_depth: u32,
    /// Leapfrog steps, each with one gradient.
    pub num_leapfrog: u32,
    /// The energy error passed 1000, or the target had no finite value on the way.
    pub divergent: bool,
    /// H at the accepted point.
    pub energy: f64,
    /// The log density at the new position.
    pub log_density: f64,
}

/// A transition kernel that leaves the target invariant for any step size and metric.
#[derive(Debug)]
pub struct Kernel {
    dynamics: Dynamics,
    engine: Engine,
}

/// What changes in a kernel while it is adapted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KernelState {
    step_size: f64,
    metric: Metric,
    /// The mean time of static trajectories; None for NUTS.
    integration_time: Option<f64>,
}

/// How trajectories are built, with the buffers for it.
#[derive(Debug)]
enum Engine {
    Nuts(Box<Nuts>),
    Static(StaticHmc),
}

impl Kernel {
    /// NUTS with M = I and a step size of 1.
    pub fn nuts(dim: usize, max_depth: u32) -> Self {
        Self {
            dynamics: Dynamics {
                metric: Metric::unit(dim),
                step_size: 1.0,
            },
            engine: Engine::Nuts(Box::new(Nuts::new(dim, max_depth))),
        }
    }

    /// What a kernel learnt in warm-up, to be saved.
    pub fn state(&self) -> KernelState {
        KernelState {
            step_size: self.dynamics.step_size,
            metric: self.dynamics.metric.clone(),
            integration_time: match &self.engine {
                Engine::Nuts(_) => None,
                Engine::Static(hmc) => Some(hmc.integration_time),
            },
        }
    }

    /// The kernel whose state this is; NUTS kernels double at most `max_depth` times.
    pub fn resume(state: KernelState, max_depth: u32) -> Self {
        let mut kernel = Self::nuts(state.metric.dim(), max_depth);
        kernel.set_step_size(state.step_size);
        kernel.set_metric(state.metric);
        if let Some(time) = state.integration_time {
            kernel.make_static(time);
        }
        kernel
    }

    /// Uses static trajectories of this mean time from here on, with the same step size and metric.
    pub fn make_static(&mut self, integration_time: f64) {
        let dim = self.dynamics.metric.dim();
        self.engine = Engine::Static(StaticHmc::new(dim, integration_time));
    }

    /// Moves `state` once. A rejected evaluation is a divergence; only `Fatal` is an error.
    ///
    /// # Panics
    /// Where the target changed and `state` was not refreshed since.
    pub fn step<T: LogDensity, R: Rng + ?Sized>(
        &mut self,
        target: &mut MovingTarget<T>,
        state: &mut State,
        rng: &mut R,
    ) -> Result<StepInfo, EvalError> {
        state.assert_fresh(target);
        match &mut self.engine {
            Engine::Nuts(nuts) => nuts.transition(&self.dynamics, target, state, rng),
            Engine::Static(hmc) => hmc.transition(&self.dynamics, target, state, rng),
        }
    }

    /// Time of one leapfrog step.
    pub fn step_size(&self) -> f64 {
        self.dynamics.step_size
    }

    /// Sets the time of one leapfrog step.
    pub fn set_step_size(&mut self, step_size: f64) {
        assert!(
            step_size.is_finite() && step_size > 0.0,
            "the step size must be positive and finite"
        );
        self.dynamics.step_size = step_size;
    }

    /// Sets the step size by Stan's heuristic, starting from the present one.
    pub fn find_step_size<T: LogDensity, R: Rng + ?Sized>(
        &mut self,
        target: &mut MovingTarget<T>,
        state: &State,
        rng: &mut R,
    ) -> Result<(), EvalError> {
        state.assert_fresh(target);
        self.dynamics.step_size = find_step_size(&self.dynamics, target, state, rng)?;
        Ok(())
    }

    /// The inverse mass matrix.
    pub fn metric(&self) -> &Metric {
        &self.dynamics.metric
    }

    /// Sets the inverse mass matrix.
    pub fn set_metric(&mut self, metric: Metric) {
        assert_eq!(
            metric.dim(),
            self.dynamics.metric.dim(),
            "metric and target differ"
        );
        self.dynamics.metric = metric;
    }
}
