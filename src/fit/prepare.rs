//! Everything before sampling: data, program, model, and the check that both steps mean the same likelihood.

use std::borrow::Cow;
use std::sync::Arc;

use bridgestan::StanLibrary;
use ndarray::Array2;
use rand::{Rng, RngCore};
use serde_json::{Map, Value, json};

use super::FitError;
use super::initial::{check_values, initial_values};
use super::responses::{check_audits, check_outside, check_response};
use crate::config::{self, Config, Family, Init, ModelSource, ResponseKind};
use crate::data::{self, DataError, Dataset, files_sha256, outside_prior, stan_json, whole_prior};
use crate::model::stan::{Compiler, StanError, StanSource, shipped_model};
use crate::model::{
    GaussianDensity, ModelError, Outputs, Pairs, Parameter, ResponseShape, Source, StanModel,
    Standardised, TwoTemperatures, check_agreement, check_survey, check_weights, gaussian_theta,
};
use crate::numerics::Spread;
use crate::numerics::rng::{self, DrawSeeds};
use crate::priors::{self, PriorsUsed};
use crate::sampler::links::{LinearStatistics, OutsidePrior, Prior, RateRegression};
use crate::text::{nearest, quoted_list};

/// A model with its data, ready to sample.
pub struct Prepared {
    /// What to fit, with every default.
    pub config: Config,
    /// The rows as linked.
    pub data: Dataset,
    /// The rows that the program has, where unlinked rows are places: those of `data`, then these.
    pub with_places: Option<WithPlaces>,
    /// The Stan program with these data.
    pub model: StanModel,
    /// None where HMC moves in theta itself.
    pub coordinates: Option<Standardised>,
    /// The density of theta through sufficient statistics, where that is the program's and pays.
    pub gaussian: Option<GaussianDensity>,
    /// The priors of the parameters.
    pub priors: PriorsUsed,
    /// The prior of the links.
    pub prior: Prior,
    /// Of partial permutations, where responses may come from outside the file.
    pub outside: Option<OutsidePrior>,
    /// Of the rates of wrong links, where these depend on covariates.
    pub rates: Option<RateRegression>,
    /// The Stan program without data.
    pub program: Program,
    /// None for data that came from no file.
    pub data_sha256: Option<String>,
}

/// Rows and places as one data set, and the prior of whole permutations of them, where chains may start.
pub struct WithPlaces {
    pub data: Dataset,
    pub prior: Prior,
}

/// Everything before sampling: reads the data, checks and compiles the program, builds the model.
pub fn prepare(config: Config, compiler: &Compiler) -> Result<Prepared, FitError> {
    let data = read_data(&config)?;
    prepare_with(config, data, compiler)
}

/// The data of a config. It needs no toolchain, so a mistake here is told before anything is fetched.
pub fn read_data(config: &Config) -> Result<Dataset, FitError> {
    let mut data = data::read(&config.data)?;
    check_response(config, &data)?;
    if config.permutation.prior != config::Prior::MatchProbability {
        // Those of pairs, which then only picked the links and weigh the candidates.
        data.match_probability = None;
    }
    Ok(data)
}

/// As `prepare`, with the data that `read_data` gave.
pub fn prepare_with(
    config: Config,
    data: Dataset,
    compiler: &Compiler,
) -> Result<Prepared, FitError> {
    let program = Program::compile(&config.model, compiler)?;
    let data_sha256 = files_sha256(&config.data.files());
    let prepared = program.with_data(config, data)?;
    Ok(Prepared {
        data_sha256,
        ..prepared
    })
}

impl Prepared {
    /// The rows of predictors that the program has, places among them.
    pub fn program_data(&self) -> &Dataset {
        self.with_places
            .as_ref()
            .map_or(&self.data, |with| &with.data)
    }

    /// The number of blocks that have rates of wrong links of their own.
    pub fn num_block_rates(&self) -> usize {
        match (
            &self.data.blocks,
            self.config.permutation.audit_by_block.is_empty(),
        ) {
            (Some(blocks), false) => blocks.labels.len(),
            _ => 0,
        }
    }

    /// The number of rows whose link can be wrong.
    pub fn num_movable(&self) -> usize {
        match &self.outside {
            Some(outside) => outside.num_movable(),
            None => self.prior.space().num_movable(),
        }
    }

