//! Files that cannot be read or written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file or folder that cannot be read or written; the reason of the system is its source.
#[derive(Debug, Error)]
#[error("cannot {action} {}", path.display())]
pub struct FileError {
    action: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl FileError {
    /// For `map_err` behind what reads `path`.
    pub(crate) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> FileError {
        FileError::of("read", path.into())
    }

    /// For `map_err` behind what writes the file `path`.
    pub(crate) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> FileError {
        FileError::of("write", path.into())
    }

    /// For `map_err` behind what changes the folder `path`, or a file of it.
    pub(crate) fn write_to(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> FileError {
        FileError::of("write to", path.into())
    }

    /// The reason of the system.
    pub(crate) fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }

    fn of(action: &'static str, path: PathBuf) -> impl FnOnce(io::Error) -> FileError {
        move |source| FileError {
            action,
            path,
            source,
        }
    }
}

/// The text of a file; None where it does not exist.
pub(crate) fn text_if_there(path: &Path) -> Result<Option<String>, FileError> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(FileError::read(path)),
    }
}

/// Writes a file as a whole: whoever reads it, or comes after a full disk, finds the old one or the new one. A link stays
/// one, and a device or a pipe is written to as it is.
pub(crate) fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), FileError> {
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let old = fs::metadata(&place).ok();
    let mut partial = place.clone().into_os_string();
    partial.push(format!(".partial-{}", std::process::id()));
    let is_plain = old.as_ref().is_none_or(fs::Metadata::is_file);
    // A folder may take no new files, though the old one may be written.
    let Some(mut file) = is_plain.then(|| File::create_new(&partial).ok()).flatten() else {
        return fs::write(path, bytes).map_err(FileError::write(path));
    };
    let written = (file.write_all(bytes.as_ref()))
        .and_then(|()| old.map_or(Ok(()), |old| file.set_permissions(old.permissions())))
        .and_then(|()| fs::rename(&partial, &place));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written.map_err(FileError::write(path))
}
