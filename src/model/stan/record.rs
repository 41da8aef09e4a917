//! The record of a cache entry: size and hash of each file that matters, written when the entry is whole.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::compile::hex;

/// The file of the record inside an entry.
pub(super) const RECORD: &str = "ok";

/// What a cache entry is and which files make it whole.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    /// What messages call the entry, such as `linear.stan`.
    pub what: String,
    /// Hash of what it was made with; see `compile::recipe`.
    pub recipe: String,
    /// Size and hash of each file, by path inside the entry.
    pub files: BTreeMap<String, Fingerprint>,
}

/// Size and hash of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    size: u64,
    sha256: String,
}

impl Fingerprint {
    fn of(path: &Path) -> io::Result<Fingerprint> {
        let size = fs::metadata(path)?.len();
        let sha256 = sha256(path)?;
        Ok(Fingerprint { size, sha256 })
    }
}

impl Record {
    /// Measures `files` in `folder`.
    pub fn of(folder: &Path, what: &str, recipe: &str, files: &[&str]) -> io::Result<Record> {
        let measured = files.iter().map(|&name| {
            let fingerprint = Fingerprint::of(&folder.join(name))?;
            Ok((name.to_string(), fingerprint))
        });
        Ok(Record {
            what: what.to_string(),
            recipe: recipe.to_string(),
            files: measured.collect::<io::Result<_>>()?,
        })
    }

    /// None where there is no record, or one of a version that wrote no hashes.
    pub fn read(folder: &Path) -> Option<Record> {
        serde_json::from_slice(&fs::read(folder.join(RECORD)).ok()?).ok()
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain JSON") + "\n"
    }

    /// The first file of the record, among `names`, that is not as it was when it was made.
    pub fn damaged<'a>(
        &'a self,
        folder: &Path,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        let is_damaged = |name: &&str| {
            let path = folder.join(name);
            let known = &self.files[*name];
            // The size first: it needs no reading.
            let has_size = fs::metadata(&path).is_ok_and(|found| found.len() == known.size);
            !has_size || Fingerprint::of(&path).ok().as_ref() != Some(known)
        };
        names.into_iter().find(is_damaged)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
}

pub(super) fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            length => hasher.update(&buffer[..length]),
        }
    }
}
