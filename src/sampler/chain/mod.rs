//! One chain: Step 1 (theta given the links, by HMC), Step 2 (the links given theta), saved as it is sampled.

mod collapsed;
mod links;
mod outcome;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::model::{ModelError, Outputs, ThetaGivenPi};
use crate::numerics::rng::ChainRng;
use crate::posterior::draws::ChainWriter;
use crate::sampler::hmc::EvalError;
use crate::sampler::hmc::warmup::{Adaptation, AdaptationSettings};
use crate::sampler::hmc::{Kernel, MovingTarget, State, StepInfo};
use crate::sampler::links::UpdateInfo;

pub use collapsed::CollapsedMove;
pub use links::Links;
pub use outcome::{ChainOutcome, Drift};

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

pub struct Chain<'m> {
    id: usize,
    settings: ChainSettings,
    target: MovingTarget<ThetaGivenPi<'m>>,
    state: State,
    /// Theta at the state's position, for Step 2 and the outputs.
    theta: Vec<f64>,
    kernel: Kernel,
    adaptation: Adaptation,
    /// None where every link stays as it is.
    links: Option<Links<'m>>,
    /// None where theta cannot be integrated out.
    collapsed: Option<CollapsedMove>,
    outputs: Outputs<'m>,
    rng: ChainRng,
    outcome: ChainOutcome,
    step_one_time: Duration,
    step_two_time: Duration,
}

