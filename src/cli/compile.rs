//! `unshuffle compile`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::ToolchainArgs;
use super::failure::Failure;
use super::progress::BuildProgress;
use crate::model::stan::{StanError, StanSource, shipped_model};

#[derive(Debug, Args)]
pub(super) struct CompileArgs {
    /// Stan programs: paths of .stan files, or names of shipped models
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    toolchain: ToolchainArgs,
}

pub(super) fn compile(args: CompileArgs) -> Result<(), Failure> {
    let observer = BuildProgress::new();
    let compiler = args.toolchain.compiler(&observer)?;
    for file in &args.files {
        let source = source_of(file)?;
        let compiled = compiler.compile(&source)?;
        let how = match compiled.took {
            Some(took) => format!("compiled in {:.1} s", took.as_secs_f64()),
            None => "unchanged, already compiled".to_string(),
        };
        say!("{}: {how}: {}", source.label, compiled.library.display());
    }
    Ok(())
}

/// The program that is named: a shipped model, or a file.
pub(super) fn source_of(file: &Path) -> Result<StanSource, StanError> {
    match shipped_model(&file.to_string_lossy()) {
        Some(model) => Ok(model.source()),
        None => StanSource::from_file(file),
    }
}
