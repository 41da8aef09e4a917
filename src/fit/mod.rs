//! A fit from config to output: prepare (all that `check` does), sample, compare, judge, report.

mod baselines;
mod initial;
mod judge;
mod predictive;
mod prepare;
mod request;
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
pub use request::Fit;

/// Why a fit could not be made; its text is one sentence that names file, field and fix.
#[derive(Debug, Error)]
pub enum FitError {
    /// The config cannot be read, or asks for what cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data files cannot be read, or hold what a regression cannot use.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The Stan program cannot be compiled, or the toolchain is missing.
    #[error(transparent)]
    Stan(#[from] StanError),
    /// The program does not declare what unshuffle needs.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The program and the family of the config disagree.
    #[error(transparent)]
    Agreement(#[from] AgreementError),
    /// The program does not use its row weights as it must.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The program has no power of the likelihood.
    #[error(
        "{label} declares no `alpha` in its data block, so the temperature cannot be other than 1: add `real<lower=0, upper=1> alpha;` and multiply the likelihood by it"
    )]
    NoAlpha { label: String },
    /// A starting value of a parameter that the program does not have.
    #[error("sampler.init has a value for `{name}`, which is no parameter of {label}; {advice}")]
    UnknownInit {
        name: String,
        label: String,
        advice: String,
    },
    /// A quantity of the program has a name of the results.
    #[error(
        "{label} has a quantity `{name}`, which is what unshuffle calls one of its own in the results; rename it"
    )]
    ReservedName { label: String, name: String },
    /// A chain stopped.
    #[error(transparent)]
    Chain(#[from] ChainError<ModelError>),
    /// Draws cannot be read.
    #[error(transparent)]
    Draws(#[from] DrawsError),
    /// A file of the output folder cannot be read or written.
    #[error(transparent)]
    Posterior(#[from] PosteriorError),
    /// The truth, or a baseline, cannot be compared.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// The report cannot be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The output folder holds a fit already.
    #[error("{} already holds a fit: choose another `output`, or replace it with --force", path.display())]
    OutputExists { path: PathBuf },
    /// A file cannot be written.
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