    /// Why the checks and the estimate that take wrong links for an even exchange inside groups are not possible.
    pub fn no_exchange(&self) -> Option<&'static str> {
        if self.rates.is_some() {
            return Some("the rate of wrong links depends on covariates");
        }
        if self.num_block_rates() > 0 {
            return Some("blocks have rates of wrong links of their own");
        }
        if self.with_places.is_some() {
            return Some(
                "responses may belong to unlinked rows, which may differ from the linked ones",
            );
        }
        let space = self.prior.space();
        let is_one = space.num_groups() == 1 && space.num_movable() == self.num_movable();
        let has_several = self.outside.is_some() && !is_one;
        has_several.then_some("responses from outside have the distribution of the whole file, and the rows stand in several groups or alone")
    }
}

/// A compiled Stan program, waiting for data.
#[derive(Clone)]
pub struct Program {
    library: Arc<StanLibrary>,
    pub(super) label: String,
    /// Its text, with what it includes.
    pub(crate) text: String,
    takes_alpha: bool,
    /// Whether it can weigh its rows: `weighted` stands in its data and `weight` among its parameters.
    pub(super) takes_weights: bool,
    /// Whether it can add an offset to its linear predictor: `has_offset` and `offsets` stand in its data.
    pub(super) takes_offset: bool,
    /// The names of its parameters, where the toolchain tells.
    parameters: Option<Vec<String>>,
    /// The names of its data, where the toolchain tells.
    inputs: Option<Vec<String>>,
    /// Whether it is the shipped program that has terms by group.
    is_hierarchical: bool,
    /// How many indices the latent response takes, where the toolchain tells.
    dimensions: Option<usize>,
    /// Whether it can predict: `N_new` and `X_new` stand in its data.
    takes_new_rows: bool,
    /// The toolchain that compiled it.
    pub(crate) toolchain: String,
}

impl Program {
    /// Checks and compiles the program of a config.
    pub fn compile(model: &config::Model, compiler: &Compiler) -> Result<Program, FitError> {
        let source = stan_source(&model.stan)?;
        let info = compiler.info(&source)?;
        if let Some(info) = &info {
            StanModel::check_declaration(info, &source.label, &model.response)?;
        }
        let compiled = compiler.compile(&source)?;
        let text = source.with_includes();
        Ok(Program {
            library: StanModel::open_library(&compiled.library)?,
            takes_new_rows: text.contains("X_new"),
            parameters: info
                .as_ref()
                .map(|info| info.parameters.keys().cloned().collect()),
            inputs: info
                .as_ref()
                .map(|info| info.inputs.keys().cloned().collect()),
            is_hierarchical: model.stan.is_shipped("hierarchical"),
            dimensions: info
                .as_ref()
                .map(|info| info.parameters[&model.response].dimensions),
            takes_weights: match &info {
                Some(info) => {
                    info.inputs.contains_key("weighted") && info.parameters.contains_key("weight")
                }
                None => text.contains("weighted * N"),
            },
            takes_offset: match &info {
                Some(info) => {
                    let has = |name: &str| info.inputs.contains_key(name);
                    has("has_offset") && has("offsets")
                }
                None => text.contains("has_offset * N"),
            },
            takes_alpha: info.is_none_or(|info| info.inputs.contains_key("alpha")),
            text,
            label: source.label,
            toolchain: compiler.toolchain.describe(),
        })
    }

    /// Stan ignores a starting value of a parameter that is not there, and starts the one that was meant at random.
    fn check_init(&self, init: &Init) -> Result<(), FitError> {
        let (Init::Values(values), Some(known)) = (init, &self.parameters) else {
            return Ok(());
        };
        match unknown(values, known, "its parameters are") {
            None => Ok(()),
            Some((name, advice)) => Err(FitError::UnknownInit {
                name,
                label: self.label.clone(),
                advice,
            }),
        }
    }

    /// Stan ignores an entry that the program does not declare, and a prior that was meant keeps its own number.
    fn check_entries(&self, entries: &Map<String, Value>) -> Result<(), FitError> {
        let known = self.inputs.as_deref();
        match known.and_then(|known| unknown(entries, known, "it declares")) {
            None => Ok(()),
            Some((name, advice)) => Err(FitError::UnknownEntry {
                name,
                label: self.label.clone(),
                advice,
            }),
        }
    }

