//! `unshuffle fit`.

use std::path::PathBuf;

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
use crate::fit::{FitOptions, check_output};
use crate::posterior::diagnostics::Finding;
use crate::posterior::{Folder, Posterior};
use crate::report;

#[derive(Debug, Args)]
pub(super) struct FitArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Replace the fit that is already in the output folder
    #[arg(long)]
    force: bool,
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
    check_output(&config.output, args.force)?;
    let prepared = args.config.prepare(config)?;
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
        note!("Interrupted: the {num_draws} draws so far are in {output}");
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
