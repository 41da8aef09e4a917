//! checkpoint_<chain>.json: where a chain stands, so that `fit --resume` goes on from there.

use serde::{Deserialize, Serialize};

use crate::data::text_sha256;
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
    /// The SHA-256 of the text without this entry, which is the last one. Where it was removed, only the draws can tell of an edit.
    #[serde(skip_serializing, default)]
    sha256: Option<String>,
}

impl Checkpoint {
    pub fn new(seconds: f64, state: ChainState) -> Checkpoint {
        Checkpoint {
            format: FORMAT,
            seconds,
            state,
            sha256: None,
        }
    }

    /// None for a chain that has not been saved yet.
    pub fn read(folder: &Folder, chain: usize) -> Result<Option<Checkpoint>, PosteriorError> {
        let name = Folder::checkpoint(chain);
        let saved: Option<Checkpoint> = folder.read_json(&name).map_err(|error| match error {
            PosteriorError::Json { path, .. } | PosteriorError::Rows { path, .. } => {
                PosteriorError::Checkpoint { path, chain }
            }
            error => error,
        })?;
        let path = || folder.file(&name);
        match &saved {
            Some(saved) if saved.format != FORMAT => {
                Err(PosteriorError::OtherVersion { path: path() })
            }
            Some(saved) if !saved.is_of(&folder.read(&name)?.unwrap_or_default()) => {
                Err(PosteriorError::Checkpoint {
                    path: path(),
                    chain,
                })
            }
            _ => Ok(saved),
        }
    }

    /// Whether the text is as it was written: going on from an edited state would give draws of no posterior.
    fn is_of(&self, text: &str) -> bool {
        let Some(sha256) = &self.sha256 else {
            return true;
        };
        let body = text.trim_end().strip_suffix(&entry(sha256));
        body.is_some_and(|body| text_sha256(body) == *sha256)
    }

    /// Replaces the earlier checkpoint of the chain; one of the two is there at every moment.
    pub fn write(&self, folder: &Folder) -> std::io::Result<()> {
        let text = serde_json::to_string(self).expect("plain JSON");
        let body = text.strip_suffix('}').expect("it is an object");
        let text = format!("{body}{}\n", entry(&text_sha256(body)));
        folder.replace(&Folder::checkpoint(self.state.outcome.chain), text)
    }

    pub fn num_draws(&self) -> usize {
        self.state.outcome.num_draws
    }
}

/// The end of a checkpoint's text.
fn entry(sha256: &str) -> String {
    format!(",\"sha256\":\"{sha256}\"}}")
}
