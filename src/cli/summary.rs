//! `unshuffle summary`: the summary of a finished fit, from its saved files.

use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::json;
use super::terminal::{
    check_finished, fit_folder, print_comparison, print_rows, print_status, print_summary, width,
};
use crate::posterior::draws::read_output;
use crate::posterior::{Posterior, PosteriorError, summary};
use crate::report;
use crate::text::full_sentence;

#[derive(Debug, Args)]
pub(super) struct SummaryArgs {
    /// The output folder of a fit, or its config
    folder: PathBuf,
    /// End with exit code 1 when the fit is not finished
    #[arg(long)]
    strict: bool,
}

pub(super) fn summary(args: SummaryArgs) -> Result<(), Failure> {
    let folder = fit_folder(&args.folder)?;
    let read = Posterior::read(&folder).and_then(|posterior| {
        posterior.check_whole(Posterior::OF_VERDICT)?;
        Ok(posterior)
    });
    match read {
        Ok(posterior) => {
            check_finished(&posterior, args.strict)?;
            print_status(&posterior);
            say!("{}", report::overview(&posterior, width()));
            json::result("verdict", report::Verdict::new(&posterior));
            json::result("picture", report::forest_svg(&posterior));
            print_summary(&posterior);
            if let Some(all) = posterior.estimates_and(None) {
                say!("");
                print_comparison(&all);
            }
            Ok(())
        }
        Err(PosteriorError::Compare(error)) => Err(error.into()),
        // The table needs fewer files.
        Err(error) if args.strict => Err(Failure::user(full_sentence(&error))),
        Err(error) => {
            let rows = summary::rows(&read_output(&folder)?);
            note!("warning: no verdict: {error}");
            print_rows(&rows);
            Ok(())
        }
    }
}
