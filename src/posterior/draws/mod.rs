//! Draws on disk, in the format that CmdStan's readers understand, and the links beside them.

mod cmdstan_csv;
mod links_csv;
mod read;
mod writer;

pub use cmdstan_csv::{ChainHeader, CsvWriter, format_float};
pub use links_csv::{LinksWriter, MovedRow, read_links};
pub use read::{ChainDraws, DrawsError, read_chain, read_output};
pub use writer::ChainWriter;
