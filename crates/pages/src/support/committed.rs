//! What the tests of pages share: a page that is made anew is the committed one, and lacks no number.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use tempfile::TempDir;

use super::root;

/// Writes a page and its figures from a folder of results into a folder of documents.
type Write = fn(&Path, &Path) -> Result<Vec<PathBuf>>;

/// A page that is made of the results in the folder of its name.
pub struct Page {
    pub name: &'static str,
    pub write: Write,
}

impl Page {
    /// The committed results.
    pub fn results(&self) -> PathBuf {
        docs().join(self.name)
    }

    /// The page of a folder of results, and the paths of its files.
    pub fn made(&self, from: &Path) -> (TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let paths = (self.write)(from, folder.path()).unwrap();
        (folder, paths)
    }

    /// The text of the page of a folder of results.
    pub fn text(&self, from: &Path) -> String {
        let (folder, _) = self.made(from);
        fs::read_to_string(folder.path().join(format!("{}.md", self.name))).unwrap()
    }

    /// The committed page and figures are those of the committed results, and no other figure is committed.
    pub fn assert_is_committed(&self) {
        let (folder, paths) = self.made(&self.results());
        for path in &paths {
            let name = path.strip_prefix(folder.path()).unwrap();
            assert_same(path, &docs().join(name), self.name);
        }
        assert_eq!(
            figures(&self.results()),
            figures(&folder.path().join(self.name)),
            "a figure in docs/{} that nothing draws",
            self.name
        );
    }

    pub fn assert_lacks_no_number(&self) {
        let (_folder, paths) = self.made(&self.results());
        for path in paths {
            let text = fs::read_to_string(&path).unwrap();
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            let bad = words.find(|word| ["NaN", "nan", "NA", "inf", "None"].contains(word));
            assert_eq!(bad, None, "in {}", path.display());
        }
    }
}

pub fn docs() -> PathBuf {
    root().join("docs")
}

/// The file that `command` made is the committed one.
pub fn assert_same(made: &Path, committed: &Path, command: &str) {
    assert!(
        fs::read_to_string(made).unwrap() == fs::read_to_string(committed).unwrap_or_default(),
        "{} is stale: run `cargo run -p pages -- {command}`",
        committed.display()
    );
}

fn figures(folder: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| {
        let name = entry.unwrap().file_name();
        name.to_string_lossy().into_owned()
    });
    names.filter(|name| name.ends_with(".svg")).collect()
}

/// The first `beta_error` of a table of results becomes ten times as large; with `method`, the first of that method.
pub fn change_error(results: &Path, method: Option<&str>) {
    let mut reader = csv::Reader::from_path(results).unwrap();
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let (methods, errors) = (column("method"), column("beta_error"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&headers).unwrap();
    let mut changed = false;
    for record in reader.records() {
        let mut fields: Vec<String> = record.unwrap().iter().map(str::to_string).collect();
        if !changed && method.is_none_or(|method| fields[methods] == method) {
            let error: f64 = fields[errors].parse().unwrap();
            fields[errors] = (10.0 * error).to_string();
            changed = true;
        }
        writer.write_record(&fields).unwrap();
    }
    assert!(changed, "no row of {method:?}");
    fs::write(results, writer.into_inner().unwrap()).unwrap();
}
