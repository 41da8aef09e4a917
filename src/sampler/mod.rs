//! The method: a Gibbs sampler for theta and the links, which knows no file, config or terminal.
//!
//! [`hmc`] draws theta given the links (Step 1), [`links`] draws the links given theta (Step 2), and [`chain`] alternates
//! the two.

#[allow(missing_docs)]
pub mod chain;
pub mod hmc;
pub mod links;
