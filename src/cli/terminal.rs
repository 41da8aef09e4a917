//! What several commands print.

use std::path::{Component, Path, PathBuf};

use console::Term;

use super::failure::Failure;
use super::json;
use super::output::{to_stdout, write_to_stdout};
use crate::baseline::compare::{self, Estimate};
use crate::config;
use crate::posterior::diagnostics::{Finding, SummaryRow, text_table};
use crate::posterior::{DamagedFile, Posterior};
use crate::report::Status;
use crate::text::write_whole;

/// A path as a person would type it from here.
pub(super) fn tidy(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let here = std::env::current_dir().and_then(|dir| dir.canonicalize());
    let relative = here
        .ok()
        .and_then(|here| real.strip_prefix(here).ok().map(PathBuf::from));
    match relative {
        Some(here) if here.as_os_str().is_empty() => ".".into(),
        relative => relative.unwrap_or(real).display().to_string(),
    }
}

/// A path that means the same in every folder.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// A path as it is from a folder, so that both may be moved together.
pub(super) fn from_folder(path: &Path, folder: &Path) -> PathBuf {
    let (Ok(path), Ok(folder)) = (path.canonicalize(), folder.canonicalize()) else {
        return absolute(path);
    };
    let shared = path.components().zip(folder.components());
    let shared = shared.take_while(|(one, other)| one == other).count();
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect()
}

/// The output folder of a fit, which may be named by its config.
pub(super) fn fit_folder(named: &Path) -> Result<PathBuf, Failure> {
    if !named.is_file() {
        return Ok(named.to_path_buf());
    }
    let file = named.display();
    if named.extension().is_none_or(|ending| ending != "json") {
        return Err(Failure::user(format!(
            "{file} is a file where a folder is needed; name the output folder of a fit, or its config (.json)"
        )));
    }
    let folder = config::load(named, &[])?.output;
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(Failure::user(format!(
            "{file} has no fit yet: there is no folder {}; run `unshuffle fit {file}` first",
            tidy(&folder)
        ))),
    }
}

/// Prints the status of a fit, coloured where stdout is a terminal with colours and `NO_COLOR` is not set.
pub(super) fn print_status(fit: &Posterior) {
    let status = Status::of(fit);
    let words = format!("{} {}", status.shape(), status.words());
    if json::is_on() {
        return to_stdout(&format!("{words}\n"));
    }
    let words = console::style(words).bold();
    let coloured = match status {
        Status::Trust => words.green(),
        Status::Care => words.yellow(),
        Status::Refuse => words.red(),
    };
    // Not by `say!`, which shows control characters as marks: these are ours.
    write_to_stdout(&format!("{coloured}\n"));
}

/// Says when a fit is not finished, has lost a file or has an edited one, on the first line; under `--strict` that is a failure.
pub(super) fn check_finished(fit: &Posterior, strict: bool) -> Result<(), Failure> {
    let unfinished = fit.unfinished();
    if let Some(sentence) = &unfinished {
        note!("warning: {sentence}; `unshuffle fit --resume` goes on with it");
    }
    // Chains that lack draws have been counted.
    let is_counted = |file: &DamagedFile| file.chain().is_some() && file.is_short();
    let damaged = fit.damaged.iter();
    let damaged = damaged.filter(|file| unfinished.is_none() || !is_counted(file));
    for file in damaged.clone() {
        note!("warning: {file}; `unshuffle fit --resume` makes it again");
    }
    let edited = fit.check_config_unchanged().err();
    if let Some(edited) = &edited {
        note!("warning: {edited}");
    }
    match strict && (unfinished.is_some() || damaged.count() > 0 || edited.is_some()) {
        true => Err(Failure::diagnostics()),
        false => Ok(()),
    }
}

/// Writes a table to a file that the user names. An existing one is replaced only where she says so, and never one that is read.
pub(super) fn write_table(
    path: &Path,
    text: &str,
    inputs: &[&Path],
    force: bool,
) -> Result<(), Failure> {
    refuse_input(path, inputs)?;
    if path.exists() && !force {
        let path = path.display();
        return Err(Failure::user(format!(
            "{path} already exists: choose another --output, or replace it with --force"
        )));
    }
    Ok(write_whole(path, text)?)
}

/// Refuses to write over a file that a command reads.
pub(super) fn refuse_input(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let real = |path: &Path| path.canonicalize().ok();
    let is_input = |input: &&Path| real(path).is_some() && real(path) == real(input);
    match inputs.iter().any(is_input) {
        false => Ok(()),
        true => Err(Failure::user(format!(
            "{} is the file that is read, so it is not replaced: choose another place to write to",
            path.display()
        ))),
    }
}

/// The probability of an interval, as typed.
pub(super) fn level(text: &str) -> Result<f64, String> {
    let level = text.parse::<f64>().ok();
    let level = level.filter(|level| *level > 0.0 && *level < 1.0);
    level.ok_or_else(|| "write a number between 0 and 1, such as 0.95".into())
}

/// The width of lines where there is no terminal to ask.
const USUAL_WIDTH: usize = 80;

pub(super) fn width() -> usize {
    let size = Term::stdout().size_checked();
    size.map_or(USUAL_WIDTH, |(_, columns)| columns.into())
}

/// Past this many rows a table is for a file, not for a screen.
const MOST_ROWS: usize = 60;

/// Under the names that the user knows.
pub(super) fn print_summary(fit: &Posterior) {
    let named = |row: &SummaryRow| SummaryRow {
        name: fit.name_of(&row.name),
        ..row.clone()
    };
    print_rows(&fit.summary().iter().map(named).collect::<Vec<_>>());
}

pub(super) fn print_rows(rows: &[SummaryRow]) {
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    to_stdout(&text_table(shown, width()));
    if shown.len() < rows.len() {
        say!("... and {} more in summary.csv", rows.len() - shown.len());
    }
}

pub(super) fn print_findings(findings: &[Finding]) {
    for finding in findings {
        say!("{finding}");
    }
    if !findings.iter().any(Finding::is_problem) {
        say!("No problems found: no divergences, R-hat and effective sample sizes are fine.");
    }
}

/// The problems alone, for a fit whose results are not printed.
pub(super) fn warn_of_problems(findings: &[Finding]) {
    for finding in findings.iter().filter(|finding| finding.is_problem()) {
        note!("warning: {finding}");
    }
}

pub(super) fn print_comparison(estimates: &[Estimate]) {
    say!("Coefficients with 90 % intervals:");
    to_stdout(&compare::table(estimates));
}
