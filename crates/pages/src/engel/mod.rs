//! Engel's food data with 20 % of the rows mislinked: the mean and three quantiles, as linked, unshuffled and unharmed.

mod fits;
mod page;
#[cfg(test)]
mod tests;

use std::path::Path;

/// Prints the table, writes it into docs/examples/engel.md, and draws the picture; with `fit`, of fits made anew.
pub fn run(fit: bool) -> anyhow::Result<()> {
    let docs = Path::new("docs/examples");
    if fit {
        fits::write(&docs.join("engel"))?;
    }
    println!("{}", page::write(docs, docs)?);
    Ok(())
}
