//! `unshuffle predict`: responses of new rows from a finished fit.

use std::path::{Path, PathBuf};

use clap::Args;

use super::ToolchainArgs;
use super::failure::Failure;
use super::output::data_to_stdout;
use super::progress::BuildProgress;
use super::terminal::{check_finished, level, write_table};
use crate::after::predict::Prediction;

#[derive(Debug, Args)]
pub(super) struct PredictArgs {
    /// The output folder of a fit
    folder: PathBuf,
    /// A CSV file of new rows with the columns of the predictors
    file: PathBuf,
    /// Write to this CSV file instead of the terminal
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Use so many draws of the fit, evenly spaced [default: all]
    #[arg(long, value_name = "M")]
    draws: Option<usize>,
    /// One line for each new row and draw, instead of mean, sd and quantiles of each row
    #[arg(long)]
    all: bool,
    /// Probability of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.9, value_parser = level, conflicts_with = "all")]
    level: f64,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Replace the file of --output
    #[arg(long)]
    force: bool,
    /// End with exit code 1, and without predictions, when the fit is not finished
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    toolchain: ToolchainArgs,
}

pub(super) fn predict(args: PredictArgs) -> Result<(), Failure> {
    let prediction = Prediction::read(&args.folder, &args.file, args.draws)?;
    check_finished(prediction.fit(), args.strict)?;
    let predictions = if prediction.needs_compiler() {
        let observer = BuildProgress::new();
        let compiler = args.toolchain.compiler(&observer)?;
        prediction.from_program(&compiler, args.seed)?
    } else {
        prediction.from_family(args.seed)?
    };
    let text = if args.all {
        predictions.long_csv()
    } else {
        predictions.summary_csv(args.level)
    };
    match &args.output {
        None => data_to_stdout(&text),
        Some(path) => {
            let folder = &prediction.fit().folder;
            let files = folder.fit_files()?.unwrap_or_default();
            let mut read: Vec<PathBuf> = files.iter().map(|name| folder.file(name)).collect();
            read.push(args.file.clone());
            let read: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
            write_table(path, &text, &read, args.force)?;
            say!("Predictions: {}", path.display());
        }
    }
    Ok(())
}
