//! `unshuffle study`: plan, run, collect, or all three in one.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::failure::Failure;
use super::interrupt::stop_on_interrupt;
use super::output::{data_to_stdout, to_stdout};
use super::progress::{BuildProgress, StudyProgress};
use super::slurm::{JobArray, bridgestan_words, config_words};
use super::terminal::tidy;
use super::{ToolchainArgs, default_threads};
use crate::study::{
    Collected, Programs, RunCounts, Study, StudyError, Task, check_plan, run, study_table, tasks,
    write_plan,
};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct StudyArgs {
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    config: Option<StudyConfigArgs>,
    #[command(flatten)]
    worker: WorkerArgs,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// List the tasks in plan.csv and compile what they need
    Plan(PlanArgs),
    /// Run tasks of a planned study; those that are done are left alone
    Run(RunArgs),
    /// Merge the results of all tasks, and list those that are missing or failed
    Collect(CollectArgs),
}

#[derive(Debug, Args)]
struct StudyConfigArgs {
    /// The study's JSON config
    config: PathBuf,
    /// Override one entry of the config, for example --set repeats=5
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
}

#[derive(Debug, Args)]
struct WorkerArgs {
    /// A BridgeStan 2.9 folder to compile with, instead of the Stan that unshuffle fetches
    #[arg(long, value_name = "DIR", env = "BRIDGESTAN", value_parser = clap::builder::OsStringValueParser::new())]
    bridgestan: Option<std::ffi::OsString>,
    /// Tasks at once; results do not depend on it
    #[arg(long, value_name = "N", default_value_t = default_threads(), value_parser = super::at_least_one)]
    jobs: usize,
    /// No progress and no table
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
struct PlanArgs {
    #[command(flatten)]
    config: StudyConfigArgs,
    #[command(flatten)]
    toolchain: ToolchainArgs,
    /// Tasks in each number of a job array
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    batch: u64,
    /// Print the script of a Slurm job array, for `sbatch`
    #[arg(long)]
    slurm: bool,
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    config: StudyConfigArgs,
    #[command(flatten)]
    worker: WorkerArgs,
    /// The task to run, from 1
    #[arg(long, value_name = "K", env = "SLURM_ARRAY_TASK_ID", value_parser = clap::value_parser!(u64).range(1..))]
    task: u64,
    /// With K, run the tasks (K - 1) B + 1 to K B
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    batch: u64,
}

#[derive(Debug, Args)]
struct CollectArgs {
    #[command(flatten)]
    config: StudyConfigArgs,
    /// End with exit code 1 when a task is missing or failed
    #[arg(long)]
    strict: bool,
}

pub(super) fn study(args: StudyArgs) -> Result<(), Failure> {
    match (args.part, args.config) {
        (Some(Part::Plan(args)), _) => plan(args),
        (Some(Part::Run(args)), _) => run_part(args),
        (Some(Part::Collect(args)), _) => collect_part(args),
        (None, Some(config)) => all(config, args.worker),
        (None, None) => unreachable!("clap asks for a config or a subcommand"),
    }
}

fn load(args: &StudyConfigArgs) -> Result<(Study, Vec<Task>), Failure> {
    let study = Study::load(&args.config, &args.settings)?;
    let tasks = tasks(&study)?;
    Ok((study, tasks))
}

fn all(config: StudyConfigArgs, worker: WorkerArgs) -> Result<(), Failure> {
    let (study, tasks) = load(&config)?;
    write_plan(&study, &tasks)?;
    let chosen: Vec<&Task> = tasks.iter().collect();
    let counts = work(&study, &chosen, worker)?;
    collect(&study, &tasks)?;
    end(counts)
}

fn plan(args: PlanArgs) -> Result<(), Failure> {
    let (study, tasks) = load(&args.config)?;
    let observer = BuildProgress::new();
    let cells = 0..study.cells.len();
    Programs::compile(&study, cells, &|| args.toolchain.compiler(&observer))?;
    let path = write_plan(&study, &tasks)?;
    let last = tasks.len().div_ceil(args.batch as usize);
    let planned = format!(
        "{}: {} cells x {} repeats = {} tasks, {} of them done\nFor a job array: numbers 1 to {last}",
        tidy(&path),
        study.cells.len(),
        study.repeats,
        tasks.len(),
        tasks.iter().filter(|task| task.is_done()).count()
    );
    if !args.slurm {
        say!("{planned}");
        return Ok(());
    }
    note!("{planned}");
    data_to_stdout(&job_array(&args, last).script());
    Ok(())
}

fn job_array(args: &PlanArgs, last: usize) -> JobArray {
    let mut arguments = ["study", "run"].map(String::from).to_vec();
    arguments.extend(config_words(&args.config.config, &args.config.settings));
    arguments.extend(bridgestan_words(args.toolchain.bridgestan()));
    arguments.extend(["--batch".into(), args.batch.to_string(), "--quiet".into()]);
    JobArray {
        what: "The tasks of a study",
        last,
        num_cpus: 2,
        arguments,
    }
}

fn run_part(args: RunArgs) -> Result<(), Failure> {
    let (study, tasks) = load(&args.config)?;
    check_plan(&study, &tasks)?;
    let (number, batch) = (args.task as usize, args.batch as usize);
    let first = (number - 1).saturating_mul(batch);
    if first >= tasks.len() {
        return Err(Failure::user(format!(
            "--task {number} is not in the plan, whose last one is {}",
            tasks.len().div_ceil(batch)
        )));
    }
    let chosen: Vec<&Task> = tasks.iter().skip(first).take(batch).collect();
    let counts = work(&study, &chosen, args.worker)?;
    say!(
        "{} done, {} were done before, {} failed",
        counts.done,
        counts.skipped,
        counts.failed
    );
    end(counts)
}

fn collect_part(args: CollectArgs) -> Result<(), Failure> {
    let (study, tasks) = load(&args.config)?;
    let complete = collect(&study, &tasks)?;
    if args.strict && !complete {
        return Err(Failure::diagnostics());
    }
    Ok(())
}

fn work(study: &Study, chosen: &[&Task], args: WorkerArgs) -> Result<RunCounts, Failure> {
    let jobs = study.max_jobs.unwrap_or(args.jobs).min(args.jobs);
    let toolchain = ToolchainArgs {
        bridgestan: args.bridgestan,
        jobs: args.jobs,
    };
    let observer = BuildProgress::new();
    let todo = chosen.iter().filter(|task| !task.is_done());
    let cells = todo.clone().map(|task| task.cell);
    let programs = Programs::compile(study, cells, &|| toolchain.compiler(&observer))?;
    let progress = StudyProgress::new(study, todo.count(), args.quiet);
    let stop = stop_on_interrupt("Stopping; finished tasks are kept");
    let counts = run(study, chosen, &programs, jobs, &stop, &progress)?;
    progress.finish();
    Ok(counts)
}

/// Whether every task is done.
fn collect(study: &Study, tasks: &[Task]) -> Result<bool, Failure> {
    const MOST_LISTED: usize = 20;
    let collected = Collected::read(tasks)?;
    collected.write(study)?;
    to_stdout(&study_table(study, &collected));
    for (task, sentence) in collected.failed.iter().take(MOST_LISTED) {
        say!("failed: {}: {sentence}", study.describe(task));
    }
    for task in collected.missing.iter().take(MOST_LISTED) {
        say!("missing: {}", study.describe(task));
    }
    say!(
        "{} tasks done, {} missing, {} failed. Tables: {}",
        collected.done.len(),
        collected.missing.len(),
        collected.failed.len(),
        tidy(&study.output)
    );
    Ok(collected.is_complete())
}

fn end(counts: RunCounts) -> Result<(), Failure> {
    if counts.interrupted {
        note!("Interrupted: the same command goes on where it stopped.");
        return Err(Failure::interrupted());
    }
    if counts.failed > 0 {
        return Err(Failure::tasks_failed());
    }
    Ok(())
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Failure {
        match error {
            StudyError::Fit(error) => error.into(),
            other => Failure::new(2, other),
        }
    }
}
