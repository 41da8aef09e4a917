//! `unshuffle diagnose`: whether a finished fit can be trusted, from its saved files.

use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::terminal::{check_finished, fit_folder, print_findings};
use crate::posterior::Posterior;
use crate::posterior::diagnostics::Finding;

#[derive(Debug, Args)]
pub(super) struct DiagnoseArgs {
    /// The output folder of a fit, or its config
    folder: PathBuf,
    /// End with exit code 1 when there is a problem, or the fit is not finished
    #[arg(long)]
    strict: bool,
}

pub(super) fn diagnose(args: DiagnoseArgs) -> Result<(), Failure> {
    let folder = fit_folder(&args.folder)?;
    let posterior = Posterior::read(&folder)?;
    let finished = check_finished(&posterior, args.strict);
    let findings = posterior.named_findings();
    print_findings(&findings);
    if args.strict && findings.iter().any(Finding::is_problem) {
        return Err(Failure::diagnostics());
    }
    finished
}
