//! What the content of the data files was, in one short text.

use std::path::Path;

use sha2::{Digest, Sha256};

/// The SHA-256 of the files, concatenated; None where one cannot be read.
pub(crate) fn files_sha256(files: &[&Path]) -> Option<String> {
    let mut hash = Sha256::new();
    for file in files {
        hash.update(std::fs::read(file).ok()?);
    }
    let digest = hash.finalize();
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}
