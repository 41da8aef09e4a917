//! The files of the unpacked wheel against its own list of hashes. A header that is damaged without a word of the compiler
//! would give a model that means something else.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::wheel::is_needed;

/// The list of the wheel: the name, the hash and the size of each of its files.
const RECORD: &str = "httpstan-4.13.0.dist-info/RECORD";
const RECORD_SHA256: &str = "SWMDD0tFTv4p-YNCITfu7zDiIG3LqKHja89svkuVQZo";

/// The first file below `root` that is gone, or not as it is in the wheel. All of them are read, which takes a small part of
/// the time of a compile.
pub(super) fn damaged_file(root: &Path) -> Option<PathBuf> {
    let record = root.join(RECORD);
    let text = fs::read(&record).unwrap_or_default();
    if encoded_sha256(&text) != RECORD_SHA256 {
        return Some(record);
    }
    let text = String::from_utf8_lossy(&text);
    let mut files = text.lines().filter_map(File::of_line);
    let damaged = files.find(|file| is_needed(Path::new(file.name)) && !file.is_whole(root))?;
    Some(root.join(damaged.name))
}

/// A line of the list.
struct File<'a> {
    name: &'a str,
    sha256: &'a str,
    size: u64,
}

impl File<'_> {
    /// None for the list itself, which has no hash.
    fn of_line(line: &str) -> Option<File<'_>> {
        let (rest, size) = line.rsplit_once(',')?;
        let (name, sha256) = rest.rsplit_once(',')?;
        let (size, sha256) = (size.parse().ok()?, sha256.strip_prefix("sha256=")?);
        Some(File { name, sha256, size })
    }

    fn is_whole(&self, root: &Path) -> bool {
        let bytes = fs::read(root.join(self.name));
        bytes.is_ok_and(|bytes| {
            bytes.len() as u64 == self.size && encoded_sha256(&bytes) == self.sha256
        })
    }
}

/// The hash as wheels write it: base64 with the characters of URLs, without padding.
fn encoded_sha256(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let hash = Sha256::digest(bytes);
    let mut text = String::new();
    for piece in hash.chunks(3) {
        let byte = |k: usize| u32::from(piece.get(k).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digits = (0..=piece.len()).map(|k| DIGITS[(bits >> (18 - 6 * k) & 63) as usize]);
        text.extend(digits.map(char::from));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_list_have_a_name_a_hash_and_a_size() {
        let of_nothing = "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";
        assert_eq!(encoded_sha256(b""), of_nothing);
        let line = format!("httpstan/include/a,b.hpp,sha256={of_nothing},0");
        let file = File::of_line(&line).unwrap();
        assert_eq!((file.name, file.size), ("httpstan/include/a,b.hpp", 0));
        assert!(File::of_line(&format!("{RECORD},,")).is_none());
        let folder = tempfile::tempdir().unwrap();
        let empty = File { name: "a", ..file };
        fs::write(folder.path().join("a"), "").unwrap();
        assert!(empty.is_whole(folder.path()));
        fs::write(folder.path().join("a"), "x").unwrap();
        assert!(!empty.is_whole(folder.path()));
    }

    #[test]
    fn a_list_that_is_gone_or_edited_vouches_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join(RECORD);
        assert_eq!(damaged_file(folder.path()).as_ref(), Some(&record));
        fs::create_dir_all(record.parent().unwrap()).unwrap();
        fs::write(&record, "").unwrap();
        assert_eq!(damaged_file(folder.path()), Some(record));
    }
}
