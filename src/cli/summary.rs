//! `unshuffle summary`: the summary of a finished fit, from its saved files.

use std::path::PathBuf;

use clap::Args;

use super::failure::Failure;
use super::json;
use super::terminal::{check_finished, print_comparison, print_summary, width};
use crate::baseline::compare::read_baselines;
use crate::posterior::diagnostics::SummaryRow;
use crate::posterior::draws::read_output;
use crate::posterior::{Folder, Posterior, beside_fit, summary};
use crate::report;
use crate::text::full_sentence;

#[derive(Debug, Args)]
pub(super) struct SummaryArgs {
    /// The output folder of a fit
    folder: PathBuf,
    /// End with exit code 1 when the fit is not finished
    #[arg(long)]
    strict: bool,
}

pub(super) fn summary(args: SummaryArgs) -> Result<(), Failure> {
    let folder = Folder::new(&args.folder);
    let baselines = read_baselines(&folder.file(Folder::BASELINES))?;
    let of_draws;
    let posterior = Posterior::read(&args.folder);
    let rows: &[SummaryRow] = match &posterior {
        Ok(posterior) => {
            check_finished(posterior, args.strict)?;
            say!("{}", report::overview(posterior, width()));
            json::result("verdict", report::Verdict::new(posterior));
            json::result("picture", report::forest_svg(posterior));
            posterior.summary()
        }
        // The tables need fewer files.
        Err(error) if args.strict => return Err(Failure::user(full_sentence(error))),
        Err(error) => {
            of_draws = summary::rows(&read_output(&args.folder)?);
            note!("warning: no verdict: {error}");
            &of_draws
        }
    };
    print_summary(rows);
    if let Some(all) = baselines.and_then(|baselines| beside_fit(baselines, rows, None)) {
        say!("");
        print_comparison(&all);
    }
    Ok(())
}
