//! A finished fit and the data it was fitted to, for commands that need both.

use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use crate::config::{self, Config, ConfigError};
use crate::data::{DataError, files_sha256};
use crate::posterior::draws::{ChainDraws, DrawsError, read_output};

#[derive(Debug, Error)]
pub enum SavedFitError {
    #[error(transparent)]
    Draws(#[from] DrawsError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(
        "{files} changed since the fit in {}: put the data of the fit back, or fit again with --force", folder.display()
    )]
    Changed { files: String, folder: PathBuf },
}

pub struct SavedFit {
    pub folder: PathBuf,
    pub config: Config,
    pub chains: Vec<ChainDraws>,
}

impl SavedFit {
    /// Refuses a fit whose data files are not as they were: its row numbers would mean other rows.
    pub fn read(folder: &Path) -> Result<SavedFit, SavedFitError> {
        let chains = read_output(folder)?;
        let file = folder.join("config.json");
        let config = config::load(&file, &[])?;
        let saved: Value = config::load_value(&file, &[])?;
        let then = saved["versions"]["data_sha256"].as_str();
        // A file that is gone is told by whoever reads it.
        let now = files_sha256(&config.data.files());
        if let (Some(then), Some(now)) = (then, now)
            && then != now
        {
            return Err(SavedFitError::Changed {
                files: config.data.label(),
                folder: folder.to_path_buf(),
            });
        }
        Ok(SavedFit {
            folder: folder.to_path_buf(),
            config,
            chains,
        })
    }

    pub fn num_draws(&self) -> usize {
        self.chains.iter().map(ChainDraws::num_draws).sum()
    }

    /// Chain and draw, both from 0, of the `index`-th of all draws.
    pub fn place(&self, mut index: usize) -> (usize, usize) {
        for (chain, draws) in self.chains.iter().enumerate() {
            if index < draws.num_draws() {
                return (chain, index);
            }
            index -= draws.num_draws();
        }
        panic!("there are only {} draws", self.num_draws());
    }
}
