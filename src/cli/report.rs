//! `unshuffle report`: the report of a finished fit from its saved files, or one page of several fits.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::Failure;
use super::json;
use super::terminal::{absolute, check_finished, fit_folder};
use crate::posterior::Posterior;
use crate::report;
use crate::text::FileError;

/// The page of several fits, in the folder where the command runs.
const TOGETHER: &str = "reports.html";

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The output folder of a fit, or its config; several give one page with their verdicts and coefficients side by side
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Write report_aggregate.html instead, which holds no id, no row, no count below ten and no path
    #[arg(long)]
    aggregate: bool,
    /// Where the page of several fits is written [default: reports.html]
    #[arg(long, value_name = "FILE", conflicts_with = "aggregate")]
    output: Option<PathBuf>,
    /// End with exit code 1, and without a report, when a fit is not finished
    #[arg(long)]
    strict: bool,
}

pub(super) fn report(args: ReportArgs) -> Result<(), Failure> {
    if args.aggregate && args.folders.len() > 1 {
        return Err(Failure::user(
            "--aggregate writes the report of one fit; name one folder at a time".to_string(),
        ));
    }
    if args.output.is_some() && args.folders.len() == 1 {
        return Err(Failure::user(
            "--output is for the page of several fits; the report of one is written into its folder".to_string(),
        ));
    }
    let mut fits = Vec::new();
    for named in &args.folders {
        let posterior = Posterior::read(&fit_folder(named)?)?;
        posterior.check_whole(Posterior::OF_VERDICT)?;
        check_finished(&posterior, args.strict)?;
        fits.push(posterior);
    }
    let path = match fits.as_slice() {
        [fit] if args.aggregate => report::write_aggregate(fit)?,
        [fit] => report::write(fit)?,
        several => {
            let path = args
                .output
                .unwrap_or_else(|| Path::new(TOGETHER).to_path_buf());
            check_replaceable(&path)?;
            report::write_together(several, &path)?;
            path
        }
    };
    json::result("report", absolute(&path));
    say!("Report: {}", path.display());
    Ok(())
}

/// Refuses a file that is no page of several fits: the data, a config or the report of one fit would be lost.
fn check_replaceable(path: &Path) -> Result<(), Failure> {
    if !path.is_file() {
        return Ok(());
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut start));
    read.map_err(FileError::read(path))?;
    match report::is_together(&start) {
        true => Ok(()),
        false => Err(Failure::user(format!(
            "{} is no page of several fits, so it is not replaced: choose another --output, or move that file",
            path.display()
        ))),
    }
}
