//! Stan on this machine: the toolchain, the compile cache, and what is shipped inside the binary.

pub mod adopt;
mod bridgestan_folder;
mod bundle;
mod cache;
mod compile;
mod cxx;
mod doctor;
mod error;
mod headers;
mod inventory;
mod record;
mod shipped;
mod source;
mod stanc;
mod toolchain;
mod wheel;
mod wheel_record;

pub use cache::Cache;
pub use compile::Compiler;
pub use doctor::doctor;
pub use error::StanError;
pub use inventory::Soundness;
pub use shipped::{ShippedModel, shipped_model, shipped_names, shipped_of};
pub use source::StanSource;
pub use stanc::ProgramInfo;
pub use toolchain::{BuildObserver, SilentBuild, Toolchain, pinned_toolchain};
