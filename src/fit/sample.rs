//! The chains of a fit, and the files that they and their summary fill.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::output::{Existing, Output};
use super::run::Run;
use super::{FitError, Prepared};
use crate::config::Config;
use crate::posterior::diagnostics::write_csv;
use crate::posterior::draws::{
    ChainDraws, ChainSample, Checkpoints, DrawsError, LinkDraws, common_length, cut_files,
};
use crate::posterior::links::{LinksSummary, RowNumbers};
use crate::posterior::{DataSummary, Diagnostics, Folder, Posterior, Versions};
use crate::sampler::chain::{ChainOutcome, Observer};
use crate::text::FileError;

impl Prepared {
    /// Samples all chains, and writes the draws, their links, their summary and their diagnostics. A fit that is in the
    /// output folder is replaced. Chains are not saved on the way: see [`Prepared::fit`] for a fit that can be resumed.
    pub fn sample(
        &self,
        num_threads: usize,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Posterior, FitError> {
        self.check_room()?;
        let mut output = Output::open(self, Existing::Replace)?;
        let sampled = self.sample_into(&output.work, num_threads, None, stop, observer);
        let sampled = sampled.and_then(|mut posterior| {
            output.settle(&mut posterior)?;
            Ok(posterior)
        });
        output.end(sampled)
    }

    /// Samples what the checkpoints in the folder do not vouch for yet: all draws where there are none.
    pub(super) fn sample_into(
        &self,
        folder: &Folder,
        num_threads: usize,
        checkpoint_every: Option<Duration>,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Posterior, FitError> {
        let saved = self.checkpoints(folder)?;
        let checkpoints = Checkpoints {
            every: checkpoint_every,
            start: Instant::now(),
            earlier_seconds: saved.iter().map(|saved| saved.seconds).fold(0.0, f64::max),
        };
        self.write_input(folder)?;
        let responses = self.program_data().responses();
        let run = self.run(&self.config, &responses, num_threads, stop, observer);
        let mut chains =
            run.to_files(folder, 1..=self.config.sampler.chains, saved, checkpoints)?;
        self.even_out(folder, &mut chains)?;
        let mut posterior = self.posterior(folder.clone(), chains);
        self.write_summary(&mut posterior, checkpoints)?;
        Ok(posterior)
    }

    /// Cuts the chains of an interrupted fit to one length. Draws beyond it stay beside the checkpoints.
    fn even_out(
        &self,
        folder: &Folder,
        chains: &mut [(ChainOutcome, ChainSample)],
    ) -> Result<(), FitError> {
        let lengths = chains.iter().map(|(_, sample)| sample.draws.num_draws());
        let lengths: Vec<usize> = lengths.collect();
        let common = common_length(&lengths);
        for ((outcome, sample), length) in chains.iter_mut().zip(lengths) {
            // A chain without draws has no file.
            let num_kept = if length < common { 0 } else { common };
            if num_kept < length {
                cut_files(folder, outcome.chain, num_kept, self.config.sampler.thin)
                    .map_err(FileError::write(folder.draws(outcome.chain)))
                    .map_err(DrawsError::from)?;
                sample.truncate(num_kept);
            }
        }
        Ok(())
    }

    /// Writes what a fit begins with; results of fewer draws are removed.
    pub(super) fn write_input(&self, folder: &Folder) -> Result<(), FitError> {
        folder.clear_results()?;
        folder.write(Folder::PROGRAM, &self.program.text)?;
        folder.write_json(Folder::DATA, &self.data_summary())?;
        Ok(folder.replace_json(Folder::CONFIG, &self.saved_config())?)
    }

    /// Samples all chains and checks the model behind the links, without any file.
    pub fn in_memory(
        &self,
        num_threads: usize,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Posterior, FitError> {
        let responses = self.program_data().responses();
        let run = self.run(&self.config, &responses, num_threads, stop, observer);
        let mut posterior = self.posterior(Folder::new(&self.config.output), run.in_memory()?);
        self.check(&mut posterior, num_threads, stop)?;
        Ok(posterior)
    }

    /// What the chains have sampled, as one posterior.
    fn posterior(&self, folder: Folder, chains: Vec<(ChainOutcome, ChainSample)>) -> Posterior {
        let (outcomes, samples): (Vec<ChainOutcome>, Vec<ChainSample>) = chains.into_iter().unzip();
        let (draws, links) = split(samples);
        let mut posterior = Posterior::of(folder, self.config.clone(), draws);
        let numbers = RowNumbers::of(&self.data);
        posterior.links = links.map(|links| LinksSummary::of(links, numbers));
        posterior.versions = self.versions();
        posterior.program = Some(self.program.text.clone());
        posterior.data = Some(self.data_summary());
        posterior.diagnostics = Some(Diagnostics {
            num_rows: Some(self.data.num_rows()),
            interrupted: outcomes.len() < self.config.sampler.chains
                || outcomes.iter().any(|outcome| outcome.interrupted),
            chains: outcomes,
            ..Diagnostics::default()
        });
        posterior.set_rows(&self.data);
        posterior
    }

    /// Writes what follows from the draws.
    fn write_summary(
        &self,
        posterior: &mut Posterior,
        checkpoints: Checkpoints,
    ) -> Result<(), FitError> {
        let folder = &posterior.folder;
        if let Some(links) = &posterior.links {
            let has_outside = self.outside.is_some();
            links.write(folder, &posterior.rows, has_outside)?;
        }
        let mut csv = Vec::new();
        let label = |name: &str| posterior.name_of(name);
        write_csv(posterior.summary(), label, &mut csv).expect("writing to memory does not fail");
        folder.write(Folder::SUMMARY, csv)?;
        let findings = posterior.findings().to_vec();
        if let Some(diagnostics) = &mut posterior.diagnostics {
            diagnostics.findings = findings;
            diagnostics.seconds = checkpoints.seconds();
            posterior
                .folder
                .write_json(Folder::DIAGNOSTICS, diagnostics)?;
        }
        Ok(())
    }

    /// The chains of a config, which may be another one than that of the fit.
    pub(super) fn run<'a>(
        &'a self,
        config: &'a Config,
        responses: &'a [f64],
        num_threads: usize,
        stop: &'a AtomicBool,
        observer: &'a dyn Observer,
    ) -> Run<'a> {
        Run {
            config,
            data: &self.data,
            program_data: self.program_data(),
            responses,
            model: &self.model,
            coordinates: self.coordinates.as_ref(),
            gaussian: self.gaussian.as_ref(),
            prior: (self.with_places.as_ref()).map_or(&self.prior, |with| &with.prior),
            outside: self.outside.as_ref(),
            rates: self.rates.as_ref(),
            num_block_rates: self.num_block_rates(),
            pair_responses: OnceLock::new(),
            starting: Mutex::new(()),
            num_threads,
            stop,
            observer,
        }
    }

    /// With the labels of the blocks, where these have rates of their own.
    fn plain_data_summary(&self) -> DataSummary {
        let mut summary = DataSummary::new(&self.data, self.prior.space());
        if let (Some(blocks), true) = (&self.data.blocks, self.num_block_rates() > 0) {
            summary.rate_names = Some(blocks.labels.clone());
        }
        summary
    }

    fn data_summary(&self) -> DataSummary {
        DataSummary {
            priors: Some(self.priors.clone()),
            spread: self.spread(),
            num_movable: self.num_movable(),
            ..self.plain_data_summary()
        }
    }

    pub(super) fn versions(&self) -> Versions {
        Versions {
            unshuffle: Some(env!("CARGO_PKG_VERSION").into()),
            stan: Some(self.model.stan_version()),
            toolchain: Some(self.program.toolchain.clone()),
            data_sha256: self.data_sha256.clone(),
            settings_sha256: Some(self.config.settings_sha256()),
        }
    }

    /// The config with every default written out; reading it again repeats the fit.
    fn saved_config(&self) -> Value {
        let mut value = serde_json::to_value(&self.config).expect("a config is plain JSON");
        value["versions"] = serde_json::to_value(self.versions()).expect("plain JSON");
        value
    }
}

/// The draws of the chains that have any, and their links where links are updated.
pub(super) fn split(samples: Vec<ChainSample>) -> (Vec<ChainDraws>, Option<Vec<LinkDraws>>) {
    let sampled = samples.into_iter();
    let sampled = sampled.filter(|sample| sample.draws.num_draws() > 0);
    let (draws, links): (Vec<_>, Vec<_>) = sampled.map(|s| (s.draws, s.links)).unzip();
    let links: Option<Vec<LinkDraws>> = links.into_iter().collect();
    (draws, links.filter(|links| !links.is_empty()))
}
