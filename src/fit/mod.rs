//! A fit from config to output: prepare (all that `check` does), sample, summarise.

mod data_summary;
mod initial;
mod judge;
mod output;
mod predictive;
mod prepare;
pub mod run;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde_json::{Value, json};
use thiserror::Error;

use crate::config::ConfigError;
use crate::data::DataError;
use crate::fit::run::Run;
use crate::model::stan::StanError;
use crate::model::{AgreementError, ModelError, WeightsError};
use crate::posterior::diagnostics::{Finding, SummaryRow, write_csv};
use crate::posterior::draws::{ChainDraws, DrawsError, read_output};
use crate::posterior::links::{LinksSummary, RowNumbers};
use crate::posterior::summary;
use crate::sampler::chain::{ChainError, ChainOutcome, Observer};

pub use data_summary::DataSummary;
pub use output::check_output;
use output::{clear_output, write, write_text};
pub use predictive::Predictive;
pub(crate) use predictive::{draw_responses, drawn_family};
pub use prepare::{
    Prepared, Program, link_space, prepare, prepare_with, prior_kind, read_data, stan_source,
};

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
    #[error("{} already holds a fit: choose another `output`, or replace it with --force", path.display())]
    OutputExists { path: PathBuf },
    #[error("cannot write to {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// What a fit leaves besides its files.
pub struct Fitted {
    pub chains: Vec<ChainDraws>,
    /// None where every link stayed as it was.
    pub links: Option<LinksSummary>,
    pub summary: Vec<SummaryRow>,
    pub findings: Vec<Finding>,
    pub outcomes: Vec<ChainOutcome>,
    pub seconds: f64,
    pub interrupted: bool,
}

impl Prepared {
    pub fn fit(
        &self,
        num_threads: usize,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Fitted, FitError> {
        let output = &self.config.output;
        clear_output(output)?;
        write(&output.join("config.json"), &self.resolved_config())?;
        write_text(&output.join("model.stan"), &self.program)?;
        let summary = DataSummary {
            priors: Some(self.priors.clone()),
            ..DataSummary::new(&self.data, self.prior.space())
        };
        let summary = serde_json::to_value(summary);
        write(&output.join("data.json"), &summary.expect("plain JSON"))?;
        let start = Instant::now();
        let run = Run {
            config: &self.config,
            data: &self.data,
            responses: &self.data.responses(),
            model: &self.model,
            coordinates: self.coordinates.as_ref(),
            prior: &self.prior,
            num_threads,
            stop,
            observer,
        };
        let outcomes = run.to_files(output)?;
        let has_draws = outcomes.iter().any(|outcome| outcome.num_draws > 0);
        let chains = if has_draws {
            read_output(output)?
        } else {
            Vec::new()
        };
        let rows = summary::rows(&chains);
        let mut findings = summary::findings(&chains, &rows);
        let numbers = RowNumbers::new(&self.data.row_numbers);
        let links = LinksSummary::read(output, &chains, numbers)?;
        if let Some(links) = &links {
            let fitted =
                summary::fitted_values(&rows, &self.data, self.config.model.response_kind());
            links.write(output, &self.data, fitted.as_deref())?;
            findings.extend(links.findings());
        }
        let drifts = outcomes
            .iter()
            .filter_map(|outcome| Some((outcome.chain, outcome.drift?)));
        findings.extend(summary::drift_findings(drifts));
        findings.extend(summary::prior_findings(Some(&self.priors), &rows));
        let interrupted = outcomes.len() < self.config.sampler.chains
            || outcomes.iter().any(|outcome| outcome.interrupted);
        let path = output.join("summary.csv");
        let mut csv = Vec::new();
        write_csv(&rows, &mut csv).expect("writing to memory does not fail");
        fs::write(&path, csv).map_err(|source| FitError::Write { path, source })?;
        let seconds = start.elapsed().as_secs_f64();
        let diagnostics = json!({
            "num_rows": self.data.num_rows(),
            "findings": findings,
            "chains": outcomes,
            "seconds": seconds,
            "interrupted": interrupted,
        });
        write(&output.join("diagnostics.json"), &diagnostics)?;
        Ok(Fitted {
            chains,
            links,
            summary: rows,
            findings,
            outcomes,
            seconds,
            interrupted,
        })
    }

    /// The config with every default written out; reading it again repeats the fit.
    fn resolved_config(&self) -> Value {
        let mut value = serde_json::to_value(&self.config).expect("a config is plain JSON");
        value["versions"] = json!({
            "unshuffle": env!("CARGO_PKG_VERSION"),
            "stan": self.model.stan_version(),
            "toolchain": self.toolchain,
            "data_sha256": self.data_sha256,
        });
        value
    }
}
