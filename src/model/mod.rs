//! What a Stan program is to the sampler: the target of Step 1, and the pair likelihood of Step 2.

mod agreement;
pub(crate) mod family;
mod fixed_blocks;
mod gaussian_density;
mod gaussian_theta;
mod linear_prior;
mod linked_theta;
mod pairs;
mod response_block;
mod spread;
pub mod stan;
mod stan_model;
mod stan_pairs;
mod standardised;
mod times;
mod weights;

pub use agreement::{AgreementError, TwoTemperatures, check_agreement};
pub use family::{Family, Law, Parameter, ResponseKind, Source};
pub use gaussian_density::{GaussianDensity, GaussianGivenPi};
pub use gaussian_theta::gaussian_theta;
pub use linear_prior::LinearPrior;
pub use linked_theta::LinkedTheta;
pub use pairs::Pairs;
pub use response_block::{ModelError, ResponseShape};
pub use spread::LogSpread;
pub(crate) use stan_model::WEIGHT;
pub use stan_model::{Block, Outputs, StanModel, ThetaGivenPi};
pub use stan_pairs::StanPairs;
pub use standardised::Standardised;
pub use times::TimeLaw;
pub use weights::{WeightsError, check_survey, check_weights};
