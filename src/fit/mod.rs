//! A fit from config to output: prepare (all that `check` does), sample, compare, judge, report.

mod baselines;
mod initial;
mod judge;
mod predictive;
mod prepare;
pub mod run;
mod sample;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use thiserror::Error;

use crate::baseline::compare::CompareError;
use crate::config::ConfigError;
use crate::data::DataError;
use crate::model::stan::StanError;
use crate::model::{AgreementError, ModelError, WeightsError};
use crate::posterior::draws::DrawsError;
use crate::posterior::{Folder, Posterior, PosteriorError};
use crate::report::{self, ReportError};
use crate::sampler::chain::{ChainError, Observer};

pub(crate) use predictive::{draw_responses, drawn_family};
pub use prepare::{Prepared, Program, prepare, prepare_with, read_data, stan_source};

#[derive(Debug, Error)]
pub enum FitError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Stan(#[from] StanError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Agreement(#[from] AgreementError),
    #[error(transparent)]
    Weights(#[from] WeightsError),
    #[error(
        "{label} declares no `alpha` in its data block, so the temperature cannot be other than 1: add `real<lower=0, upper=1> alpha;` and multiply the likelihood by it"
    )]
    NoAlpha { label: String },
    #[error(transparent)]
    Chain(#[from] ChainError<ModelError>),
    #[error(transparent)]
    Draws(#[from] DrawsError),
    #[error(transparent)]
    Posterior(#[from] PosteriorError),
    #[error(transparent)]
    Compare(#[from] CompareError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error("{} already holds a fit: choose another `output`, or replace it with --force", path.display())]
    OutputExists { path: PathBuf },
    #[error("cannot write to {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Refuses an output folder that holds a fit, unless it may be replaced.
pub fn check_output(output: &Path, force: bool) -> Result<(), FitError> {
    if Folder::new(output).exists() && !force {
        return Err(FitError::OutputExists {
            path: output.to_path_buf(),
        });
    }
    Ok(())
}

/// How to run a fit, besides what its config says.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// Chains at once; draws do not depend on it.
    pub num_threads: usize,
    /// Whether to set further estimators beside the fit.
    pub compare: bool,
}

impl Prepared {
    /// Fits: samples, sets other estimators beside the draws, checks the model behind the links, and writes the report. All
    /// files are in the output folder of the config; the report is there where there are draws.
    pub fn fit(
        &self,
        options: &FitOptions,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Posterior, FitError> {
        let mut posterior = self.sample(options.num_threads, stop, observer)?;
        self.compare(&mut posterior, options.compare)?;
        self.judge(&mut posterior, options.num_threads, stop)?;
        if !posterior.chains.is_empty() {
            self.check_predictive(&mut posterior)?;
            report::write(&posterior)?;
        }
        Ok(posterior)
    }
}
