//! `unshuffle fit`: all of it, or `plan`, `run` and `collect` apart.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::chains::{self, CollectArgs, PlanArgs, RunArgs};
use super::config_args::{
    ConfigArgs, ConfigFileArgs, warn_of_size, warn_of_unreachable_links, what_was_done,
};
use super::failure::Failure;
use super::interrupt::stop_on_interrupt;
use super::json;
use super::progress::ChainProgress;
use super::terminal::{
    absolute, print_comparison, print_findings, print_status, print_summary, tidy,
    warn_of_problems, width,
};
use super::{ToolchainArgs, default_threads};
use crate::baseline::compare::read_truth;
use crate::data::Truth;
use crate::fit::{CHECKPOINT_EVERY, Existing, FitOptions, Found, Prepared, check_output};
use crate::posterior::diagnostics::Finding;
use crate::posterior::{DamagedFile, Folder, Posterior};
use crate::report;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct FitArgs {
    #[command(subcommand)]
    part: Option<Part>,
    // Without the toolchain: clap cannot tell whether arguments are there that have others among them.
    #[command(flatten)]
    config: Option<ConfigFileArgs>,
    #[command(flatten)]
    toolchain: ToolchainArgs,
    #[command(flatten)]
    existing: ExistingArgs,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    #[command(flatten)]
    results: ResultArgs,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Prepare the output folder for chains that are sampled one by one, and compile what they need
    Plan(PlanArgs),
    /// Sample one chain of a planned fit; after a kill the same command goes on where it stopped
    Run(RunArgs),
    /// Summarise and check the chains of a planned fit as `fit` does, or say which are missing
    Collect(CollectArgs),
}

/// What to do with a fit that is there.
#[derive(Debug, Args)]
pub(super) struct ExistingArgs {
    /// Replace the fit that is already in the output folder
    #[arg(long)]
    force: bool,
    /// Go on with the fit in the output folder after a kill, a full disk or an interruption, or add draws to it
    #[arg(long, conflicts_with = "force")]
    resume: bool,
}

impl ExistingArgs {
    pub fn choice(&self) -> Existing {
        match (self.force, self.resume) {
            (true, _) => Existing::Replace,
            (_, true) => Existing::Resume,
            _ => Existing::Refuse,
        }
    }
}

/// How often chains are saved.
#[derive(Debug, Args)]
pub(super) struct CheckpointArgs {
    /// Save the state of each chain after so many seconds, for --resume
    #[arg(long = "checkpoint", value_name = "SECONDS", default_value_t = CHECKPOINT_EVERY.as_secs_f64(), value_parser = seconds)]
    pub seconds: f64,
}

impl Default for CheckpointArgs {
    fn default() -> CheckpointArgs {
        let seconds = CHECKPOINT_EVERY.as_secs_f64();
        CheckpointArgs { seconds }
    }
}

/// What is made of the draws, and how it is told.
#[derive(Debug, Args)]
pub(super) struct ResultArgs {
    /// End with exit code 1 when the diagnostics find a problem
    #[arg(long)]
    strict: bool,
    /// Chains at once; draws do not depend on it
    #[arg(long, value_name = "N", default_value_t = default_threads(), value_parser = super::at_least_one)]
    threads: usize,
    /// The truth.json of simulated data, to print beside the estimates
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Put Huber's estimator, a mixture over the rows and a known rate of wrong links beside the estimates, and save them as baselines.csv
    #[arg(long)]
    compare: bool,
    /// No progress and no table; problems are still told
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn fit(args: FitArgs) -> Result<(), Failure> {
    let file = match (args.part, args.config) {
        (Some(Part::Plan(args)), _) => return chains::plan(args),
        (Some(Part::Run(args)), _) => return chains::run(args),
        (Some(Part::Collect(args)), _) => return chains::collect(args),
        (None, Some(config)) => config,
        (None, None) => unreachable!("clap asks for a config or a subcommand"),
    };
    let config_args = ConfigArgs {
        file,
        toolchain: args.toolchain,
    };
    let config = config_args.load()?;
    let truth = args.results.truth()?;
    let existing = args.existing.choice();
    check_output(&Folder::new(&config.output), existing)?;
    let prepared = config_args.prepare(config)?;
    if args.existing.resume && !has_more_to_do(&prepared)? {
        return Ok(());
    }
    warn_of_unreachable_links(&prepared);
    warn_of_size(&prepared);
    if !args.results.quiet {
        let lines = what_was_done(&prepared);
        lines.iter().for_each(|line| note!("{line}"));
    }
    args.results
        .fit(&prepared, existing, args.checkpoint, truth.as_ref())
}

impl ResultArgs {
    pub fn truth(&self) -> Result<Option<Truth>, Failure> {
        Ok(self.truth.as_deref().map(read_truth).transpose()?)
    }

