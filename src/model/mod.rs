//! The target of Step 1: log densities, and the Stan program that provides one.

mod log_density;

pub use log_density::{EvalError, LogDensity};
