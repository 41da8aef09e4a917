//! What can be wrong with the output folder of a fit.

use std::path::PathBuf;

use thiserror::Error;

use super::DamagedFile;
use super::draws::DrawsError;
use crate::baseline::compare::CompareError;
use crate::config::ConfigError;
use crate::data::DataError;
use crate::text::FileError;

/// Why an output folder could not be read or written.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the sentence of a variant names its fields")]
pub enum PosteriorError {
    /// The draws cannot be read.
    #[error(transparent)]
    Draws(#[from] DrawsError),
    /// The saved config cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data of the fit cannot be read again.
    #[error(transparent)]
    Data(Box<DataError>),
    /// The baselines cannot be read.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another fit is writing to the folder.
    #[error("{by} is fitting into {}: wait for it, or choose another `output`", path.display())]
    Busy { path: PathBuf, by: String },
    /// Another process has the chain.
    #[error("another process is sampling chain {chain} of the fit in {}: wait for it", path.display())]
    ChainBusy { path: PathBuf, chain: usize },
    /// A file of somebody else stands where one is to be written.
    #[error(
        "{} was not written by an earlier run, so it is not replaced: choose another output, or move that file", path.display()
    )]
    NotOurs { path: PathBuf },
    /// The fit was stopped before its first draw.
    #[error("the fit in {} did not finish and has no draws yet: go on with `unshuffle fit --resume`", path.display())]
    NoDrawsYet { path: PathBuf },
    /// A file is not the JSON that it should be.
    #[error("{} is damaged: fit again with --force", path.display())]
    Json {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    /// A path that is no folder.
    #[error("{} is a file where a folder is needed; name a folder", path.display())]
    NoFolder { path: PathBuf },
    /// A checkpoint that cannot be read.
    #[error("{} is damaged: remove it, and `unshuffle fit --resume` samples chain {chain} again from its beginning", path.display())]
    Checkpoint { path: PathBuf, chain: usize },
    /// A checkpoint of another version of the program.
    #[error("{} was written by another version of unshuffle, which cannot be continued: fit again with --force", path.display())]
    OtherVersion { path: PathBuf },
    /// A file of a finished fit is gone.
    #[error("{} is gone, without which the fit cannot be judged: fit again", path.display())]
    Lost { path: PathBuf },
    /// A file of a finished fit is gone, cut short or changed.
    #[error("{file}: make it again with `unshuffle fit --resume`, or fit again")]
    Damaged { file: DamagedFile },
    /// A CSV file lacks a column.
    #[error("a report needs the column `{name}` of {}, which fits of older versions did not write: fit again", path.display())]
    NoColumn { path: PathBuf, name: String },
    /// A CSV file has rows that do not fit.
    #[error("{} is damaged, {what}: fit again with --force", path.display())]
    Rows { path: PathBuf, what: String },
    /// The saved config has changed since the fit.
    #[error("{} is not as the fit wrote it: put it back as it was (paths may change), or fit again", path.display())]
    Edited { path: PathBuf },
    /// Data files have changed since the fit.
    #[error(
        "{files} changed since the fit in {}: put the data of the fit back, or fit again with --force", folder.display()
    )]
    Changed { files: String, folder: PathBuf },
}

impl From<DataError> for PosteriorError {
    fn from(error: DataError) -> PosteriorError {
        PosteriorError::Data(Box::new(error))
    }
}
