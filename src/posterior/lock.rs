//! The locks of an output folder: one fit at a time writes there, or chains of one fit, each by one process.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::{FitState, Folder, PosteriorError, Status};
use crate::text::FileError;

/// The lock of an output folder. It ends with the process that holds it, however that ends, so a dead one locks nothing.
#[derive(Debug)]
pub struct FolderLock {
    locked: Locked,
}

impl FolderLock {
    /// Locks a folder that exists; refuses one that a running fit, or a chain of one, has locked.
    pub fn take(folder: &Folder) -> Result<FolderLock, PosteriorError> {
        let locked = Locked::new(folder.file(Folder::LOCK), File::try_lock)?;
        let locked = locked.ok_or_else(|| busy(folder))?;
        Ok(FolderLock { locked })
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
        self.locked.remove();
    }
}

/// The lock of one chain of a fit. Chains share the folder with each other, and with nobody else.
#[derive(Debug)]
pub struct ChainLock {
    locked: Locked,
    /// Stays in the folder: other chains may hold it too.
    _shared: Locked,
}

impl ChainLock {
    /// Locks one chain of the fit in a folder; refuses one that another process is sampling.
    pub fn take(folder: &Folder, chain: usize) -> Result<ChainLock, PosteriorError> {
        let shared = Locked::new(folder.file(Folder::LOCK), File::try_lock_shared)?;
        let shared = shared.ok_or_else(|| busy(folder))?;
        let locked = Locked::new(folder.chain_lock(chain), File::try_lock)?;
        let locked = locked.ok_or_else(|| PosteriorError::ChainBusy {
            path: folder.path().to_path_buf(),
            chain,
        })?;
        Ok(ChainLock {
            locked,
            _shared: shared,
        })
    }
}

impl Drop for ChainLock {
    fn drop(&mut self) {
        self.locked.remove();
    }
}

/// A locked file.
#[derive(Debug)]
struct Locked {
    path: PathBuf,
    /// Holds the lock while it is open.
    _file: File,
}

impl Locked {
    /// None where another process has locked the file.
    fn new(
        path: PathBuf,
        try_lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> Result<Option<Locked>, PosteriorError> {
        loop {
            // On NFS a lock needs a file that is open for reading where it is shared, else for writing.
            let file = File::options()
                .create(true)
                .append(true)
                .read(true)
                .open(&path);
            let file = file.map_err(FileError::write_to(&path))?;
            match try_lock(&file) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                // A file system without locks; the status still tells who was there last.
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(TryLockError::Error(error)) => {
                    return Err(FileError::write_to(path)(error).into());
                }
            }
            // Whoever held it before may have removed the file in between.
            if is_at(&file, &path) {
                return Ok(Some(Locked { path, _file: file }));
            }
        }
    }

    /// Removes the file, which nobody else has locked.
    fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn busy(folder: &Folder) -> PosteriorError {
    let status = Status::read(folder).ok().flatten();
    PosteriorError::Busy {
        path: folder.path().to_path_buf(),
        by: match status {
            Some(status) if status.state == FitState::Planned => "a chain".into(),
            Some(status) => format!("process {} on {}", status.pid, status.host),
            None => "another process".into(),
        },
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

    #[test]
    fn chains_share_a_folder_with_each_other_and_with_nobody_else() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        Status::planned("wages", 2).write(&folder).unwrap();
        let [first, second] = [1, 2].map(|chain| ChainLock::take(&folder, chain).unwrap());
        let refused = ChainLock::take(&folder, 2).unwrap_err().to_string();
        assert!(refused.contains("another process is sampling chain 2"));
        let refused = FolderLock::take(&folder).unwrap_err().to_string();
        assert!(refused.starts_with("a chain is fitting into"), "{refused}");
        drop(first);
        assert!(FolderLock::take(&folder).is_err());
        ChainLock::take(&folder, 1).unwrap();
        drop(second);
        let lock = FolderLock::take(&folder).unwrap();
        assert!(ChainLock::take(&folder, 1).is_err());
        drop(lock);
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert_eq!(left, [Folder::STATUS]);
    }
}
