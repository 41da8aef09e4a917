//! The output folder of a fit while it is at work: locked, marked, and filled in place or beside an earlier fit.

use std::io::ErrorKind;
use std::path::Path;

use super::resume::Found;
use super::{FitError, Prepared};
use crate::posterior::{
    DamagedFile, FitState, Folder, FolderLock, Posterior, PosteriorError, Status,
};
use crate::text::full_sentence;

/// What to do with a fit that is already in the output folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Refuse to fit.
    Refuse,
    /// Fit beside it, and replace it when the new fit is finished.
    Replace,
    /// Go on with it, where it is not finished or more draws are asked for.
    Resume,
}

/// The output folder of a fit at work.
pub(super) struct Output {
    /// Where the files are written: the folder itself, or one beside it.
    pub work: Folder,
    /// The folder that the config names.
    target: Folder,
    status: Status,
    /// The locks of both folders, held until the fit ends.
    locks: Vec<FolderLock>,
}

impl Output {
    /// Locks the folder and marks it as that of a running fit. Files that no fit wrote are not touched.
    pub fn open(prepared: &Prepared, existing: Existing) -> Result<Output, FitError> {
        let config = &prepared.config;
        let target = Folder::new(&config.output);
        target.create()?;
        let mut locks = vec![FolderLock::take(&target)?];
        let status = Status::running(&config.name, config.sampler.chains);
        // Again under the lock: another process may have been faster.
        check_may_fit(&target, existing)?;
        target.check_ours(&status.files)?;
        let mut work = target.clone();
        match existing {
            Existing::Resume if prepared.found()? != Found::Nothing => {
                work = prepared.work_folder()?;
                if work != target {
                    locks.push(FolderLock::take(&work)?);
                }
                forget_damaged_chains(&work)?;
            }
            Existing::Replace if target.fit_files()?.is_some() => {
                work = target.beside();
                locks.push(empty(&work, &status)?);
            }
            _ => target.clear()?,
        }
        status.write(&work)?;
        Ok(Output {
            work,
            target,
            status,
            locks,
        })
    }

    /// Puts a fit that was made beside an earlier one in its place.
    pub fn settle(&mut self, posterior: &mut Posterior) -> Result<(), PosteriorError> {
        if self.work != self.target {
            self.work.move_to(&self.target)?;
            posterior.folder = self.target.clone();
            self.work = self.target.clone();
        }
        Ok(())
    }

    /// Marks how the fit ended.
    pub fn end(mut self, ended: Result<Posterior, FitError>) -> Result<Posterior, FitError> {
        self.status.state = match &ended {
            Ok(posterior) if posterior.is_interrupted() => FitState::Interrupted,
            Ok(_) => {
                self.status.sizes = self.work.sizes(&self.status.files);
                self.status.sha256 = self.work.hashes(&self.status.files);
                FitState::Finished
            }
            Err(error) => {
                self.status.error = Some(full_sentence(error));
                FitState::Failed
            }
        };
        match &ended {
            Ok(_) => self.status.write(&self.work)?,
            // The error says what went wrong, and on a full disk the marker stays as it is: not finished.
            Err(_) => drop(self.status.write(&self.work)),
        }
        let is_beside = self.work != self.target;
        if is_beside && ended.is_err() && !has_checkpoint(&self.work) {
            let _ = self.work.clear();
        }
        let num_folders = self.locks.len();
        // The lock is a file in the folder.
        self.locks.clear();
        if num_folders > 1 {
            self.target.beside().remove_if_empty();
        }
        ended
    }
}

/// Refuses an output that is no folder, or in which no file can be made. Nothing stays behind.
pub fn check_writable(folder: &Folder) -> Result<(), FitError> {
    let made_in = existing_folder(folder)?;
    match tempfile::tempfile_in(made_in) {
        Ok(_) => Ok(()),
        Err(error) => Err(not_writable(folder, error.to_string())),
    }
}

/// The output folder, or the first folder above it that exists, in which it would be made.
fn existing_folder(folder: &Folder) -> Result<&Path, FitError> {
    let path = folder.path();
    // A name that no file can have would look like one that is free.
    match path.symlink_metadata() {
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(not_writable(folder, error.to_string()));
        }
        Ok(_) if !path.exists() => {
            return Err(not_writable(folder, "it is a link to nothing".into()));
        }
        _ => {}
    }
    let existing = path.ancestors().find(|path| path.exists());
    let existing = existing.unwrap_or(Path::new("."));
    match existing.is_dir() {
        true => Ok(existing),
        false => {
            let reason = format!("{} is not a folder", existing.display());
            Err(not_writable(folder, reason))
        }
    }
}

fn not_writable(folder: &Folder, reason: String) -> FitError {
    FitError::NotWritable {
        path: folder.path().to_path_buf(),
        reason,
    }
}

/// Refuses an output that is no folder, one that another fit is writing to, or one that holds a fit which may not be replaced.
pub fn check_output(folder: &Folder, existing: Existing) -> Result<(), FitError> {
    match existing {
        // A finished fit in a folder that cannot be written to has nothing left to do.
        Existing::Resume => drop(existing_folder(folder)?),
        _ => check_writable(folder)?,
    }
    // What is left of a damaged status does not tell who is at work; the lock does.
    let status = Status::read(folder).ok().flatten();
    let may_be_at_work = |status: Status| {
        use FitState::{Planned, Running};
        matches!(status.state, Planned | Running)
    };
    if status.is_some_and(may_be_at_work) {
        FolderLock::check_free(folder)?;
    }
    check_may_fit(folder, existing)
}

pub(super) fn check_may_fit(folder: &Folder, existing: Existing) -> Result<(), FitError> {
    if existing == Existing::Refuse && folder.fit_files()?.is_some() {
        return Err(FitError::OutputExists {
            path: folder.path().to_path_buf(),
        });
    }
    Ok(())
}

/// Makes and locks the folder beside the output folder, and removes the fit in it.
pub(super) fn empty(beside: &Folder, status: &Status) -> Result<FolderLock, PosteriorError> {
    beside.create()?;
    let lock = FolderLock::take(beside)?;
    beside.check_ours(&status.files)?;
    beside.clear()?;
    Ok(lock)
}

/// Chains of a finished fit whose draws or links are gone, cut short or changed begin again, with the same draws.
fn forget_damaged_chains(folder: &Folder) -> Result<(), PosteriorError> {
    // A damaged status says nothing of files.
    let damaged = folder.damaged().unwrap_or_default();
    let mut chains = damaged.iter().filter_map(DamagedFile::chain);
    chains.try_for_each(|chain| folder.remove(&Folder::checkpoint(chain)))
}

/// Whether there is anything to go on with.
pub(super) fn has_checkpoint(folder: &Folder) -> bool {
    let names = folder.fit_files().ok().flatten().unwrap_or_default();
    let mut saved = names.iter().filter(|name| name.starts_with("checkpoint_"));
    saved.any(|name| folder.file(name).exists())
}
