//! Bayesian regression when some rows of a linked data set are linked wrongly.
//!
//! A fit alternates two steps: [`sampler::hmc`] samples the parameters of a Stan program given the links (Step 1), and
//! [`sampler::links`] samples the links given the parameters (Step 2); [`sampler::chain`] puts them together.

pub mod after;
pub mod baseline;
pub mod cli;
pub mod config;
pub mod data;
pub mod fit;
pub mod model;
pub mod numerics;
pub mod posterior;
pub mod priors;
pub mod report;
pub mod sampler;
pub mod study;
pub mod text;
pub mod trust;

pub use unshuffle_plot as plot;
