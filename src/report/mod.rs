//! The report that people look at: one HTML file, made from a finished fit.

mod by_chain;
mod coefficients;
mod data_notes;
pub(crate) mod format;
mod links;
mod page;
mod posterior;
mod provenance;
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
use std::path::PathBuf;

use thiserror::Error;

use crate::posterior::{Folder, Posterior};
use crate::text::FileError;

pub use coefficients::forest_svg;
pub use terminal::{overview, verdict_text};
pub use verdict::Verdict;

#[derive(Debug, Error)]
pub enum ReportError {
    #[error("a report needs {}, which fits of older versions did not write: fit again", path.display())]
    Missing { path: PathBuf },
    #[error(transparent)]
    File(#[from] FileError),
}

/// Writes report.html into the output folder of a fit.
pub fn write(fit: &Posterior) -> Result<PathBuf, ReportError> {
    if fit.program.is_none() {
        return Err(ReportError::Missing {
            path: fit.folder.file(Folder::PROGRAM),
        });
    }
    let path = fit.folder.file(Folder::REPORT);
    fs::write(&path, page::html(fit)).map_err(FileError::write(&path))?;
    Ok(path)
}
