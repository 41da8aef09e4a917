//! `unshuffle report`: the report of a finished fit, from its saved files.

use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use crate::posterior::Posterior;
use crate::report;

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The output folder of a fit
    folder: PathBuf,
}

pub(super) fn report(args: ReportArgs) -> Result<(), Failure> {
    let path = report::write(&Posterior::read(&args.folder)?)?;
    say!("Report: {}", path.display());
    Ok(())
}
