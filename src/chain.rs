//! One chain: Step 1 (theta given the links, by HMC) in every iteration, saved as it is sampled.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use thiserror::Error;

use crate::adapt::{Adaptation, AdaptationSettings};
use crate::draws::CsvWriter;
use crate::hmc::{Kernel, MovingTarget, State, StepInfo};
use crate::model::{DrawOutputs, EvalError, ModelError, ThetaGivenPi};
use crate::rng::ChainRng;

#[derive(Debug, Error)]
pub enum ChainError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("chain {chain} stopped: {source}")]
    Eval {
        chain: usize,
        #[source]
        source: EvalError,
    },
    #[error("cannot write the draws of chain {chain} to {}", path.display())]
    Write {
        chain: usize,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Told of every iteration; must be quick.
pub trait Observer: Sync {
    fn iteration(&self, progress: Progress);
}

#[derive(Debug, Clone, Copy)]
pub struct Progress {
    pub chain: usize,
    pub done: usize,
    pub total: usize,
    pub warming_up: bool,
    pub num_divergences: usize,
}

/// Says nothing.
pub struct Silent;

impl Observer for Silent {
    fn iteration(&self, _progress: Progress) {}
}

#[derive(Debug, Clone, Copy)]
pub struct ChainSettings {
    pub adaptation: AdaptationSettings,
    pub num_draws: usize,
    pub thin: usize,
    pub max_depth: u32,
}

/// What a finished, or interrupted, chain has to say of itself.
#[derive(Debug, Clone, Serialize)]
pub struct ChainOutcome {
    pub chain: usize,
    pub num_draws: usize,
    pub num_divergences: usize,
    pub num_divergences_warmup: usize,
    pub num_treedepth_hits: usize,
    pub num_gradients: u64,
    pub step_size: f64,
    pub warmup_seconds: f64,
    pub sampling_seconds: f64,
    pub interrupted: bool,
}

pub struct Chain<'m> {
    pub id: usize,
    pub settings: ChainSettings,
    target: MovingTarget<ThetaGivenPi<'m>>,
    state: State,
    kernel: Kernel,
    adaptation: Adaptation,
    rng: ChainRng,
    outputs: DrawOutputs<'m>,
    num_gradients: u64,
}

impl<'m> Chain<'m> {
    pub fn new(
        id: usize,
        settings: ChainSettings,
        density: ThetaGivenPi<'m>,
        start: Vec<f64>,
        mut rng: ChainRng,
        outputs: DrawOutputs<'m>,
    ) -> Result<Chain<'m>, ChainError> {
        let failed = |source| ChainError::Eval { chain: id, source };
        let mut target = MovingTarget::new(density);
        let state = State::new(start, &mut target).map_err(failed)?;
        let mut kernel = Kernel::nuts(target.dim(), settings.max_depth);
        let adaptation = Adaptation::start(
            settings.adaptation,
            &mut kernel,
            &mut target,
            &state,
            &mut rng,
        )
        .map_err(failed)?;
        Ok(Chain {
            id,
            settings,
            target,
            state,
            kernel,
            adaptation,
            rng,
            outputs,
            num_gradients: 0,
        })
    }

    /// Warm-up, then draws into `writer`. `stop` ends it after the current iteration.
    pub fn run(
        mut self,
        mut writer: CsvWriter,
        path: PathBuf,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<ChainOutcome, ChainError> {
        let chain = self.id;
        let write_error = |source| ChainError::Write {
            chain,
            path: path.clone(),
            source,
        };
        let num_warmup = self.settings.adaptation.num_warmup;
        let total = num_warmup + self.settings.num_draws;
        let mut outcome = ChainOutcome::new(chain);
        let mut row = Vec::new();
        let start = Instant::now();
        let mut warmup = Duration::ZERO;
        if num_warmup == 0 {
            let (step_size, metric) = (self.kernel.step_size(), self.kernel.metric());
            writer.adaptation(step_size, metric).map_err(write_error)?;
        }
        for done in 0usize..total {
            if stop.load(Ordering::Relaxed) {
                outcome.interrupted = true;
                break;
            }
            let info = self.step_one()?;
            let warming_up = done < num_warmup;
            outcome.count(&info, warming_up, self.settings.max_depth);
            if done + 1 == num_warmup {
                warmup = start.elapsed();
                let (step_size, metric) = (self.kernel.step_size(), self.kernel.metric());
                writer.adaptation(step_size, metric).map_err(write_error)?;
            }
            if !warming_up && (done - num_warmup).is_multiple_of(self.settings.thin) {
                self.draw(&info, &mut row)?;
                writer.row(&row).map_err(write_error)?;
                outcome.num_draws += 1;
            }
            observer.iteration(Progress {
                chain,
                done: done + 1,
                total,
                warming_up,
                num_divergences: outcome.num_divergences,
            });
        }
        if outcome.interrupted && warmup.is_zero() {
            warmup = start.elapsed();
        }
        let sampling = start.elapsed().saturating_sub(warmup);
        writer.finish(warmup, sampling).map_err(write_error)?;
        outcome.num_gradients = self.num_gradients;
        outcome.step_size = self.kernel.step_size();
        outcome.warmup_seconds = warmup.as_secs_f64();
        outcome.sampling_seconds = sampling.as_secs_f64();
        Ok(outcome)
    }

    /// Step 1: theta given the links, one HMC transition.
    fn step_one(&mut self) -> Result<StepInfo, ChainError> {
        let chain = self.id;
        let failed = |source| ChainError::Eval { chain, source };
        let info = self
            .kernel
            .step(&mut self.target, &mut self.state, &mut self.rng)
            .map_err(failed)?;
        self.num_gradients += u64::from(info.num_leapfrog);
        self.adaptation
            .after_step(
                &info,
                &self.state,
                &mut self.kernel,
                &mut self.target,
                &mut self.rng,
            )
            .map_err(failed)?;
        Ok(info)
    }

    /// Everything that is saved of the current state, in the order of the file's columns.
    fn draw(&mut self, info: &StepInfo, row: &mut Vec<f64>) -> Result<(), ChainError> {
        row.clear();
        row.extend([
            self.state.log_density(),
            info.accept_stat,
            info.step_size,
            f64::from(info.tree_depth),
            f64::from(info.num_leapfrog),
            f64::from(u8::from(info.divergent)),
            info.energy,
        ]);
        let response = self.target.density().response();
        self.outputs.append(self.state.position(), response, row)?;
        Ok(())
    }
}

impl ChainOutcome {
    fn new(chain: usize) -> ChainOutcome {
        ChainOutcome {
            chain,
            num_draws: 0,
            num_divergences: 0,
            num_divergences_warmup: 0,
            num_treedepth_hits: 0,
            num_gradients: 0,
            step_size: f64::NAN,
            warmup_seconds: 0.0,
            sampling_seconds: 0.0,
            interrupted: false,
        }
    }

    fn count(&mut self, info: &StepInfo, warming_up: bool, max_depth: u32) {
        let divergent = usize::from(info.divergent);
        if warming_up {
            self.num_divergences_warmup += divergent;
        } else {
            self.num_divergences += divergent;
            self.num_treedepth_hits += usize::from(info.tree_depth >= max_depth);
        }
    }
}
