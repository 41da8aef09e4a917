//! Wages of the 1985 Current Population Survey, where wrong links are hard to find: what each kind of knowledge buys.
//!
//! `cargo run --release --example cps -- --fit` fits everything anew (docs/examples/cps/results.csv); without `--fit` it
//! prints the table of what is there, writes it into docs/examples/cps.md, and draws the picture.

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
    /// How often rows are mislinked anew
    #[arg(long, default_value_t = 10)]
    repeats: u64,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let docs = Path::new("docs/examples");
    if arguments.fit {
        fits::write(&docs.join("cps/results.csv"), arguments.repeats)?;
    }
    println!("{}", page::write(docs, docs)?);
    Ok(())
}
