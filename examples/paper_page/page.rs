//! The page as a whole: which sections it has, and where its files go.

mod contraction;
mod intro;
mod linear;
mod linear_figures;
mod linear_text;
mod losses;
mod paper_numbers;
mod pays;
mod quantile;
mod results;
mod timing;

#[path = "../page_support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};

use anyhow::Result;

use results::Inputs;
use support::format;
use support::section::{Section, files, write as write_files};

/// An empty section of this page.
fn new_section() -> Section {
    Section::new("paper")
}

/// Writes the page and its figures into the folder of documents; returns their paths. The same inputs give the same bytes.
pub fn write(from: &Path, to: &Path) -> Result<Vec<PathBuf>> {
    let inputs = Inputs::read(from)?;
    let sections = [
        intro::section(&inputs),
        linear::section(&inputs.linear),
        linear_text::section(&inputs.linear),
        quantile::section(&inputs.quantile),
        timing::section(&inputs.timing),
        contraction::section(&inputs.contraction),
        pays::section(&inputs.when_it_pays),
    ];
    write_files(files("paper.md", sections), to)
}
