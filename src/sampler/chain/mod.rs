//! One chain: Step 1 (theta given the links, by HMC) and Step 2 (the links given theta), in turn.
//!
//! A chain is generic over what it samples ([`LinkedDensity`], [`LinkedPairs`], [`DrawOutputs`]) and over where its draws go
//! ([`DrawSink`]). Its state is data ([`ChainState`]): a chain that is saved and resumed gives the same draws as one that
//! was never interrupted.

mod collapsed;
mod gaussian_theta;
mod model;
mod observer;
mod outcome;
mod outside;
mod sink;
mod state;
mod step_two;

#[cfg(test)]
mod gaussian_pairs;
#[cfg(test)]
mod outside_calibration;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::numerics::rng::ChainRng;
use crate::sampler::hmc::EvalError;
use crate::sampler::hmc::warmup::{Adaptation, AdaptationSettings};
use crate::sampler::hmc::{Kernel, MovingTarget, State, StepInfo};
use crate::sampler::links::UpdateInfo;

pub use collapsed::CollapsedMove;
pub use gaussian_theta::GaussianTheta;
pub use model::{DrawOutputs, LinkedDensity, LinkedPairs};
pub use observer::{Observer, Progress, Silent};
pub use outcome::{ChainOutcome, Drift, LinksStart};
pub use sink::{Draw, DrawSink, DrawsInMemory, LINK_COLUMNS, OUTSIDE_COLUMNS, SAMPLER_COLUMNS};
pub use state::ChainState;
pub use step_two::StepTwo;

/// Why a chain stopped; `E` is the error of its model.
#[derive(Debug, thiserror::Error)]
pub enum ChainError<E: Error + 'static> {
    #[error(transparent)]
    Model(#[from] E),
    #[error("chain {chain} stopped: {source}")]
    Eval {
        chain: usize,
        #[source]
        source: EvalError,
    },
    #[error("cannot write the draws of chain {chain} to {place}")]
    Write {
        chain: usize,
        place: String,
        #[source]
        source: io::Error,
    },
    #[error(
        "chain {chain} cannot continue from the saved state, which is of another fit: {problem}"
    )]
    Resume { chain: usize, problem: &'static str },
}

#[derive(Debug, Clone, Copy)]
pub struct ChainSettings {
    pub adaptation: AdaptationSettings,
    /// Iterations after warm-up.
    pub num_draws: usize,
    /// Every `thin`-th of them is saved.
    pub thin: usize,
    pub max_depth: u32,
}

/// What a chain samples and how, apart from where it stands.
pub struct ChainParts<'m, D, P, O> {
    pub density: D,
    /// None where every link stays as it is.
    pub step_two: Option<StepTwo<'m, P>>,
    /// None where theta cannot be integrated out.
    pub collapsed: Option<CollapsedMove>,
    pub outputs: O,
}

/// One chain of the Gibbs sampler: what it samples, and where it stands.
pub struct Chain<'m, D, P, O> {
    settings: ChainSettings,
    target: MovingTarget<D>,
    step_two: Option<StepTwo<'m, P>>,
    collapsed: Option<CollapsedMove>,
    outputs: O,
    iteration: usize,
    state: State,
    kernel: Kernel,
    adaptation: Adaptation,
    rng: ChainRng,
    /// The number of moved rows after each iteration of warm-up.
    warmup_moved: Vec<usize>,
    outcome: ChainOutcome,
    /// Theta at the state's position, for Step 2 and the outputs.
    theta: Vec<f64>,
    /// The values of the last draw.
    row: Vec<f64>,
}

