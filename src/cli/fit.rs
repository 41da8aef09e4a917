//! `unshuffle fit`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::config_args::{ConfigArgs, warn_of_size, warn_of_unreachable_links, what_was_done};
use super::default_threads;
use super::failure::Failure;
use super::progress::ChainProgress;
use super::terminal::{
    print_comparison, print_findings, print_summary, stop_on_interrupt, tidy, warn_of_problems,
    width,
};
use crate::baseline::compare::read_truth;
use crate::data::Truth;
use crate::fit::{CHECKPOINT_EVERY, Existing, FitOptions, Found, Prepared, check_output};
use crate::posterior::diagnostics::Finding;
use crate::posterior::draws::ChainDraws;
use crate::posterior::{Folder, Posterior};
use crate::report;

#[derive(Debug, Args)]
pub(super) struct FitArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Replace the fit that is already in the output folder
    #[arg(long)]
    force: bool,
    /// Go on with the fit in the output folder after a kill, a full disk or an interruption, or add draws to it
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Save the state of each chain after so many seconds, for --resume
    #[arg(long, value_name = "SECONDS", default_value_t = CHECKPOINT_EVERY.as_secs_f64(), value_parser = seconds)]
    checkpoint: f64,
    /// End with exit code 1 when the diagnostics find a problem
    #[arg(long)]
    strict: bool,
    /// Chains at once; draws do not depend on it
    #[arg(long, value_name = "N", default_value_t = default_threads())]
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
    let config = args.config.load()?;
    let truth = args.truth.as_deref().map(read_truth).transpose()?;
    let existing = match (args.force, args.resume) {
        (true, _) => Existing::Replace,
        (_, true) => Existing::Resume,
        _ => Existing::Refuse,
    };
    check_output(&Folder::new(&config.output), existing)?;
    let prepared = args.config.prepare(config)?;
    if args.resume && !has_more_to_do(&prepared)? {
        return Ok(());
    }
    warn_of_unreachable_links(&prepared);
    warn_of_size(&prepared);
    if !args.quiet {
        let lines = what_was_done(&prepared);
        lines.iter().for_each(|line| note!("{line}"));
    }
    if args.compare {
        for reason in prepared.nothing_to_compare() {
            note!("warning: --compare finds nothing to compare: {reason}");
        }
    }
    let stop = stop_on_interrupt("Stopping after the current iteration");
    let progress = ChainProgress::new(prepared.config.sampler.chains, args.quiet);
    let options = FitOptions {
        num_threads: args.threads,
        compare: args.compare,
        existing,
        checkpoint_every: Duration::from_secs_f64(args.checkpoint),
    };
    let posterior = prepared.fit(&options, &stop, &progress)?;
    progress.finish();
    if !args.quiet && !posterior.chains.is_empty() {
        print(&posterior, truth.as_ref());
    }
    if args.quiet {
        warn_of_problems(&posterior.all_findings());
    }
    let output = tidy(posterior.folder.path());
    if posterior.is_interrupted() {
        let num_draws = posterior.num_draws();
        note!(
            "Interrupted: the {num_draws} draws so far are in {output}{}; go on with `unshuffle fit --resume`",
            lengths(&posterior)
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
    if args.strict && posterior.all_findings().iter().any(Finding::is_problem) {
        return Err(Failure::diagnostics());
    }
    Ok(())
}

/// Says when there is nothing to go on with, or nothing left to do.
fn has_more_to_do(prepared: &Prepared) -> Result<bool, Failure> {
    let output = tidy(&prepared.config.output);
    let found = prepared.found()?;
    match found {
        Found::Nothing => {
            note!("There is no fit in {output} yet: it starts from the beginning.")
        }
        Found::Unfinished => {}
        Found::Finished => {
            say!("The fit in {output} is finished: there is nothing left to do.")
        }
    }
    Ok(found != Found::Finished)
}

/// The number of draws of each chain where they differ, since other readers want them alike.
fn lengths(posterior: &Posterior) -> String {
    let chains = posterior.chains.iter();
    let lengths: Vec<usize> = chains.map(ChainDraws::num_draws).collect();
    if lengths.windows(2).all(|pair| pair[0] == pair[1]) {
        return String::new();
    }
    let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
    format!(" (chains of different lengths: {})", lengths.join(", "))
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is not a number".to_string())?;
    // Beyond a day a checkpoint is no checkpoint.
    match (0.0..=86_400.0).contains(&seconds) {
        true => Ok(seconds),
        false => Err("it is not between 0 and 86400".into()),
    }
}

fn print(posterior: &Posterior, truth: Option<&Truth>) {
    print_summary(posterior.summary());
    say!("");
    print_findings(&posterior.all_findings());
    say!("");
    say!("{}", report::verdict_text(posterior, width()));
    if let Some(all) = posterior.estimates_and(truth) {
        print_comparison(&all);
        say!("");
    }
}
