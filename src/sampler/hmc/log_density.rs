//! What a Hamiltonian Monte Carlo kernel needs to know of its target.

use thiserror::Error;

/// A log density on R^dim with its gradient.
///
/// `&mut self` because implementations keep buffers; a chain owns its own instance.
pub trait LogDensity {
    /// The number of unconstrained parameters.
    fn dim(&self) -> usize;

    /// Returns log p(position), up to a constant, and writes its gradient.
    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, EvalError>;
}

/// Why a log density could not be evaluated.
#[derive(Debug, Error)]
pub enum EvalError {
    /// The point is outside the support, or the program rejected it: a divergence, not a crash.
    #[error("{0}")]
    Rejected(String),
    /// Something broke; the chain must stop.
    #[error("{0}")]
    Fatal(String),
}
