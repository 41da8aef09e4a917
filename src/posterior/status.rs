//! status.json: which fit is in an output folder, how far it has come, and which files are its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Folder, FolderLock, Posterior, PosteriorError};

/// How far a fit has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FitState {
    /// Chains are sampled by processes of their own, and have not been collected yet.
    Planned,
    /// A process is at work, or was killed.
    Running,
    Interrupted,
    Failed,
    Finished,
}

/// The marker of a fit in its output folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The name of the fit.
    pub fit: String,
    pub state: FitState,
    /// The process that wrote this.
    pub pid: u32,
    pub host: String,
    /// Why the fit failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Names of the files that the fit writes; all others in the folder are somebody else's.
    pub files: Vec<String>,
    /// Sizes in bytes of those that nothing changes after a finished fit; none in fits of older versions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub sizes: BTreeMap<String, u64>,
    /// The SHA-256 of each of them, as edits may keep the size.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub sha256: BTreeMap<String, String>,
}

impl Status {
    /// The status of a fit that this process starts.
    pub fn running(fit: &str, num_chains: usize) -> Status {
        Status {
            fit: fit.to_string(),
            state: FitState::Running,
            pid: std::process::id(),
            host: host(),
            error: None,
            files: Folder::names(num_chains),
            sizes: BTreeMap::new(),
            sha256: BTreeMap::new(),
        }
    }

    /// The status of a fit whose chains other processes sample.
    pub fn planned(fit: &str, num_chains: usize) -> Status {
        Status {
            state: FitState::Planned,
            ..Status::running(fit, num_chains)
        }
    }

    /// None for a folder without a fit, and for fits of older versions.
    pub fn read(folder: &Folder) -> Result<Option<Status>, PosteriorError> {
        folder.read_json(Folder::STATUS)
    }

    pub fn write(&self, folder: &Folder) -> Result<(), PosteriorError> {
        folder.replace_json(Folder::STATUS, self)
    }
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok());
    name.map_or("unknown".into(), |name| name.trim().to_string())
}

impl Posterior {
    /// Records that the fit was stopped when it had its draws, but not all that follows from them.
    pub(crate) fn interrupted_after_sampling(&mut self) -> Result<(), PosteriorError> {
        let Some(diagnostics) = &mut self.diagnostics else {
            return Ok(());
        };
        diagnostics.interrupted = true;
        self.folder.write_json(Folder::DIAGNOSTICS, diagnostics)
    }

    /// What is missing of a fit that is not finished, in one sentence; None for a whole one.
    pub fn unfinished(&self) -> Option<String> {
        let sampler = &self.config.sampler;
        let asked = sampler.chains * sampler.draws.div_ceil(sampler.thin);
        let missing_chains = sampler.chains.saturating_sub(self.chains.len());
        let missing_draws = asked.saturating_sub(self.num_draws());
        let is_stopped = match &self.status {
            Some(status) => status.state != FitState::Finished,
            // Versions that wrote no status wrote no hash of the settings either.
            None => self.versions.settings_sha256.is_some(),
        };
        if !is_stopped && missing_draws == 0 {
            return None;
        }
        let folder = self.folder.path().display();
        let what = match self.status.as_ref().map(|status| status.state) {
            Some(FitState::Finished) => "has lost draws",
            Some(FitState::Failed) => "failed",
            Some(FitState::Planned) => "is not collected yet",
            Some(FitState::Running) if FolderLock::check_free(&self.folder).is_err() => {
                "is still running"
            }
            Some(FitState::Running) => "was killed",
            Some(FitState::Interrupted) => "was interrupted",
            None if missing_draws > 0 => "did not finish",
            None => "has lost its status.json, so that nobody can tell whether it finished",
        };
        let chains = sampler.chains;
        let missing = match (missing_chains, missing_draws) {
            (_, 0) if self.status.is_none() => return Some(format!("the fit in {folder} {what}")),
            (_, 0) => "all draws are there, but not all results".to_string(),
            (0, _) => format!("{missing_draws} of {asked} draws are missing"),
            _ => format!(
                "{missing_chains} of {chains} chains and {missing_draws} of {asked} draws are missing"
            ),
        };
        Some(format!("the fit in {folder} {what}: {missing}"))
    }
}
