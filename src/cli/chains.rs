//! `unshuffle fit plan`, `fit run` and `fit collect`: the chains of one fit as tasks of a job array.

use std::time::Duration;

use clap::Args;

use super::config_args::{ConfigArgs, warn_of_size, warn_of_unreachable_links};
use super::failure::Failure;
use super::fit::{CheckpointArgs, ExistingArgs, ResultArgs};
use super::interrupt::stop_on_interrupt;
use super::output::data_to_stdout;
use super::progress::ChainProgress;
use super::slurm::JobArray;
use super::terminal::tidy;
use crate::fit::{ChainStand, Existing, Found, Prepared, check_writable};
use crate::posterior::Folder;

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    existing: ExistingArgs,
    /// Print the script of a Slurm job array, for `sbatch`
    #[arg(long)]
    slurm: bool,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// The chain to sample, from 1
    #[arg(long, value_name = "K", env = "SLURM_ARRAY_TASK_ID", value_parser = clap::value_parser!(u64).range(1..))]
    chain: u64,
    #[command(flatten)]
    checkpoint: CheckpointArgs,
    /// No progress
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct CollectArgs {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    results: ResultArgs,
}

pub(super) fn plan(args: PlanArgs) -> Result<(), Failure> {
    let config = args.config.load()?;
    check_writable(&Folder::new(&config.output))?;
    let prepared = args.config.prepare(config)?;
    warn_of_unreachable_links(&prepared);
    warn_of_size(&prepared);
    prepared.plan(args.existing.choice())?;
    let stands = prepared.chain_stands()?;
    let num_chains = stands.len();
    let planned = format!(
        "{}: {num_chains} chains, {} of them done\nFor a job array: numbers 1 to {num_chains}",
        tidy(prepared.work_folder()?.path()),
        stands.iter().filter(|stand| stand.is_done()).count()
    );
    if !args.slurm {
        say!("{planned}");
        return Ok(());
    }
    note!("{planned}");
    let run = ["fit", "run"].map(String::from).into_iter();
    let array = JobArray {
        what: "The chains of a fit",
        last: num_chains,
        num_cpus: 1,
        arguments: run.chain(args.config.words()).collect(),
    };
    data_to_stdout(&array.script());
    Ok(())
}

pub(super) fn run(args: RunArgs) -> Result<(), Failure> {
    let config = args.config.load()?;
    let (chain, num_chains) = (args.chain as usize, config.sampler.chains);
    if chain > num_chains {
        return Err(Failure::user(format!(
            "--chain {chain} is not in the plan, whose last one is {num_chains}"
        )));
    }
    let prepared = args.config.prepare(config)?;
    prepared.check_plan()?;
    let output = tidy(prepared.work_folder()?.path());
    if prepared.chain_stands()?[chain - 1].is_done() {
        say!("Chain {chain} in {output} is finished: there is nothing left to do.");
        return Ok(());
    }
    let stop = stop_on_interrupt("Stopping after the current iteration");
    let progress = ChainProgress::new(num_chains, args.quiet);
    let every = Duration::from_secs_f64(args.checkpoint.seconds);
    let outcome = prepared.sample_chain(chain, every, &stop, &progress)?;
    progress.finish();
    if outcome.interrupted {
        note!("Interrupted: the same command goes on where it stopped.");
        return Err(Failure::interrupted());
    }
    say!(
        "Chain {chain}: {} draws in {:.1} s. Results: {output}",
        outcome.num_draws,
        outcome.warmup_seconds + outcome.sampling_seconds
    );
    Ok(())
}

pub(super) fn collect(args: CollectArgs) -> Result<(), Failure> {
    let config = args.config.load()?;
    let truth = args.results.truth()?;
    let prepared = args.config.prepare(config)?;
    prepared.check_plan()?;
    let output = tidy(prepared.work_folder()?.path());
    if prepared.found()? == Found::Finished {
        say!("The fit in {output} is finished: there is nothing left to do.");
        return Ok(());
    }
    let missing = missing(&prepared)?;
    if !missing.is_empty() {
        return Err(Failure::user(format!(
            "the fit in {output} is not complete: {}; run them with `unshuffle fit run --chain K`",
            missing.join(", ")
        )));
    }
    let every = CheckpointArgs::default();
    args.results
        .fit(&prepared, Existing::Resume, every, truth.as_ref())
}

/// The chains that lack draws, with how far each has come.
fn missing(prepared: &Prepared) -> Result<Vec<String>, Failure> {
    let stands = prepared.chain_stands()?.into_iter();
    let missing = stands.filter(|stand| !stand.is_done());
    let in_words = |stand: ChainStand| match stand.num_done {
        0 => format!("chain {} has not begun", stand.chain),
        num_done => format!(
            "chain {} has {num_done} of {} iterations",
            stand.chain, stand.num_asked
        ),
    };
    Ok(missing.map(in_words).collect())
}
