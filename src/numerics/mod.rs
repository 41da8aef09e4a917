//! Numerics that know nothing of regression: linear algebra, special functions, order statistics, random number streams.

pub(crate) mod assignment;
pub(crate) mod bins;
pub(crate) mod cholesky;
pub(crate) mod density;
pub(crate) mod dot;
pub(crate) mod fft;
pub(crate) mod floats;
pub(crate) mod gamma;
pub(crate) mod jacobi;
pub(crate) mod memory;
pub(crate) mod qr;
pub mod rng;
pub(crate) mod special;
pub(crate) mod spread;
pub(crate) mod stats;
pub(crate) mod upper;

pub(crate) use assignment::best_assignment;
pub(crate) use bins::{Bin, Weighted, bin_means};
pub(crate) use cholesky::invert;
pub use density::{density, density_without_own, grid};
pub(crate) use dot::dot;
pub use gamma::log_gamma;
pub(crate) use jacobi::orthogonalise;
pub(crate) use qr::Qr;
pub(crate) use special::{beta_cdf, beta_quantile, gamma_cdf, normal_quantile, student_t_quantile};
pub(crate) use spread::Spread;
pub use stats::{mean, quantile, sd};
pub(crate) use upper::Upper;

/// Half the width of a 90 % interval, in standard deviations of a normal law.
pub(crate) const Z_90: f64 = 1.644_853_626_951_472_7;
