//! The cache folder: content-addressed entries that appear whole or not at all, one builder at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::record::{RECORD, Record};
use super::{BuildObserver, StanError};
use crate::text::full_sentence;

/// What the names of unfinished entries begin with.
pub(super) const BUILDING: &str = ".building-";

/// Where toolchains and compiled models are kept.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
    /// A folder of the same layout that came with the program, with what the cache need not have. It is never written to.
    bundle: Option<PathBuf>,
}

/// An entry of the cache that is needed.
pub(super) struct Wanted<'a> {
    /// The folder of the cache that it stands in.
    pub kind: &'static str,
    pub key: &'a str,
    /// What messages call it.
    pub what: &'a str,
    /// Hash of what it is made with; see `compile::recipe`.
    pub recipe: &'a str,
    /// The files without which it is of no use, by their path inside the entry.
    pub files: &'a [&'a str],
    /// Looks for a damaged file among those that no record of ours has.
    pub damaged_file: fn(&Path) -> Option<PathBuf>,
}

impl Wanted<'_> {
    fn folder(&self, root: &Path) -> PathBuf {
        root.join(self.kind).join(self.key)
    }

    /// How the entry in a folder stands.
    fn standing(&self, folder: &Path) -> Standing {
        let Some(record) = Record::read(folder) else {
            return Standing::Absent;
        };
        let mut files = self.files.iter();
        if files.any(|&name| !record.files.contains_key(name)) {
            return Standing::Absent;
        }
        let damaged = record.damaged(folder, self.files.iter().copied());
        let damaged = damaged.map(|name| folder.join(name));
        match damaged.or_else(|| (self.damaged_file)(folder)) {
            Some(file) => Standing::Damaged(file),
            None => Standing::Whole,
        }
    }
}

