//! `unshuffle assess`: is this file suitable?

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use clap::Args;

use super::config_args::ConfigArgs;
use super::default_threads;
use super::failure::Failure;
use super::interrupt::stop_on_interrupt;
use super::json;
use super::progress::{BuildProgress, ChainProgress, in_words};
use super::terminal::{absolute, tidy};
use crate::config::{Config, ResponseKind, Sampler};
use crate::data::link_space;
use crate::fit::{Program, read_data};
use crate::study::assess::{
    self, Advice, AssessError, Assessment, Description, SHARES, Trial, Trials,
};

#[derive(Debug, Args)]
pub(super) struct AssessArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The folder for assess.json and assess.svg [default: out/assess_NAME beside the config]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Chains at once; results do not depend on it
    #[arg(long, value_name = "N", default_value_t = default_threads(), value_parser = super::at_least_one)]
    threads: usize,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn assess(args: AssessArgs) -> Result<(), Failure> {
    let config = args.config.load()?;
    let output = args.output.clone();
    let output = output.unwrap_or_else(|| default_output(&args.config.file.config, &config));
    let data = read_data(&config)?;
    assess::check(&config, &data)?;
    let is_real = config.model.response_kind() == ResponseKind::Real;
    let description = Description::new(&data, &link_space(&data), is_real);
    Assessment::check_place(&output)?;
    if data.candidates.is_some() || data.match_probability.is_some() || data.rates.is_some() {
        note!(
            "warning: candidates, match probabilities and rates by covariates speak of the links of the file, not of planted ones, so the fits of `assess` leave them out"
        );
    }
    let program = {
        let observer = BuildProgress::new();
        let compiler = args.config.toolchain.compiler(&observer)?;
        Program::compile(&config.model, &compiler)?
    };
    let mut trials = Trials::new(&program, config.clone(), data)?;
    let stop = stop_on_interrupt("Stopping; nothing is written");
    let mut done = Vec::with_capacity(SHARES.len());
    for share in SHARES {
        let trial = run(&mut trials, share, &args, &stop)?;
        done.push(trial.ok_or_else(Failure::interrupted)?);
    }
    let assessment = Assessment {
        expected_seconds: expected_seconds(&config.sampler, &done[0], args.threads),
        name: config.name,
        description,
        advice: Advice::new(&done),
        trials: done,
    };
    assessment.write(&output)?;
    json::result("folder", absolute(&output));
    print(&assessment);
    say!("Picture and numbers: {}", tidy(&output));
    Ok(())
}

fn default_output(config_file: &Path, config: &Config) -> PathBuf {
    let folder = config_file.parent().unwrap_or(Path::new(""));
    folder.join("out").join(format!("assess_{}", config.name))
}

fn run(
    trials: &mut Trials,
    share: f64,
    args: &AssessArgs,
    stop: &AtomicBool,
) -> Result<Option<Trial>, AssessError> {
    if !args.quiet {
        match share {
            0.0 => note!("Fitting the file as given"),
            share => note!("Fitting with {:.0} % planted wrong links", 100.0 * share),
        }
    }
    let progress = ChainProgress::new(trials.num_chains(), args.quiet);
    let trial = trials.run(share, args.threads, stop, &progress)?;
    progress.finish();
    Ok(trial)
}

/// Seconds that a fit with the config's own settings will take.
fn expected_seconds(sampler: &Sampler, trial: &Trial, num_threads: usize) -> f64 {
    let rounds = sampler.chains.div_ceil(num_threads.max(1));
    let iterations = sampler.warmup + sampler.draws;
    rounds as f64 * iterations as f64 * trial.iteration_seconds
}

fn print(assessment: &Assessment) {
    let lines = assessment.description.lines();
    lines.iter().for_each(|line| say!("{line}"));
    let time = in_words(assessment.expected_seconds);
    say!("time       about {time} for a fit with the settings of the config");
    say!(
        "\nError of the slopes: mean distance from the file as given with every link kept, in its standard deviations\n"
    );
    say!("{}", assessment.table());
    say!("{}", assessment.bars());
    say!("{}", assessment.advice.sentence);
}

impl From<AssessError> for Failure {
    fn from(error: AssessError) -> Failure {
        match error {
            AssessError::Fit(error) => error.into(),
            other => Failure::new(2, other),
        }
    }
}
