//! From a Stan program to a shared library, through a cache keyed by everything that goes in.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::bridgestan_folder::{check, check_stanc, tree_hash};
use super::cache::{Wanted, cache_error};
use super::cxx::{Cxx, FLAGS, LINK_FLAGS, Run, own_flags};
use super::headers::{self, MODEL_HEADER, PACKED, uses_solvers, write_replacements};
use super::shipped::{BRIDGE, MODEL_BASE_CRTP, WITHOUT_SOLVERS};
use super::source::hash_text;
use super::wheel::{self, Wheel};
use super::{BuildObserver, Cache, ProgramInfo, StanError, StanSource, Toolchain};

/// Compiles Stan programs with one toolchain into one cache.
pub struct Compiler<'a> {
    pub toolchain: Toolchain,
    pub cache: Cache,
    pub observer: &'a dyn BuildObserver,
    /// Compiler processes at once.
    pub jobs: usize,
    /// Looked for when something must be compiled: compiled models need no compiler.
    cxx: OnceLock<Cxx>,
}

/// A compiled model.
#[derive(Debug)]
pub struct Compiled {
    pub library: PathBuf,
    /// None when the cache had it, or another process was at it already.
    pub took: Option<Duration>,
}

impl<'a> Compiler<'a> {
    /// The compiler of this machine, with the user's cache: the BridgeStan folder that is `named` or that `$BRIDGESTAN` names,
    /// else the Stan that unshuffle fetches where it is not there yet.
    pub fn find(
        named: Option<&Path>,
        observer: &'a dyn BuildObserver,
        jobs: usize,
    ) -> Result<Compiler<'a>, StanError> {
        let cache = Cache::locate()?;
        cache.check_closed()?;
        let from_environment = std::env::var_os("BRIDGESTAN").map(PathBuf::from);
        let named = named.or(from_environment.as_deref());
        let named = named.filter(|folder| !folder.as_os_str().is_empty());
        let toolchain = Toolchain::find_or_fetch(named, &cache, observer)?;
        Ok(Compiler::new(toolchain, cache, observer, jobs))
    }

    pub fn new(
        toolchain: Toolchain,
        cache: Cache,
        observer: &'a dyn BuildObserver,
        jobs: usize,
    ) -> Compiler<'a> {
        Compiler {
            toolchain,
            cache,
            observer,
            jobs,
            cxx: OnceLock::new(),
        }
    }

    fn cxx(&self) -> Result<&Cxx, StanError> {
        if let Some(cxx) = self.cxx.get() {
            return Ok(cxx);
        }
        let found = Cxx::find()?;
        Ok(self.cxx.get_or_init(|| found))
    }

    /// What the program declares, or stanc's message; None where the toolchain has no stanc yet.
    pub fn info(&self, source: &StanSource) -> Result<Option<ProgramInfo>, StanError> {
        let stanc = self.toolchain.stanc();
        stanc.map(|stanc| stanc.info(source)).transpose()
    }

    pub fn compile(&self, source: &StanSource) -> Result<Compiled, StanError> {
        let start = Instant::now();
        let (recipe, made_with) = match &self.toolchain {
            Toolchain::BridgeStan(folder) => (BRIDGESTAN.to_string(), tree_hash(folder)),
            Toolchain::Wheel(_) => (full_recipe("models"), String::new()),
        };
        let mut hasher = Sha256::new();
        hash_text(&mut hasher, &recipe);
        hash_text(&mut hasher, &made_with);
        source.hash_into(&mut hasher);
        let key = short_hex(hasher);
        let wanted = Wanted {
            kind: "models",
            key: &key,
            what: &source.label,
            recipe: &recipe,
            files: &["model.so"],
            damaged_file: |_| None,
        };
        let mut built = false;
        let entry = self.cache.get_or_build(&wanted, self.observer, |work| {
            built = true;
            let log = self.cache.failed(&key).join("compile.log");
            match &self.toolchain {
                Toolchain::BridgeStan(folder) => self.with_bridgestan(folder, source, work, log),
                Toolchain::Wheel(_) => self.with_wheel(source, work, log),
            }
        })?;
        Ok(Compiled {
            library: entry.join("model.so"),
            took: built.then(|| start.elapsed()),
        })
    }

    fn with_bridgestan(
        &self,
        folder: &Path,
        source: &StanSource,
        work: &Path,
        log: PathBuf,
    ) -> Result<(), StanError> {
        check(folder)?;
        let file = source
            .write_to(work)
            .map_err(|error| cache_error("write to", work, error))?;
        let what = format!("Compiling {} with BridgeStan", source.label);
        self.observer.task(&what, 60, &mut || {
            let library = bridgestan::compile_model(folder, &file, &[], &[]).map_err(|error| {
                let message = error.to_string();
                // stanc's mistakes arrive in the middle of make's output.
                match ["Syntax error in", "Semantic error in"]
                    .iter()
                    .find_map(|words| message.find(words))
                {
                    Some(at) => StanError::Program {
                        message: message[at..].trim().to_string(),
                    },
                    None => {
                        let _ = fs::write(work.join("compile.log"), message);
                        let failed = StanError::Cpp {
                            what: "model",
                            log: log.clone(),
                        };
                        check_stanc(folder).err().unwrap_or(failed)
                    }
                }
            })?;
            fs::rename(&library, work.join("model.so"))
                .map_err(|source| cache_error("write to", work, source))
        })
    }

    fn with_wheel(&self, source: &StanSource, work: &Path, log: PathBuf) -> Result<(), StanError> {
        let compiled = self.model_with_wheel(source, work, log);
        // What a failed build leaves is kept for its logs, and the headers are large.
        let _ = fs::remove_dir_all(headers::beside(work));
        compiled
    }

    fn model_with_wheel(
        &self,
        source: &StanSource,
        work: &Path,
        log: PathBuf,
    ) -> Result<(), StanError> {
        let cxx = self.cxx()?;
        let wheel = &Wheel::whole(&self.cache, self.observer)?;
        let stanc = super::stanc::Stanc {
            program: wheel.stanc(),
        };
        let hpp = stanc.translate(source, work)?;
        let model = || -> Result<(), StanError> {
            let (headers, seconds) = self.headers(wheel, cxx, work, &hpp)?;
            let what = format!("Compiling {}", source.label);
            let run = Run {
                cxx,
                log: work.join("compile.log"),
                failed_log: log.clone(),
                what: "model",
            };
            self.observer.task(&what, seconds, &mut || {
                run.compile(&[&headers, &wheel.include()], &hpp, &work.join("model.o"))
            })
        };
        let bridge = if self.jobs > 1 {
            std::thread::scope(|scope| {
                let bridge = scope.spawn(|| self.bridge(wheel, cxx));
                model()?;
                bridge.join().expect("the bridge thread does not panic")
            })?
        } else {
            model()?;
            self.bridge(wheel, cxx)?
        };
        self.link(wheel, cxx, work, &bridge, log)?;
        let object = work.join("model.o");
        fs::remove_file(&object).map_err(|source| cache_error("tidy", &object, source))
    }

    /// The folder of headers that a model is compiled with, and about how many seconds that takes.
    fn headers(
        &self,
        wheel: &Wheel,
        cxx: &Cxx,
        work: &Path,
        hpp: &Path,
    ) -> Result<(PathBuf, u64), StanError> {
        let has_solvers = uses_solvers(hpp)?;
        let folder = headers::beside(work);
        if !has_solvers && self.is_worth_precompiling(cxx) {
            let entry = self.precompiled_header(wheel, cxx)?;
            headers::unpack(&entry, &folder)?;
            return Ok((folder, 15));
        }
        write_replacements(&folder, has_solvers)?;
        Ok((folder, 40))
    }

    /// Whether the header is there, or a model was compiled before, so that more are to be expected.
    fn is_worth_precompiling(&self, cxx: &Cxx) -> bool {
        let key = key_with(cxx, &full_recipe("headers"));
        self.cache.has_entry("headers", &key)
            || self.cache.has_made("models", &full_recipe("models"))
    }

    fn link(
        &self,
        wheel: &Wheel,
        cxx: &Cxx,
        work: &Path,
        bridge: &Path,
        log: PathBuf,
    ) -> Result<(), StanError> {
        let run = Run {
            cxx,
            log: work.join("link.log"),
            failed_log: log.with_file_name("link.log"),
            what: "link of the model",
        };
        let lib = wheel.lib();
        let archives = sundials(&lib)?;
        let mut command = cxx.command();
        command
            .arg("-shared")
            .arg(work.join("model.o"))
            .arg(bridge)
            .args(archives)
            .arg(lib.join("libtbb.so.2"))
            .args(LINK_FLAGS)
            .arg("-o")
            .arg(work.join("model.so"));
        run.command(&mut command)
    }

    /// The bridge's object file; compiled once per toolchain.
    fn bridge(&self, wheel: &Wheel, cxx: &Cxx) -> Result<PathBuf, StanError> {
        let recipe = full_recipe("bridge");
        let key = key_with(cxx, &recipe);
        let wanted = Wanted {
            kind: "bridge",
            key: &key,
            what: "the bridge to Stan",
            recipe: &recipe,
            files: &["bridge.o"],
            damaged_file: |_| None,
        };
        let entry = self.cache.get_or_build(&wanted, self.observer, |work| {
            for (name, text) in BRIDGE {
                fs::write(work.join(name), text)
                    .map_err(|error| cache_error("write to", work, error))?;
            }
            let run = Run {
                cxx,
                log: work.join("compile.log"),
                failed_log: self.cache.failed(&key).join("compile.log"),
                what: "bridge between Stan and Rust",
            };
            let task = "Compiling the bridge to Stan (once)";
            self.observer.task(task, 20, &mut || {
                run.compile(
                    &[&wheel.include()],
                    &work.join("bridge.cpp"),
                    &work.join("bridge.o"),
                )
            })
        })?;
        Ok(entry.join("bridge.o"))
    }

    /// An include folder with Stan's headers precompiled, so that an edited model compiles quickly.
    fn precompiled_header(&self, wheel: &Wheel, cxx: &Cxx) -> Result<PathBuf, StanError> {
        let recipe = full_recipe("headers");
        let key = key_with(cxx, &recipe);
        let wanted = Wanted {
            kind: "headers",
            key: &key,
            what: "the precompiled header of Stan",
            recipe: &recipe,
            files: &[PACKED],
            damaged_file: |_| None,
        };
        self.cache.get_or_build(&wanted, self.observer, |work| {
            write_replacements(work, false)?;
            let header = work.join(MODEL_HEADER);
            fs::copy(wheel.include().join(MODEL_HEADER), &header)
                .map_err(|error| cache_error("write to", work, error))?;
            let run = Run {
                cxx,
                log: work.join("compile.log"),
                failed_log: self.cache.failed(&key).join("compile.log"),
                what: "precompiled header",
            };
            let task = "Preparing Stan's headers (once)";
            self.observer.task(task, 50, &mut || {
                run.header(&[work, &wheel.include()], &header)?;
                headers::pack(work)
            })
        })
    }
}

