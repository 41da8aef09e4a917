//! Bayesian regression when some rows of a linked data set are linked wrongly.
pub mod adapt;
pub mod config;
pub mod data;
pub mod diagnostics;
pub mod hmc;
pub mod model;
pub mod permutation;
