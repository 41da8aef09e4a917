//! The report that people look at: one HTML file, made from a finished fit.

mod aggregate;
mod by_chain;
mod card;
mod coefficients;
mod data_notes;
pub(crate) mod format;
mod laws;
mod links;
mod page;
mod posterior;
mod provenance;
mod status;
mod terminal;
mod together;
mod trust;
mod verdict;

#[cfg(test)]
mod example;
#[cfg(test)]
mod verdict_example;
#[cfg(test)]
mod verdict_tests;

use std::fs;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::posterior::{Folder, Posterior};
use crate::text::{FileError, write_whole};

pub use coefficients::forest_svg;
pub use status::Status;
pub use terminal::{overview, verdict_text};
pub use verdict::Verdict;

#[derive(Debug, Error)]
pub enum ReportError {
    #[error("a report needs {}, which fits of older versions did not write: fit again", path.display())]
    Missing { path: PathBuf },
    #[error(
        "--aggregate needs a fit of at least {} rows, and this one has {num_rows}: each of its numbers would tell of single rows",
        aggregate::LEAST_ROWS
    )]
    TooFewRows { num_rows: usize },
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
    written(fit, Folder::REPORT, page::html(fit))
}

/// Whether a file that begins so is a page of several fits.
pub fn is_together(start: &[u8]) -> bool {
    String::from_utf8_lossy(start).contains(" fits - unshuffle</title>")
}

/// Writes report_aggregate.html, which holds nothing of single rows, into the output folder of a fit.
pub fn write_aggregate(fit: &Posterior) -> Result<PathBuf, ReportError> {
    let num_rows = fit.num_rows().unwrap_or(0);
    if num_rows < aggregate::LEAST_ROWS {
        return Err(ReportError::TooFewRows { num_rows });
    }
    written(fit, Folder::AGGREGATE_REPORT, page::aggregate_html(fit))
}

/// Writes one page with the verdicts and coefficients of several fits.
pub fn write_together(fits: &[Posterior], path: &Path) -> Result<(), ReportError> {
    write_whole(path, page::together_html(fits))?;
    Ok(())
}

fn written(fit: &Posterior, name: &str, page: String) -> Result<PathBuf, ReportError> {
    let path = fit.folder.file(name);
    fs::write(&path, page).map_err(FileError::write(&path))?;
    Ok(path)
}
