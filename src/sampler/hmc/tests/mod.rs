//! Statistical tests of the kernels, with the wrong kernels that they must reject.

mod correctness;
mod failures;
mod moving_target;
mod planted;
pub(crate) mod support;
pub(crate) mod targets;
