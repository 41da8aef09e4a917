//! The cache folder: content-addressed entries that appear whole or not at all, one builder at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::StanError;

/// Where toolchains and compiled models are kept.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// `$UNSHUFFLE_CACHE`, else `$XDG_CACHE_HOME/unshuffle`, else `~/.cache/unshuffle`.
    pub fn locate() -> Result<Cache, StanError> {
        let from_env = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let root = from_env("UNSHUFFLE_CACHE")
            .map(PathBuf::from)
            .or_else(|| from_env("XDG_CACHE_HOME").map(|dir| Path::new(&dir).join("unshuffle")))
            .or_else(|| from_env("HOME").map(|dir| Path::new(&dir).join(".cache/unshuffle")))
            .ok_or(StanError::NoCacheDir)?;
        let root = std::path::absolute(&root).map_err(|source| StanError::Cache {
            action: "use",
            path: root,
            source,
        })?;
        Ok(Cache { root })
    }

    pub fn at(root: impl Into<PathBuf>) -> Cache {
        Cache { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The finished entry `kind/key`, if there is one. Needs no write access.
    pub fn find(&self, kind: &str, key: &str) -> Option<PathBuf> {
        let entry = self.root.join(kind).join(key);
        entry.join("ok").exists().then_some(entry)
    }

    /// The entry `kind/key`, made by `build` in a temporary folder when it is not there yet.
    ///
    /// A second process that wants the same entry waits, then finds it finished. When `build` fails, what it left (logs)
    /// stays in `failed/<key>` for the user to read.
    pub fn get_or_build<E: From<StanError>>(
        &self,
        kind: &str,
        key: &str,
        build: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        if let Some(entry) = self.find(kind, key) {
            return Ok(entry);
        }
        let parent = self.root.join(kind);
        create_dir(&parent)?;
        let _lock = self.lock(&format!("{kind}-{key}"))?;
        if let Some(entry) = self.find(kind, key) {
            return Ok(entry);
        }
        let entry = parent.join(key);
        let prefix = format!(".building-{key}-");
        remove_leftovers(&parent, &prefix);
        let work = tempfile::Builder::new()
            .prefix(&prefix)
            .tempdir_in(&parent)
            .map_err(|source| cache_error("write to", &parent, source))?;
        if let Err(error) = build(work.path()) {
            self.keep_failed(work, key);
            return Err(error);
        }
        let work = work.keep();
        File::create(work.join("ok")).map_err(|source| cache_error("write to", &work, source))?;
        // A leftover without its marker comes from a crash between two versions of this program; it is worthless.
        if entry.exists() {
            fs::remove_dir_all(&entry).map_err(|source| cache_error("replace", &entry, source))?;
        }
        fs::rename(&work, &entry).map_err(|source| cache_error("write to", &entry, source))?;
        Ok(entry)
    }

    pub fn check_writable(&self) -> Result<(), StanError> {
        create_dir(&self.root)?;
        tempfile::tempfile_in(&self.root)
            .map(drop)
            .map_err(|source| cache_error("write to", &self.root, source))
    }

    /// Where a failed build of `key` leaves its logs.
    pub fn failed(&self, key: &str) -> PathBuf {
        self.root.join("failed").join(key)
    }

    fn keep_failed(&self, work: tempfile::TempDir, key: &str) {
        let place = self.failed(key);
        let _ = fs::remove_dir_all(&place);
        if fs::create_dir_all(self.root.join("failed")).is_ok() {
            let _ = fs::rename(work.path(), &place);
        }
    }

    fn lock(&self, name: &str) -> Result<File, StanError> {
        let folder = self.root.join("locks");
        create_dir(&folder)?;
        let path = folder.join(name);
        let file = File::create(&path).map_err(|source| cache_error("write to", &path, source))?;
        file.lock()
            .map_err(|source| cache_error("lock", &path, source))?;
        Ok(file)
    }
}

/// Whoever holds the lock is the only builder, so what others left of this entry was interrupted.
fn remove_leftovers(parent: &Path, prefix: &str) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn create_dir(path: &Path) -> Result<(), StanError> {
    fs::create_dir_all(path).map_err(|source| cache_error("create", path, source))
}

pub(super) fn cache_error(action: &'static str, path: &Path, source: std::io::Error) -> StanError {
    StanError::Cache {
        action,
        path: path.to_path_buf(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn two_builders_of_one_entry_build_it_once() {
        let dir = tempfile::tempdir().unwrap();
        let builds = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let cache = Cache::at(dir.path());
                    let entry = cache
                        .get_or_build("models", "abc", |work| -> Result<(), StanError> {
                            builds.fetch_add(1, Ordering::SeqCst);
                            std::thread::sleep(std::time::Duration::from_millis(50));
                            fs::write(work.join("model.so"), "x").unwrap();
                            Ok(())
                        })
                        .unwrap();
                    assert!(entry.join("model.so").exists());
                });
            }
        });
        assert_eq!(builds.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_failed_build_leaves_no_entry_but_its_log() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let result = cache.get_or_build("models", "abc", |work| {
            fs::write(work.join("compile.log"), "why").unwrap();
            Err(StanError::NoCacheDir)
        });
        assert!(result.is_err());
        assert!(cache.find("models", "abc").is_none());
        let log = cache.failed("abc").join("compile.log");
        assert_eq!(fs::read_to_string(log).unwrap(), "why");
    }

    #[test]
    fn an_entry_without_its_marker_is_built_again() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("models/abc")).unwrap();
        let cache = Cache::at(dir.path());
        assert!(cache.find("models", "abc").is_none());
        cache
            .get_or_build("models", "abc", |_| Ok::<(), StanError>(()))
            .unwrap();
        assert!(cache.find("models", "abc").is_some());
    }

    #[test]
    fn what_an_interrupted_build_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mine = dir.path().join("models/.building-abc-1");
        let other = dir.path().join("models/.building-xyz-1");
        fs::create_dir_all(&mine).unwrap();
        fs::create_dir_all(&other).unwrap();
        Cache::at(dir.path())
            .get_or_build("models", "abc", |_| Ok::<(), StanError>(()))
            .unwrap();
        assert!(!mine.exists());
        assert!(other.exists(), "another entry's builder may be at work");
    }

    #[test]
    fn an_unwritable_cache_is_named_with_its_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Cache::at(&file)
            .get_or_build("models", "abc", |_| Ok::<(), StanError>(()))
            .unwrap_err();
        assert!(error.to_string().contains("UNSHUFFLE_CACHE"), "{error}");
    }
}
