//! The lock of an output folder: one fit at a time writes there.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::{Folder, PosteriorError, Status};

/// The lock of an output folder. It ends with the process that holds it, however that ends, so a dead one locks nothing.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    /// Holds the lock while it is open.
    _file: File,
}

impl FolderLock {
    /// Locks a folder that exists; refuses one that a running fit has locked.
    pub fn take(folder: &Folder) -> Result<FolderLock, PosteriorError> {
        let path = folder.file(Folder::LOCK);
        let failed = |source| PosteriorError::Write {
            path: path.clone(),
            source,
        };
        loop {
            let file = File::options().create(true).append(true).open(&path);
            let file = file.map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(busy(folder)),
                // A file system without locks; the status still tells who was there last.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // Whoever held it before may have removed the file in between.
            if is_at(&file, &path) {
                return Ok(FolderLock { path, _file: file });
            }
        }
    }

    /// Whether a running fit has locked the folder.
    pub fn check_free(folder: &Folder) -> Result<(), PosteriorError> {
        match File::open(folder.file(Folder::LOCK)).map(|file| file.try_lock()) {
            Ok(Err(TryLockError::WouldBlock)) => Err(busy(folder)),
            _ => Ok(()),
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn busy(folder: &Folder) -> PosteriorError {
    let status = Status::read(folder).ok().flatten();
    PosteriorError::Busy {
        path: folder.path().to_path_buf(),
        by: status.map_or("another process".into(), |status| {
            format!("process {} on {}", status.pid, status.host)
        }),
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|m| (m.dev(), m.ino()));
    id(file.metadata()) == id(fs::metadata(path))
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_and_free_again_afterwards() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        FolderLock::check_free(&folder).unwrap();
        let lock = FolderLock::take(&folder).unwrap();
        Status::running("wages", 2).write(&folder).unwrap();
        let pid = format!("process {} on", std::process::id());
        for refused in [
            FolderLock::take(&folder).map(|_| ()),
            FolderLock::check_free(&folder),
        ] {
            assert!(refused.unwrap_err().to_string().contains(&pid));
        }
        drop(lock);
        FolderLock::check_free(&folder).unwrap();
        // What a dead process left is no lock.
        folder.write(Folder::LOCK, "").unwrap();
        FolderLock::take(&folder).unwrap();
        assert!(!folder.file(Folder::LOCK).exists());
    }
}
