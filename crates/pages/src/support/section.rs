//! Parts of a page, and the files that they become.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use unshuffle_plot::Figure;

/// Markdown, and the figures that it shows by file name.
pub struct Section {
    /// The folder of the figures, beside the page.
    folder: &'static str,
    text: String,
    figures: Vec<(&'static str, Figure)>,
}

impl Section {
    pub fn new(folder: &'static str) -> Section {
        Section {
            folder,
            text: String::new(),
            figures: Vec::new(),
        }
    }

    /// A paragraph, a heading, a list or a table: anything that blank lines set apart.
    pub fn add(&mut self, block: impl AsRef<str>) {
        self.text += block.as_ref().trim_end();
        self.text += "\n\n";
    }

    /// The figure's description is also the text for those who cannot see it.
    pub fn show(&mut self, file: &'static str, figure: Figure) {
        let text = format!("![{}]({}/{file})", figure.description, self.folder);
        self.add(text);
        self.figures.push((file, figure));
    }
}

/// Every file of a page called `name`, by its path in the folder of documents.
pub fn files(name: &str, sections: impl IntoIterator<Item = Section>) -> Vec<(PathBuf, String)> {
    let mut text = String::new();
    let mut files = Vec::new();
    for section in sections {
        text += &section.text;
        for (file, figure) in section.figures {
            files.push((Path::new(section.folder).join(file), figure.svg()));
        }
    }
    files.insert(0, (name.into(), text.trim_end().to_string() + "\n"));
    files
}

/// Writes every file into the folder of documents; returns their paths.
pub fn write(files: Vec<(PathBuf, String)>, to: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for (name, text) in files {
        let path = to.join(name);
        let folder = path.parent().unwrap_or(to);
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        paths.push(path);
    }
    Ok(paths)
}
