//! A Stan program as the user wrote it: its text, the files it includes, and a hash of both.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use super::StanError;
use crate::text::read_text;

/// The text of a Stan program and of every file it includes, read once so that hash and compilation agree.
#[derive(Debug, Clone)]
pub struct StanSource {
    /// What messages call it: the user's path, or `linear.stan` for a shipped model.
    pub label: String,
    pub text: String,
    /// The folder that `#include` is relative to.
    pub folder: Option<PathBuf>,
    includes: Vec<(String, String)>,
}

impl StanSource {
    pub fn from_file(path: &Path) -> Result<StanSource, StanError> {
        let text = read(path)?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let folder = absolute.parent().map(Path::to_path_buf);
        let mut includes = Vec::new();
        if let Some(folder) = &folder {
            collect_includes(&text, path, folder, &mut includes)?;
        }
        Ok(StanSource {
            label: path.display().to_string(),
            text,
            folder,
            includes,
        })
    }

    pub fn from_text(label: &str, text: &str) -> StanSource {
        StanSource {
            label: label.to_string(),
            text: text.to_string(),
            folder: None,
            includes: Vec::new(),
        }
    }

    /// The program as it is compiled: the text of every included file in the place of its `#include`.
    pub fn with_includes(&self) -> String {
        self.expanded(&self.text, self.includes.len())
    }

    /// `depth` bounds files that include one another, which stanc refuses.
    fn expanded(&self, text: &str, depth: usize) -> String {
        let of = |line: &str| {
            let name = include_name(line)?;
            let mut includes = self.includes.iter();
            let (_, text) = includes.find(|(known, _)| known == name)?;
            (depth > 0).then(|| self.expanded(text, depth - 1))
        };
        let lines = text.split_inclusive('\n');
        lines
            .map(|line| match of(line) {
                Some(included) => format!("{}\n", included.trim_end_matches('\n')),
                None => line.to_string(),
            })
            .collect()
    }

    /// A name that is a C++ identifier, for the generated class.
    pub fn model_name(&self) -> String {
        format!("{}_model", self.identifier())
    }

    fn identifier(&self) -> String {
        let stem = Path::new(&self.label).file_stem().unwrap_or_default();
        stem.to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect()
    }

    /// Adds everything that decides what is compiled. Lengths are hashed too, so that texts cannot run into each other.
    pub fn hash_into(&self, hasher: &mut Sha256) {
        hash_text(hasher, &self.model_name());
        hash_text(hasher, &self.text);
        for (name, text) in &self.includes {
            hash_text(hasher, name);
            hash_text(hasher, text);
        }
    }

    /// Writes the program and its includes into `folder`; returns the program's path there.
    ///
    /// Compiling this copy, not the user's file, keeps hash and result together while she edits on.
    pub fn write_to(&self, folder: &Path) -> io::Result<PathBuf> {
        for (name, text) in &self.includes {
            let relative = Path::new(name);
            let stays_inside = relative
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if stays_inside {
                let path = folder.join(relative);
                fs::create_dir_all(path.parent().unwrap_or(folder))?;
                fs::write(path, text)?;
            }
        }
        let path = folder.join(format!("{}.stan", self.identifier()));
        fs::write(&path, &self.text)?;
        Ok(path)
    }
}

pub(super) fn hash_text(hasher: &mut Sha256, text: &str) {
    hasher.update((text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

fn read(path: &Path) -> Result<String, StanError> {
    read_text(path).map_err(|source| StanError::ReadSource {
        path: path.to_path_buf(),
        source,
    })
}

/// The file named by an `#include` line: bare, in quotes, or in angle brackets.
fn include_name(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("#include")?.trim();
    let rest = rest.split("//").next().unwrap_or(rest).trim();
    let unquoted = rest
        .strip_prefix('"')
        .and_then(|r| r.strip_suffix('"'))
        .or_else(|| rest.strip_prefix('<').and_then(|r| r.strip_suffix('>')))
        .unwrap_or(rest);
    (!unquoted.is_empty()).then_some(unquoted)
}

fn collect_includes(
    text: &str,
    path: &Path,
    folder: &Path,
    includes: &mut Vec<(String, String)>,
) -> Result<(), StanError> {
    for (number, line) in text.lines().enumerate() {
        let Some(name) = include_name(line) else {
            continue;
        };
        if includes.iter().any(|(known, _)| known == name) {
            continue;
        }
        let file = folder.join(name);
        if !file.is_file() {
            return Err(StanError::MissingInclude {
                path: path.to_path_buf(),
                line: number + 1,
                include: name.to_string(),
                folder: folder.to_path_buf(),
            });
        }
        let included = read(&file)?;
        includes.push((name.to_string(), included.clone()));
        collect_includes(&included, &file, folder, includes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(source: &StanSource) -> String {
        let mut hasher = Sha256::new();
        source.hash_into(&mut hasher);
        super::super::compile::hex(&hasher.finalize())
    }

    #[test]
    fn editing_an_included_file_changes_the_hash() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("m.stan");
        fs::write(&main, "functions {\n#include f.stan\n}\n").unwrap();
        fs::write(dir.path().join("f.stan"), "  #include \"g.stan\"\n").unwrap();
        fs::write(dir.path().join("g.stan"), "real f() { return 1; }\n").unwrap();
        let before = StanSource::from_file(&main).unwrap();
        let copy = tempfile::tempdir().unwrap();
        before.write_to(copy.path()).unwrap();
        assert!(copy.path().join("g.stan").exists());
        assert_eq!(hash(&before), hash(&StanSource::from_file(&main).unwrap()));
        fs::write(dir.path().join("g.stan"), "real f() { return 2; }\n").unwrap();
        assert_ne!(hash(&before), hash(&StanSource::from_file(&main).unwrap()));
    }

    #[test]
    fn the_program_as_it_was_fitted_has_the_included_text() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("m.stan");
        fs::write(&main, "functions {\n#include f.stan\n}\nmodel {}").unwrap();
        fs::write(dir.path().join("f.stan"), "  #include <g.stan>\n// f\n").unwrap();
        fs::write(dir.path().join("g.stan"), "real g() { return 1; }").unwrap();
        let expanded = StanSource::from_file(&main).unwrap().with_includes();
        let expected = "functions {\nreal g() { return 1; }\n// f\n}\nmodel {}";
        assert_eq!(expanded, expected);
        fs::write(dir.path().join("g.stan"), "#include f.stan\n").unwrap();
        let circle = StanSource::from_file(&main).unwrap().with_includes();
        assert!(circle.contains("#include"), "{circle}");
    }

    #[test]
    fn a_missing_include_is_named_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("m.stan");
        fs::write(&main, "functions {\n#include <none.stan>\n}\n").unwrap();
        let message = StanSource::from_file(&main).unwrap_err().to_string();
        assert!(message.contains("line 2"), "{message}");
        assert!(message.contains("`none.stan`"), "{message}");
    }

    #[test]
    fn model_names_are_identifiers() {
        let source = StanSource::from_text("my model-2.stan", "");
        assert_eq!(source.model_name(), "my_model_2_model");
    }
}