enum Standing {
    Whole,
    Absent,
    /// Names the file.
    Damaged(PathBuf),
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
        let bundle = bundle();
        Ok(Cache { root, bundle })
    }

    /// A cache without a bundle.
    #[cfg(test)]
    pub fn at(root: impl Into<PathBuf>) -> Cache {
        let (root, bundle) = (root.into(), None);
        Cache { root, bundle }
    }

    /// The cache at `root` with the bundle at another place.
    #[cfg(test)]
    pub(super) fn with_bundle(root: &Path, bundle: &Path) -> Cache {
        Cache {
            root: root.into(),
            bundle: Some(bundle.into()),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What came with the program.
    pub fn bundle(&self) -> Option<&Path> {
        self.bundle.as_deref()
    }

    /// The entry, if it is there or in the bundle, and undamaged. Needs no write access.
    pub(super) fn find(&self, wanted: &Wanted) -> Option<PathBuf> {
        let places = [Some(&self.root), self.bundle.as_ref()];
        let folders = places.into_iter().flatten().map(|root| wanted.folder(root));
        let is_whole = |folder: &PathBuf| matches!(wanted.standing(folder), Standing::Whole);
        folders.into_iter().find(is_whole)
    }

    /// Whether an entry of this key is there, damaged or not.
    pub(super) fn has_entry(&self, kind: &str, key: &str) -> bool {
        self.root.join(kind).join(key).is_dir()
    }

    /// Whether an entry of this kind was made by this recipe.
    pub(super) fn has_made(&self, kind: &str, recipe: &str) -> bool {
        let entries = fs::read_dir(self.root.join(kind)).into_iter().flatten();
        let mut records = entries
            .flatten()
            .filter_map(|entry| Record::read(&entry.path()));
        records.any(|record| record.recipe == recipe)
    }

    fn folder(&self, wanted: &Wanted) -> PathBuf {
        wanted.folder(&self.root)
    }

    /// The entry, made by `build` in a temporary folder when it is not there yet, or damaged.
    ///
    /// A second process that wants the same entry waits, then finds it finished. When `build` fails, what it left (logs)
    /// stays in `failed/<key>` for the user to read.
    pub(super) fn get_or_build(
        &self,
        wanted: &Wanted,
        observer: &dyn BuildObserver,
        build: impl FnOnce(&Path) -> Result<(), StanError>,
    ) -> Result<PathBuf, StanError> {
        if let Some(entry) = self.find(wanted) {
            return Ok(entry);
        }
        let _lock = self
            .lock(wanted, observer)
            .map_err(|error| self.or_read_only(error, wanted))?;
        match wanted.standing(&self.folder(wanted)) {
            Standing::Whole => return Ok(self.folder(wanted)),
            Standing::Damaged(file) => observer.note(&format!(
                "{} is damaged: {} is made again.",
                file.display(),
                wanted.what
            )),
            Standing::Absent => {}
        }
        let work = self
            .work_folder(wanted)
            .map_err(|error| self.or_read_only(error, wanted))?;
        if let Err(error) = build(work.path()) {
            self.keep_failed(work, wanted);
            return Err(error);
        }
        let Wanted {
            what,
            recipe,
            files,
            ..
        } = wanted;
        let record = Record::of(work.path(), what, recipe, files)
            .map_err(|source| cache_error("read", work.path(), source))?;
        self.install(work, wanted, &record)
    }

    /// Moves a finished folder to its place. The caller holds the lock.
    pub(super) fn install(
        &self,
        work: TempDir,
        wanted: &Wanted,
        record: &Record,
    ) -> Result<PathBuf, StanError> {
        let marker = work.path().join(RECORD);
        fs::write(&marker, record.to_json())
            .map_err(|source| cache_error("write to", &marker, source))?;
        let entry = self.folder(wanted);
        let failed = |source| cache_error("write to", &entry, source);
        // What is damaged is moved away first, as a folder cannot be renamed onto another one.
        let old = entry.exists().then(|| {
            let name = format!("{}replaced", building(wanted.key));
            entry.with_file_name(name)
        });
        if let Some(old) = &old {
            fs::rename(&entry, old).map_err(failed)?;
        }
        fs::rename(work.keep(), &entry).map_err(failed)?;
        if let Some(old) = old {
            let _ = fs::remove_dir_all(old);
        }
        Ok(entry)
    }

    /// A folder beside the entry to make it in. The caller holds the lock.
    pub(super) fn work_folder(&self, wanted: &Wanted) -> Result<TempDir, StanError> {
        let parent = self.root.join(wanted.kind);
        create_dir(&parent)?;
        let prefix = building(wanted.key);
        self.remove_leftovers(wanted);
        tempfile::Builder::new()
            .prefix(&prefix)
            .tempdir_in(&parent)
            .map_err(|source| cache_error("write to", &parent, source))
    }

    /// Removes what interrupted builds left, which may be large. Whoever holds the lock of an entry is its only builder, so a
    /// folder whose lock is free belongs to nobody.
    fn remove_leftovers(&self, wanted: &Wanted) {
        let entries = fs::read_dir(self.root.join(wanted.kind));
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Some(key) = key_of_building(&name) else {
                continue;
            };
            let lock = match key == wanted.key {
                true => None,
                false => match self.try_lock(wanted.kind, key) {
                    Ok(Some(lock)) => Some(lock),
                    _ => continue,
                },
            };
            let _ = fs::remove_dir_all(entry.path());
            drop(lock);
        }
    }

    /// A folder of the cache for files on their way into it.
    pub(super) fn temporary(&self) -> Result<TempDir, StanError> {
        create_dir(&self.root)?;
        tempfile::Builder::new()
            .prefix(".unpacking-")
            .tempdir_in(&self.root)
            .map_err(|source| cache_error("write to", &self.root, source))
    }

    /// `error`, or, where the user may read the cache but not write to it, what is missing there.
    fn or_read_only(&self, error: StanError, wanted: &Wanted) -> StanError {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        match error {
            StanError::Cache { source, .. }
                if self.root.is_dir()
                    && matches!(source.kind(), PermissionDenied | ReadOnlyFilesystem) =>
            {
                StanError::ReadOnlyCache {
                    root: self.root.clone(),
                    what: wanted.what.to_string(),
                    source,
                }
            }
            error => error,
        }
    }

    /// Refuses a cache that everyone can write to, since a fit runs what lies there.
    pub(super) fn check_closed(&self) -> Result<(), StanError> {
        #[cfg(unix)]
        if let Ok(found) = fs::metadata(&self.root) {
            use std::os::unix::fs::PermissionsExt;
            if found.permissions().mode() & 0o002 != 0 {
                let root = self.root.clone();
                return Err(StanError::OpenCache { root });
            }
        }
        Ok(())
    }

    /// The folder and whether models can be added to it, or why it cannot be used.
    pub(super) fn check_access(&self) -> Result<String, String> {
        let root = self.root.display();
        self.check_closed().map_err(|error| error.to_string())?;
        let writable = create_dir(&self.root).and_then(|()| {
            tempfile::tempfile_in(&self.root)
                .map_err(|source| cache_error("write to", &self.root, source))
        });
        match writable {
            Ok(_) => Ok(root.to_string()),
            Err(_) if self.root.join("models").is_dir() => {
                Ok(format!("{root} (read-only: its models can be fitted)"))
            }
            Err(error) => Err(full_sentence(&error)),
        }
    }

    /// Where a failed build of `key` leaves its logs.
    pub fn failed(&self, key: &str) -> PathBuf {
        self.root.join("failed").join(key)
    }

    /// Keeps what a compiler said. A part of a toolchain tells nothing, and may have filled the disk.
    fn keep_failed(&self, work: TempDir, wanted: &Wanted) {
        let is_empty = fs::read_dir(work.path()).is_ok_and(|mut left| left.next().is_none());
        if is_empty || wanted.kind == "toolchains" {
            return;
        }
        let place = self.failed(wanted.key);
        let _ = fs::remove_dir_all(&place);
        if create_dir(&self.root.join("failed")).is_ok() {
            let _ = fs::rename(work.path(), &place);
        }
    }

    /// Waits for whoever else is making the entry, and says so.
    pub(super) fn lock(
        &self,
        wanted: &Wanted,
        observer: &dyn BuildObserver,
    ) -> Result<File, StanError> {
        let (file, path) = self.lock_file(wanted.kind, wanted.key)?;
        if file.try_lock().is_err() {
            observer.note(&format!(
                "Waiting for another process, which is making {} in {}.",
                wanted.what,
                self.root.display()
            ));
            file.lock()
                .map_err(|source| cache_error("lock", &path, source))?;
        }
        Ok(file)
    }

    /// The lock, unless another process has it.
    pub(super) fn try_lock(&self, kind: &str, key: &str) -> Result<Option<File>, StanError> {
        let (file, _) = self.lock_file(kind, key)?;
        Ok(file.try_lock().is_ok().then_some(file))
    }

    fn lock_file(&self, kind: &str, key: &str) -> Result<(File, PathBuf), StanError> {
        let folder = self.root.join("locks");
        create_dir(&folder)?;
        let path = folder.join(format!("{kind}-{key}"));
        match File::create(&path) {
            Ok(file) => Ok((file, path)),
            Err(source) => Err(cache_error("write to", &path, source)),
        }
    }
}

