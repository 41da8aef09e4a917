//! A fit from config to output: prepare (all that `check` does), sample, summarise.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde_json::{Value, json};
use thiserror::Error;

use crate::chain::{ChainError, ChainOutcome, Observer};
use crate::config::{Config, ConfigError, Init, ModelSource, read_init};
use crate::data::{self, DataError, Dataset, stan_json};
use crate::diagnostics::{Finding, SummaryRow, write_csv};
use crate::draws::{DrawsError, read_output};
use crate::model::{ModelError, StanModel};
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
    Chain(#[from] ChainError),
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

/// A model with its data, ready to sample.
pub struct Prepared {
    pub config: Config,
    pub data: Dataset,
    pub model: StanModel,
    pub program: String,
    pub compiled: Compiled,
    pub toolchain: String,
}

/// Everything before sampling: reads the data, checks and compiles the program, builds the model.
pub fn prepare(mut config: Config, compiler: &Compiler) -> Result<Prepared, FitError> {
    if let Init::File(file) = &config.sampler.init {
        config.sampler.init = Init::Values(read_init(file)?);
    }
    let data = data::read(&config.data)?;
    let source = stan_source(&config.model.stan)?;
    if let Some(info) = compiler.info(&source)? {
        StanModel::check_declaration(&info, &source.label, &config.model.response)?;
    }
    let compiled = compiler.compile(&source)?;
    let (alpha, _) = config.temperature.at(data.num_rows());
    let json = stan_json(&data, alpha, &config.model.data)?;
    let model = StanModel::new(
        StanModel::open_library(&compiled.library)?,
        &source.label,
        &json,
        &config.model.response,
        data.num_rows(),
        config.sampler.seed as u32,
    )?;
    Ok(Prepared {
        config,
        data,
        model,
        program: source.text,
        compiled,
        toolchain: compiler.toolchain.describe(),
    })
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
        let findings = summary::findings(&chains, &rows);
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
