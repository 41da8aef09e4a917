//! Chains as tasks: a fit is planned, each chain is sampled by a process of its own, and `fit` collects them.
//!
//! Every chain keeps its files and its checkpoint in the output folder of the fit. Collecting them is resuming a fit whose
//! chains have all their draws, so the results are those of one process.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::output::{Existing, check_may_fit, empty};
use super::resume::Found;
use super::{FitError, Prepared};
use crate::config;
use crate::posterior::draws::{Checkpoint, Checkpoints};
use crate::posterior::{ChainLock, FitState, Folder, FolderLock, Status};
use crate::sampler::chain::{ChainOutcome, Observer};

/// How far one chain of a planned fit has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainStand {
    /// The number of the chain, from 1.
    pub chain: usize,
    /// Iterations that its checkpoint vouches for, warm-up included.
    pub num_done: usize,
    /// Iterations that the config asks for.
    pub num_asked: usize,
}

impl ChainStand {
    pub fn is_done(&self) -> bool {
        self.num_done >= self.num_asked
    }
}

impl Prepared {
    /// Prepares the output folder for chains that are sampled one by one. Planning again keeps the chains that are there.
    /// A fit that is to be replaced stays until the chains of the new one, in a folder beside it, are collected.
    pub fn plan(&self, existing: Existing) -> Result<(), FitError> {
        self.check_room()?;
        let target = Folder::new(&self.config.output);
        target.create()?;
        let _lock = FolderLock::take(&target)?;
        let status = Status::planned(&self.config.name, self.config.sampler.chains);
        target.check_ours(&status.files)?;
        if existing == Existing::Replace && target.fit_files()?.is_some() {
            let beside = target.beside();
            let _lock = empty(&beside, &status)?;
            return self.write_plan(&beside, &status);
        }
        let folder = self.work_folder()?;
        let _lock = match folder == target {
            true => None,
            false => Some(FolderLock::take(&folder)?),
        };
        let is_planned = is_planned(&folder)?;
        if !is_planned {
            check_may_fit(&folder, existing)?;
        }
        let found = match is_planned {
            true => self.found_as_planned()?,
            false => self.found()?,
        };
        if found == Found::Nothing {
            folder.clear()?;
        }
        self.write_plan(&folder, &status)
    }

    fn write_plan(&self, folder: &Folder, status: &Status) -> Result<(), FitError> {
        status.write(folder)?;
        self.write_input(folder)
    }

    /// Samples one chain of a planned fit, from where its checkpoint stands.
    pub fn sample_chain(
        &self,
        chain: usize,
        checkpoint_every: Duration,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<ChainOutcome, FitError> {
        let folder = self.work_folder()?;
        let _lock = ChainLock::take(&folder, chain)?;
        // Again under the lock: another process may have planned anew.
        self.check_plan()?;
        if !is_planned(&folder)? {
            return Err(self.not_planned());
        }
        let saved = Checkpoint::read(&folder, chain)?;
        let checkpoints = Checkpoints {
            every: Some(checkpoint_every),
            start: Instant::now(),
            earlier_seconds: saved.as_ref().map_or(0.0, |saved| saved.seconds),
        };
        let responses = self.data.responses();
        let run = self.run(&self.config, &responses, 1, stop, observer);
        let saved = saved.into_iter().collect();
        let mut sampled = run.to_files(&folder, chain..=chain, saved, checkpoints)?;
        Ok(match sampled.pop() {
            Some((outcome, _)) => outcome,
            // Interrupted before its first iteration.
            None => ChainOutcome {
                chain,
                interrupted: true,
                ..ChainOutcome::default()
            },
        })
    }

    /// Refuses an output folder in which no fit was planned, or the fit of another config.
    pub fn check_plan(&self) -> Result<(), FitError> {
        if self.found_as_planned()? == Found::Nothing {
            return Err(self.not_planned());
        }
        let folder = self.work_folder()?;
        let saved = config::load(&folder.file(Folder::CONFIG), &[])?;
        let [saved, now] = [&saved, &self.config].map(|config| config.sampler.draws);
        match saved == now {
            true => Ok(()),
            false => Err(FitError::PlanChanged {
                path: folder.path().to_path_buf(),
                what: format!("sampler.draws differs ({saved} there, {now} now)"),
            }),
        }
    }

    /// How far each chain has come.
    pub fn chain_stands(&self) -> Result<Vec<ChainStand>, FitError> {
        let folder = self.work_folder()?;
        let sampler = &self.config.sampler;
        let stand = |chain| -> Result<ChainStand, FitError> {
            let saved = Checkpoint::read(&folder, chain)?;
            Ok(ChainStand {
                chain,
                num_done: saved.map_or(0, |saved| saved.state.iteration),
                num_asked: sampler.warmup + sampler.draws,
            })
        };
        (1..=sampler.chains).map(stand).collect()
    }

    /// As [`Prepared::found`], in the words of a plan.
    fn found_as_planned(&self) -> Result<Found, FitError> {
        self.found().map_err(|error| match error {
            FitError::Differs { path, what } => FitError::PlanChanged { path, what },
            other => other,
        })
    }

    fn not_planned(&self) -> FitError {
        FitError::NotPlanned {
            path: self.config.output.clone(),
        }
    }
}

fn is_planned(folder: &Folder) -> Result<bool, FitError> {
    let status = Status::read(folder)?;
    Ok(status.is_some_and(|status| status.state == FitState::Planned))
}
