//! The command line: arguments as typed, one module per command, and what exit codes mean.

#[macro_use]
mod output;

mod adopt;
mod assess;
mod cache;
mod chains;
mod check;
mod closed;
mod compile;
mod config_args;
mod convert;
mod diagnose;
mod doctor;
mod export;
mod failure;
mod fit;
mod init;
mod init_from;
mod interrupt;
mod json;
mod pool;
mod predict;
mod progress;
mod report;
mod schema;
mod shell;
mod simulate;
mod slurm;
mod study;
mod summary;
mod terminal;
mod version;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::builder::OsStringValueParser;
use clap::{Args, Parser, Subcommand};

/// Bayesian regression when some rows of a linked data set are linked wrongly.
#[derive(Debug, Parser)]
#[command(name = "unshuffle", version, long_version = version::long_version(), arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done, 1 diagnostics failed under --strict, 2 bad config, data or model, or a file that cannot be \
                        written, \
                        3 toolchain, 4 sampler failure, 130 interrupted."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Write one JSON object for each line of progress, each warning and the result to stdout, for programs that drive this one
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fit a model as a JSON config says: all of it, or `plan`, `run` and `collect` apart, one chain in each job
    Fit(Box<fit::FitArgs>),
    /// Do everything that `fit` does before sampling
    Check(check::CheckArgs),
    /// Say whether a file is suitable, from fits of it with planted wrong links
    Assess(assess::AssessArgs),
    /// Turn the pairs of a linkage program (splink, fastLink) into a linked file, candidates and a config
    Convert(convert::ConvertArgs),
    /// Compile Stan programs into the cache
    Compile(compile::CompileArgs),
    /// List, clean, pack or unpack the compiled models
    Cache(cache::CacheArgs),
    /// Print the summary of a finished fit, from its saved files
    Summary(summary::SummaryArgs),
    /// Say whether a finished fit can be trusted, from its saved files
    Diagnose(diagnose::DiagnoseArgs),
    /// Write report.html again, from a finished fit's saved files, or one page of several fits
    Report(report::ReportArgs),
    /// Write relinked data from a finished fit: the best links, and sets for multiple imputation
    Export(export::ExportArgs),
    /// Pool the estimates of completed data sets by Rubin's rules
    Pool(pool::PoolArgs),
    /// Predict the responses of new rows from a finished fit
    Predict(predict::PredictArgs),
    /// Write data with known wrong links, the truth about them, and a config that fits them
    Simulate(Box<simulate::SimulateArgs>),
    /// Run a grid of simulated fits: all of it, or `plan`, `run` and `collect` apart
    Study(Box<study::StudyArgs>),
    /// Write a Stan program and a config to edit, or a config for a file of your own
    Init(init::InitArgs),
    /// Turn an ordinary Stan regression, with its response in `data`, into a program for unshuffle
    Adopt(adopt::AdoptArgs),
    /// Check that everything a fit needs is there, and say what to do if not
    Doctor(doctor::DoctorArgs),
    /// Print the JSON Schema of a config
    Schema,
    /// Print completions for a shell
    Completions(shell::CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(shell::ManArgs),
}

impl Command {
    /// Whether it may take long before it samples, or is the part of a fit that comes before.
    fn may_sample(&self) -> bool {
        matches!(
            self,
            Command::Fit(_)
                | Command::Check(_)
                | Command::Assess(_)
                | Command::Compile(_)
                | Command::Study(_)
        )
    }
}

/// Which Stan compiles, and how.
#[derive(Debug, Args)]
struct ToolchainArgs {
    /// A BridgeStan 2.9 folder to compile with, instead of the Stan that unshuffle fetches
    // Not clap's parser of paths, which refuses the empty text of an unset-looking `BRIDGESTAN=`.
    #[arg(long, value_name = "DIR", env = "BRIDGESTAN", value_parser = OsStringValueParser::new())]
    bridgestan: Option<OsString>,
    /// Compiler processes at once
    #[arg(long, value_name = "N", default_value_t = default_threads(), value_parser = at_least_one)]
    jobs: usize,
}

impl ToolchainArgs {
    fn bridgestan(&self) -> Option<&Path> {
        let named = self.bridgestan.as_deref().map(Path::new);
        named.filter(|folder| !folder.as_os_str().is_empty())
    }
}

/// A cluster's allotment where there is one, else what the machine has.
fn default_threads() -> usize {
    std::env::var("SLURM_CPUS_PER_TASK")
        .ok()
        .and_then(|text| at_least_one(&text).ok())
        .or_else(|| std::thread::available_parallelism().ok().map(usize::from))
        .unwrap_or(1)
}

/// A number of threads or of jobs.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("write 1 or more".to_string()),
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

/// The command line: parses the arguments, runs the command, and gives its exit code.
pub fn main() -> ExitCode {
    crate::fit::return_large_arrays();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(help_or_mistake) => return ExitCode::from(shown(&help_or_mistake)),
    };
    if cli.json {
        json::turn_on();
    }
    if cli.command.may_sample() {
        interrupt::end_on_interrupt();
    }
    let outcome = match cli.command {
        Command::Fit(args) => fit::fit(*args),
        Command::Check(args) => check::check(args),
        Command::Assess(args) => assess::assess(args),
        Command::Convert(args) => convert::convert(args),
        Command::Compile(args) => compile::compile(args),
        Command::Cache(args) => cache::cache(args),
        Command::Summary(args) => summary::summary(args),
        Command::Diagnose(args) => diagnose::diagnose(args),
        Command::Report(args) => report::report(args),
        Command::Export(args) => export::export(args),
        Command::Pool(args) => pool::pool(args),
        Command::Predict(args) => predict::predict(args),
        Command::Simulate(args) => simulate::simulate(*args),
        Command::Study(args) => study::study(*args),
        Command::Init(args) => init::init(args),
        Command::Adopt(args) => adopt::adopt(args),
        Command::Doctor(args) => doctor::doctor(args),
        Command::Schema => schema::schema(),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::man(args),
    };
    let code = match outcome {
        Ok(()) => {
            if json::is_on() {
                json::end_well();
            }
            0
        }
        Err(failure) => failure.report(),
    };
    ExitCode::from(output::exit_code(code))
}

/// Prints the help that was asked for, or what is wrong with the arguments.
fn shown(help_or_mistake: &clap::Error) -> u8 {
    let code = if help_or_mistake.use_stderr() { 2 } else { 0 };
    if code == 2 && std::env::args_os().any(|word| word == "--json") {
        json::turn_on();
        let text = help_or_mistake.to_string();
        let sentence = text.split("\n\n").next().unwrap_or_default();
        json::end_badly(code, Some(sentence.trim_start_matches("error: ").trim()));
    } else if code == 2 {
        // A stderr that cannot be written ends nothing.
        let _ = help_or_mistake.print();
    } else {
        output::by(|| help_or_mistake.print());
    }
    output::exit_code(code)
}
