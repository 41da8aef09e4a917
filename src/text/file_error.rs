//! Files that cannot be read or written.

use std::fs;
use std::io;
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
