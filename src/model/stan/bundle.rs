//! Bundles: compiled models and what their fits need, in one file for a machine without compiler and network.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::cache::{Wanted, cache_error};
use super::compile::is_current;
use super::inventory::Soundness;
use super::record::{RECORD, Record};
use super::wheel::Wheel;
use super::{BuildObserver, Cache, StanError};

/// What a bundle may hold.
const BUNDLED: [&str; 2] = ["toolchains", "models"];

/// What `pack` wrote.
#[derive(Debug)]
pub struct Packed {
    /// Names of the programs.
    pub models: Vec<String>,
    pub bytes: u64,
}

/// What `unpack` added to the cache.
#[derive(Debug)]
pub struct Unpacked {
    /// Names of the programs that the bundle holds.
    pub models: Vec<String>,
    /// How many of its entries the cache had already.
    pub num_known: usize,
}

impl Cache {
    /// Writes the compiled models in the folders `only`, or all that this version can use, with the files of Stan that fits
    /// need.
    pub fn pack(&self, file: &Path, only: Option<&[PathBuf]>) -> Result<Packed, StanError> {
        let mut models: Vec<PathBuf> = match only {
            Some(folders) => folders.to_vec(),
            None => {
                let entries = self.entries().into_iter();
                let usable = entries.filter(|entry| {
                    entry.kind == "models"
                        && entry.soundness == Soundness::Sound
                        && !entry.of_bridgestan
                });
                usable.map(|entry| entry.folder).collect()
            }
        };
        models.sort();
        models.dedup();
        let failed = |why: String| StanError::Bundle {
            path: file.to_path_buf(),
            why,
        };
        let stan = self.find(&Wheel::wanted(Wheel::FOR_FITS));
        let (Some(stan), false) = (stan, models.is_empty()) else {
            let root = self.root().display();
            return Err(failed(format!(
                "there is nothing to pack in {root}; name the programs, as in `unshuffle cache pack FILE linear`"
            )));
        };
        let cannot = |error: io::Error| failed(format!("cannot write the bundle ({error})"));
        let folder = match file.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let new = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
        let names = self
            .write_bundle(new.as_file(), &stan, &models)
            .map_err(cannot)?;
        let bytes = new.as_file().metadata().map_err(cannot)?.len();
        new.persist_noclobber(file).map_err(|error| {
            if error.error.kind() == io::ErrorKind::AlreadyExists {
                return failed("already exists; choose another name".into());
            }
            cannot(error.error)
        })?;
        Ok(Packed {
            models: names,
            bytes,
        })
    }

    fn write_bundle(
        &self,
        file: &File,
        stan: &Path,
        models: &[PathBuf],
    ) -> io::Result<Vec<String>> {
        let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
        let of_stan = Wheel::wanted(Wheel::FOR_FITS);
        let record = Record::of(stan, of_stan.what, of_stan.recipe, of_stan.files)?;
        self.append(&mut archive, stan, &record)?;
        let mut names = Vec::new();
        for folder in models {
            let record = Record::read(folder)
                .ok_or_else(|| io::Error::other(format!("{} has no record", folder.display())))?;
            self.append(&mut archive, folder, &record)?;
            names.push(record.what);
        }
        archive.into_inner()?.finish()?;
        Ok(names)
    }

    /// The files of one entry, then its record.
    fn append(
        &self,
        archive: &mut tar::Builder<impl io::Write>,
        folder: &Path,
        record: &Record,
    ) -> io::Result<()> {
        let of_bundle = self
            .bundle()
            .and_then(|root| folder.strip_prefix(root).ok());
        let inside = folder.strip_prefix(self.root()).ok().or(of_bundle);
        let inside = inside.ok_or_else(|| io::Error::other("it is not of this cache"))?;
        for name in record.names() {
            let mut header = plain_header(folder.join(name).metadata()?.len(), 0o755);
            let bytes = File::open(folder.join(name))?;
            archive.append_data(&mut header, inside.join(name), bytes)?;
        }
        let text = record.to_json();
        let mut header = plain_header(text.len() as u64, 0o644);
        archive.append_data(&mut header, inside.join(RECORD), text.as_bytes())
    }

