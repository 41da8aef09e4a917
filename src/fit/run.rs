//! All chains of a fit: threads, random number streams, interruption.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rand::RngCore;

use super::initial::initial_values;
use crate::config::{self, Config, Feedback, OutsideResponse, ResponseKind};
use crate::data::Dataset;
use crate::model::{
    GaussianDensity, GaussianGivenPi, LinkedTheta, ModelError, Outputs, Pairs, StanModel,
    Standardised, ThetaGivenPi, gaussian_theta,
};
use crate::numerics::rng::{self, ChainRng, DrawSeeds};
use crate::posterior::Folder;
use crate::posterior::draws::{
    ChainHeader, ChainSample, ChainWriter, Checkpoint, Checkpoints, Coordinates,
};
use crate::posterior::links::RowNumbers;
use crate::sampler::chain::{
    Chain, ChainError, ChainOutcome, ChainParts, ChainSettings, ChainState, CollapsedMove,
    DrawSink, LINK_COLUMNS, LinkedDensity, OUTSIDE_COLUMNS, Observer, SAMPLER_COLUMNS, StepTwo,
};
use crate::sampler::hmc::warmup::AdaptationSettings;
use crate::sampler::links::{
    ActiveSet, Checkerboard, Collapsed, LinkKernel, Marginal, ModeSearch, OutsidePrior,
    PairResponses, Prior, RateRegression,
};

type Error = ChainError<ModelError>;

/// The paper's T, in units of the number of rows, where a config leaves it open.
const SWEEPS_PER_UPDATE: usize = 10;

/// What all chains share.
pub struct Run<'a> {
    pub config: &'a Config,
    pub data: &'a Dataset,
    /// The rows that the program has: those of `data`, then places without a response.
    pub program_data: &'a Dataset,
    /// Responses of `program_data`, concatenated column by column.
    pub responses: &'a [f64],
    pub model: &'a StanModel,
    /// None where HMC moves in theta itself.
    pub coordinates: Option<&'a Standardised>,
    /// The density of theta through sufficient statistics, where it is the program's.
    pub gaussian: Option<&'a GaussianDensity>,
    /// Of whole permutations of the rows of `program_data`.
    pub prior: &'a Prior,
    /// Of partial permutations, where responses may come from outside the file.
    pub outside: Option<&'a OutsidePrior>,
    /// Of the rates of wrong links, where these depend on covariates.
    pub rates: Option<&'a RateRegression>,
    /// Blocks that have rates of wrong links of their own.
    pub num_block_rates: usize,
    /// What the pair likelihoods of all chains know of the responses, once the first chain has begun.
    pub pair_responses: OnceLock<Arc<PairResponses>>,
    /// Held while a chain finds where it starts.
    pub starting: Mutex<()>,
    pub num_threads: usize,
    /// Set by Ctrl-C; every chain ends after its current iteration.
    pub stop: &'a AtomicBool,
    pub observer: &'a dyn Observer,
}

