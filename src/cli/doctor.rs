//! `unshuffle doctor`.

use clap::Args;

use super::ToolchainArgs;
use super::failure::Failure;
use super::progress::BuildProgress;
use crate::model::stan;

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    toolchain: ToolchainArgs,
}

pub(super) fn doctor(args: DoctorArgs) -> Result<(), Failure> {
    let observer = BuildProgress::new();
    let bridgestan = args.toolchain.bridgestan();
    let mut healthy = true;
    for check in stan::doctor(bridgestan, args.toolchain.jobs, &observer) {
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
