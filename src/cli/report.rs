//! `unshuffle report`: the report of a finished fit, from its saved files.

use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::json;
use super::terminal::{absolute, check_finished, fit_folder};
use crate::posterior::Posterior;
use crate::report;

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The output folder of a fit, or its config
    folder: PathBuf,
    /// Write report_aggregate.html instead, which holds no id, no row, no count below ten and no path
    #[arg(long)]
    aggregate: bool,
    /// End with exit code 1, and without a report, when the fit is not finished
    #[arg(long)]
    strict: bool,
}

pub(super) fn report(args: ReportArgs) -> Result<(), Failure> {
    let folder = fit_folder(&args.folder)?;
    let posterior = Posterior::read(&folder)?;
    check_finished(&posterior, args.strict)?;
    let path = match args.aggregate {
        true => report::write_aggregate(&posterior)?,
        false => report::write(&posterior)?,
    };
    json::result("report", absolute(&path));
    say!("Report: {}", path.display());
    Ok(())
}
