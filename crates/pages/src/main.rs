//! Generators of the committed pages and figures of docs/. They run at the root of the repository.

mod cps;
mod engel;
mod families;
mod marks;
mod paper;
mod quickstart;
mod real;
mod rooms;
mod support;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

/// Writes the committed pages and figures of docs/ from the results beside them
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    page: Page,
}

#[derive(Subcommand)]
enum Page {
    /// docs/paper.md and its figures, from the results of the studies in configs/paper/
    Paper {
        /// Folder with one folder of results for each study
        #[arg(long, default_value = "docs/paper")]
        from: PathBuf,
        /// Folder for paper.md and, in paper/, its figures
        #[arg(long, default_value = "docs")]
        to: PathBuf,
    },
    /// docs/real.md and its figures, from the results of configs/real.json
    Real {
        /// Folder with the results
        #[arg(long, default_value = "docs/real")]
        from: PathBuf,
        /// Folder for real.md and, in real/, its figures
        #[arg(long, default_value = "docs")]
        to: PathBuf,
    },
    /// The table and the picture of docs/examples/cps.md, from docs/examples/cps/
    Cps {
        /// Fit everything again before the table is printed
        #[arg(long)]
        fit: bool,
        /// How often rows are mislinked anew
        #[arg(long, default_value_t = 10)]
        repeats: u64,
    },
    /// The table and the picture of docs/examples/engel.md, from docs/examples/engel/
    Engel {
        /// Fit everything again before the table is printed
        #[arg(long)]
        fit: bool,
    },
    /// docs/families.md, to standard output; fits every family
    Families,
    /// docs/quickstart.svg, from the fit of `make demo`
    Quickstart,
    /// docs/rooms.svg: which room of src/ uses which other
    Rooms,
    /// A figure with every mark of crates/plot, to standard output
    Marks {
        /// An HTML page of figures of several sizes, which state their style once
        #[arg(long)]
        page: bool,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().page {
        Page::Paper { from, to } => print_paths(&paper::write(&from, &to)?),
        Page::Real { from, to } => print_paths(&real::write(&from, &to)?),
        Page::Cps { fit, repeats } => cps::run(fit.then_some(repeats))?,
        Page::Engel { fit } => engel::run(fit)?,
        Page::Families => families::print()?,
        Page::Quickstart => quickstart::draw()?,
        Page::Rooms => rooms::draw(Path::new("src"), Path::new("docs/rooms.svg"))?,
        Page::Marks { page } => marks::print(page),
    }
    Ok(())
}

fn print_paths(paths: &[PathBuf]) {
    for path in paths {
        println!("{}", path.display());
    }
}
