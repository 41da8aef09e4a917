//! The page as a whole: which sections it has, and where its files go.

mod clean;
mod errors;
mod intervals;
mod intro;
mod per_file;
mod results;

#[path = "../page_support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};

use anyhow::Result;

use results::Inputs;
use support::format;
use support::section::{Section, files, write as write_files};

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
