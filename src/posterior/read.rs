//! A finished fit from the files in its output folder.

use std::path::Path;

use serde::Deserialize;

use super::draws::read_output;
use super::links::LinksSummary;
use super::rows::parse_rows;
use super::{Folder, Posterior, PosteriorError, Versions, read_coefficients};
use crate::baseline::compare::{read_baselines, read_known_rate};
use crate::config;
use crate::data::files_sha256;

/// What config.json has besides the config.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SavedConfig {
    versions: Versions,
}

pub(super) fn read(path: &Path) -> Result<Posterior, PosteriorError> {
    let folder = Folder::new(path);
    let chains = read_output(path)?;
    let config = config::load(&folder.file(Folder::CONFIG), &[])?;
    let saved: Option<SavedConfig> = folder.read_json(Folder::CONFIG)?;
    let mut posterior = Posterior::of(folder, config, chains);
    let folder = &posterior.folder;
    posterior.versions = saved.unwrap_or_default().versions;
    posterior.program = folder.read(Folder::PROGRAM)?;
    posterior.data = folder.read_json(Folder::DATA)?;
    // A fit that was killed has no such file; its draws are worth reading all the same.
    posterior.diagnostics = folder.read_json(Folder::DIAGNOSTICS).unwrap_or_default();
    posterior.links = LinksSummary::read_saved(path, &posterior.chains)?;
    if posterior.links.is_some() {
        let text = folder.read(Folder::ROWS)?.unwrap_or_default();
        posterior.rows = parse_rows(&text, &folder.file(Folder::ROWS))?;
    }
    let baselines = read_baselines(&folder.file(Folder::BASELINES))?;
    posterior.baselines = baselines.unwrap_or_default();
    posterior.rate_curve = read_known_rate(&folder.file(Folder::KNOWN_RATE))?;
    posterior.trust = folder.read_json(Folder::TRUST).unwrap_or_default();
    let coefficients = read_coefficients(&folder.file(Folder::COEFFICIENTS));
    posterior.coefficients = coefficients.unwrap_or_default();
    posterior.predictive = folder.read_json(Folder::PREDICTIVE)?;
    Ok(posterior)
}

impl Posterior {
    /// Refuses a fit whose data files are not as they were: its row numbers would mean other rows.
    pub fn check_data_unchanged(&self) -> Result<(), PosteriorError> {
        let then = self.versions.data_sha256.as_ref();
        // A file that is gone is told by whoever reads it.
        let now = files_sha256(&self.config.data.files());
        match (then, now) {
            (Some(then), Some(now)) if *then != now => Err(PosteriorError::Changed {
                files: self.config.data.label(),
                folder: self.folder.path().to_path_buf(),
            }),
            _ => Ok(()),
        }
    }
}
