//! Is everything a fit needs there? Each part is tried, and each failure comes with its remedy.

use std::path::Path;
use std::process::Command;

use super::cxx::Cxx;
use super::{BuildObserver, Cache, Compiler, StanError, Toolchain, shipped_model};
use crate::text::full_sentence;

/// One part and how it stands: what was found, or what to do.
pub struct Check {
    pub what: &'static str,
    pub outcome: Result<String, String>,
}

/// Tries every part in the order in which a fit needs it. What needs a failed part is left out.
///
/// `load` loads a compiled model, in a process of its own where the caller can start one, as a library that is no good can
/// end the process.
pub fn doctor(
    bridgestan: Option<&Path>,
    jobs: usize,
    observer: &dyn BuildObserver,
    load: &dyn Fn(&Path) -> Result<(), String>,
) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut note = |what, outcome: Result<String, String>| {
        let passed = outcome.is_ok();
        checks.push(Check { what, outcome });
        passed
    };
    let compiler = Cxx::find().map(|cxx| cxx.version);
    note(
        "C++ compiler",
        compiler.map_err(|error| format!("{}; models that are compiled need none", tell(error))),
    );
    if bridgestan.is_none() {
        note("python3 with pip", pip());
    }
    let cache = match Cache::locate() {
        Ok(cache) => cache,
        Err(error) => {
            note("cache folder", Err(tell(error)));
            return checks;
        }
    };
    if !note("cache folder", cache.check_access()) {
        return checks;
    }
    let toolchain = match Toolchain::find_or_fetch(bridgestan, &cache, observer) {
        Ok(toolchain) => toolchain,
        Err(error) => {
            note("Stan", Err(tell(error)));
            return checks;
        }
    };
    note("Stan", Ok(toolchain.describe()));
    if let Some(stanc) = toolchain.stanc() {
        note("stanc", stanc.version().map_err(tell));
    }
    if let Toolchain::Wheel(wheel) = &toolchain {
        note(
            "headers",
            wheel.check_files().map_err(|what| {
                format!(
                    "{what}: `unshuffle compile` of a new program fetches Stan again; models that are compiled need no headers"
                )
            }),
        );
    }
    note(
        "test compile",
        test_compile(toolchain, cache, observer, jobs, load),
    );
    checks
}

fn test_compile(
    toolchain: Toolchain,
    cache: Cache,
    observer: &dyn BuildObserver,
    jobs: usize,
    load: &dyn Fn(&Path) -> Result<(), String>,
) -> Result<String, String> {
    let source = shipped_model("linear").expect("linear is shipped").source();
    let compiler = Compiler::new(toolchain, cache, observer, jobs);
    let compiled = compiler.compile(&source).map_err(tell)?;
    load(&compiled.library)?;
    Ok(match compiled.took {
        Some(took) => format!("linear.stan compiled in {:.1} s", took.as_secs_f64()),
        None => "linear.stan was compiled before, and loads".to_string(),
    })
}

fn pip() -> Result<String, String> {
    let remedy = "install Python 3 with pip (Debian: python3-pip); it downloads Stan once";
    let output = Command::new("python3")
        // Neither the working directory nor PYTHONPATH decides what is run as pip.
        .args(["-I", "-m", "pip", "--version"])
        .current_dir("/")
        .output()
        .map_err(|_| remedy.to_string())?;
    if !output.status.success() {
        return Err(remedy.to_string());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text
        .split(" from ")
        .next()
        .unwrap_or_default()
        .trim()
        .to_string())
}

fn tell(error: StanError) -> String {
    full_sentence(&error)
}
