//! Bayesian regression after record linkage, when some rows are linked wrongly.
//!
//! `y = Π X β + ε` with an unknown permutation Π that moves few rows. A fit alternates two steps: [`hmc`] samples the
//! parameters of a Stan program given the links (Step 1), and [`links`] samples the links given the parameters (Step 2).
//! Every fit then checks its own model, and recommends coefficients by what the checks say.
//!
//! # A fit from a config file
//!
//! ```no_run
//! use unshuffle::{Fit, Method};
//!
//! let posterior = Fit::from_file("configs/quickstart.json")?.run()?;
//! for coefficient in posterior.coefficients_by(Method::Recommended) {
//!     println!("{}: {:.2} ({:.2} to {:.2})", coefficient.name, coefficient.estimate, coefficient.q5, coefficient.q95);
//! }
//! # Ok::<(), unshuffle::FitError>(())
//! ```
//!
//! # A fit of arrays, without any file
//!
//! ```no_run
//! use ndarray::Array2;
//! use serde_json::json;
//! use unshuffle::{Fit, Method};
//!
//! let x = Array2::from_shape_fn((60, 1), |(row, _)| (row as f64 * 0.37).sin());
//! let mut y: Vec<f64> = (0..60).map(|row| 1.0 + 2.0 * x[[row, 0]] + 0.1 * (row as f64 * 12.9898).sin()).collect();
//! y[..6].reverse();
//! let spec = json!({"model": {"stan": "linear"}, "sampler": {"seed": 1}});
//! let posterior = Fit::of_arrays(&spec, &x, &y, &["x"])?.in_memory()?;
//! println!("{:?}", posterior.coefficients_by(Method::Recommended).collect::<Vec<_>>());
//! # Ok::<(), unshuffle::FitError>(())
//! ```
//!
//! [`hmc`] and [`links`] also stand alone: `examples/own_density.rs` has a density of one's own inside a Gibbs loop, and
//! `examples/own_pair_likelihood.rs` a pair likelihood of one's own.
//!
//! # Glossary
//!
//! | term | meaning | in code |
//! |---|---|---|
//! | link | the pairing of a response with a row of predictors | `pi(i)`: response i belongs to row `pi(i)` of X |
//! | linkage error | a link that joins records of different units | |
//! | mismatched row | its response belongs to the predictors of another row | `p_moved`, `mismatch_rate` |
//! | moved row | `pi(i) != i` in one draw | [`links::Permutation::moved`] |
//! | naive estimate | ignores linkage error: every link is kept as given | [`Method::AsLinked`] |
//! | block, safe row, match probability, candidate pair | what is known of the links | [`links::LinkSpace`] |
//! | active set | the moved rows and those that look mismatched, where moves are proposed | [`links::ActiveSet`] |
//! | power of the likelihood | alpha of a tempered posterior; config `temperature` or `likelihood_power` | `alpha` |
//! | feedback | whether moved rows inform the parameters | config `permutation.feedback` |
//! | family | density of a response given its predictors | config `model.family` |

#![warn(missing_docs)]

// The rooms of the house, in the order of CONTRIBUTING.md. They are hidden: only what is named below is the library's
// interface; the rest is for this repository's own tests, benches and pages, and may change without notice.
#[doc(hidden)]
pub mod numerics;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub use unshuffle_plot as plot;
#[doc(hidden)]
pub mod after;
#[doc(hidden)]
pub mod baseline;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod data;
#[doc(hidden)]
pub mod fit;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod posterior;
#[doc(hidden)]
pub mod priors;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod sampler;
#[doc(hidden)]
pub mod study;
#[doc(hidden)]
pub mod trust;

pub use fit::{Fit, FitError};
pub use posterior::diagnostics::{Finding, SummaryRow};
pub use posterior::{Check, Coefficient, Method, Posterior, PosteriorError, Trust};

/// Step 1: Hamiltonian Monte Carlo for a density that another step of a Gibbs sampler changes between transitions.
pub mod hmc {
    pub use crate::sampler::hmc::warmup::{Adaptation, AdaptationSettings, Trajectory};
    pub use crate::sampler::hmc::{
        EvalError, Kernel, LogDensity, MetricKind, MovingTarget, State, StepInfo,
    };
}

/// Step 2: which response belongs to which row, given the likelihood of each pair.
pub mod links {
    pub use crate::sampler::links::{
        ActiveSet, LinkFacts, LinkSpace, PairLogLik, Permutation, Prior, RatePrior, UpdateInfo,
    };
}
