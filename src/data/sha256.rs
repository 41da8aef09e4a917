//! What the content of the data files was, in one short text.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

/// The SHA-256 of the files, concatenated; None where one cannot be read.
pub(crate) fn files_sha256(files: &[&Path]) -> Option<String> {
    let mut hash = Sha256::new();
    // Piece by piece: a large file would take its size in memory once more.
    let mut piece = vec![0; 1 << 16];
    for file in files {
        let mut file = File::open(file).ok()?;
        loop {
            match file.read(&mut piece).ok()? {
                0 => break,
                length => hash.update(&piece[..length]),
            }
        }
    }
    Some(hex(&hash.finalize()))
}

/// The SHA-256 of a text.
pub(crate) fn text_sha256(text: &str) -> String {
    hex(&Sha256::digest(text))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
