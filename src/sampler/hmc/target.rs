//! A target that other Gibbs blocks change, and that counts those changes.

use crate::sampler::hmc::{EvalError, LogDensity};

/// A log density whose every mutable access raises its version.
///
/// nuts-rs reuses the gradient of the previous target after a Gibbs update of another block, and
/// samples something else. Here the density cannot be changed but through `change`, so that a
/// `State` computed before the change is known to be stale and `Kernel::step` refuses it.
#[derive(Debug)]
pub struct MovingTarget<T> {
    density: T,
    version: u64,
}

impl<T: LogDensity> MovingTarget<T> {
    /// A target with this density.
    pub fn new(density: T) -> Self {
        Self {
            density,
            version: 0,
        }
    }

    /// The density as it is.
    pub fn density(&self) -> &T {
        &self.density
    }

    /// Lends the density out to be changed; every `State` must be refreshed afterwards.
    pub fn change(&mut self) -> &mut T {
        self.version += 1;
        &mut self.density
    }

    /// The number of unconstrained parameters.
    pub fn dim(&self) -> usize {
        self.density.dim()
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The log density, and minus infinity where the point was rejected or has no finite value.
    pub(super) fn evaluate(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, EvalError> {
        match self.density.log_density_gradient(position, gradient) {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) | Err(EvalError::Rejected(_)) => Ok(f64::NEG_INFINITY),
            Err(fatal @ EvalError::Fatal(_)) => Err(fatal),
        }
    }

    /// As `evaluate`, but a point where sampling cannot stand is an error that says why.
    pub(super) fn evaluate_strictly(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, EvalError> {
        let value = self.density.log_density_gradient(position, gradient)?;
        if !value.is_finite() {
            return Err(EvalError::Rejected(format!("the log density is {value}")));
        }
        if let Some(bad) = gradient.iter().position(|g| !g.is_finite()) {
            return Err(EvalError::Rejected(format!(
                "the gradient is {} at coordinate {bad}",
                gradient[bad]
            )));
        }
        Ok(value)
    }
}