impl<'m, D, P, O> Chain<'m, D, P, O>
where
    D: LinkedDensity,
    P: LinkedPairs,
    O: DrawOutputs<Error = P::Error>,
{
    /// Starts chain number `chain` at `theta`, with the links as Step 2 has them.
    pub fn new(
        chain: usize,
        settings: ChainSettings,
        parts: ChainParts<'m, D, P, O>,
        theta: Vec<f64>,
        mut rng: ChainRng,
    ) -> Result<Self, ChainError<P::Error>> {
        let failed = |source| ChainError::Eval { chain, source };
        let mut density = parts.density;
        if let Some(step_two) = &parts.step_two {
            step_two.show(&mut density);
        }
        let position = density.position_of(theta.clone());
        let mut target = MovingTarget::new(density);
        let state = State::new(position, &mut target).map_err(failed)?;
        let mut kernel = Kernel::nuts(target.dim(), settings.max_depth);
        let adaptation = settings.adaptation;
        let adaptation = Adaptation::start(adaptation, &mut kernel, &mut target, &state, &mut rng)
            .map_err(failed)?;
        let outcome = ChainOutcome {
            chain,
            links_start: parts.step_two.as_ref().map(StepTwo::start),
            ..ChainOutcome::default()
        };
        Ok(Chain {
            settings,
            target,
            step_two: parts.step_two,
            collapsed: parts.collapsed,
            outputs: parts.outputs,
            iteration: 0,
            state,
            kernel,
            adaptation,
            rng,
            warmup_moved: Vec::with_capacity(settings.adaptation.num_warmup),
            outcome,
            theta,
            row: Vec::new(),
        })
    }

    /// Continues from a saved state, with the settings and parts of the chain that was saved.
    pub fn resume(
        settings: ChainSettings,
        parts: ChainParts<'m, D, P, O>,
        saved: ChainState,
    ) -> Result<Self, ChainError<P::Error>> {
        let chain = saved.outcome.chain;
        let another = |problem| ChainError::Resume { chain, problem };
        let ChainParts {
            mut density,
            mut step_two,
            mut collapsed,
            outputs,
        } = parts;
        if saved.position.len() != density.dim() {
            return Err(another("it has another number of parameters"));
        }
        if saved.adaptation.settings() != settings.adaptation {
            return Err(another("its warm-up has other settings"));
        }
        match (&mut step_two, saved.links) {
            (Some(step_two), Some(links)) => {
                step_two.resume(links).map_err(another)?;
                step_two.resume_proposals()?;
                step_two.show(&mut density);
            }
            (None, None) => {}
            _ => return Err(another("only one of the two updates the links")),
        }
        match (&mut collapsed, saved.collapsed, &mut step_two) {
            (Some(collapsed), Some(state), Some(step_two)) => {
                let (_, prior, _) = step_two.parts();
                collapsed.resume(state, prior.space());
            }
            (None, None, _) => {}
            _ => return Err(another("only one of the two integrates theta out")),
        }
        let mut target = MovingTarget::new(density);
        let state = State::new(saved.position, &mut target);
        let state = state.map_err(|source| ChainError::Eval { chain, source })?;
        Ok(Chain {
            settings,
            theta: vec![0.0; target.dim()],
            target,
            step_two,
            collapsed,
            outputs,
            iteration: saved.iteration,
            state,
            kernel: Kernel::resume(saved.kernel, settings.max_depth),
            adaptation: saved.adaptation,
            rng: saved.rng,
            warmup_moved: saved.warmup_moved,
            outcome: saved.outcome,
            row: Vec::new(),
        })
    }

    /// Where the chain stands, as data.
    pub fn state(&self) -> ChainState {
        ChainState {
            iteration: self.iteration,
            position: self.state.position().to_vec(),
            links: self.step_two.as_ref().map(StepTwo::state),
            collapsed: self.collapsed.as_ref().map(|c| c.state().clone()),
            kernel: self.kernel.state(),
            adaptation: self.adaptation.clone(),
            rng: self.rng.clone(),
            warmup_moved: self.warmup_moved.clone(),
            outcome: self.outcome.clone(),
        }
    }

    /// The number of iterations done, warm-up included.
    pub fn iteration(&self) -> usize {
        self.iteration
    }

    fn is_warming_up(&self) -> bool {
        self.iteration < self.settings.adaptation.num_warmup
    }

    /// Iterates until all draws are in `sink`, or until `stop`, which ends the run after the current iteration.
    pub fn run(
        &mut self,
        sink: &mut impl DrawSink,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<ChainOutcome, ChainError<P::Error>> {
        let chain = self.outcome.chain;
        let num_warmup = self.settings.adaptation.num_warmup;
        let total = num_warmup + self.settings.num_draws;
        let checkpoint_every = sink.checkpoint_every();
        let mut last_checkpoint = Instant::now();
        let mut is_told = false;
        while self.iteration < total && !stop.load(Ordering::Relaxed) {
            let warming_up = self.is_warming_up();
            if !warming_up && !is_told {
                self.tell_adapted(sink)?;
                is_told = true;
            }
            if let Some(draw) = self.step()? {
                let written = sink.draw(draw);
                written.map_err(|source| write_error(chain, sink, source))?;
            }
            observer.iteration(Progress {
                chain,
                done: self.iteration,
                total,
                warming_up,
                num_divergences: self.outcome.num_divergences,
            });
            let is_due = |every| self.iteration == num_warmup || last_checkpoint.elapsed() >= every;
            if checkpoint_every.is_some_and(is_due) {
                self.save(sink)?;
                last_checkpoint = Instant::now();
            }
        }
        if !is_told {
            self.tell_adapted(sink)?;
        }
        if checkpoint_every.is_some() {
            self.save(sink)?;
        }
        let outcome = ChainOutcome {
            interrupted: self.iteration < total,
            ..self.outcome()
        };
        let finished = sink.finish(outcome.warmup_seconds, outcome.sampling_seconds);
        finished.map_err(|source| write_error(chain, sink, source))?;
        Ok(outcome)
    }

    fn tell_adapted(&self, sink: &mut impl DrawSink) -> Result<(), ChainError<P::Error>> {
        let written = sink.adapted(self.kernel.step_size(), self.kernel.metric());
        written.map_err(|source| write_error(self.outcome.chain, sink, source))
    }

    fn save(&self, sink: &mut impl DrawSink) -> Result<(), ChainError<P::Error>> {
        let saved = sink.checkpoint(self.state());
        saved.map_err(|source| write_error(self.outcome.chain, sink, source))
    }

    /// Counts and times so far.
    pub fn outcome(&self) -> ChainOutcome {
        let collapsed = self.collapsed.as_ref();
        ChainOutcome {
            step_size: self.kernel.step_size(),
            drift: outcome::drift(&self.warmup_moved),
            collapsed_accept_rate: collapsed.and_then(CollapsedMove::accept_rate),
            ..self.outcome.clone()
        }
    }

    /// One iteration; the draw where it is one that is saved.
    pub fn step(&mut self) -> Result<Option<Draw<'_>>, ChainError<P::Error>> {
        let start = Instant::now();
        let step_one = self.step_one()?;
        let step_two = self.step_two()?;
        let num_warmup = self.settings.adaptation.num_warmup;
        let warming_up = self.is_warming_up();
        self.outcome
            .count(&step_one, warming_up, self.settings.max_depth);
        if warming_up && let Some(links) = &self.step_two {
            self.warmup_moved.push(links.num_moved());
        }
        let is_saved =
            !warming_up && (self.iteration - num_warmup).is_multiple_of(self.settings.thin);
        if is_saved {
            self.outcome.num_draws += 1;
            self.draw(&step_one, &step_two)?;
        }
        self.iteration += 1;
        let seconds = match warming_up {
            true => &mut self.outcome.warmup_seconds,
            false => &mut self.outcome.sampling_seconds,
        };
        *seconds += start.elapsed().as_secs_f64();
        Ok(is_saved.then(|| Draw {
            values: &self.row,
            links: self.step_two.as_ref().map(StepTwo::reported),
        }))
    }

    /// Step 1: theta given the links, one HMC transition.
    fn step_one(&mut self) -> Result<StepInfo, ChainError<P::Error>> {
        let start = Instant::now();
        let chain = self.outcome.chain;
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
        self.outcome.step_one_seconds += start.elapsed().as_secs_f64();
        Ok(info)
    }

    /// Step 2: the links given theta, after a joint move of both where that is possible. Where they moved, theta's density
    /// is evaluated anew under them.
    fn step_two(&mut self) -> Result<UpdateInfo, ChainError<P::Error>> {
        let Some(links) = &mut self.step_two else {
            return Ok(UpdateInfo::default());
        };
        let start = Instant::now();
        let chain = self.outcome.chain;
        let failed = |source| ChainError::Eval { chain, source };
        let density = self.target.density();
        density.theta_at(self.state.position(), &mut self.theta);
        if let Some(collapsed) = &mut self.collapsed {
            let (state, theta) = (&mut self.state, &mut self.theta);
            let moved =
                collapsed.step(&mut self.target, state, links.parts(), theta, &mut self.rng);
            moved.map_err(failed)?;
            self.outcome.num_gradients += 1;
        }
        let num_warmup = self.settings.adaptation.num_warmup;
        links.keep_proposals(self.iteration, num_warmup, &self.theta)?;
        let (info, moved) = links.draw(&self.theta, &mut self.rng)?;
        if moved {
            links.show(self.target.change());
            self.state.refresh(&mut self.target).map_err(failed)?;
            self.outcome.num_gradients += 1;
        }
        if let Some(gap) = info.gap_bound {
            let largest = self.outcome.largest_mode_gap.get_or_insert(0.0);
            *largest = largest.max(gap);
        }
        self.outcome.step_two_seconds += start.elapsed().as_secs_f64();
        Ok(info)
    }

    /// Everything that is saved of the current state, in the order of the columns.
    fn draw(
        &mut self,
        step_one: &StepInfo,
        step_two: &UpdateInfo,
    ) -> Result<(), ChainError<P::Error>> {
        self.row.clear();
        let of_sampler: [f64; SAMPLER_COLUMNS.len()] = [
            self.state.log_density(),
            step_one.accept_stat,
            step_one.step_size,
            f64::from(step_one.tree_depth),
            f64::from(step_one.num_leapfrog),
            f64::from(u8::from(step_one.divergent)),
            step_one.energy,
        ];
        self.row.extend(of_sampler);
        if let Some(links) = &mut self.step_two {
            // What is reported of outsiders without feedback is of the links that are drawn for this draw.
            if links.has_outside() {
                links.report(&mut self.rng)?;
            }
            let moves = step_two.total();
            let rates = links.rates(&mut self.rng);
            let of_links: [f64; LINK_COLUMNS.len()] = [
                links.num_moved() as f64,
                rates.mismatch,
                links.log_prior(),
                moves.accepted as f64 / moves.proposed.max(1) as f64,
            ];
            self.row.extend(of_links);
            let of_outside = rates.outside.map(|(number, share)| [number as f64, share]);
            self.row.extend(of_outside.into_iter().flatten());
            self.row.extend(links.rate_coefficients());
            self.row.extend(rates.by_block);
        }
        let density = self.target.density();
        density.theta_at(self.state.position(), &mut self.theta);
        let (response, weights) = (density.response(), density.weights());
        let (draw, row) = (self.outcome.num_draws, &mut self.row);
        self.outputs
            .append(draw, &self.theta, response, weights, row)?;
        if let Some(links) = self.step_two.as_mut().filter(|l| !l.has_outside()) {
            links.report(&mut self.rng)?;
        }
        Ok(())
    }
}

fn write_error<E: Error>(chain: usize, sink: &impl DrawSink, source: io::Error) -> ChainError<E> {
    ChainError::Write {
        chain,
        place: sink.place(),
        source,
    }
}
