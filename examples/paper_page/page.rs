//! The page as a whole: which sections it has, and where its files go.

mod contraction;
mod format;
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

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use unshuffle::plot::Figure;

use results::Inputs;

/// Markdown, and the figures that it shows by file name.
#[derive(Default)]
pub struct Section {
    text: String,
    figures: Vec<(&'static str, Figure)>,
}

impl Section {
    /// A paragraph, a heading, a list or a table: anything that blank lines set apart.
    fn add(&mut self, block: impl AsRef<str>) {
        self.text += block.as_ref().trim_end();
        self.text += "\n\n";
    }

    /// The figure's description is also the text for those who cannot see it.
    fn show(&mut self, file: &'static str, figure: Figure) {
        let text = format!("![{}](paper/{file})", figure.description);
        self.add(text);
        self.figures.push((file, figure));
    }
}

/// Every file of the page, by its path in the folder of documents. The same inputs give the same bytes.
pub fn files(from: &Path) -> Result<Vec<(PathBuf, String)>> {
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
    let mut text = String::new();
    let mut files = Vec::new();
    for section in sections {
        text += &section.text;
        for (file, figure) in section.figures {
            files.push((Path::new("paper").join(file), figure.svg()));
        }
    }
    files.insert(0, ("paper.md".into(), text.trim_end().to_string() + "\n"));
    Ok(files)
}

/// Writes every file into the folder of documents; returns their paths.
pub fn write(from: &Path, to: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for (name, text) in files(from)? {
        let path = to.join(name);
        let folder = path.parent().unwrap_or(to);
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        paths.push(path);
    }
    Ok(paths)
}
