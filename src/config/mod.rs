//! A config from JSON: as typed (`raw`), then validated with absolute paths (`resolved`).

mod check;
mod choices;
mod data;
mod error;
mod explain;
mod init;
mod load;
mod overrides;
mod prior_kind;
mod raw;
mod resolved;
mod response;
mod response_kind;
mod strict_json;
mod temperature;

pub(crate) use check::Check;
pub use choices::{Audit, Family, Feedback, Prior, Priors, Restart, Update};
pub use data::{Data, DataSource, LinkColumns, Missing};
pub use error::ConfigError;
pub use init::{Init, read_init};
pub use load::{load, parse, schema};
pub(crate) use load::{load_value, typed};
pub use raw::{Metric, Sampler, Trajectory};
pub use resolved::{Config, Model, ModelSource, Permutation};
pub use response::Response;
pub use response_kind::ResponseKind;
pub use temperature::{Alpha, Temperature};
