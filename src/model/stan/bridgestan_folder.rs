//! A BridgeStan source folder: what it needs to compile, and a hash of what it compiles with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use super::StanError;
use super::compile::hex;
use super::source::hash_text;

/// Sources that decide what comes out, by their path inside the folder. Stan's other libraries come with Stan's version.
const SOURCES: [&str; 5] = [
    "Makefile",
    "make",
    "src",
    "stan/src/stan",
    "stan/lib/stan_math/stan",
];

/// A file of each submodule.
const SUBMODULES: [&str; 2] = [
    "stan/src/stan/version.hpp",
    "stan/lib/stan_math/stan/math.hpp",
];

/// Says what is missing, before make would say it in the middle of its output.
pub(super) fn check(folder: &Path) -> Result<(), StanError> {
    let lacks = |what: String, remedy: &'static str| StanError::BridgeStanLacks {
        path: folder.to_path_buf(),
        what,
        remedy,
    };
    let wanted = bridgestan::VERSION;
    match version(folder) {
        Some(found) if found == wanted => {}
        found => {
            let found = found.unwrap_or_else(|| "of an unknown version".into());
            return Err(lacks(
                format!("is BridgeStan {found}, not {wanted}"),
                "unpack the release that is asked for and give its folder",
            ));
        }
    }
    if let Some(missing) = SUBMODULES.iter().find(|file| !folder.join(file).is_file()) {
        return Err(lacks(
            format!("lacks its submodules ({missing} is missing)"),
            "run `git submodule update --init --recursive` there",
        ));
    }
    let make = Command::new("make")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !make.is_ok_and(|status| status.success()) {
        return Err(lacks(
            "is compiled by `make`, which cannot be run".into(),
            "install it (Debian: make)",
        ));
    }
    Ok(())
}

/// BridgeStan's makefile downloads stanc where it is missing, so this is known only after it failed.
pub(super) fn check_stanc(folder: &Path) -> Result<(), StanError> {
    if folder.join("bin/stanc").is_file() {
        return Ok(());
    }
    Err(StanError::BridgeStanLacks {
        path: folder.to_path_buf(),
        what: "lacks bin/stanc, and make could not download it".into(),
        remedy: "put the stanc of its Stan version there",
    })
}

fn version(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("src/version.hpp")).ok()?;
    let number = |name: &str| {
        let mut lines = text.lines().map(str::split_whitespace);
        lines.find_map(|mut words| {
            let is_it = words.next() == Some("#define") && words.next() == Some(name);
            is_it.then(|| words.next()).flatten()
        })
    };
    let [major, minor, patch] =
        ["BRIDGESTAN_MAJOR", "BRIDGESTAN_MINOR", "BRIDGESTAN_PATCH"].map(number);
    Some(format!("{}.{}.{}", major?, minor?, patch?))
}

/// A hash of the sources, wherever the folder lies.
pub(super) fn tree_hash(folder: &Path) -> String {
    let mut files = Vec::new();
    for source in SOURCES {
        collect(&folder.join(source), &mut files);
    }
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file);
        hash_text(&mut hasher, &name.to_string_lossy());
        let bytes = fs::read(&file).unwrap_or_default();
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(&bytes);
    }
    hex(&hasher.finalize())
}

/// The files of a folder, or the file itself, without what a compiler left there.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            collect(&entry.path(), files);
        }
        return;
    }
    let extension = path.extension().unwrap_or_default();
    if path.is_file() && !["o", "a", "d", "so"].iter().any(|made| extension == *made) {
        files.push(path.to_path_buf());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn said(folder: &Path) -> String {
        check(folder).unwrap_err().to_string()
    }

    #[test]
    fn version_and_submodules_are_checked_before_make_runs() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path();
        assert!(said(folder).contains("BridgeStan of an unknown version, not 2.9.0"));
        let numbers = |minor| {
            format!(
                "#define BRIDGESTAN_MAJOR 2\n#define BRIDGESTAN_MINOR {minor}\n#define BRIDGESTAN_PATCH 0\n"
            )
        };
        write(folder, "src/version.hpp", &numbers(7));
        assert!(
            said(folder).contains("is BridgeStan 2.7.0, not 2.9.0"),
            "{}",
            said(folder)
        );
        write(folder, "src/version.hpp", &numbers(9));
        assert!(said(folder).contains("git submodule update"));
        for file in SUBMODULES {
            write(folder, file, "");
        }
        check(folder).unwrap();
        assert!(check_stanc(folder).is_err());
        write(folder, "bin/stanc", "");
        check_stanc(folder).unwrap();
    }

    #[test]
    fn an_edit_changes_the_hash_and_another_place_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "b"].map(|name| dir.path().join(name));
        for folder in [&a, &b] {
            write(folder, "Makefile", "all:\n");
            write(folder, "src/version.hpp", "x");
        }
        assert_eq!(tree_hash(&a), tree_hash(&b));
        write(&b, "src/bridgestan.o", "made");
        assert_eq!(tree_hash(&a), tree_hash(&b));
        for name in ["make/local", "src/version.hpp", "stan/src/stan/model.hpp"] {
            let before = tree_hash(&b);
            write(&b, name, "CXXFLAGS += -march=native\n");
            assert_ne!(tree_hash(&b), before, "{name}");
        }
    }
}
