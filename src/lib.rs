//! Bayesian regression when some rows of a linked data set are linked wrongly.
//!
//! A fit alternates two steps: [`hmc`] samples the parameters of a Stan program given the links (Step 1), and
//! [`permutation`] samples the links given the parameters (Step 2); [`chain`] puts them together.

pub mod adapt;
pub mod adopt;
pub mod assess;
pub mod baseline;
pub mod chain;
pub mod cli;
pub mod compare;
pub mod config;
pub mod data;
pub mod diagnostics;
pub mod draws;
pub mod export;
pub mod fit;
pub mod hmc;
pub mod links_summary;
pub mod model;
pub mod permutation;
pub mod plot;
pub mod pool;
pub mod predict;
pub mod priors;
pub mod report;
pub mod rng;
pub mod run;
pub mod saved_fit;
pub mod simulate;
pub mod stan;
pub mod study;
pub mod summary;
pub mod trust;
