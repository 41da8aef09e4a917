//! Writes docs/paper.md and its figures from the results of the five studies in docs/paper/.

#[path = "page.rs"]
mod page;

use std::path::PathBuf;

use clap::Parser;

/// Writes the page that reproduces the paper, from the results of its studies.
#[derive(Parser)]
struct Arguments {
    /// Folder with one folder of results for each study
    #[arg(long, default_value = "docs/paper")]
    from: PathBuf,
    /// Folder for paper.md and, in paper/, its figures
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
