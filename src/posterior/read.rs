//! A finished fit from the files in its output folder.

use std::path::Path;

use serde::Deserialize;

use super::coefficients::parse_coefficients;
use super::draws::read_output;
use super::links::{LinksSummary, RowNumbers};
use super::rows::parse_rows;
use super::{FitState, Folder, Posterior, PosteriorError, Status, Versions};
use crate::baseline::compare::{read_baselines, read_known_rate};
use crate::config::{self, Config, Update};
use crate::data::{self, files_sha256};

/// What config.json has besides the config.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SavedConfig {
    versions: Versions,
}

impl Versions {
    /// The versions in config.json; None where that does not exist.
    pub(crate) fn read(folder: &Folder) -> Result<Option<Versions>, PosteriorError> {
        let saved: Option<SavedConfig> = folder.read_json(Folder::CONFIG)?;
        Ok(saved.map(|saved| saved.versions))
    }

    /// Refuses the saved config of a fit that is not as the fit wrote it, except for paths.
    pub(crate) fn check_unchanged(
        &self,
        saved: &Config,
        folder: &Folder,
    ) -> Result<(), PosteriorError> {
        match &self.settings_sha256 {
            Some(then) if *then != saved.settings_sha256() => Err(PosteriorError::Edited {
                path: folder.file(Folder::CONFIG),
            }),
            _ => Ok(()),
        }
    }
}

pub(super) fn read(path: &Path) -> Result<Posterior, PosteriorError> {
    let folder = Folder::new(path);
    // Hashes of the files take less time than reading the draws, and are computed meanwhile.
    let (read, damaged) = std::thread::scope(|scope| {
        let damaged = scope.spawn(|| folder.damaged());
        let read = read_files(path, folder.clone());
        (read, damaged.join().expect("hashing does not panic"))
    });
    let mut posterior = read?;
    posterior.damaged = damaged?;
    check_complete(&posterior)?;
    Ok(posterior)
}

fn read_files(path: &Path, folder: Folder) -> Result<Posterior, PosteriorError> {
    let chains = read_output(path)?;
    let config = config::load(&folder.file(Folder::CONFIG), &[])?;
    let versions = Versions::read(&folder)?;
    let mut posterior = Posterior::of(folder, config, chains);
    let folder = &posterior.folder;
    posterior.status = Status::read(folder)?;
    posterior.versions = versions.unwrap_or_default();
    posterior.program = folder.read(Folder::PROGRAM)?;
    posterior.data = folder.read_json(Folder::DATA)?;
    posterior.diagnostics = folder.read_json(Folder::DIAGNOSTICS)?;
    if posterior.config.permutation.update != Update::None {
        read_links(&mut posterior)?;
    }
    let folder = &posterior.folder;
    let baselines = read_baselines(&folder.file(Folder::BASELINES))?;
    posterior.baselines = baselines.unwrap_or_default();
    posterior.rate_curve = read_known_rate(&folder.file(Folder::KNOWN_RATE))?;
    posterior.trust = folder.read_json(Folder::TRUST)?;
    if let Some(text) = folder.read(Folder::COEFFICIENTS)? {
        let damaged = |what| PosteriorError::Rows {
            path: folder.file(Folder::COEFFICIENTS),
            what,
        };
        posterior.coefficients = parse_coefficients(&text).map_err(damaged)?;
    }
    posterior.predictive = folder.read_json(Folder::PREDICTIVE)?;
    Ok(posterior)
}

/// A fit that was killed lacks its last files, and its draws are worth reading all the same; a finished one that lacks what
/// it found of itself would be taken for one without problems.
fn check_complete(posterior: &Posterior) -> Result<(), PosteriorError> {
    let status = posterior.status.as_ref();
    if status.is_none_or(|status| status.state != FitState::Finished) {
        return Ok(());
    }
    let found = [
        (Folder::DIAGNOSTICS, posterior.diagnostics.is_some()),
        (Folder::TRUST, posterior.trust.is_some()),
    ];
    if let Some((name, _)) = found.into_iter().find(|(_, is_there)| !is_there) {
        let path = posterior.folder.file(name);
        return Err(PosteriorError::Lost { path });
    }
    check_links(posterior)?;
    posterior.check_whole(&[
        Folder::DATA,
        Folder::DIAGNOSTICS,
        Folder::TRUST,
        Folder::ROWS,
    ])
}

/// The draws say how many rows they move: a links file that was cut short would pass for one with fewer wrong links.
fn check_links(posterior: &Posterior) -> Result<(), PosteriorError> {
    let links = posterior.links.iter().flat_map(LinksSummary::chains);
    for (chain, links) in posterior.chains.iter().zip(links) {
        let num_moved = chain.column("n_moved__").map(|moved| moved.iter().sum());
        let num_saved: usize = (0..links.num_rows()).map(|row| links.row(row).len()).sum();
        if num_moved.is_some_and(|num_moved: f64| num_moved != num_saved as f64) {
            let number = chain.chain;
            // Whichever of the two was edited.
            let names = ["draws", "links"].map(|what| format!("{what}_{number}.csv"));
            posterior.check_whole(&names.each_ref().map(String::as_str))?;
            return Err(PosteriorError::Rows {
                path: posterior.folder.links(chain.chain),
                what: "it has not the links of all draws".into(),
            });
        }
    }
    Ok(())
}

/// The links of every draw, and the rows of the data. A fit that was killed has no rows.csv, so its data are read again.
fn read_links(posterior: &mut Posterior) -> Result<(), PosteriorError> {
    let path = posterior.folder.path();
    if let Some(text) = posterior.folder.read(Folder::ROWS)? {
        posterior.rows = parse_rows(&text, &posterior.folder.file(Folder::ROWS))?;
        let numbers: Vec<usize> = posterior.rows.iter().map(|row| row.number).collect();
        let places = posterior.data.as_ref();
        let places = places.and_then(|data| data.places.clone());
        let numbers = RowNumbers::with_places(&numbers, &places.unwrap_or_default());
        posterior.links = LinksSummary::read(path, &posterior.chains, numbers)?;
        return Ok(());
    }
    posterior.check_data_unchanged()?;
    let data = data::read(&posterior.config.data)?;
    let numbers = RowNumbers::of(&data);
    posterior.links = LinksSummary::read(path, &posterior.chains, numbers)?;
    posterior.set_rows(&data);
    Ok(())
}

impl Posterior {
    /// Refuses a fit whose config.json is not as the fit wrote it, except for paths: rows and columns would be others.
    pub fn check_config_unchanged(&self) -> Result<(), PosteriorError> {
        self.versions.check_unchanged(&self.config, &self.folder)
    }

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
