//! Warm-up: learns step size and metric from outside the kernel, then leaves both alone.

mod adaptation;
mod dual_averaging;
mod metric_estimate;
mod schedule;

pub use adaptation::{Adaptation, AdaptationSettings, Trajectory};
