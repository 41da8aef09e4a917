//! Draws and the links beside them: on disk in the format that CmdStan's readers understand, and in memory.

mod checkpoint;
mod cmdstan_csv;
mod link_draws;
mod links_csv;
mod read;
mod sample;
mod writer;

pub use checkpoint::Checkpoint;
pub use cmdstan_csv::{ChainHeader, Coordinates, CsvWriter, format_float};
pub use link_draws::LinkDraws;
pub use links_csv::{LinksWriter, MovedRow, read_links};
pub use read::{ChainDraws, DrawsError, read_chain, read_output};
pub use sample::ChainSample;
pub(crate) use sample::is_log_lik;
pub use writer::{ChainWriter, Checkpoints};
