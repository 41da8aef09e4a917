//! All chains of a fit: threads, random number streams, interruption.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rand::RngCore;

use crate::adapt::{AdaptationSettings, Sampling};
use crate::chain::{Chain, ChainError, ChainOutcome, ChainSettings, Observer};
use crate::config::{Config, Metric, Trajectory};
use crate::data::Dataset;
use crate::draws::{ChainHeader, CsvWriter, SAMPLER_COLUMNS};
use crate::hmc::MetricKind;
use crate::model::{DrawOutputs, StanModel, ThetaGivenPi, initial_values};
use crate::rng;

/// What all chains share.
pub struct Run<'a> {
    pub config: &'a Config,
    pub data: &'a Dataset,
    pub model: &'a StanModel,
    pub output: &'a Path,
    pub num_threads: usize,
    /// Set by Ctrl-C; every chain ends after its current iteration.
    pub stop: &'a AtomicBool,
    pub observer: &'a dyn Observer,
}

impl Run<'_> {
    /// Runs every chain, `num_threads` at a time. A chain's draws depend on the seed and its number alone.
    pub fn chains(&self) -> Result<Vec<ChainOutcome>, ChainError> {
        let num_chains = self.config.sampler.chains;
        let next = AtomicUsize::new(1);
        let outcomes = Mutex::new(Vec::with_capacity(num_chains));
        std::thread::scope(|scope| {
            for _ in 0..self.num_threads.clamp(1, num_chains) {
                scope.spawn(|| {
                    loop {
                        let chain = next.fetch_add(1, Ordering::Relaxed);
                        // A chain that never starts leaves no file, so that those that ran can be summarised.
                        if chain > num_chains || self.stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let outcome = self.chain(chain);
                        if outcome.is_err() {
                            self.stop.store(true, Ordering::Relaxed);
                        }
                        outcomes.lock().expect("no panics").push(outcome);
                    }
                });
            }
        });
        let outcomes = outcomes.into_inner().expect("no panics");
        let mut outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
        outcomes.sort_by_key(|outcome: &ChainOutcome| outcome.chain);
        Ok(outcomes)
    }

    fn chain(&self, id: usize) -> Result<ChainOutcome, ChainError> {
        let mut rng = rng::stream(self.config.sampler.seed, id);
        let mut stan_rng = self.model.rng(rng.next_u32())?;
        let aligned = &self.data.response;
        let start = initial_values(
            self.model,
            &self.config.sampler.init,
            (&self.config.model.response, aligned),
            self.data,
            id,
            &mut rng,
            &mut stan_rng,
        )?;
        let path = self.output.join(format!("draws_{id}.csv"));
        let writer = CsvWriter::create(&path, &self.header(id), &self.columns());
        let writer = writer.map_err(|source| ChainError::Write {
            chain: id,
            path: path.clone(),
            source,
        })?;
        let density = ThetaGivenPi::new(self.model, aligned);
        let outputs = DrawOutputs::new(self.model, stan_rng);
        let chain = Chain::new(id, self.settings(), density, start, rng, outputs)?;
        let outcome = chain.run(writer, path.clone(), self.stop, self.observer)?;
        if outcome.num_draws == 0 {
            // Readers refuse a chain without draws, and with it all the others.
            fs::remove_file(&path).map_err(|source| ChainError::Write {
                chain: id,
                path,
                source,
            })?;
        }
        Ok(outcome)
    }

    fn settings(&self) -> ChainSettings {
        let sampler = &self.config.sampler;
        ChainSettings {
            adaptation: AdaptationSettings {
                num_warmup: sampler.warmup,
                target_accept: sampler.target_accept,
                metric: match sampler.metric {
                    Metric::Dense => MetricKind::Dense,
                    Metric::Diagonal => MetricKind::Diagonal,
                },
                sampling: match sampler.trajectory {
                    Trajectory::Nuts => Sampling::Nuts,
                    Trajectory::Static => Sampling::Static,
                },
            },
            num_draws: sampler.draws,
            thin: sampler.thin,
            max_depth: sampler.max_depth,
        }
    }

    fn columns(&self) -> Vec<String> {
        let sampler = SAMPLER_COLUMNS.iter().map(|name| name.to_string());
        sampler
            .chain(self.model.output_names().iter().cloned())
            .collect()
    }

    fn header(&self, chain: usize) -> ChainHeader {
        let sampler = &self.config.sampler;
        ChainHeader {
            model: self.model.name().to_string(),
            stan_version: self.model.stan_version(),
            num_draws: sampler.draws,
            num_warmup: sampler.warmup,
            thin: sampler.thin,
            target_accept: sampler.target_accept,
            max_depth: sampler.max_depth as usize,
            engine: match sampler.trajectory {
                Trajectory::Nuts => "nuts",
                Trajectory::Static => "static",
            },
            dense_metric: sampler.metric == Metric::Dense,
            seed: sampler.seed,
            chain,
            data_file: self.config.data.file.display().to_string(),
        }
    }
}