    /// Terms by group need a program that has them, and the other way round.
    fn check_groups(&self, data: &Dataset) -> Result<(), FitError> {
        let has = |name: &str| {
            self.inputs
                .as_ref()
                .is_none_or(|inputs| inputs.contains(&name.to_string()))
        };
        let label = self.label.clone();
        match &data.groups {
            Some(groups) if !(has("Z") && has("group")) => Err(FitError::NoGroups {
                label,
                column: groups.column.clone(),
            }),
            None if self.is_hierarchical => Err(FitError::GroupsMissing { label }),
            _ => Ok(()),
        }
    }

    /// The links have quantities of their own in the summary.
    fn check_names(&self, model: &StanModel, has_rates: bool) -> Result<(), FitError> {
        let reserved = ["n_moved", "mismatch_rate", "n_outside", "outside_share"];
        let mut names = model.output_names().iter();
        let is_reserved = |name: &str| {
            let is_rate = has_rates && name.split('.').next() == Some("rate");
            reserved.contains(&name) || is_rate
        };
        match names.find(|name| is_reserved(name)) {
            None => Ok(()),
            Some(name) => Err(FitError::ReservedName {
                label: self.label.clone(),
                name: name.clone(),
            }),
        }
    }

    /// Builds the model, and checks that both steps mean the same likelihood.
    pub fn with_data(&self, config: Config, data: Dataset) -> Result<Prepared, FitError> {
        let config = self.with_outside_by_default(config, &data);
        check_response(&config, &data)?;
        check_outside(&config, &data)?;
        check_audits(&config, &data)?;
        self.check_init(&config.sampler.init)?;
        let all = data.with_places();
        self.check_entries(&config.model.data)?;
        let shape = ResponseShape {
            rows: all.num_rows(),
            columns: data.response_names.as_ref().map(Vec::len),
        };
        if let Some(dimensions) = self.dimensions {
            let response = &config.model.response;
            StanModel::check_dimensions(dimensions, &self.label, response, shape)?;
        }
        self.check_groups(&data)?;
        let mut entries = with_family_parameters(&config.model.data, config.model.family());
        with_columns(&mut entries, &data)?;
        self.add_priors(&mut entries, &config, &data);
        if self.takes_new_rows {
            without_new_rows(&mut entries);
        }
        let has_weights = config.permutation.has_weights() || data.weights.is_some();
        if self.takes_weights {
            with_weights(&mut entries, has_weights)?;
        }
        self.add_offset(&mut entries, &all)?;
        let build = |alpha: f64| -> Result<StanModel, FitError> {
            let json = stan_json(&all, alpha, &entries)?;
            let (response, seed) = (&config.model.response, config.sampler.seed as u32);
            let model = StanModel::new(
                Arc::clone(&self.library),
                &self.label,
                &json,
                response,
                shape,
                seed,
            )?;
            match has_weights {
                true => Ok(model.weighted()?),
                false => Ok(model),
            }
        };
        let (alpha, alpha_links) = config.temperature.at(data.num_rows());
        let model = build(alpha)?;
        if !self.takes_alpha && alpha != 1.0 {
            return Err(FitError::NoAlpha {
                label: self.label.clone(),
            });
        }
        if config.permutation.update != config::Update::None {
            let has_rates = data.rates.is_some() || !config.permutation.audit_by_block.is_empty();
            self.check_names(&model, has_rates)?;
        }
        let coordinates = coordinates(&config, &model, &data)?;
        if config.permutation.update != config::Update::None {
            let other = if self.takes_alpha {
                Some(build(alpha / 2.0)?)
            } else {
                None
            };
            agreement(
                &config,
                (&data, &all),
                &model,
                coordinates.as_ref(),
                alpha,
                other.as_ref(),
                alpha_links,
            )?;
        } else {
            check_values(&model, coordinates.as_ref(), &config, (&data, &all))?;
        }
        let gaussian = self.gaussian(&config, &data, &entries, &model, alpha)?;
        let priors = PriorsUsed::new(&config.model, &self.text, &entries, &data);
        let kind = config.permutation.prior.kind();
        let labels = data.blocks.as_ref().map(|blocks| blocks.labels.as_slice());
        let rates_of_blocks = config.permutation.block_rates(labels.unwrap_or_default());
        let of_blocks = rates_of_blocks.as_deref();
        let prior = whole_prior(&data, kind, of_blocks);
        let outside = config.permutation.outside;
        let outside = outside.map(|outside| outside_prior(&data, kind, outside.share(), of_blocks));
        let rates = data.rates.as_ref();
        let rates = rates.map(|rates| RateRegression::new(&rates.values));
        let rates = rates.map(|rates| rates.with_places(data.num_places()));
        let with_places = match all {
            Cow::Borrowed(_) => None,
            Cow::Owned(all) => Some(WithPlaces {
                prior: whole_prior(&all, kind, of_blocks),
                data: all,
            }),
        };
        Ok(Prepared {
            config,
            data,
            with_places,
            model,
            coordinates,
            gaussian,
            priors,
            prior,
            outside,
            rates,
            program: self.clone(),
            data_sha256: None,
        })
    }

