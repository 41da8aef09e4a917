//! Wages of the 1985 Current Population Survey, where wrong links are hard to find: what each kind of knowledge buys.

mod fits;
mod page;
#[cfg(test)]
mod tests;

use std::path::Path;

/// Prints the table, writes it into docs/examples/cps.md, and draws the picture; with `repeats`, of fits made anew.
pub fn run(repeats: Option<u64>) -> anyhow::Result<()> {
    let docs = Path::new("docs/examples");
    if let Some(repeats) = repeats {
        fits::write(&docs.join("cps/results.csv"), repeats)?;
    }
    println!("{}", page::write(docs, docs)?);
    Ok(())
}
