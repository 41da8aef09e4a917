//! `unshuffle report`: the report of a finished fit, from its saved files.

use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::json;
use super::terminal::{absolute, check_finished};
use crate::posterior::Posterior;
use crate::report;

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The output folder of a fit
    folder: PathBuf,
    /// End with exit code 1, and without a report, when the fit is not finished
    #[arg(long)]
    strict: bool,
}

pub(super) fn report(args: ReportArgs) -> Result<(), Failure> {
    let posterior = Posterior::read(&args.folder)?;
    check_finished(&posterior, args.strict)?;
    let path = report::write(&posterior)?;
    json::result("report", absolute(&path));
    say!("Report: {}", path.display());
    Ok(())
}
