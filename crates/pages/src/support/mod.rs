//! What the generators share: tables read, numbers in words, sections written, a compiler for Stan programs.

#[cfg(test)]
pub mod committed;
pub mod format;
pub mod section;
pub mod tables;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use unshuffle::internals::model::stan::{Compiler, SilentBuild};

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The compiler of Stan programs, which is fetched where it is missing.
pub fn compiler() -> anyhow::Result<Compiler<'static>> {
    Ok(Compiler::find(None, &SilentBuild, 2)?)
}

/// Writes the page `NAME.md` of `from` into `to`, with this table between the comments that mark its place.
pub fn write_table(from: &Path, to: &Path, name: &str, table: &str) -> anyhow::Result<()> {
    let file = format!("{name}.md");
    let start = format!("<!-- the table: cargo run -p pages -- {name} -->\n");
    let end = "<!-- end of the table -->\n";
    let page = fs::read_to_string(from.join(&file))?;
    let place = page.split_once(&start);
    let (before, rest) = place.with_context(|| format!("{file} has no place for the table"))?;
    let place = rest.split_once(end);
    let (_, after) = place.with_context(|| format!("the table of {file} has no end"))?;
    let page = format!("{before}{start}{table}{end}{after}");
    Ok(fs::write(to.join(file), page)?)
}
