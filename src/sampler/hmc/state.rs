//! Where a chain is: position, log density and gradient, and the target they belong to.

use super::target::MovingTarget;
use crate::sampler::hmc::{EvalError, LogDensity};

/// A position with its log density and gradient under one version of the target.
#[derive(Debug, Clone)]
pub struct State {
    pub(super) position: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) log_density: f64,
    version: u64,
}

impl State {
    /// Evaluates the target at `position`; a point without finite values is `Rejected`.
    pub fn new<T: LogDensity>(
        position: Vec<f64>,
        target: &mut MovingTarget<T>,
    ) -> Result<Self, EvalError> {
        assert_eq!(position.len(), target.dim(), "position and target differ");
        let mut gradient = vec![0.0; position.len()];
        let log_density = target.evaluate_strictly(&position, &mut gradient)?;
        Ok(Self {
            position,
            gradient,
            log_density,
            version: target.version(),
        })
    }

    /// Recomputes log density and gradient where the target has changed since; else does nothing.
    ///
    /// After an error the state stays stale, and `Kernel::step` refuses it.
    pub fn refresh<T: LogDensity>(
        &mut self,
        target: &mut MovingTarget<T>,
    ) -> Result<(), EvalError> {
        if self.version != target.version() {
            self.log_density = target.evaluate_strictly(&self.position, &mut self.gradient)?;
            self.version = target.version();
        }
        Ok(())
    }

    /// The unconstrained parameters.
    pub fn position(&self) -> &[f64] {
        &self.position
    }

    /// The gradient of the log density at the position.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// The log density at the position, up to a constant.
    pub fn log_density(&self) -> f64 {
        self.log_density
    }

    /// A stale gradient samples the wrong distribution without any other sign: stop at once.
    pub(super) fn assert_fresh<T: LogDensity>(&self, target: &MovingTarget<T>) {
        assert_eq!(
            self.version,
            target.version(),
            "the target changed: call State::refresh before the next HMC step"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::hmc::tests::targets::{FromFn, Gaussian};

    #[test]
    fn refresh_follows_the_target() {
        let mut target = MovingTarget::new(Gaussian::independent(&[0.0], &[1.0]));
        let mut state = State::new(vec![2.0], &mut target).unwrap();
        assert_eq!(state.gradient(), [-2.0]);
        *target.change() = Gaussian::independent(&[3.0], &[1.0]);
        state.refresh(&mut target).unwrap();
        assert_eq!(state.gradient(), [1.0]);
        assert_eq!(state.log_density(), -0.5);
    }

    #[test]
    fn a_point_without_finite_values_is_rejected() {
        for (log_density, slope) in [
            (f64::NAN, 0.0),
            (f64::INFINITY, 0.0),
            (0.0, f64::NAN),
            (0.0, f64::INFINITY),
        ] {
            let mut target = MovingTarget::new(FromFn::new(1, move |_, gradient| {
                gradient[0] = slope;
                Ok(log_density)
            }));
            let outcome = State::new(vec![0.0], &mut target);
            assert!(matches!(outcome, Err(EvalError::Rejected(_))));
        }
    }
}
