//! Draws on disk, in the format that CmdStan's readers understand.

mod cmdstan_csv;
mod read;

pub use cmdstan_csv::{ChainHeader, CsvWriter, SAMPLER_COLUMNS, format_float};
pub use read::{ChainDraws, DrawsError, read_chain, read_output};
