//! `unshuffle adopt`: an ordinary Stan regression becomes a program for unshuffle.

use std::path::{Path, PathBuf};

use clap::Args;

use super::ToolchainArgs;
use super::failure::Failure;
use super::json;
use super::output::to_stdout;
use super::progress::BuildProgress;
use super::terminal::absolute;
use crate::model::stan::adopt::{Adopted, adopt as adopt_program};
use crate::model::stan::{Compiler, StanError, StanSource};
use crate::text::write_whole;

#[derive(Debug, Args)]
pub(super) struct AdoptArgs {
    /// An ordinary Stan regression, which is left as it is
    file: PathBuf,
    /// The response, a variable of its data block
    #[arg(long, value_name = "NAME")]
    response: String,
    /// Where the new program goes [default: FILE_unshuffle.stan beside the old one]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a config to begin with
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Overwrite files that are already there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    toolchain: ToolchainArgs,
}

pub(super) fn adopt(args: AdoptArgs) -> Result<(), Failure> {
    let output = args.output.clone().unwrap_or_else(|| beside(&args.file));
    for path in std::iter::once(&output).chain(&args.config) {
        check_place(path, &args)?;
    }
    let source = StanSource::from_file(&args.file)?;
    let observer = BuildProgress::new();
    let compiler = args.toolchain.compiler(&observer)?;
    check_program(&compiler, &source, "is not a valid Stan program as it is")?;
    let accepts = |text: &str| match compiler.info(&with_text(&source, text)) {
        Ok(_) => Ok(true),
        Err(StanError::Program { .. }) => Ok(false),
        Err(error) => Err(error),
    };
    let adopted = adopt_program(&source.text, &source.label, &args.response, &accepts)?;
    let mut result = with_text(&source, &adopted.text);
    result.label = output.display().to_string();
    check_program(
        &compiler,
        &result,
        "would not be valid Stan, so it was not written",
    )?;

    let config = adopted.starting_config(&stan_path(&output, args.config.as_deref()));
    write_whole(&output, &adopted.text)?;
    if let Some(path) = &args.config {
        write_whole(path, &config)?;
    }
    json::result("program", absolute(&output));
    json::result("config", args.config.as_deref().map(absolute));
    json::result("notes", adopted.notes());
    tell(&adopted, &args, &output, &config);
    Ok(())
}

fn tell(adopted: &Adopted, args: &AdoptArgs, output: &Path, config: &str) {
    say!("{}, line by line:", args.file.display());
    for change in &adopted.changes {
        say!("  line {}: {}", change.line, change.what);
    }
    say!("{} has the new program.", output.display());
    for note in adopted.notes() {
        say!("{note}");
    }
    match &args.config {
        Some(path) => say!(
            "{} has a config: complete it, then run: unshuffle check {}",
            path.display(),
            path.display()
        ),
        None => to_stdout(&format!(
            "A config to begin with (--config FILE writes it):\n{config}"
        )),
    }
}

fn beside(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{stem}_unshuffle.stan"))
}

fn check_place(path: &Path, args: &AdoptArgs) -> Result<(), Failure> {
    let same = path.canonicalize().ok().zip(args.file.canonicalize().ok());
    if same.is_some_and(|(path, file)| path == file) {
        return Err(Failure::user(format!(
            "{} is the program to adopt, which stays as it is: choose another file",
            path.display()
        )));
    }
    if path.exists() && !args.force {
        return Err(Failure::user(format!(
            "{} is already there: choose another file, or overwrite it with --force",
            path.display()
        )));
    }
    Ok(())
}

fn with_text(source: &StanSource, text: &str) -> StanSource {
    let mut changed = source.clone();
    changed.text = text.to_string();
    changed
}

/// stanc's own words, behind a sentence that says which program they are about.
fn check_program(compiler: &Compiler, source: &StanSource, fault: &str) -> Result<(), Failure> {
    match compiler.info(source) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(Failure::user(format!(
            "adopt asks stanc about {}, but this BridgeStan has no stanc yet: compile any program with it first",
            source.label
        ))),
        Err(StanError::Program { message }) => Err(Failure::user(format!(
            "{} {fault}: {message}",
            source.label
        ))),
        Err(error) => Err(error.into()),
    }
}

/// The program as a config in another folder would name it.
fn stan_path(output: &Path, config: Option<&Path>) -> String {
    let folder = |path: &Path| {
        std::path::absolute(path)
            .ok()?
            .parent()
            .map(Path::to_path_buf)
    };
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    match config {
        Some(config) if folder(config) != folder(output) => {
            let whole = std::path::absolute(output).unwrap_or_else(|_| output.to_path_buf());
            whole.display().to_string()
        }
        _ => name.into_owned(),
    }
}
