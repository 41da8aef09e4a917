//! Warm-up: learns step size and metric from outside the kernel, then leaves both alone.
//!
//! A Gibbs chain with another block that changes the target:
//!
//! ```
//! use rand::{Rng, SeedableRng};
//! use rand_chacha::ChaCha8Rng;
//! use unshuffle::sampler::hmc::warmup::{Adaptation, AdaptationSettings, Trajectory};
//! use unshuffle::sampler::hmc::{Kernel, MetricKind, MovingTarget, State};
//! use unshuffle::sampler::hmc::{EvalError, LogDensity};
//!
//! struct Normal { mean: f64 }
//!
//! impl LogDensity for Normal {
//!     fn dim(&self) -> usize { 1 }
//!     fn log_density_gradient(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
//!         gradient[0] = self.mean - q[0];
//!         Ok(-0.5 * gradient[0] * gradient[0])
//!     }
//! }
//!
//! let settings = AdaptationSettings {
//!     num_warmup: 200, target_accept: 0.8, metric: MetricKind::Dense, trajectory: Trajectory::Nuts,
//! };
//! let mut rng = ChaCha8Rng::seed_from_u64(1);
//! let mut target = MovingTarget::new(Normal { mean: 0.0 });
//! let mut state = State::new(vec![0.5], &mut target)?;
//! let mut kernel = Kernel::nuts(target.dim(), 10);
//! let mut adaptation = Adaptation::start(settings, &mut kernel, &mut target, &state, &mut rng)?;
//! let mut draws = Vec::new();
//! for _ in 0..400 {
//!     target.change().mean = 0.5 * state.position()[0] + rng.random::<f64>(); // the other block
//!     state.refresh(&mut target)?; // without this line, `step` panics
//!     let is_warmup = adaptation.is_warming_up();
//!     let info = kernel.step(&mut target, &mut state, &mut rng)?;
//!     adaptation.after_step(&info, &state, &mut kernel, &mut target, &mut rng)?;
//!     if !is_warmup {
//!         draws.push(state.position()[0]);
//!     }
//! }
//! assert_eq!(draws.len(), 200);
//! # Ok::<(), EvalError>(())
//! ```

mod adaptation;
mod dual_averaging;
mod metric_estimate;
mod schedule;

pub use adaptation::{Adaptation, AdaptationSettings, Trajectory};
