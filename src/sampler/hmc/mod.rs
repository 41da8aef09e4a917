//! Hamiltonian Monte Carlo for a target that another Gibbs block changes between transitions.
//!
//! Notation, as in Betancourt (2017), "A conceptual introduction to Hamiltonian Monte Carlo":
//!
//! | symbol      | code                     | meaning                                                     |
//! |-------------|--------------------------|-------------------------------------------------------------|
//! | q           | `position`               | unconstrained parameters                                    |
//! | p           | `momentum`               | auxiliary momentum, p ~ N(0, M)                             |
//! | M^-1        | `Metric` (its `inverse`) | inverse mass matrix; approximates the covariance of q       |
//! | v = M^-1 p  | `velocity`               | dq/dt; Stan's `p_sharp`                                     |
//! | log pi(q)   | `log_density`            | target, up to a constant; `gradient` is its derivative      |
//! | H(q, p)     | `energy`                 | -log pi(q) + p' M^-1 p / 2                                  |
//! | eps         | `step_size`              | time of one leapfrog step                                   |
//! | T           | `integration_time`       | time of one static trajectory                               |
//! | rho         | `rho`                    | sum of the momenta along a (sub)trajectory                  |
//!
//! A `Kernel` never adapts itself: `crate::sampler::hmc::warmup` sets its step size and metric from outside.

mod kernel;
mod leapfrog;
mod log_density;
mod metric;
mod nuts;
mod state;
mod static_hmc;
mod step_size;
mod target;
pub mod warmup;

#[cfg(test)]
pub(crate) mod tests;

pub use kernel::{Kernel, KernelState, StepInfo};
pub use log_density::{EvalError, LogDensity};
pub use metric::{Metric, MetricKind};
pub use state::State;
pub use target::MovingTarget;
