//! The target of Step 1: log densities, and the Stan program that provides one.

mod initial;
mod log_density;
mod response_block;
mod stan_model;

pub use initial::initial_values;
pub use log_density::{EvalError, LogDensity};
pub use response_block::ModelError;
pub use stan_model::{DrawOutputs, StanModel, ThetaGivenPi};
