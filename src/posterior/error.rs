//! What can be wrong with the output folder of a fit.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::draws::DrawsError;
use crate::baseline::compare::CompareError;
use crate::config::ConfigError;

#[derive(Debug, Error)]
pub enum PosteriorError {
    #[error(transparent)]
    Draws(#[from] DrawsError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write to {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is damaged: fit again", path.display())]
    Json {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("a report needs the column `{name}` of {}, which fits of older versions did not write: fit again", path.display())]
    NoColumn { path: PathBuf, name: String },
    #[error("{} is damaged, {what}: fit again", path.display())]
    Rows { path: PathBuf, what: String },
    #[error(
        "{files} changed since the fit in {}: put the data of the fit back, or fit again with --force", folder.display()
    )]
    Changed { files: String, folder: PathBuf },
}
