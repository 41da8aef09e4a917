//! `unshuffle summary` and `unshuffle diagnose`: what saved files alone can tell.

use std::path::{Path, PathBuf};

use clap::Args;
use console::Term;

use super::failure::Failure;
use crate::baseline::compare::{self, Estimate};
use crate::posterior::diagnostics::{Finding, SummaryRow, text_table};
use crate::posterior::draws::read_output;
use crate::posterior::links::LinksSummary;
use crate::posterior::summary;
use crate::report::{self, Saved};
use crate::trust::read_trust;

#[derive(Debug, Args)]
pub(super) struct SummaryArgs {
    /// The output folder of a fit
    folder: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct DiagnoseArgs {
    /// The output folder of a fit
    folder: PathBuf,
    /// End with exit code 1 when there is a problem
    #[arg(long)]
    strict: bool,
}

/// The width of lines where there is no terminal to ask.
const USUAL_WIDTH: usize = 80;

fn width() -> usize {
    let size = Term::stdout().size_checked();
    size.map_or(USUAL_WIDTH, |(_, columns)| columns.into())
}

pub(super) fn summary(args: SummaryArgs) -> Result<(), Failure> {
    let chains = read_output(&args.folder)?;
    let rows = summary::rows(&chains);
    let baselines = compare::read_baselines(&args.folder)?;
    match Saved::read(&args.folder) {
        Ok(saved) => {
            println!("{}", report::overview(&saved, width()));
        }
        // The tables need fewer files.
        Err(error) => eprintln!("warning: no verdict: {error}"),
    }
    print_summary(&rows);
    if let Some(all) = baselines.and_then(|baselines| compare::beside_fit(baselines, &rows, None)) {
        println!();
        print_comparison(&all);
    }
    Ok(())
}

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The output folder of a fit
    folder: PathBuf,
}

pub(super) fn report(args: ReportArgs) -> Result<(), Failure> {
    let path = report::write(&args.folder)?;
    println!("Report: {}", path.display());
    Ok(())
}

pub(super) fn diagnose(args: DiagnoseArgs) -> Result<(), Failure> {
    let chains = read_output(&args.folder)?;
    let rows = summary::rows(&chains);
    let mut findings = summary::findings(&chains, &rows);
    if let Some(links) = LinksSummary::read_saved(&args.folder, &chains)? {
        findings.extend(links.findings());
    }
    findings.extend(summary::drift_findings(summary::saved_drifts(&args.folder)));
    findings.extend(read_trust(&args.folder).and_then(|trust| trust.finding()));
    let priors = summary::saved_priors(&args.folder);
    findings.extend(summary::prior_findings(priors.as_ref(), &rows));
    print_findings(&findings);
    if args.strict && findings.iter().any(Finding::is_problem) {
        return Err(Failure::diagnostics());
    }
    Ok(())
}

/// Past this many rows a table is for a file, not for a screen.
const MOST_ROWS: usize = 60;

pub(super) fn print_summary(rows: &[SummaryRow]) {
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    print!("{}", text_table(shown));
    if shown.len() < rows.len() {
        println!("... and {} more in summary.csv", rows.len() - shown.len());
    }
}

pub(super) fn print_findings(findings: &[Finding]) {
    for finding in findings {
        println!("{finding}");
    }
    if !findings.iter().any(Finding::is_problem) {
        println!("No problems found: no divergences, R-hat and effective sample sizes are fine.");
    }
}

/// What the report begins with, for a fit that was just saved.
pub(super) fn print_verdict(folder: &Path) {
    // A fit whose files cannot be read again has said so when its report was written.
    if let Ok(saved) = Saved::read(folder) {
        println!("{}", report::verdict_text(&saved, width()));
    }
}

pub(super) fn print_comparison(estimates: &[Estimate]) {
    println!("Coefficients with 90 % intervals:");
    print!("{}", compare::table(estimates));
}