/// The recipe of models that a BridgeStan folder compiled.
pub(super) const BRIDGESTAN: &str = "BridgeStan";

/// Folders of the cache.
pub(super) const KINDS: [&str; 4] = ["toolchains", "headers", "bridge", "models"];

/// The recipe of this kind with the flags of the user's own behind it, so that models with other flags are kept apart.
fn full_recipe(kind: &str) -> String {
    let own = own_flags().into_iter();
    own.fold(recipe(kind), |recipe, flag| recipe + " " + &flag)
}

/// Whether this version can use an entry of this kind, with whichever flags of the user's own it was made.
pub(super) fn is_current(kind: &str, made_by: &str) -> bool {
    made_by.split(' ').next() == Some(&recipe(kind))
}

/// A hash of all that entries of this kind are made with, except the program, the C++ compiler and the user's own flags.
/// No path is in it, so that a cache may be copied, and no compiler, so that compiled models serve where there is none.
pub(super) fn recipe(kind: &str) -> String {
    if kind == "toolchains" {
        return wheel::ID.to_string();
    }
    let mut hasher = Sha256::new();
    hash_text(&mut hasher, kind);
    hash_text(&mut hasher, wheel::ID);
    hash_text(&mut hasher, &FLAGS.join(" "));
    if kind != "bridge" {
        for (_, text) in WITHOUT_SOLVERS.iter().chain([&MODEL_BASE_CRTP]) {
            hash_text(&mut hasher, text);
        }
    }
    if kind == "models" {
        hash_text(&mut hasher, &LINK_FLAGS.join(" "));
    }
    if kind == "headers" {
        // Versions that kept it as it is look for another file.
        hash_text(&mut hasher, PACKED);
    } else {
        for (_, text) in BRIDGE {
            hash_text(&mut hasher, text);
        }
    }
    short_hex(hasher)
}

/// The key of what is of use to one compiler only.
fn key_with(cxx: &Cxx, recipe: &str) -> String {
    let mut hasher = Sha256::new();
    hash_text(&mut hasher, recipe);
    hash_text(&mut hasher, &cxx.version);
    short_hex(hasher)
}

/// What Stan's ODE and algebra solvers need.
fn sundials(lib: &Path) -> Result<Vec<PathBuf>, StanError> {
    let entries = fs::read_dir(lib).map_err(|source| cache_error("read", lib, source))?;
    let mut archives: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "a"))
        .collect();
    archives.sort();
    Ok(archives)
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// 128 bits name a cache entry: short enough to read, long enough never to collide.
fn short_hex(hasher: Sha256) -> String {
    hex(&hasher.finalize()[..16])
}
