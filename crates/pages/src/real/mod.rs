//! docs/real.md and its figures: which sections the page has, and where its files go.

mod clean;
mod errors;
mod intervals;
mod intro;
mod per_file;
mod results;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::support::format;
use crate::support::section::{Section, files, write as write_files};
use results::Inputs;

/// An empty section of this page.
fn new_section() -> Section {
    Section::new("real")
}

/// Writes the page and its figures into the folder of documents; returns their paths. The same inputs give the same bytes.
pub fn write(from: &Path, to: &Path) -> Result<Vec<PathBuf>> {
    let inputs = Inputs::read(from)?;
    let sections = [
        intro::section(&inputs),
        errors::section(&inputs),
        intervals::section(&inputs),
        clean::section(&inputs),
        per_file::section(&inputs),
    ];
    write_files(files("real.md", sections), to)
}
