//! What can go wrong between a .stan file and a loaded library, each with its remedy.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum StanError {
    #[error("cannot find a home for the cache: set UNSHUFFLE_CACHE to a folder you may write to")]
    NoCacheDir,
    #[error("cannot {action} {}; set UNSHUFFLE_CACHE to a folder you may write to", path.display())]
    Cache {
        action: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "the cache {} has no undamaged {what} and cannot be written to; have its owner run `unshuffle compile`, or set UNSHUFFLE_CACHE to a folder you may write to",
        root.display()
    )]
    ReadOnlyCache {
        root: PathBuf,
        what: String,
        #[source]
        source: io::Error,
    },
    #[error("{}: {why}", path.display())]
    Bundle { path: PathBuf, why: String },
    #[error("cannot write to {}, the folder for temporary files; set TMPDIR to a folder you may write to", path.display())]
    Temporary {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot run `{program}`: {remedy}")]
    MissingProgram {
        program: String,
        remedy: &'static str,
        #[source]
        source: io::Error,
    },
    #[error(
        "`{program}` does not answer `--version` as a compiler does: install a C++17 compiler (Debian: g++), or name one in CXX"
    )]
    NoCompiler { program: String },
    #[error(
        "everyone can write to the cache {}, and fits run what lies there: run `chmod o-w {}`, or set UNSHUFFLE_CACHE to a folder of your own",
        root.display(), root.display()
    )]
    OpenCache { root: PathBuf },
    #[error(
        "pip could not fetch {package}: {detail}; check the network, unpack a bundle of another machine (`unshuffle cache unpack`), or give an unpacked BridgeStan with --bridgestan DIR"
    )]
    Download { package: String, detail: String },
    #[error(
        "the wheel of {package} has SHA-256 {found}, not the expected {expected}; nothing was installed: try again, or give --bridgestan DIR"
    )]
    Checksum {
        package: String,
        expected: &'static str,
        found: String,
    },
    #[error("cannot unpack the wheel {}", path.display())]
    Unpack {
        path: PathBuf,
        #[source]
        source: zip::result::ZipError,
    },
    #[error(
        "no prebuilt Stan is known for this platform ({platform}); unpack BridgeStan 2.9.0 and give its folder with --bridgestan DIR"
    )]
    Platform { platform: String },
    #[error("{} is not a BridgeStan folder: it has no Makefile and src/; give the folder that BridgeStan was unpacked to", path.display())]
    NotBridgeStan { path: PathBuf },
    #[error("{} {what}; {remedy}", path.display())]
    BridgeStanLacks {
        path: PathBuf,
        what: String,
        remedy: &'static str,
    },
    #[error("cannot read the Stan file {}", path.display())]
    ReadSource {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{}, line {line}: cannot find the included file `{include}` in {}", path.display(), folder.display())]
    MissingInclude {
        path: PathBuf,
        line: usize,
        include: String,
        folder: PathBuf,
    },
    #[error(
        "{} gave no answer that can be read; the Stan toolchain is damaged: delete its folder and fit again to fetch it anew",
        program.display()
    )]
    NoAnswer {
        program: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error(
        "{} ended without a word ({status}); see that memory is free, and try again or run `unshuffle doctor`",
        program.display()
    )]
    Ended { program: PathBuf, status: String },
    #[error("the C++ compiler could not finish the {what}: {why}; its words are in {}", log.display())]
    CppResources {
        what: &'static str,
        why: &'static str,
        log: PathBuf,
    },
    /// stanc's own message, which names file, line and column.
    #[error("{message}")]
    Program { message: String },
    #[error(
        "the C++ compiler failed on the {what}; the model itself passed Stan's checks, so see {} (or run `unshuffle doctor`)",
        log.display()
    )]
    Cpp { what: &'static str, log: PathBuf },
    #[error(
        "a process holds about 60 Stan programs at once; split the study, or set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=8192 to make room"
    )]
    TooManyModels,
    #[error(
        "cannot load the compiled model {}; if it was compiled on another machine, delete its folder and fit again to compile it here",
        path.display()
    )]
    Load {
        path: PathBuf,
        #[source]
        source: bridgestan::BridgeStanError,
    },
}

impl StanError {
    /// True when a file of the user is at fault, not the machine.
    pub fn is_users(&self) -> bool {
        matches!(
            self,
            StanError::Program { .. }
                | StanError::Bundle { .. }
                | StanError::ReadSource { .. }
                | StanError::MissingInclude { .. }
        )
    }
}