impl<'m> Chain<'m> {
    /// Starts at `theta`, with the links as `links` has them.
    pub fn new(
        id: usize,
        settings: ChainSettings,
        mut density: ThetaGivenPi<'m>,
        links: Option<Links<'m>>,
        theta: Vec<f64>,
        outputs: Outputs<'m>,
        mut rng: ChainRng,
    ) -> Result<Chain<'m>, ChainError> {
        let failed = |source| ChainError::Eval { chain: id, source };
        if let Some(links) = &links {
            links.show(&mut density);
        }
        let position = density.position_of(theta.clone());
        let mut target = MovingTarget::new(density);
        let state = State::new(position, &mut target).map_err(failed)?;
        let mut kernel = Kernel::nuts(target.dim(), settings.max_depth);
        let adaptation = Adaptation::start(
            settings.adaptation,
            &mut kernel,
            &mut target,
            &state,
            &mut rng,
        )
        .map_err(failed)?;
        let outcome = ChainOutcome {
            chain: id,
            links_start: links.as_ref().map(|links| links.start.to_string()),
            ..ChainOutcome::default()
        };
        Ok(Chain {
            id,
            settings,
            target,
            state,
            theta,
            kernel,
            adaptation,
            links,
            collapsed: None,
            outputs,
            rng,
            outcome,
            step_one_time: Duration::ZERO,
            step_two_time: Duration::ZERO,
        })
    }

    /// Adds joint moves of the links and theta to Step 2.
    pub fn with_collapsed(self, collapsed: Option<CollapsedMove>) -> Chain<'m> {
        Chain { collapsed, ..self }
    }

    /// Warm-up, then draws into `writer`. `stop` ends it after the current iteration.
    pub fn run(
        mut self,
        mut writer: ChainWriter,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<ChainOutcome, ChainError> {
        let num_warmup = self.settings.adaptation.num_warmup;
        let total = num_warmup + self.settings.num_draws;
        let mut row = Vec::new();
        let mut warmup_moved = Vec::with_capacity(num_warmup);
        let start = Instant::now();
        let mut warmup = Duration::ZERO;
        for done in 0usize..total {
            if stop.load(Ordering::Relaxed) {
                self.outcome.interrupted = true;
                break;
            }
            if done == num_warmup {
                warmup = start.elapsed();
                self.adapted(&mut writer)?;
            }
            let warming_up = done < num_warmup;
            let step_one = self.step_one()?;
            let step_two = self.step_two()?;
            self.outcome
                .count(&step_one, warming_up, self.settings.max_depth);
            if warming_up && let Some(links) = &self.links {
                warmup_moved.push(links.permutation.num_moved() as f64);
            }
            if !warming_up && (done - num_warmup).is_multiple_of(self.settings.thin) {
                self.draw(&step_one, &step_two, &mut row)?;
                let rng = &mut self.rng;
                let moved = self.links.as_mut().map(|links| links.reported(rng));
                let written = writer.draw(&row, moved.transpose()?);
                written.map_err(|source| self.write_error(&writer, source))?;
                self.outcome.num_draws += 1;
            }
            observer.iteration(Progress {
                chain: self.id,
                done: done + 1,
                total,
                warming_up,
                num_divergences: self.outcome.num_divergences,
            });
        }
        let sampling = start.elapsed().saturating_sub(warmup);
        if self.outcome.interrupted && warmup.is_zero() {
            warmup = start.elapsed();
            self.adapted(&mut writer)?;
        }
        let path = writer.path().to_path_buf();
        writer
            .finish(warmup, sampling)
            .map_err(|source| ChainError::Write {
                chain: self.id,
                path,
                source,
            })?;
        self.outcome.drift = outcome::drift(&warmup_moved);
        self.outcome.collapsed_accept_rate =
            (self.collapsed.as_ref()).and_then(CollapsedMove::accept_rate);
        self.outcome.step_size = self.kernel.step_size();
        self.outcome.warmup_seconds = warmup.as_secs_f64();
        self.outcome.sampling_seconds = sampling.as_secs_f64();
        self.outcome.step_one_seconds = self.step_one_time.as_secs_f64();
        self.outcome.step_two_seconds = self.step_two_time.as_secs_f64();
        Ok(self.outcome)
    }

    fn adapted(&self, writer: &mut ChainWriter) -> Result<(), ChainError> {
        let written = writer.adaptation(self.kernel.step_size(), self.kernel.metric());
        written.map_err(|source| self.write_error(writer, source))
    }

    fn write_error(&self, writer: &ChainWriter, source: io::Error) -> ChainError {
        ChainError::Write {
            chain: self.id,
            path: writer.path().to_path_buf(),
            source,
        }
    }

    /// Step 1: theta given the links, one HMC transition.
    fn step_one(&mut self) -> Result<StepInfo, ChainError> {
        let start = Instant::now();
        let chain = self.id;
        let failed = |source| ChainError::Eval { chain, source };
        let info = self
            .kernel
            .step(&mut self.target, &mut self.state, &mut self.rng)
            .map_err(failed)?;
        self.adaptation
            .after_step(
                &info,
                &self.state,
                &mut self.kernel,
                &mut self.target,
                &mut self.rng,
            )
            .map_err(failed)?;
        self.outcome.num_gradients += u64::from(info.num_leapfrog);
        self.step_one_time += start.elapsed();
        Ok(info)
    }

    /// Step 2: the links given theta, after a joint move of both where that is possible. Where they moved, theta's density is evaluated anew under them.
    fn step_two(&mut self) -> Result<UpdateInfo, ChainError> {
        let Some(links) = &mut self.links else {
            return Ok(UpdateInfo::default());
        };
        let start = Instant::now();
        let density = self.target.density();
        density.theta_at(self.state.position(), &mut self.theta);
        if let Some(collapsed) = &mut self.collapsed {
            let (state, theta) = (&mut self.state, &mut self.theta);
            let moved =
                collapsed.step(&mut self.target, state, links.parts(), theta, &mut self.rng);
            let chain = self.id;
            moved.map_err(|source| ChainError::Eval { chain, source })?;
            self.outcome.num_gradients += 1;
        }
        let (info, moved) = links.step_two(&self.theta, &mut self.rng)?;
        if moved {
            links.show(self.target.change());
            let refreshed = self.state.refresh(&mut self.target);
            let chain = self.id;
            refreshed.map_err(|source| ChainError::Eval { chain, source })?;
            self.outcome.num_gradients += 1;
        }
        if let Some(gap) = info.gap_bound {
            let largest = self.outcome.largest_mode_gap.get_or_insert(0.0);
            *largest = largest.max(gap);
        }
        self.step_two_time += start.elapsed();
        Ok(info)
    }

    /// Everything that is saved of the current state, in the order of the file's columns.
    fn draw(
        &mut self,
        step_one: &StepInfo,
        step_two: &UpdateInfo,
        row: &mut Vec<f64>,
    ) -> Result<(), ChainError> {
        row.clear();
        row.extend([
            self.state.log_density(),
            step_one.accept_stat,
            step_one.step_size,
            f64::from(step_one.tree_depth),
            f64::from(step_one.num_leapfrog),
            f64::from(u8::from(step_one.divergent)),
            step_one.energy,
        ]);
        if let Some(links) = &self.links {
            let moves = step_two.total();
            row.extend([
                links.permutation.num_moved() as f64,
                links.mismatch_rate(&mut self.rng),
                links.log_prior(),
                moves.accepted as f64 / moves.proposed.max(1) as f64,
            ]);
        }
        let density = self.target.density();
        density.theta_at(self.state.position(), &mut self.theta);
        let (response, weights) = (density.response(), density.weights());
        self.outputs.append(&self.theta, response, weights, row)?;
        Ok(())
    }
}
