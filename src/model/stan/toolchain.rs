//! Which Stan compiles models: a BridgeStan folder the user names, the cached wheel, or a freshly fetched one.

use std::path::{Path, PathBuf};

use super::stanc::Stanc;
use super::wheel::{self, Wheel};
use super::{Cache, StanError};

/// Hears of every task that takes a person's time, with an estimate in seconds, and runs it.
pub trait BuildObserver: Sync {
    fn task(
        &self,
        _what: &str,
        _about_seconds: u64,
        work: &mut dyn FnMut() -> Result<(), StanError>,
    ) -> Result<(), StanError> {
        work()
    }

    /// Hears, in a sentence, what else happens: a wait for another process, a damaged entry.
    fn note(&self, _sentence: &str) {}
}

/// Runs tasks without a word.
pub struct SilentBuild;

impl BuildObserver for SilentBuild {}

#[derive(Debug, Clone)]
pub enum Toolchain {
    /// A real BridgeStan source folder, compiled with its own Makefile.
    BridgeStan(PathBuf),
    /// The pinned wheel with our own bridge.
    Wheel(Wheel),
}

impl Toolchain {
    /// `named` (from `--bridgestan` or `$BRIDGESTAN`) wins; then the cache; then the wheel is fetched.
    pub fn find_or_fetch(
        named: Option<&Path>,
        cache: &Cache,
        observer: &dyn BuildObserver,
    ) -> Result<Toolchain, StanError> {
        match named {
            Some(folder) => Self::bridgestan(folder),
            None => Wheel::find_or_fetch(cache, observer).map(Toolchain::Wheel),
        }
    }

    fn bridgestan(folder: &Path) -> Result<Toolchain, StanError> {
        if folder.join("Makefile").is_file() && folder.join("src").is_dir() {
            return Ok(Toolchain::BridgeStan(folder.to_path_buf()));
        }
        Err(StanError::NotBridgeStan {
            path: folder.to_path_buf(),
        })
    }

    /// None for a BridgeStan folder that has not built its stanc yet.
    pub(super) fn stanc(&self) -> Option<Stanc> {
        let program = match self {
            Toolchain::BridgeStan(folder) => folder.join("bin/stanc"),
            Toolchain::Wheel(wheel) => wheel.stanc(),
        };
        program.is_file().then_some(Stanc { program })
    }

    pub fn describe(&self) -> String {
        match self {
            Toolchain::BridgeStan(folder) => format!("BridgeStan in {}", folder.display()),
            Toolchain::Wheel(_) => pinned_toolchain(),
        }
    }
}

/// The Stan that is fetched where no BridgeStan folder is named.
pub fn pinned_toolchain() -> String {
    format!("Stan {} from {}", wheel::STAN_VERSION, wheel::ID)
}
