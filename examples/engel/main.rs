//! Engel's food data with 20 % of the rows mislinked: the mean and three quantiles, as linked, unshuffled and unharmed.
//!
//! `cargo run --release --example engel -- --fit` fits everything anew (docs/examples/engel/); without `--fit` it prints the table
//! of what is there, writes it into docs/examples/engel.md, and draws the picture.

#[path = "fits.rs"]
mod fits;
#[path = "page.rs"]
mod page;

use std::path::Path;

use clap::Parser;

#[derive(Parser)]
struct Arguments {
    /// Fit everything again before the table is printed
    #[arg(long)]
    fit: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let docs = Path::new("docs/examples");
    if arguments.fit {
        fits::write(&docs.join("engel"))?;
    }
    println!("{}", page::write(docs, docs)?);
    Ok(())
}
