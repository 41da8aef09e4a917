//! A config from JSON: as typed (`raw`), then validated with absolute paths (`resolved`).

mod audits;
mod check;
mod choices;
mod data;
mod error;
mod explain;
mod fingerprint;
mod init;
mod links;
mod load;
mod objects;
mod outside;
mod overrides;
mod prior_kind;
mod raw;
mod resolved;
mod response;
mod strict_json;
mod temperature;
mod weights;

pub use crate::model::{Family, ResponseKind};
pub use crate::sampler::links::WeightSide;
pub(crate) use check::Check;
pub use choices::{Audit, Feedback, Prior, Priors, Update};
pub use data::{Data, DataSource, Missing, StanColumn, Unlinked};
pub use error::ConfigError;
pub use init::Init;
pub use links::{LinkColumns, LinkPairs};
pub use load::{load, of_arrays, parse, schema};
pub(crate) use load::{load_value, typed};
pub use outside::{Outside, OutsideResponse};
pub use raw::Sampler;
pub use resolved::{Config, Model, ModelSource, Permutation};
pub use response::Response;
pub use temperature::{Alpha, Temperature};
pub use weights::{WeightScale, Weights};