impl Run<'_> {
    /// Runs these chains and writes their draws to `folder`. Those that were `saved` there go on from where they stood.
    pub fn to_files(
        &self,
        folder: &Folder,
        chains: RangeInclusive<usize>,
        saved: Vec<Checkpoint>,
        checkpoints: Checkpoints,
    ) -> Result<Vec<(ChainOutcome, ChainSample)>, Error> {
        let states = saved.into_iter().map(|saved| saved.state);
        let states: BTreeMap<usize, ChainState> =
            states.map(|state| (state.outcome.chain, state)).collect();
        let row_numbers = self.row_numbers();
        let chains = self.chains(chains, &states, |id| {
            let writer = ChainWriter::create(
                folder,
                &self.header(id),
                &self.columns(),
                row_numbers.clone(),
                checkpoints,
                states.get(&id).map_or(0, |state| state.outcome.num_draws),
            );
            writer.map_err(|source| Error::Write {
                chain: id,
                place: folder.path().display().to_string(),
                source,
            })
        })?;
        let sampled = chains.into_iter();
        Ok(sampled
            .map(|(outcome, writer)| (outcome, writer.into_sample()))
            .collect())
    }

    /// Runs every chain and keeps its draws in memory alone.
    pub fn in_memory(&self) -> Result<Vec<(ChainOutcome, ChainSample)>, Error> {
        let num_rows = self.row_numbers().map(|numbers| numbers.num_rows());
        let chains = 1..=self.config.sampler.chains;
        self.chains(chains, &BTreeMap::new(), |id| {
            Ok(ChainSample::new(
                &self.header(id),
                &self.columns(),
                num_rows,
            ))
        })
    }

    /// Row numbers of the user's file where links are updated.
    fn row_numbers(&self) -> Option<RowNumbers> {
        self.has_links().then(|| RowNumbers::of(self.data))
    }

    /// Runs these chains, `num_threads` at a time. A chain's draws depend on the seed and its number alone.
    fn chains<S: DrawSink + Send>(
        &self,
        chains: RangeInclusive<usize>,
        saved: &BTreeMap<usize, ChainState>,
        sink: impl Fn(usize) -> Result<S, Error> + Sync,
    ) -> Result<Vec<(ChainOutcome, S)>, Error> {
        let num_chains = chains.clone().count();
        let next = AtomicUsize::new(*chains.start());
        let outcomes = Mutex::new(Vec::with_capacity(num_chains));
        std::thread::scope(|scope| {
            for _ in 0..self.num_threads.clamp(1, num_chains) {
                scope.spawn(|| {
                    loop {
                        let chain = next.fetch_add(1, Ordering::Relaxed);
                        if !chains.contains(&chain) {
                            break;
                        }
                        // A chain that never starts leaves no file, so that those that ran can be summarised. One that
                        // was saved ends its files where it stands.
                        let saved = saved.get(&chain);
                        if saved.is_none() && self.stop.load(Ordering::Relaxed) {
                            continue;
                        }
                        let outcome = self.chain(chain, saved, &sink);
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
        outcomes.sort_by_key(|(outcome, _): &(ChainOutcome, S)| outcome.chain);
        Ok(outcomes)
    }

    fn chain<S: DrawSink>(
        &self,
        id: usize,
        saved: Option<&ChainState>,
        sink: impl Fn(usize) -> Result<S, Error>,
    ) -> Result<(ChainOutcome, S), Error> {
        let seed = self.config.sampler.seed;
        let mut rng = rng::stream(seed, id);
        let mut stan_rng = self.model.rng(rng.next_u32())?;
        // One chain at a time: the text of all responses, which Stan reads, takes as much memory as a chain needs later.
        let is_starting = self.starting.lock().expect("no panics");
        let theta = initial_values(
            self.model,
            self.coordinates,
            self.config,
            (self.data, self.program_data),
            id,
            &mut rng,
            &mut stan_rng,
        )?;
        drop(is_starting);
        let collapsed = self.collapsed()?;
        let mut step_two = self.step_two(collapsed.is_some(), &mut rng)?;
        if let (Some(step_two), None) = (&mut step_two, saved) {
            step_two.disperse(id, &theta, &mut rng)?;
        }
        let parts = ChainParts {
            density: self.density(),
            step_two,
            collapsed,
            outputs: Outputs::new(self.output_model(), DrawSeeds::new(seed, id))?,
        };
        let mut chain = match saved {
            Some(state) => Chain::resume(self.settings(), parts, state.clone())?,
            None => Chain::new(id, self.settings(), parts, theta, rng)?,
        };
        let mut sink = sink(id)?;
        let outcome = chain.run(&mut sink, self.stop, self.observer)?;
        Ok((outcome, sink))
    }

    fn density(&self) -> LinkedTheta<'_> {
        match self.gaussian {
            Some(gaussian) => LinkedTheta::Statistics(GaussianGivenPi::new(gaussian)),
            None => {
                let mut density = ThetaGivenPi::new(self.model, self.responses);
                if let Some(weights) = &self.data.weights {
                    density.weights_mut().copy_from_slice(weights.values());
                } else if self.config.permutation.has_weights() {
                    // Where every link is kept, nothing else weighs the places.
                    density.weights_mut()[self.data.num_rows()..].fill(0.0);
                }
                LinkedTheta::Program(density.in_coordinates(self.coordinates))
            }
        }
    }

    /// The program whose outputs are saved: where they are its parameters alone, on one row instead of all.
    fn output_model(&self) -> &StanModel {
        match self.gaussian {
            Some(gaussian) if self.model.puts_out_parameters_alone() => gaussian.prior(),
            _ => self.model,
        }
    }

    fn has_links(&self) -> bool {
        self.config.permutation.update != config::Update::None
    }

    /// Step 2, where the config asks for one. Beside joint moves of the links and theta, little is left to it.
    fn step_two(
        &self,
        has_collapsed: bool,
        rng: &mut ChainRng,
    ) -> Result<Option<StepTwo<'_, Pairs<'_>>>, Error> {
        let num_rows = self.data.num_rows();
        let kernel = match self.config.permutation.update {
            config::Update::None => return Ok(None),
            config::Update::ActiveSet if has_collapsed => {
                LinkKernel::ActiveSet(ActiveSet::beside_collapsed())
            }
            config::Update::ActiveSet => LinkKernel::ActiveSet(ActiveSet::default()),
            config::Update::Mode => LinkKernel::Mode(ModeSearch::default()),
            config::Update::Checkerboard { steps, restart } => {
                let steps = steps.unwrap_or(SWEEPS_PER_UPDATE * num_rows) as u64;
                LinkKernel::Checkerboard(Checkerboard::new(steps, restart))
            }
        };
        let pairs = self.pairs(rng.next_u32())?;
        let step_two = StepTwo::new(self.responses, self.prior, kernel, pairs);
        let step_two = match &self.data.weights {
            Some(weights) => step_two.with_survey(weights),
            None => step_two,
        };
        let step_two = match self.config.permutation.feedback {
            Feedback::Full => step_two,
            Feedback::None => step_two.without_feedback(&self.log_marginal()),
        };
        let step_two = match self.outside {
            Some(prior) => step_two.with_outside(prior, &self.log_outside()),
            None => step_two,
        };
        Ok(Some(match self.rates {
            Some(rates) => step_two.with_rate_regression(rates),
            None => step_two,
        }))
    }

    /// The log density of each row's responses under a fixed law of all of them.
    fn log_marginal(&self) -> Vec<f64> {
        let mut log_density = self.log_marginal_of_rows();
        // Places have no response.
        log_density.resize(self.program_data.num_rows(), 0.0);
        log_density
    }

    /// The log density of each row's response under the law of responses from outside.
    fn log_outside(&self) -> Vec<f64> {
        let outside = self.config.permutation.outside;
        let Some(OutsideResponse { mean, sd }) = outside.and_then(|outside| outside.response)
        else {
            return self.log_marginal();
        };
        let law = self.config.model.response_kind().marginal();
        let given = (mean, sd.map_or(0.0, |sd| sd * sd));
        // Places have a placeholder, which never comes from outside.
        law.log_density_given(self.responses, given)
    }

    fn log_marginal_of_rows(&self) -> Vec<f64> {
        let responses = self.data.responses();
        let all = |allowed: fn(f64) -> bool| responses.iter().all(|&y| allowed(y));
        let several = responses.len() > self.data.num_rows();
        let is_own_program = self.config.model.family() == config::Family::Stan;
        let num_rows = self.data.num_rows();
        if self
            .config
            .model
            .stan
            .shipped()
            .is_some_and(|model| model.has_times)
        {
            let (times, events) = responses.split_at(num_rows);
            let times = Marginal::Positive.log_density(times, num_rows).into_iter();
            let events = Marginal::ZeroOne.log_density(events, num_rows);
            return times
                .zip(events)
                .map(|(time, event)| time + event)
                .collect();
        }
        let law = match self.config.model.response_kind() {
            _ if several => Marginal::Real,
            // A program of the user's own, of which only the responses tell.
            ResponseKind::Real if is_own_program && all(|y| y == 0.0 || y == 1.0) => {
                Marginal::ZeroOne
            }
            ResponseKind::Real if is_own_program && all(|y| y >= 0.0 && y.fract() == 0.0) => {
                Marginal::Count
            }
            kind => kind.marginal(),
        };
        law.log_density(&responses, num_rows)
    }

    /// Joint moves of the links and theta, for programs whose theta can be integrated out and links that are sampled.
    fn collapsed(&self) -> Result<Option<CollapsedMove>, ModelError> {
        let (temperature, temperature_links) = self.config.temperature.at(self.data.num_rows());
        let is_gaussian = self.config.model.family() == config::Family::Gaussian;
        let is_active_set = self.config.permutation.update == config::Update::ActiveSet;
        // With weights theta sees other rows than those of the surrogate.
        let has_feedback = !self.model.is_weighted();
        let is_tempered_alike = temperature == temperature_links;
        // Its prior of the links must not change between iterations.
        let has_rates = self.rates.is_some();
        // Its sums of squares are of responses that leave nothing behind when they move.
        let has_offset = self.data.offset.is_some();
        let is_plain = !has_rates && !has_offset;
        if !is_gaussian || !is_active_set || !has_feedback || !is_tempered_alike || !is_plain {
            return Ok(None);
        }
        let x = self.data.x.view();
        let Some(places) = gaussian_theta(self.model, x.ncols(), self.responses)? else {
            return Ok(None);
        };
        let has_others = self.model.dim() > x.ncols() + 1;
        if has_others {
            return Ok(None);
        }
        let space = self.prior.space();
        let kernel = match self.gaussian {
            Some(gaussian) => {
                let statistics = Arc::clone(gaussian.statistics());
                Collapsed::of(statistics, self.pair_responses(), temperature, space)
            }
            None => Collapsed::new(x, self.responses, temperature, space),
        };
        let num_warmup = self.config.sampler.warmup;
        Ok(kernel.map(|kernel| CollapsedMove::new(kernel, places, num_warmup)))
    }

    /// Of the family, which is one written in Rust.
    fn pair_responses(&self) -> Arc<PairResponses> {
        let family = self.config.model.family();
        let responses = || Arc::new(PairResponses::new(family, self.responses.to_vec()));
        Arc::clone(self.pair_responses.get_or_init(responses))
    }

    fn pairs(&self, seed: u32) -> Result<Pairs<'_>, ModelError> {
        let (_, temperature) = self.config.temperature.at(self.data.num_rows());
        // Coefficients and error scale are parameters there, whatever the rows.
        let model = self.gaussian.map_or(self.model, GaussianDensity::prior);
        let pairs = Pairs::sharing(
            self.config.model.family(),
            model,
            Outputs::new(model, DrawSeeds::new(u64::from(seed), 0))?,
            self.program_data.x.view(),
            self.responses,
            temperature,
            || self.pair_responses(),
        )?;
        let pairs = pairs.with_offset(self.program_data.offset.as_deref());
        Ok(pairs.with_weights(self.data.weights.as_ref()))
    }

    fn settings(&self) -> ChainSettings {
        let sampler = &self.config.sampler;
        ChainSettings {
            adaptation: AdaptationSettings {
                num_warmup: sampler.warmup,
                target_accept: sampler.target_accept,
                metric: sampler.metric,
                trajectory: sampler.trajectory,
            },
            num_draws: sampler.draws,
            thin: sampler.thin,
            max_depth: sampler.max_depth,
        }
    }

    fn columns(&self) -> Vec<String> {
        let link_columns: &[&str] = if self.has_links() { &LINK_COLUMNS } else { &[] };
        let of_outside: &[&str] = match self.outside {
            Some(_) if self.has_links() => &OUTSIDE_COLUMNS,
            _ => &[],
        };
        let sampler = SAMPLER_COLUMNS.iter().chain(link_columns).chain(of_outside);
        let rates = self.rates.filter(|_| self.has_links());
        let num_rates = match self.has_links() {
            true => rates.map_or(self.num_block_rates, RateRegression::num_coefficients),
            false => 0,
        };
        let rates = (1..=num_rates).map(|k| format!("rate.{k}"));
        let outputs = self.model.output_names().iter().cloned();
        let sampler = sampler.map(|name| name.to_string());
        sampler.chain(rates).chain(outputs).collect()
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
            trajectory: sampler.trajectory,
            metric: sampler.metric,
            coordinates: match (self.gaussian, self.coordinates) {
                (Some(_), _) => Coordinates::Orthogonal,
                (None, Some(_)) => Coordinates::Standardised,
                (None, None) => Coordinates::Theta,
            },
            seed: sampler.seed,
            chain,
            data_file: self.config.data.label(),
        }
    }
}
