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

// The rooms of the house are private: only what is named below is the library's interface. Where a room has no item in the
// interface, but some in `internals`, documentation is not demanded.
mod after;
#[allow(missing_docs)]
mod baseline;
mod cli;
#[allow(missing_docs)]
mod config;
#[allow(missing_docs)]
mod data;
mod fit;
#[allow(missing_docs)]
mod model;
#[allow(missing_docs)]
mod numerics;
mod posterior;
mod priors;
mod report;
mod sampler;
#[allow(missing_docs)]
mod study;
mod text;
mod trust;

#[doc(hidden)]
pub mod internals;
use unshuffle_plot as plot;

#[doc(hidden)]
pub use cli::main;
pub use fit::{Fit, FitError};
pub use posterior::diagnostics::{Finding, SummaryRow};
pub use posterior::{Check, Coefficient, Method, Posterior, PosteriorError, Trust};
pub use text::FileError;

/// Step 1: Hamiltonian Monte Carlo for a density that another step of a Gibbs sampler changes between transitions.
///
/// A Gibbs chain with another block that changes the target:
///
/// ```
/// use rand::{Rng, SeedableRng};
/// use rand_chacha::ChaCha8Rng;
/// use unshuffle::hmc::{Adaptation, AdaptationSettings, EvalError, Kernel, LogDensity, MetricKind};
/// use unshuffle::hmc::{MovingTarget, State, Trajectory};
///
/// struct Normal { mean: f64 }
///
/// impl LogDensity for Normal {
///     fn dim(&self) -> usize { 1 }
///     fn log_density_gradient(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
///         gradient[0] = self.mean - q[0];
///         Ok(-0.5 * gradient[0] * gradient[0])
///     }
/// }
///
/// let settings = AdaptationSettings {
///     num_warmup: 200, target_accept: 0.8, metric: MetricKind::Dense, trajectory: Trajectory::Nuts,
/// };
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let mut target = MovingTarget::new(Normal { mean: 0.0 });
/// let mut state = State::new(vec![0.5], &mut target)?;
/// let mut kernel = Kernel::nuts(target.dim(), 10);
/// let mut adaptation = Adaptation::start(settings, &mut kernel, &mut target, &state, &mut rng)?;
/// let mut draws = Vec::new();
/// for _ in 0..400 {
///     target.change().mean = 0.5 * state.position()[0] + rng.random::<f64>(); // the other block
///     state.refresh(&mut target)?; // without this line, `step` panics
///     let is_warmup = adaptation.is_warming_up();
///     let info = kernel.step(&mut target, &mut state, &mut rng)?;
///     adaptation.after_step(&info, &state, &mut kernel, &mut target, &mut rng)?;
///     if !is_warmup {
///         draws.push(state.position()[0]);
///     }
/// }
/// assert_eq!(draws.len(), 200);
/// # Ok::<(), EvalError>(())
/// ```
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
