//! A fit from config to output: prepare (all that `check` does), sample, compare, judge, report.

mod baselines;
mod chains;
mod initial;
mod judge;
mod of_data;
mod output;
mod predictive;
mod prepare;
mod request;
mod resources;
mod responses;
mod resume;
pub mod run;
mod sample;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thiserror::Error;

use crate::baseline::compare::CompareError;
use crate::config::ConfigError;
use crate::data::DataError;
use crate::model::stan::StanError;
use crate::model::{AgreementError, ModelError, WeightsError};
pub(crate) use crate::numerics::memory::return_large_arrays;
use crate::posterior::draws::DrawsError;
use crate::posterior::{Posterior, PosteriorError};
use crate::report::{self, ReportError};
use crate::sampler::chain::{ChainError, Observer};
use crate::text::FileError;

pub use chains::ChainStand;
use output::Output;
pub use output::{Existing, check_output, check_writable};
pub use prepare::{Prepared, Program, prepare, prepare_with, read_data, stan_source};
pub use request::Fit;
pub use resume::Found;

/// Why a fit could not be made; its text is one sentence that names file, field and fix.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the sentence of a variant names its fields")]
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
    /// An offset, for a program that takes none.
    #[error(
        "{label} takes no offset, which the config's data have: choose a shipped model other than mean_shift and multivariate, or declare `int<lower=0, upper=1> has_offset;` and `vector[has_offset * N] offsets;` in the program's data and add `offsets` to X * beta where `has_offset` is 1"
    )]
    NoOffset { label: String },
    /// Terms by group in a formula, for a program that has none.
    #[error(
        "the formula has terms by group of `{column}`, which {label} does not have: choose \"stan\": \"hierarchical\" in the config's model, or declare J, L, group and Z in the program's data"
    )]
    NoGroups { label: String, column: String },
    /// The program of terms by group, for a formula that has none.
    #[error(
        "{label} needs a term by group in data.formula, such as (1 | region) or (1 + x | region); add one, or choose \"stan\": \"linear\""
    )]
    GroupsMissing { label: String },
    /// A starting value of a parameter that the program does not have.
    #[error("sampler.init has a value for `{name}`, which is no parameter of {label}; {advice}")]
    UnknownInit {
        name: String,
        label: String,
        advice: String,
    },
    /// An entry of the data that the program does not declare.
    #[error(
        "model.data has an entry `{name}`, which is not in the data block of {label}; {advice}"
    )]
    UnknownEntry {
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
    /// The output folder cannot be made, or cannot be written to.
    #[error("cannot write to {} ({reason}); choose another `output`", path.display())]
    NotWritable { path: PathBuf, reason: String },
    /// The output folder holds a fit already.
    #[error(
        "{} already holds a fit: choose another `output`, replace it with --force, or go on with it with --resume", path.display()
    )]
    OutputExists { path: PathBuf },
    /// The fit to be resumed has no saved states.
    #[error("the fit in {} is of an older version without checkpoints: fit again with --force", path.display())]
    NoCheckpoints { path: PathBuf },
    /// The fit to be resumed has another config, other data or other versions.
    #[error(
        "the fit in {} cannot be resumed, since {what}: put it back, or fit again with --force", path.display()
    )]
    Differs { path: PathBuf, what: String },
    /// A chain is to be sampled alone, but its fit was not planned.
    #[error("no fit is planned in {}: run `unshuffle fit plan` first, with --resume to go on with a fit that is there", path.display())]
    NotPlanned { path: PathBuf },
    /// The config, the data or the program of a planned fit has changed.
    #[error(
        "the fit in {} was planned otherwise, since {what}: put it back, or run `unshuffle fit plan` again with --force", path.display()
    )]
    PlanChanged { path: PathBuf, what: String },
    /// The draws cannot fit on the disk, or into memory.
    #[error(
        "the draws take at least {need} {place}, where {free} are free: lower sampler.draws or sampler.chains, or raise sampler.thin"
    )]
    TooLarge {
        need: String,
        free: String,
        place: String,
    },
    /// A file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The time between two checkpoints of a chain, unless asked otherwise.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(5);

/// How to run a fit, besides what its config says.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// Chains at once; draws do not depend on it.
    pub num_threads: usize,
    /// Whether to set further estimators beside the fit.
    pub compare: bool,
    /// What to do with a fit that is already in the output folder.
    pub existing: Existing,
    /// The time between two checkpoints of a chain.
    pub checkpoint_every: Duration,
}

impl Prepared {
    /// Fits: samples, sets other estimators beside the draws, checks the model behind the links, and writes the report. All
    /// files are in the output folder of the config; the report is there where there are draws. An interrupted fit that was
    /// to replace another one stays in the folder beside it.
    pub fn fit(
        &self,
        options: &FitOptions,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Posterior, FitError> {
        self.check_room()?;
        let mut output = Output::open(self, options.existing)?;
        let fitted = self.fill(&mut output, options, stop, observer);
        output.end(fitted)
    }

    fn fill(
        &self,
        output: &mut Output,
        options: &FitOptions,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Posterior, FitError> {
        let every = Some(options.checkpoint_every);
        let mut posterior =
            self.sample_into(&output.work, options.num_threads, every, stop, observer)?;
        self.compare(&mut posterior, options.compare)?;
        self.judge(&mut posterior, options.num_threads, stop)?;
        if !posterior.chains.is_empty() && posterior.trust.is_none() {
            posterior.interrupted_after_sampling()?;
        }
        if !posterior.chains.is_empty() {
            self.check_predictive(&mut posterior)?;
        }
        if !posterior.is_interrupted() {
            output.settle(&mut posterior)?;
        }
        if !posterior.chains.is_empty() {
            report::write(&posterior)?;
        }
        Ok(posterior)
    }
}
