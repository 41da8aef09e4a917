//! Files that cannot be read or written.

use std::fs::{self, File};
use std::io::{self, Read, Write};
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

/// Texts that a person writes, such as configs and programs, are far below this, in bytes.
pub(crate) const MOST_BYTES: u64 = 64 << 20;

/// The text of a file or a pipe, which may have at most [`MOST_BYTES`].
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let bytes = read_at_most(path, MOST_BYTES)?;
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(bytes).map_err(not_text)
}

/// The bytes of a file or a pipe that has at most `most` of them. A device is refused, since it may have no end.
pub(crate) fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Before it is opened: opening alone waits for some devices.
    if is_device(&fs::metadata(path)?) {
        let what = "it is a device and no file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let file = File::open(path)?;
    let expected = file.metadata().map_or(0, |file| file.len());
    let mut bytes = Vec::new();
    if expected <= most {
        bytes.try_reserve_exact(expected as usize)?;
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    }
    match expected.max(bytes.len() as u64) > most {
        false => Ok(bytes),
        true => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {} MB", most >> 20),
        )),
    }
}

#[cfg(unix)]
fn is_device(file: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = file.file_type();
    kind.is_char_device() || kind.is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &fs::Metadata) -> bool {
    false
}

/// The text of a file that this program wrote. A pipe in its place would be waited for.
pub(crate) fn read_saved(path: &Path) -> io::Result<String> {
    let is_stream = |found: fs::Metadata| !found.is_file() && !found.is_dir();
    match is_stream(fs::metadata(path)?) {
        false => fs::read_to_string(path),
        true => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a pipe or a device and no file",
        )),
    }
}

/// The text of a file; None where it does not exist.
pub(crate) fn text_if_there(path: &Path) -> Result<Option<String>, FileError> {
    match read_saved(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).map_err(FileError::read(path)),
    }
}

/// Makes a folder that may be there already.
pub(crate) fn make_folder(path: &Path) -> Result<(), FileError> {
    let made = fs::create_dir_all(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => io::Error::new(
            error.kind(),
            "a file stands where a folder is needed; choose another folder",
        ),
        _ => error,
    });
    made.map_err(FileError::write_to(path))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_endless_texts_are_refused() {
        let refused = |path: &str, most| read_at_most(Path::new(path), most).unwrap_err();
        if cfg!(unix) {
            assert_eq!(
                refused("/dev/zero", u64::MAX).to_string(),
                "it is a device and no file"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let text = path.to_str().unwrap();
        fs::write(&path, vec![b' '; (1 << 20) + 1]).unwrap();
        assert_eq!(refused(text, 1 << 20).to_string(), "it has more than 1 MB");
        let whole = read_at_most(&path, (1 << 20) + 1).unwrap();
        assert_eq!(whole.len(), (1 << 20) + 1);
        fs::write(&path, vec![b' '; 1 << 20]).unwrap();
        assert_eq!(read_at_most(&path, 1 << 20).unwrap().len(), 1 << 20);
        // Terabytes that are not on the disk.
        File::create(&path).unwrap().set_len(1 << 42).unwrap();
        assert_eq!(
            refused(text, MOST_BYTES).to_string(),
            "it has more than 64 MB"
        );
        fs::write(&path, [0xff]).unwrap();
        assert_eq!(
            read_text(&path).unwrap_err().kind(),
            io::ErrorKind::InvalidData
        );
    }
}
