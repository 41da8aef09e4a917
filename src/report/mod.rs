//! The report that people look at: one HTML file, made from the saved files of a fit alone.

mod by_chain;
mod coefficients;
mod data_notes;
pub(crate) mod format;
mod links;
mod page;
mod posterior;
mod provenance;
mod saved;
mod terminal;
mod trust;
mod verdict;

#[cfg(test)]
mod example;
#[cfg(test)]
mod verdict_example;
#[cfg(test)]
mod verdict_tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::baseline::compare::CompareError;
use crate::config::ConfigError;
use crate::posterior::draws::DrawsError;

pub use saved::{Saved, SavedRow};
pub use terminal::{overview, verdict_text};
pub use verdict::Verdict;

#[derive(Debug, Error)]
pub enum ReportError {
    #[error(transparent)]
    Draws(#[from] DrawsError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error("a report needs {}, which fits of older versions did not write: fit again", path.display())]
    Missing { path: PathBuf },
    #[error("cannot read {}", path.display())]
    Read {
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
    #[error("cannot write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Writes report.html into the output folder of a fit.
pub fn write(folder: &Path) -> Result<PathBuf, ReportError> {
    let html = page::html(&Saved::read(folder)?);
    let path = folder.join("report.html");
    match fs::write(&path, html) {
        Ok(()) => Ok(path),
        Err(source) => Err(ReportError::Write { path, source }),
    }
}
