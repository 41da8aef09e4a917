//! A first guess of the step size: Stan's `init_stepsize`.

use rand::Rng;

use super::leapfrog::{Dynamics, PhasePoint};
use super::state::State;
use super::target::MovingTarget;
use crate::sampler::hmc::{EvalError, LogDensity};

const MAX_STEP_SIZE: f64 = 1e7;

/// Doubles or halves the step size until one leapfrog step crosses an acceptance of 0.8.
///
/// Hoffman and Gelman (2014), algorithm 4, with Stan's 0.8 and a new momentum at each trial.
pub(super) fn find_step_size<T: LogDensity, R: Rng + ?Sized>(
    dynamics: &Dynamics,
    target: &mut MovingTarget<T>,
    state: &State,
    rng: &mut R,
) -> Result<f64, EvalError> {
    let log_threshold = 0.8_f64.ln();
    let mut point = PhasePoint::new(state.position.len());
    let mut accepts = |step_size: f64, rng: &mut R| {
        let initial_energy = point.start(state, &dynamics.metric, rng);
        let energy = point.leapfrog(step_size, &dynamics.metric, target)?;
        Ok(initial_energy - energy > log_threshold)
    };

    let mut step_size = dynamics.step_size;
    let grow = accepts(step_size, rng)?;
    while accepts(step_size, rng)? == grow {
        step_size *= if grow { 2.0 } else { 0.5 };
        if step_size > MAX_STEP_SIZE {
            return Err(EvalError::Fatal(
                "the log density is flat: is every parameter given a proper prior?".into(),
            ));
        }
        if step_size == 0.0 {
            return Err(EvalError::Fatal(
                "no step size is small enough: is the log density continuous near the start?"
                    .into(),
            ));
        }
    }
    Ok(step_size)
}
