//! Calls of the C++ compiler, each with its output in a log.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::StanError;
use super::cache::cache_error;

pub(super) const FLAGS: &[&str] = &[
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
    // Autodiff reaches for its thread-local tape all the time: 7.8 to 4.9 µs a gradient at n = 250. In exchange the models
    // of a process share some 1600 bytes: 68 fit, as each has 24 (see stan/bridge/runtime.hpp), and a study may need 60.
    // TLS descriptors (-mtls-dialect=gnu2) would have no limit, at 4.3 instead of 4.0 µs.
    "-ftls-model=initial-exec",
    "-w",
    "-DSTAN_THREADS",
    "-D_REENTRANT",
    "-DTBB_INTERFACE_NEW",
    "-DBOOST_DISABLE_ASSERTS",
    "-DSTAN_OVERRIDE_EIGEN_ASSERT",
];

/// Flags of the user's own, from `$UNSHUFFLE_CXXFLAGS`, which stand behind `FLAGS`.
pub(super) fn own_flags() -> Vec<String> {
    let text = std::env::var("UNSHUFFLE_CXXFLAGS").unwrap_or_default();
    text.split_whitespace().map(str::to_string).collect()
}

/// TBB is found relative to the model, so that the cache may be moved, and its path may have a comma or a colon, which
/// separate here.
pub(super) const LINK_FLAGS: &[&str] = &[
    "-Wl,-rpath,$ORIGIN/../../toolchains/httpstan-4.13.0/httpstan/lib",
    "-Wl,--gc-sections",
];

/// The C++ compiler: `$CXX`, else g++.
pub(super) struct Cxx {
    program: String,
    pub version: String,
}

impl Cxx {
    pub fn find() -> Result<Cxx, StanError> {
        let program = std::env::var("CXX")
            .ok()
            .filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| "g++".into());
        let output = Command::new(&program)
            .arg("--version")
            .output()
            .map_err(|source| StanError::MissingProgram {
                program: program.clone(),
                remedy: "install a C++17 compiler (Debian: g++), or name one in CXX",
                source,
            })?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().unwrap_or_default().trim().to_string();
        match output.status.success() && !version.is_empty() {
            true => Ok(Cxx { program, version }),
            false => Err(StanError::NoCompiler { program }),
        }
    }

    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }
}

/// One compiler call, with its output in a log.
pub(super) struct Run<'a> {
    pub cxx: &'a Cxx,
    pub log: PathBuf,
    /// Where the log will be when the build folder has been set aside.
    pub failed_log: PathBuf,
    pub what: &'static str,
}

impl Run<'_> {
    pub fn compile(
        &self,
        includes: &[&Path],
        source: &Path,
        object: &Path,
    ) -> Result<(), StanError> {
        self.translation(includes, &["-x", "c++", "-c"], source, object)
    }

    pub fn header(&self, includes: &[&Path], header: &Path) -> Result<(), StanError> {
        let precompiled = header.with_extension("hpp.gch");
        self.translation(includes, &["-x", "c++-header"], header, &precompiled)
    }

    fn translation(
        &self,
        includes: &[&Path],
        kind: &[&str],
        from: &Path,
        to: &Path,
    ) -> Result<(), StanError> {
        let mut command = self.cxx.command();
        command.args(FLAGS).args(own_flags());
        for include in includes {
            command.arg("-I").arg(include);
        }
        command.args(kind).arg(from).arg("-o").arg(to);
        self.command(&mut command)?;
        match to.is_file() {
            true => Ok(()),
            false => Err(self.failed()),
        }
    }

    pub fn command(&self, command: &mut Command) -> Result<(), StanError> {
        let log = File::create(&self.log)
            .and_then(|log| Ok((log.try_clone()?, log)))
            .map_err(|error| cache_error("write to", &self.log, error))?;
        let status = command
            .stdout(log.0)
            .stderr(log.1)
            .status()
            .map_err(|source| StanError::MissingProgram {
                program: self.cxx.program.clone(),
                remedy: "install a C++17 compiler (Debian: g++), or name one in CXX",
                source,
            })?;
        if status.success() {
            return Ok(());
        }
        Err(self.failed())
    }

    /// What the log of a failed call says is at fault: the machine, or something else.
    fn failed(&self) -> StanError {
        let said = std::fs::read(&self.log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let (what, log) = (self.what, self.failed_log.clone());
        let signs = [
            (
                "No space left on device",
                "the disk is full, here or in the folder for temporary files (TMPDIR)",
            ),
            (
                "Killed signal",
                "it was killed, for want of memory as a rule",
            ),
            ("out of memory", "memory ran out"),
            ("virtual memory exhausted", "memory ran out"),
            (
                "Cannot create temporary file",
                "TMPDIR names no folder that can be written to",
            ),
        ];
        match signs.into_iter().find(|(sign, _)| said.contains(sign)) {
            Some((_, why)) => StanError::CppResources { what, why, log },
            None => StanError::Cpp { what, log },
        }
    }
}
