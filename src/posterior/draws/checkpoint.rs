//! checkpoint_<chain>.json: where a chain stands, so that `fit --resume` goes on from there.

use serde::{Deserialize, Serialize};

use crate::posterior::{Folder, PosteriorError};
use crate::sampler::chain::ChainState;

/// Raised whenever a saved state means something else than before, as other coordinates of HMC do: going on from one of
/// another format would sample from a wrong place without a word.
const FORMAT: u32 = 4;

/// The saved state of one chain. It vouches for the first [`Checkpoint::num_draws`] draws in the chain's files.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Checkpoint {
    #[serde(default)]
    format: u32,
    /// The time of the fit so far, over all its runs.
    pub seconds: f64,
    pub state: ChainState,
}

impl Checkpoint {
    pub fn new(seconds: f64, state: ChainState) -> Checkpoint {
        Checkpoint {
            format: FORMAT,
            seconds,
            state,
        }
    }

    /// None for a chain that has not been saved yet.
    pub fn read(folder: &Folder, chain: usize) -> Result<Option<Checkpoint>, PosteriorError> {
        let name = Folder::checkpoint(chain);
        let saved = folder.read_json(&name).map_err(|error| match error {
            PosteriorError::Json { path, .. } | PosteriorError::Rows { path, .. } => {
                PosteriorError::Checkpoint { path, chain }
            }
            error => error,
        })?;
        match saved {
            Some(Checkpoint { format, .. }) if format != FORMAT => {
                Err(PosteriorError::OtherVersion {
                    path: folder.file(&name),
                })
            }
            saved => Ok(saved),
        }
    }

    /// Replaces the earlier checkpoint of the chain; one of the two is there at every moment.
    pub fn write(&self, folder: &Folder) -> std::io::Result<()> {
        let text = serde_json::to_string(self).expect("plain JSON");
        folder.replace(&Folder::checkpoint(self.state.outcome.chain), text + "\n")
    }

    pub fn num_draws(&self) -> usize {
        self.state.outcome.num_draws
    }
}
