//! Draws and the links beside them: on disk in the format that CmdStan's readers understand, and in memory.

mod checkpoint;
mod cmdstan_csv;
mod cut;
mod link_draws;
mod links_csv;
mod read;
mod sample;
mod writer;

pub use checkpoint::Checkpoint;
pub use cmdstan_csv::{ChainHeader, CsvWriter, format_float};
pub use cut::{common_length, cut_files};
pub use link_draws::LinkDraws;
#[cfg(test)]
pub(crate) use links_csv::LinksWriter;
pub use links_csv::{MovedRow, read_links};
pub use read::{ChainDraws, DrawsError, read_output};
pub use sample::ChainSample;
pub(crate) use sample::is_log_lik;
pub use writer::{ChainWriter, Checkpoints};
