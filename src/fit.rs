//! A fit from config to output: prepare (all that `check` does), sample, summarise.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use rand::{Rng, RngCore};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::chain::{ChainError, ChainOutcome, Observer};
use crate::config::{self, Config, ConfigError, Family, Init, ModelSource, read_init};
use crate::data::{self, DataError, Dataset, stan_json};
use crate::diagnostics::{Finding, SummaryRow, write_csv};
use crate::draws::{DrawsError, read_output};
use crate::links_summary::LinksSummary;
use crate::model::{
    AgreementError, ModelError, Outputs, Pairs, StanModel, TwoTemperatures, check_agreement,
    initial_values,
};
use crate::permutation::{Prior, PriorKind};
use crate::rng;
use crate::run::Run;
use crate::stan::{Compiled, Compiler, StanError, StanSource, shipped_model};
use crate::summary;

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
    #[error(
        "{label} declares no `alpha` in its data block, so the temperature cannot be other than 1: add `real<lower=0, upper=1> alpha;` and multiply the likelihood by it"
    )]
    NoAlpha { label: String },
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error(transparent)]
    Draws(#[from] DrawsError),
    #[error(
        "{file}: data.{key} is set, but restricting links to it is not built yet: remove it, or keep every link with permutation.update {{\"name\": \"none\"}}"
    )]
    NotHonoured { file: String, key: &'static str },
    #[error("{} already holds a fit: choose another `output`, or replace it with --force", path.display())]
    OutputExists { path: PathBuf },
    #[error("cannot write to {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// A model with its data, ready to sample.
pub struct Prepared {
    pub config: Config,
    pub data: Dataset,
    pub model: StanModel,
    pub prior: Prior,
    pub program: String,
    pub compiled: Compiled,
    pub toolchain: String,
}

/// Everything before sampling: reads the data, checks and compiles the program, builds the model.
pub fn prepare(mut config: Config, compiler: &Compiler) -> Result<Prepared, FitError> {
    if let Init::File(file) = &config.sampler.init {
        config.sampler.init = Init::Values(read_init(file)?);
    }
    refuse_unhonoured(&config)?;
    let data = data::read(&config.data)?;
    let source = stan_source(&config.model.stan)?;
    let info = compiler.info(&source)?;
    if let Some(info) = &info {
        StanModel::check_declaration(info, &source.label, &config.model.response)?;
    }
    let compiled = compiler.compile(&source)?;
    let library = StanModel::open_library(&compiled.library)?;
    let family = config.model.family();
    let entries = with_family_parameters(&config.model.data, family);
    let build = |alpha: f64| -> Result<StanModel, FitError> {
        let json = stan_json(&data, alpha, &entries)?;
        let (response, seed) = (&config.model.response, config.sampler.seed as u32);
        Ok(StanModel::new(
            Arc::clone(&library),
            &source.label,
            &json,
            response,
            data.num_rows(),
            seed,
        )?)
    };
    let (alpha, alpha_links) = config.temperature.at(data.num_rows());
    let model = build(alpha)?;
    let takes_alpha = info.is_none_or(|info| info.inputs.contains_key("alpha"));
    if !takes_alpha && alpha != 1.0 {
        return Err(FitError::NoAlpha {
            label: source.label,
        });
    }
    if config.permutation.update != config::Update::None {
        let other = if takes_alpha {
            Some(build(alpha / 2.0)?)
        } else {
            None
        };
        agreement(&config, &data, &model, alpha, other.as_ref(), alpha_links)?;
    }
    let prior = Prior::new(prior_kind(config.permutation.prior), data.num_rows());
    Ok(Prepared {
        config,
        data,
        model,
        prior,
        program: source.text,
        compiled,
        toolchain: compiler.toolchain.describe(),
    })
}

/// A restriction that the permutation step would silently ignore must not look as if it worked.
fn refuse_unhonoured(config: &Config) -> Result<(), FitError> {
    let keys = [("block", &config.data.block), ("safe", &config.data.safe)];
    match keys.into_iter().find(|(_, column)| column.is_some()) {
        Some((key, _)) if config.permutation.update != config::Update::None => {
            Err(FitError::NotHonoured {
                file: config.name.clone(),
                key,
            })
        }
        _ => Ok(()),
    }
}

/// The prior on the links that a config names.
pub fn prior_kind(prior: config::Prior) -> PriorKind {
    match prior {
        config::Prior::BetaBinomial { a, b } => PriorKind::BetaBinomial { a, b },
        config::Prior::Uniform { max_moved } => PriorKind::Uniform { max_moved },
        config::Prior::Hamming { theta } => PriorKind::Hamming { theta },
    }
}

/// tau and nu stand in the config's family; a program that takes them as data gets them unless model.data has its own.
fn with_family_parameters(entries: &Map<String, Value>, family: Family) -> Map<String, Value> {
    let mut entries = entries.clone();
    let parameter = match family {
        Family::AsymmetricLaplace { tau } => Some(("tau", tau)),
        Family::StudentT { nu } => Some(("nu", nu)),
        Family::Gaussian | Family::Stan => None,
    };
    if let Some((name, value)) = parameter {
        entries.entry(name).or_insert(json!(value));
    }
    entries
}

/// Both steps must mean the same likelihood; tried at a few starting points.
fn agreement(
    config: &Config,
    data: &Dataset,
    model: &StanModel,
    alpha: f64,
    other: Option<&StanModel>,
    alpha_links: f64,
) -> Result<(), FitError> {
    const NUM_POINTS: usize = 4;
    let family = config.model.family();
    let mut rng = rng::stream(config.sampler.seed, usize::MAX);
    let mut stan_rng = model.rng(rng.next_u32())?;
    let outputs = Outputs::new(model, model.rng(rng.next_u32())?);
    let x = data.x.view();
    let mut pairs = Pairs::new(family, model, outputs, x, &data.response, alpha_links)?;
    let mut points = Vec::with_capacity(NUM_POINTS);
    for _ in 0..NUM_POINTS {
        points.push(initial_values(
            model,
            &config.sampler.init,
            (&config.model.response, &data.response),
            data,
            1,
            &mut rng,
            &mut stan_rng,
        )?);
        // A user's own starting values are one point; a little noise makes the next ones differ.
        if let Some(point) = points.last_mut() {
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
        &data.response,
        &points,
        &mut rng,
    )?;
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

/// What a fit leaves besides its files.
pub struct Fitted {
    pub summary: Vec<SummaryRow>,
    pub findings: Vec<Finding>,
    pub outcomes: Vec<ChainOutcome>,
    pub seconds: f64,
    pub interrupted: bool,
}

/// Refuses an output folder that holds a fit, unless it may be replaced.
pub fn check_output(output: &Path, force: bool) -> Result<(), FitError> {
    let holds_fit = output.join("config.json").exists() || output.join("draws_1.csv").exists();
    if holds_fit && !force {
        return Err(FitError::OutputExists {
            path: output.to_path_buf(),
        });
    }
    Ok(())
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
        let start = Instant::now();
        let run = Run {
            config: &self.config,
            data: &self.data,
            model: &self.model,
            prior: &self.prior,
            output,
            num_threads,
            stop,
            observer,
        };
        let outcomes = run.chains()?;
        let has_draws = outcomes.iter().any(|outcome| outcome.num_draws > 0);
        let chains = if has_draws {
            read_output(output)?
        } else {
            Vec::new()
        };
        let rows = summary::rows(&chains);
        let mut findings = summary::findings(&chains, &rows);
        let links = LinksSummary::read(output, &chains, self.data.num_rows())?;
        if let Some(links) = &links {
            links.write(output, self.data.row_ids.as_deref())?;
            findings.extend(links.findings());
        }
        findings.extend(summary::drift_findings(&outcomes));
        let interrupted = outcomes.len() < self.config.sampler.chains
            || outcomes.iter().any(|outcome| outcome.interrupted);
        let path = output.join("summary.csv");
        let mut csv = Vec::new();
        write_csv(&rows, &mut csv).expect("writing to memory does not fail");
        fs::write(&path, csv).map_err(|source| FitError::Write { path, source })?;
        let seconds = start.elapsed().as_secs_f64();
        let diagnostics = json!({
            "findings": findings,
            "chains": outcomes,
            "seconds": seconds,
            "interrupted": interrupted,
        });
        write(&output.join("diagnostics.json"), &diagnostics)?;
        Ok(Fitted {
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
        });
        value
    }
}

/// Makes the folder, and removes what an earlier fit left there; other files are none of ours.
fn clear_output(output: &Path) -> Result<(), FitError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| FitError::Write { path, source }
    };
    fs::create_dir_all(output).map_err(failed(output))?;
    for entry in fs::read_dir(output).map_err(failed(output))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let per_chain = ["draws_", "links_"].iter().any(|prefix| {
            let number = name
                .strip_prefix(prefix)
                .and_then(|n| n.strip_suffix(".csv"));
            number.is_some_and(|number| number.parse::<usize>().is_ok())
        });
        if per_chain || OUTPUT_FILES.contains(&name.as_str()) {
            fs::remove_file(entry.path()).map_err(failed(&entry.path()))?;
        }
    }
    Ok(())
}

const OUTPUT_FILES: [&str; 6] = [
    "config.json",
    "rows.csv",
    "pi_mean.csv",
    "summary.csv",
    "diagnostics.json",
    "report.html",
];

fn write(path: &Path, value: &Value) -> Result<(), FitError> {
    let text = serde_json::to_string_pretty(value).expect("JSON values are printable");
    fs::write(path, text + "\n").map_err(|source| FitError::Write {
        path: path.to_path_buf(),
        source,
    })
}
