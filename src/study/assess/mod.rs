//! Is a file suitable? What it is like, trials with planted wrong links, and one recommendation.

mod advice;
mod description;
mod table;
mod trial;

use std::path::Path;

use serde::Serialize;
use thiserror::Error;

pub use advice::Advice;
pub use description::Description;
pub use trial::{METHODS, SHARES, Trial, Trials, check};

use crate::fit::FitError;
use crate::posterior::PosteriorError;
use crate::study::simulate::SimulateError;
use crate::text::{FileError, make_folder, text_if_there, write_whole};

pub const ASSESS_JSON: &str = "assess.json";
pub const ASSESS_SVG: &str = "assess.svg";

#[derive(Debug, Error)]
pub enum AssessError {
    #[error(
        "`permutation.update` is \"none\", so every link stays and there is nothing to assess; remove it"
    )]
    LinksStay,
    #[error(
        "the file has no predictor besides the intercept, so no slope that wrong links could change; name its predictors in `data`"
    )]
    NoSlopes,
    #[error(
        "no two rows can exchange their links, so there is nothing to assess: every row is safe or alone in its block"
    )]
    NothingMoves,
    #[error("no wrong links could be planted")]
    Plant(#[source] SimulateError),
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error(transparent)]
    File(#[from] FileError),
}

/// assess.json.
#[derive(Debug, Clone, Serialize)]
pub struct Assessment {
    /// The name of the config.
    pub name: String,
    pub description: Description,
    pub trials: Vec<Trial>,
    /// Seconds that a fit with the config's own settings will take.
    pub expected_seconds: f64,
    pub advice: Advice,
}

impl Assessment {
    /// Refuses a folder that cannot be written to, before minutes of fits, and files of these names that no assessment wrote.
    pub fn check_place(folder: &Path) -> Result<(), AssessError> {
        let is_new = !folder.exists();
        make_folder(folder)?;
        tempfile::tempfile_in(folder).map_err(FileError::write_to(folder))?;
        if is_new {
            let _ = std::fs::remove_dir(folder);
        }
        let json = text_if_there(&folder.join(ASSESS_JSON))?;
        let is_ours = json.is_some_and(|text| text.contains("\"expected_seconds\""));
        let files = [ASSESS_JSON, ASSESS_SVG].map(|name| folder.join(name));
        match files.into_iter().find(|path| path.exists() && !is_ours) {
            None => Ok(()),
            Some(path) => Err(FitError::from(PosteriorError::NotOurs { path }).into()),
        }
    }

    /// Writes assess.json and assess.svg, and nothing else.
    pub fn write(&self, folder: &Path) -> Result<(), AssessError> {
        make_folder(folder)?;
        let json = serde_json::to_string_pretty(self).expect("plain JSON") + "\n";
        for (name, text) in [(ASSESS_JSON, json), (ASSESS_SVG, self.figure().svg())] {
            let path = folder.join(name);
            write_whole(&path, text)?;
        }
        Ok(())
    }
}
