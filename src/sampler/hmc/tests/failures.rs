//! Evaluations that fail: divergences where the point is at fault, errors where the program is.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::targets::FromFn;
use crate::sampler::hmc::{EvalError, LogDensity};
use crate::sampler::hmc::{Kernel, MovingTarget, State};

/// A standard normal below 1, and `beyond` from there on.
fn walled(mut beyond: impl FnMut(&mut [f64]) -> Result<f64, EvalError>) -> impl LogDensity {
    FromFn::new(1, move |q, gradient| {
        gradient[0] = -q[0];
        if q[0] > 1.0 {
            beyond(gradient)
        } else {
            Ok(-0.5 * q[0] * q[0])
        }
    })
}

/// Steps until something other than a plain transition happens; the state must stay in place.
fn first_event(
    density: impl LogDensity,
    sampling_is_static: bool,
) -> Result<crate::sampler::hmc::StepInfo, EvalError> {
    let mut rng = ChaCha8Rng::seed_from_u64(41);
    let mut target = MovingTarget::new(density);
    let mut state = State::new(vec![0.0], &mut target).unwrap();
    let mut kernel = Kernel::nuts(1, 10);
    kernel.set_step_size(0.3);
    if sampling_is_static {
        kernel.make_static(1.0);
    }
    for _ in 0..100 {
        let info = kernel.step(&mut target, &mut state, &mut rng)?;
        assert!(state.position()[0] <= 1.0);
        assert!(state.log_density().is_finite() && state.gradient()[0].is_finite());
        assert!(info.accept_stat.is_finite() && info.energy.is_finite());
        if info.divergent {
            return Ok(info);
        }
    }
    panic!("nothing happened in 100 steps");
}

#[test]
fn rejected_and_non_finite_evaluations_are_divergences() {
    for is_static in [false, true] {
        let rejected = walled(|_| Err(EvalError::Rejected("scale is 0".into())));
        assert!(first_event(rejected, is_static).unwrap().divergent);
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e6] {
            assert!(first_event(walled(move |_| Ok(value)), is_static).is_ok());
        }
        for slope in [f64::NAN, f64::INFINITY] {
            let density = walled(move |gradient| {
                gradient[0] = slope;
                Ok(0.0)
            });
            assert!(first_event(density, is_static).is_ok());
        }
    }
}

#[test]
fn fatal_errors_stop() {
    for is_static in [false, true] {
        let broken = walled(|_| Err(EvalError::Fatal("library gone".into())));
        let outcome = first_event(broken, is_static);
        assert!(matches!(outcome, Err(EvalError::Fatal(message)) if message == "library gone"));
    }
}

#[test]
fn no_step_size_suits_a_flat_or_a_hopeless_target() {
    let flat = FromFn::new(1, |_, gradient| {
        gradient[0] = 0.0;
        Ok(0.0)
    });
    let hopeless = FromFn::new(1, |q, gradient| {
        gradient[0] = 0.0;
        if q[0] == 0.0 { Ok(0.0) } else { Ok(-1e9) }
    });
    fn found(density: impl LogDensity) -> Result<(), EvalError> {
        let mut rng = ChaCha8Rng::seed_from_u64(42);
        let mut target = MovingTarget::new(density);
        let state = State::new(vec![0.0], &mut target)?;
        Kernel::nuts(1, 5).find_step_size(&mut target, &state, &mut rng)
    }
    assert!(matches!(found(flat), Err(EvalError::Fatal(_))));
    assert!(matches!(found(hopeless), Err(EvalError::Fatal(_))));
}