/// `$UNSHUFFLE_BUNDLE`, else `../share/unshuffle/bundle` beside the folder of the program, where a package puts it.
fn bundle() -> Option<PathBuf> {
    let named = std::env::var_os("UNSHUFFLE_BUNDLE").map(PathBuf::from);
    let packaged = || {
        let program = std::env::current_exe().ok()?.canonicalize().ok()?;
        let prefix = program.parent()?.parent()?;
        Some(prefix.join("share/unshuffle/bundle"))
    };
    named.or_else(packaged).filter(|folder| folder.is_dir())
}

/// What the names of folders begin with in which the entry `key` is made.
pub(super) fn building(key: &str) -> String {
    format!("{BUILDING}{key}-")
}

/// The key of the entry that is made in a folder of this name.
pub(super) fn key_of_building(name: &str) -> Option<&str> {
    let (key, _) = name.strip_prefix(BUILDING)?.rsplit_once('-')?;
    Some(key)
}

/// Private where it is new: a fit runs what lies in the cache. Whoever shares a cache opens it with chmod.
fn create_dir(path: &Path) -> Result<(), StanError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(path)
        .map_err(|source| cache_error("create", path, source))
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
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::SilentBuild;
    use super::*;

    const WANTED: Wanted = Wanted {
        kind: "models",
        key: "abc",
        what: "linear.stan",
        recipe: "r",
        files: &["model.so"],
        damaged_file: |_| None,
    };

    fn write_model(work: &Path) -> Result<(), StanError> {
        fs::write(work.join("model.so"), "compiled").unwrap();
        Ok(())
    }

    /// Keeps what is said.
    #[derive(Default)]
    struct Said(Mutex<Vec<String>>);

    impl BuildObserver for Said {
        fn note(&self, sentence: &str) {
            self.0.lock().unwrap().push(sentence.to_string());
        }
    }

    #[test]
    fn two_builders_of_one_entry_build_it_once_and_who_waits_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let builds = AtomicUsize::new(0);
        let said = Said::default();
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let cache = Cache::at(dir.path());
                    start.wait();
                    let entry = cache
                        .get_or_build(&WANTED, &said, |work| {
                            builds.fetch_add(1, Ordering::SeqCst);
                            std::thread::sleep(std::time::Duration::from_millis(200));
                            write_model(work)
                        })
                        .unwrap();
                    assert!(entry.join("model.so").exists());
                });
            }
        });
        assert_eq!(builds.load(Ordering::SeqCst), 1);
        let said = said.0.into_inner().unwrap();
        assert!(!said.is_empty());
        for sentence in said {
            let expected = "Waiting for another process, which is making linear.stan in";
            assert!(sentence.starts_with(expected), "{sentence}");
        }
    }

    #[test]
    fn a_bundle_gives_what_the_cache_lacks_and_is_never_written_to() {
        let [root, bundle] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let build = |cache: &Cache| cache.get_or_build(&WANTED, &SilentBuild, write_model);
        let bundled = build(&Cache::at(bundle.path())).unwrap();
        let cache = Cache::with_bundle(root.path(), bundle.path());
        assert_eq!(build(&cache).unwrap(), bundled);
        assert!(!root.path().join("models").exists());
        // A damaged bundle is as good as none.
        fs::write(bundled.join("model.so"), "cOmpiled").unwrap();
        assert_eq!(build(&cache).unwrap(), root.path().join("models/abc"));
        let text = fs::read_to_string(bundled.join("model.so")).unwrap();
        assert_eq!(text, "cOmpiled");
    }

    #[test]
    fn a_damaged_entry_is_built_again() {
        type Damage = fn(&Path);
        let damages: [Damage; 4] = [
            |file| fs::write(file, "comp").unwrap(),
            |file| fs::write(file, "cOmpiled").unwrap(),
            |file| fs::write(file, "").unwrap(),
            |file| fs::remove_file(file).unwrap(),
        ];
        for damage in damages {
            let dir = tempfile::tempdir().unwrap();
            let cache = Cache::at(dir.path());
            let said = Said::default();
            let entry = cache.get_or_build(&WANTED, &said, write_model).unwrap();
            damage(&entry.join("model.so"));
            assert!(cache.find(&WANTED).is_none());
            cache.get_or_build(&WANTED, &said, write_model).unwrap();
            let found = fs::read_to_string(entry.join("model.so")).unwrap();
            assert_eq!(found, "compiled");
            let said = said.0.into_inner().unwrap();
            assert!(said[0].contains("model.so is damaged"), "{said:?}");
            let left = fs::read_dir(dir.path().join("models")).unwrap().count();
            assert_eq!(left, 1, "the damaged one is gone");
        }
    }

    #[test]
    fn a_failed_build_leaves_no_entry_but_its_log() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let result = cache.get_or_build(&WANTED, &SilentBuild, |work| {
            fs::write(work.join("compile.log"), "why").unwrap();
            Err(StanError::NoCacheDir)
        });
        assert!(result.is_err());
        assert!(cache.find(&WANTED).is_none());
        let log = cache.failed("abc").join("compile.log");
        assert_eq!(fs::read_to_string(log).unwrap(), "why");
    }

    #[test]
    fn an_entry_without_hashes_is_built_again() {
        let dir = tempfile::tempdir().unwrap();
        let entry = dir.path().join("models/abc");
        fs::create_dir_all(&entry).unwrap();
        let cache = Cache::at(dir.path());
        assert!(cache.find(&WANTED).is_none());
        fs::write(entry.join("model.so"), "of an older version").unwrap();
        fs::write(entry.join("ok"), "").unwrap();
        assert!(cache.find(&WANTED).is_none());
        cache
            .get_or_build(&WANTED, &SilentBuild, write_model)
            .unwrap();
        assert!(cache.find(&WANTED).is_some());
    }

    #[test]
    fn what_an_interrupted_build_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let [mine, dead, busy] = ["abc", "dead", "busy"].map(|key| {
            let folder = dir.path().join(format!("models/.building-{key}-1"));
            fs::create_dir_all(&folder).unwrap();
            folder
        });
        let cache = Cache::at(dir.path());
        let _lock = cache.try_lock("models", "busy").unwrap().unwrap();
        cache
            .get_or_build(&WANTED, &SilentBuild, write_model)
            .unwrap();
        assert!(!mine.exists() && !dead.exists());
        assert!(busy.exists(), "another entry's builder is at work");
    }

    #[test]
    fn an_unwritable_cache_is_named_with_its_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Cache::at(&file)
            .get_or_build(&WANTED, &SilentBuild, write_model)
            .unwrap_err();
        assert!(error.to_string().contains("UNSHUFFLE_CACHE"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_cache_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("cache");
        Cache::at(&root)
            .get_or_build(&WANTED, &SilentBuild, write_model)
            .unwrap();
        let mode = fs::metadata(&root).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