    /// Adds the models of a bundle to the cache, all of them or, where a file is damaged, none.
    pub fn unpack(&self, file: &Path, observer: &dyn BuildObserver) -> Result<Unpacked, StanError> {
        let work = self.temporary()?;
        let entries = extract(file, work.path()).map_err(|error| StanError::Bundle {
            path: file.to_path_buf(),
            why: format!("cannot read the bundle ({error}); copy or pack it again"),
        })?;
        let mut records = Vec::new();
        for (kind, key) in &entries {
            let record = checked(&work.path().join(kind).join(key), kind).map_err(|why| {
                StanError::Bundle {
                    path: file.to_path_buf(),
                    why,
                }
            })?;
            records.push((*kind, key, record));
        }
        let mut unpacked = Unpacked {
            models: Vec::new(),
            num_known: 0,
        };
        for (kind, key, record) in records {
            let files: Vec<&str> = record.names().collect();
            let wanted = Wanted {
                kind,
                key,
                what: &record.what,
                recipe: &record.recipe,
                files: &files,
                damaged_file: |_| None,
            };
            if self.find(&wanted).is_some() {
                unpacked.num_known += 1;
            } else {
                self.add(
                    &wanted,
                    &work.path().join(kind).join(key),
                    &record,
                    observer,
                )?;
            }
            if kind == "models" {
                unpacked.models.push(record.what);
            }
        }
        Ok(unpacked)
    }

    fn add(
        &self,
        wanted: &Wanted,
        from: &Path,
        record: &Record,
        observer: &dyn BuildObserver,
    ) -> Result<(), StanError> {
        let _lock = self.lock(wanted, observer)?;
        let place = self.work_folder(wanted)?;
        for child in std::fs::read_dir(from).into_iter().flatten().flatten() {
            let to = place.path().join(child.file_name());
            std::fs::rename(child.path(), &to)
                .map_err(|source| cache_error("write to", &to, source))?;
        }
        self.install(place, wanted, record).map(drop)
    }
}

/// The same bytes for the same models: no times, no owners.
fn plain_header(size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(mode);
    header
}

/// Unpacks into `folder`; returns kind and key of each entry.
fn extract(file: &Path, folder: &Path) -> io::Result<BTreeSet<(&'static str, String)>> {
    let mut archive = tar::Archive::new(GzDecoder::new(BufReader::new(File::open(file)?)));
    archive.set_preserve_mtime(false);
    let mut entries = BTreeSet::new();
    for member in archive.entries()? {
        let mut member = member?;
        let path = member.path()?.into_owned();
        let Some(entry) = place(&path).filter(|_| member.header().entry_type().is_file()) else {
            let message = format!("it holds {}, which no bundle has", path.display());
            return Err(io::Error::other(message));
        };
        entries.insert(entry);
        member.unpack_in(folder)?;
    }
    // The end of the file has the checksum of the whole.
    io::copy(&mut archive.into_inner().take(1 << 20), &mut io::sink())?;
    if entries.is_empty() {
        return Err(io::Error::other("it is empty"));
    }
    Ok(entries)
}

/// Kind and key of the entry that a file belongs to; None for a path that leads elsewhere.
fn place(path: &Path) -> Option<(&'static str, String)> {
    let parts: Option<Vec<&str>> = path
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    match parts?.as_slice() {
        [kind, key, _, ..] if !key.starts_with('.') => {
            let kind = BUNDLED.into_iter().find(|known| known == kind)?;
            Some((kind, key.to_string()))
        }
        _ => None,
    }
}

/// The record of an unpacked entry whose files are as they were packed.
fn checked(folder: &Path, kind: &str) -> Result<Record, String> {
    let record = Record::read(folder)
        .ok_or("it lacks the hashes of its files; pack it again with this version")?;
    if !is_current(kind, &record.recipe) {
        return Err(format!(
            "it was packed by another version of unshuffle than {}; pack it again with this version",
            env!("CARGO_PKG_VERSION")
        ));
    }
    match record.damaged(folder, record.names()) {
        Some(name) => Err(format!(
            "{name} of {} is damaged, so nothing was unpacked; copy or pack the bundle again",
            record.what
        )),
        None => Ok(record),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_cannot_write_elsewhere() {
        assert_eq!(
            place(Path::new("models/abc/model.so")),
            Some(("models", "abc".to_string()))
        );
        for path in [
            "/models/abc/model.so",
            "models/../../x",
            "models/abc",
            "headers/abc/x",
            "models/.building-abc-1/model.so",
            "../models/abc/model.so",
        ] {
            assert_eq!(place(Path::new(path)), None, "{path}");
        }
    }
}