    /// The density of theta through sufficient statistics, where it is that of `model`. It is faster at every size.
    fn gaussian(
        &self,
        config: &Config,
        data: &Dataset,
        entries: &Map<String, Value>,
        model: &StanModel,
        alpha: f64,
    ) -> Result<Option<GaussianDensity>, FitError> {
        let is_gaussian = config.model.family() == Family::Gaussian && self.takes_alpha;
        let may_move = config.sampler.standardise != Some(false);
        let is_weighted = model.is_weighted();
        let num_columns = data.x.ncols();
        let pays = data.num_rows() > num_columns;
        let has_offset = data.offset.is_some();
        if !is_gaussian || !may_move || is_weighted || has_offset || !pays {
            return Ok(None);
        }
        let Some(places) = gaussian_theta(model, num_columns, &data.response)? else {
            return Ok(None);
        };
        let names = data.predictor_names.clone();
        let no_rows = Dataset::new(names, Array2::zeros((1, num_columns)), vec![0.0]);
        let json = stan_json(&no_rows, 0.0, entries)?;
        let (library, label) = (Arc::clone(&self.library), &self.label);
        let (response, seed) = (&config.model.response, config.sampler.seed as u32);
        // A program with further data of the file's length has no prior of its own.
        let Ok(prior) = StanModel::new(library, label, &json, response, 1, seed) else {
            return Ok(None);
        };
        let Some(statistics) = LinearStatistics::new(data.x.view(), &data.response) else {
            return Ok(None);
        };
        let gaussian = GaussianDensity::new(prior, Arc::new(statistics), places, alpha);
        let Some(gaussian) = gaussian else {
            return Ok(None);
        };
        let is_linear = config.model.stan.is_shipped("linear");
        let known = is_linear.then(|| priors::of_linear(entries, num_columns));
        let mut rng = rng::stream(config.sampler.seed, usize::MAX - 1);
        Ok(gaussian.agreeing(known.flatten(), model, &mut rng)?)
    }

    /// The numbers of the priors, where the program mentions them and model.data does not have them.
    fn add_priors(&self, entries: &mut Map<String, Value>, config: &Config, data: &Dataset) {
        let kind = config.model.response_kind();
        for (name, value) in priors::entries(config.model.priors, kind, data) {
            if self.text.contains(&name) {
                entries.entry(name).or_insert(value);
            }
        }
    }
}

/// Where HMC moves; None for theta itself.
fn coordinates(
    config: &Config,
    model: &StanModel,
    data: &Dataset,
) -> Result<Option<Standardised>, ModelError> {
    let units: Vec<f64> = match on_response_scale(&config.model) {
        true => {
            let responses = data.responses();
            let columns = responses.chunks_exact(data.num_rows());
            let spread = |y: &[f64]| Spread::around_mean(y.iter().copied()).size;
            columns.map(spread).collect()
        }
        false => vec![1.0; 1 + data.further_responses.len()],
    };
    let (x, has_intercept) = (data.x.view(), data.has_intercept());
    match config.sampler.standardise {
        Some(true) => Standardised::new(model, x, has_intercept, &units).map(Some),
        None => Standardised::if_possible(model, x, has_intercept, &units),
        Some(false) => Ok(None),
    }
}

/// Whether x'beta is known to have the units of the response.
fn on_response_scale(model: &config::Model) -> bool {
    let is_shipped = matches!(model.stan, ModelSource::Shipped(_));
    let is_known = is_shipped || model.family() != Family::Stan;
    is_known && model.response_kind() == ResponseKind::Real
}

