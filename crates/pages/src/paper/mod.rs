//! docs/paper.md and its figures: which sections the page has, and where its files go.

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

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::support::format;
use crate::support::section::{Section, files, write as write_files};
use results::Inputs;

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
