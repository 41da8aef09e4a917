//! Writes docs/real.md and its figures from the results in docs/real/.

#[path = "page.rs"]
mod page;

use std::path::PathBuf;

use clap::Parser;

/// Writes the page about real files, from the results of `configs/real.json`.
#[derive(Parser)]
struct Arguments {
    /// Folder with the results
    #[arg(long, default_value = "docs/real")]
    from: PathBuf,
    /// Folder for real.md and, in real/, its figures
    #[arg(long, default_value = "docs")]
    to: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    for path in page::write(&arguments.from, &arguments.to)? {
        println!("{}", path.display());
    }
    Ok(())
}