/// The first name that is not known, and what to do about it.
fn unknown(
    values: &Map<String, Value>,
    known: &[String],
    known_are: &str,
) -> Option<(String, String)> {
    let name = values.keys().find(|name| !known.contains(name))?;
    let advice = match nearest(name, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("{known_are} {}", quoted_list(known)),
    };
    Some((name.clone(), advice))
}

/// A program that takes the parameter of the config's family as data gets it unless model.data has its own.
fn with_family_parameters(entries: &Map<String, Value>, family: Family) -> Map<String, Value> {
    let mut entries = entries.clone();
    if let Some(Parameter { name, value, .. }) = family.parameter_of(Source::Config) {
        entries.entry(name).or_insert(json!(value));
    }
    entries
}

/// Columns of the file, in place of their names, and groups.
fn with_columns(entries: &mut Map<String, Value>, data: &Dataset) -> Result<(), DataError> {
    let groups = data.groups.as_ref().map(|groups| groups.stan_entries());
    let ours = groups.into_iter().flatten();
    let ours: Vec<(String, Value)> = ours.collect();
    if let Some((key, _)) = ours.iter().find(|(key, _)| entries.contains_key(key)) {
        return Err(DataError::ReservedEntry { key: key.clone() });
    }
    entries.extend(ours);
    entries.extend(data.stan_entries.clone());
    Ok(())
}

/// A fit has no rows to predict; `unshuffle predict` puts them into model.data.
fn without_new_rows(entries: &mut Map<String, Value>) {
    entries.entry("N_new").or_insert(json!(0));
    entries.entry("X_new").or_insert(json!([]));
    entries.entry("offsets_new").or_insert(json!([]));
}

/// Fills `weighted`: whether the program has a weight for each row.
fn with_weights(entries: &mut Map<String, Value>, has_weights: bool) -> Result<(), DataError> {
    match entries.insert("weighted".into(), json!(u8::from(has_weights))) {
        None => Ok(()),
        Some(_) => Err(DataError::ReservedEntry {
            key: "weighted".into(),
        }),
    }
}

/// Both steps must mean the same likelihood; tried at a few starting points.
fn agreement(
    config: &Config,
    (data, all): (&Dataset, &Dataset),
    model: &StanModel,
    coordinates: Option<&Standardised>,
    alpha: f64,
    other: Option<&StanModel>,
    alpha_links: f64,
) -> Result<(), FitError> {
    const NUM_POINTS: usize = 4;
    let family = config.model.family();
    let mut rng = rng::stream(config.sampler.seed, usize::MAX);
    let mut stan_rng = model.rng(rng.next_u32())?;
    let seeds = DrawSeeds::new(u64::from(rng.next_u32()), 1);
    let outputs = Outputs::new(model, seeds)?;
    let x = all.x.view();
    let responses = all.responses();
    let pairs = Pairs::new(family, model, outputs, x, &responses, alpha_links)?;
    let mut pairs = pairs.with_offset(all.offset.as_deref());
    let mut points = Vec::with_capacity(NUM_POINTS);
    for _ in 0..NUM_POINTS {
        points.push(initial_values(
            model,
            coordinates,
            config,
            (data, all),
            1,
            &mut rng,
            &mut stan_rng,
        )?);
        // A user's own starting values are one point; a little noise makes the next ones differ. Others differ anyway, and
        // noise is not little where a predictor is large: exp(x'beta) would hide all else.
        if config.sampler.init != Init::Auto
            && let Some(point) = points.last_mut()
        {
            point
                .iter_mut()
                .for_each(|value| *value += rng.random_range(-0.1..0.1));
        }
    }
    let stan = TwoTemperatures {
        model,
        alpha,
        other: other.map(|model| (model, alpha / 2.0)),
    };
    check_agreement(
        &stan,
        &mut pairs,
        &family.to_string(),
        &responses,
        &points,
        &mut rng,
    )?;
    if model.is_weighted() {
        check_weights(&stan, &mut pairs, &responses, &points, &mut rng)?;
    }
    if let Some(weights) = &data.weights {
        let mut pairs = pairs.with_weights(Some(weights));
        check_survey(&stan, &mut pairs, weights, &responses, &points, &mut rng)?;
    }
    Ok(())
}

pub fn stan_source(model: &ModelSource) -> Result<StanSource, StanError> {
    match model {
        ModelSource::Shipped(name) => {
            let shipped = shipped_model(name).expect("the config was checked against the list");
            Ok(shipped.source())
        }
        ModelSource::File(path) => StanSource::from_file(path),
    }
}