    /// Samples what is missing, writes all files of the fit, and prints its results.
    pub fn fit(
        &self,
        prepared: &Prepared,
        existing: Existing,
        checkpoint: CheckpointArgs,
        truth: Option<&Truth>,
    ) -> Result<(), Failure> {
        if self.compare {
            for reason in prepared.nothing_to_compare() {
                note!("warning: --compare finds nothing to compare: {reason}");
            }
            if let Some(sentence) = prepared.left_out_of_comparison() {
                note!("warning: {sentence}");
            }
        }
        let stop = stop_on_interrupt("Stopping after the current iteration");
        let progress = ChainProgress::new(prepared.config.sampler.chains, self.quiet);
        let options = FitOptions {
            num_threads: self.threads,
            compare: self.compare,
            existing,
            checkpoint_every: Duration::from_secs_f64(checkpoint.seconds),
        };
        let posterior = prepared.fit(&options, &stop, &progress)?;
        progress.finish();
        self.tell(&posterior, truth)
    }

    /// Prints the results of a fit; an interrupted one, and under --strict one with problems, is a failure.
    fn tell(&self, posterior: &Posterior, truth: Option<&Truth>) -> Result<(), Failure> {
        if !self.quiet && !posterior.chains.is_empty() {
            print(posterior, truth);
        }
        if self.quiet || json::is_on() {
            warn_of_problems(&posterior.named_findings());
        }
        let output = tidy(posterior.folder.path());
        json::result("folder", absolute(posterior.folder.path()));
        if posterior.is_interrupted() {
            let num_draws = posterior.num_draws();
            note!(
                "Interrupted: the {num_draws} draws so far are in {output}{}; go on with `unshuffle fit --resume`",
                surplus(posterior)
            );
            return Err(Failure::interrupted());
        }
        let seconds = posterior.seconds();
        say!(
            "Sampled in {:.1} s. Results: {output}",
            seconds.unwrap_or(0.0)
        );
        if !posterior.chains.is_empty() {
            say!("Report: {}", tidy(&posterior.folder.file(Folder::REPORT)));
        }
        if self.strict && posterior.all_findings().iter().any(Finding::is_problem) {
            return Err(Failure::diagnostics());
        }
        Ok(())
    }
}

/// Says when there is nothing to go on with, or nothing left to do.
fn has_more_to_do(prepared: &Prepared) -> Result<bool, Failure> {
    let output = tidy(prepared.work_folder()?.path());
    let found = prepared.found()?;
    match found {
        Found::Nothing => {
            note!("There is no fit in {output} yet: it starts from the beginning.")
        }
        Found::Unfinished => {
            let damaged = prepared.work_folder()?.damaged().unwrap_or_default();
            for file in damaged {
                note!("{}", made_again(&file));
            }
        }
        Found::Finished => {
            json::result("folder", absolute(&prepared.config.output));
            say!("The fit in {output} is finished: there is nothing left to do.")
        }
    }
    Ok(found != Found::Finished)
}

fn made_again(file: &DamagedFile) -> String {
    match file.chain() {
        Some(chain) => format!("{file}: chain {chain} is sampled again, with the same draws."),
        None => format!("{file}: it is made again."),
    }
}

/// How many draws were set aside, since other readers want chains of one length.
fn surplus(posterior: &Posterior) -> String {
    let chains = posterior.diagnostics.iter().flat_map(|found| &found.chains);
    let num_sampled: usize = chains.map(|chain| chain.num_draws).sum();
    match num_sampled.saturating_sub(posterior.num_draws()) {
        0 => String::new(),
        1 => ", chains cut to one length with 1 further draw kept aside".into(),
        number => format!(", chains cut to one length with {number} further draws kept aside"),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is not a number".to_string())?;
    // Beyond a day a checkpoint is no checkpoint.
    match (0.0..=86_400.0).contains(&seconds) {
        true => Ok(seconds),
        false => Err("it is not between 0 and 86400".into()),
    }
}

/// Findings without the one on the model behind the links, which the verdict below them begins with.
fn print_findings_of_draws(posterior: &Posterior) {
    let findings = posterior.named_findings();
    let is_of_links = |finding: &Finding| matches!(finding, Finding::Contradicted(_));
    if !findings.iter().any(is_of_links) {
        print_findings(&findings);
        say!("");
        return;
    }
    let of_draws: Vec<&Finding> = findings.iter().filter(|f| !is_of_links(f)).collect();
    for finding in &of_draws {
        say!("{finding}");
    }
    if !of_draws.is_empty() {
        say!("");
    }
}

fn print(posterior: &Posterior, truth: Option<&Truth>) {
    print_summary(posterior);
    say!("");
    print_findings_of_draws(posterior);
    if let Some(all) = posterior.estimates_and(truth) {
        print_comparison(&all);
        say!("");
    }
    print_status(posterior);
    say!("{}", report::verdict_text(posterior, width()));
}
