//! `unshuffle doctor`.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::ToolchainArgs;
use super::failure::Failure;
use super::progress::BuildProgress;
use crate::model::{StanModel, stan};

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    toolchain: ToolchainArgs,
    /// Only load these compiled models; `doctor` starts itself with this, as a library that is no good can end the process
    #[arg(long, hide = true, value_name = "FILE", num_args = 1..)]
    load: Vec<PathBuf>,
}

pub(super) fn doctor(args: DoctorArgs) -> Result<(), Failure> {
    if !args.load.is_empty() {
        return load(&args.load);
    }
    let observer = BuildProgress::new();
    let bridgestan = args.toolchain.bridgestan();
    let mut healthy = true;
    for check in stan::doctor(bridgestan, args.toolchain.jobs, &observer, &load_in_child) {
        match check.outcome {
            Ok(found) => say!("ok      {:<18} {found}", check.what),
            Err(remedy) => {
                healthy = false;
                say!("FAILED  {:<18} {remedy}", check.what);
            }
        }
    }
    if healthy {
        say!("Everything a fit needs is there.");
        return Ok(());
    }
    Err(Failure::toolchain())
}

/// Loads all of them at once, as a study of several programs does.
fn load(files: &[PathBuf]) -> Result<(), Failure> {
    let libraries = files.iter().map(|file| StanModel::open_library(file));
    let libraries = libraries.collect::<Result<Vec<_>, _>>()?;
    say!("{} loaded", libraries.len());
    Ok(())
}

/// A process of its own, so that doctor can tell how it ended.
fn load_in_child(library: &Path) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let child = Command::new(program)
        .args(["doctor", "--load"])
        .arg(library)
        .output()
        .map_err(|error| error.to_string())?;
    if child.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&child.stderr);
    Err(match child.status.code() {
        Some(_) => said.trim().trim_start_matches("error: ").to_string(),
        None => format!(
            "loading {} ended the process ({}); delete its folder to compile it again",
            library.display(),
            child.status
        ),
    })
}
