//! What is in the cache, and what of it can go.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use super::cache::{cache_error, key_of_building};
use super::compile::{BRIDGESTAN, KINDS, is_current};
use super::record::Record;
use super::wheel::Wheel;
use super::wheel_record::damaged_file;
use super::{Cache, StanError};

/// An entry of the cache as it is listed.
#[derive(Debug)]
pub struct Entry {
    pub kind: &'static str,
    pub key: String,
    /// What messages call it; its key where it has no record.
    pub what: String,
    pub bytes: u64,
    pub soundness: Soundness,
    pub folder: PathBuf,
    /// Whether a BridgeStan folder compiled it.
    pub of_bridgestan: bool,
}

/// Whether an entry can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Soundness {
    Sound,
    /// A file is not as it was when it was made.
    Damaged,
    /// Another version of unshuffle made it.
    Outdated,
    /// It is being made, or its making was interrupted.
    Unfinished,
}

/// What `clean` removed.
#[derive(Debug, Default)]
pub struct Cleaned {
    pub num_entries: usize,
    pub bytes: u64,
    /// Entries that other processes are making.
    pub num_in_use: usize,
}

impl Cache {
    /// Every entry, sorted by kind and name.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        for kind in KINDS {
            let folders = children(&self.root().join(kind)).filter(|child| child.path().is_dir());
            entries.extend(folders.map(|child| entry(kind, &child)));
        }
        entries.sort_by(|a, b| (a.kind, &a.what, &a.key).cmp(&(b.kind, &b.what, &b.key)));
        entries
    }

    /// Removes what this version cannot use, or `everything`. Nothing else in the cache's folder is touched.
    pub fn clean(&self, everything: bool) -> Result<Cleaned, StanError> {
        let mut cleaned = Cleaned::default();
        for entry in self.entries() {
            if entry.soundness == Soundness::Sound && !everything {
                continue;
            }
            let Some(_lock) = self.try_lock(entry.kind, &entry.key)? else {
                cleaned.num_in_use += 1;
                continue;
            };
            fs::remove_dir_all(&entry.folder)
                .map_err(|source| cache_error("delete", &entry.folder, source))?;
            cleaned.num_entries += 1;
            cleaned.bytes += entry.bytes;
        }
        let failed = self.root().join("failed");
        if failed.is_dir() {
            cleaned.bytes += size(&failed);
            fs::remove_dir_all(&failed).map_err(|source| cache_error("delete", &failed, source))?;
        }
        Ok(cleaned)
    }
}

fn entry(kind: &'static str, child: &DirEntry) -> Entry {
    let folder = child.path();
    let name = child.file_name().to_string_lossy().into_owned();
    let unfinished = key_of_building(&name).map(String::from);
    let record = Record::read(&folder);
    let soundness = match &record {
        _ if unfinished.is_some() => Soundness::Unfinished,
        Some(record) if record.recipe != BRIDGESTAN && !is_current(kind, &record.recipe) => {
            Soundness::Outdated
        }
        Some(record) if record.damaged(&folder, record.names()).is_some() => Soundness::Damaged,
        Some(record) if Wheel::is_whole(record) && damaged_file(&folder).is_some() => {
            Soundness::Damaged
        }
        Some(_) => Soundness::Sound,
        None => Soundness::Outdated,
    };
    let of_bridgestan = record
        .as_ref()
        .is_some_and(|record| record.recipe == BRIDGESTAN);
    Entry {
        kind,
        what: record.map_or_else(|| name.clone(), |record| record.what),
        key: unfinished.unwrap_or(name),
        bytes: size(&folder),
        soundness,
        folder,
        of_bridgestan,
    }
}

fn children(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// The size of all files below; links are not followed.
fn size(folder: &Path) -> u64 {
    let of = |child: DirEntry| match child.metadata() {
        Ok(found) if found.is_dir() => size(&child.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    children(folder).map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::super::SilentBuild;
    use super::super::cache::{BUILDING, Wanted};
    use super::super::compile::recipe;
    use super::*;

    fn add(cache: &Cache, key: &str, recipe: &str) -> PathBuf {
        let wanted = Wanted {
            kind: "models",
            key,
            what: key,
            recipe,
            files: &["model.so"],
            damaged_file: |_| None,
        };
        let write = |work: &Path| {
            fs::write(work.join("model.so"), "compiled").unwrap();
            Ok(())
        };
        cache.get_or_build(&wanted, &SilentBuild, write).unwrap()
    }

    #[test]
    fn clean_keeps_what_can_be_used_and_what_is_being_made() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path());
        let sound = add(&cache, "sound", &recipe("models"));
        let faster = add(&cache, "faster", &format!("{} -O1", recipe("models")));
        let genuine = add(&cache, "genuine", BRIDGESTAN);
        let outdated = add(&cache, "outdated", "another");
        let damaged = add(&cache, "damaged", &recipe("models"));
        fs::write(damaged.join("model.so"), "cOmpiled").unwrap();
        let models = dir.path().join("models");
        let [interrupted, busy] = ["cut", "busy"].map(|key| {
            let folder = models.join(format!("{BUILDING}{key}-x1"));
            fs::create_dir_all(&folder).unwrap();
            folder
        });
        let _lock = cache.try_lock("models", "busy").unwrap().unwrap();
        fs::write(dir.path().join("thesis.tex"), "mine").unwrap();
        let found: Vec<Soundness> = cache.entries().iter().map(|e| e.soundness).collect();
        for kind in [
            Soundness::Sound,
            Soundness::Damaged,
            Soundness::Outdated,
            Soundness::Unfinished,
        ] {
            assert!(found.contains(&kind), "{kind:?} in {found:?}");
        }

        let cleaned = cache.clean(false).unwrap();
        assert_eq!((cleaned.num_entries, cleaned.num_in_use), (3, 1));
        assert!(sound.exists() && genuine.exists() && busy.exists());
        assert!(faster.exists(), "flags of one's own do not outdate a model");
        assert!(!outdated.exists() && !damaged.exists() && !interrupted.exists());
        assert_eq!(cache.clean(true).unwrap().num_entries, 3);
        assert!(!sound.exists());
        assert!(dir.path().join("thesis.tex").exists());
    }
}
