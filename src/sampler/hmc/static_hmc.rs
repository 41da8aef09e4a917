//! Static Hamiltonian Monte Carlo with a jittered number of leapfrog steps.

use rand::Rng;

use super::kernel::StepInfo;
use super::leapfrog::{Dynamics, MAX_ENERGY_ERROR, PhasePoint};
use super::state::State;
use super::target::MovingTarget;
use crate::sampler::hmc::{EvalError, LogDensity};

/// Trajectories of a fixed mean time, without the doubling and turning back of NUTS.
#[derive(Debug)]
pub(super) struct StaticHmc {
    pub integration_time: f64,
    point: PhasePoint,
}

impl StaticHmc {
    pub fn new(dim: usize, integration_time: f64) -> Self {
        assert!(
            integration_time.is_finite() && integration_time > 0.0,
            "the integration time must be positive and finite"
        );
        Self {
            integration_time,
            point: PhasePoint::new(dim),
        }
    }

    pub fn transition<T: LogDensity, R: Rng + ?Sized>(
        &mut self,
        dynamics: &Dynamics,
        target: &mut MovingTarget<T>,
        state: &mut State,
        rng: &mut R,
    ) -> Result<StepInfo, EvalError> {
        let planned = self.draw_num_steps(dynamics.step_size, rng);
        let initial_energy = self.point.start(state, &dynamics.metric, rng);
        let mut energy = initial_energy;
        let mut num_leapfrog = 0;
        let mut divergent = false;
        while num_leapfrog < planned && !divergent {
            energy = self
                .point
                .leapfrog(dynamics.step_size, &dynamics.metric, target)?;
            num_leapfrog += 1;
            divergent = energy - initial_energy > MAX_ENERGY_ERROR;
        }

        let accept_stat = if divergent {
            0.0
        } else {
            (initial_energy - energy).exp().min(1.0)
        };
        if rng.random::<f64>() < accept_stat {
            state.position.copy_from_slice(&self.point.position);
            state.gradient.copy_from_slice(&self.point.gradient);
            state.log_density = self.point.log_density;
        } else {
            energy = initial_energy;
        }
        Ok(StepInfo {
            accept_stat,
            step_size: dynamics.step_size,
            tree_depth: 0,
            num_leapfrog,
            divergent,
            energy,
            log_density: state.log_density,
        })
    }

    /// Uniform from half of T / eps to half as much again.
    ///
    /// A fixed number can fall on a period of the target and stand still (Neal 2011, section
    /// 5.3.2); a range down to 1 wastes more steps than this one. Drawn apart from the state, so
    /// that the kernel stays reversible.
    fn draw_num_steps<R: Rng + ?Sized>(&self, step_size: f64, rng: &mut R) -> u32 {
        let mean = (self.integration_time / step_size).round().clamp(1.0, 1e6) as u32;
        rng.random_range(mean.div_ceil(2)..=mean + mean / 2)
    }
}
