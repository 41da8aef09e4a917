//! What the generators share: tables read, numbers in words, sections written, a compiler for Stan programs.

#[cfg(test)]
pub mod committed;
pub mod format;
pub mod section;
pub mod tables;

use std::path::PathBuf;

use unshuffle::internals::model::stan::{Cache, Compiler, SilentBuild, Toolchain};

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The compiler of Stan programs, which is fetched where it is missing.
pub fn compiler() -> anyhow::Result<Compiler<'static>> {
    let cache = Cache::locate()?;
    let toolchain = Toolchain::find_or_fetch(None, &cache, &SilentBuild)?;
    Ok(Compiler::new(toolchain, cache, &SilentBuild, 2))
}
