//! Many fits of one model: the real sampler on data in memory, with the program compiled once.

// Every test and example uses its own part.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bridgestan::StanLibrary;
use serde_json::{Value, json};
use unshuffle::chain::{ChainOutcome, Silent};
use unshuffle::config::{self, Config};
use unshuffle::data::{Dataset, stan_json};
use unshuffle::draws::{ChainDraws, read_output};
use unshuffle::fit::{prior_kind, stan_source};
use unshuffle::links_summary::LinksSummary;
use unshuffle::model::StanModel;
use unshuffle::permutation::Prior;
use unshuffle::run::Run;
use unshuffle::stan::{Cache, Compiler, SilentBuild, Toolchain, shipped_names};

/// Settings and a compiled program, waiting for data.
pub struct Study {
    config: Config,
    library: Arc<StanLibrary>,
    label: String,
}

/// What one fit leaves.
pub struct StudyFit {
    pub chains: Vec<ChainDraws>,
    pub outcomes: Vec<ChainOutcome>,
    /// None where every link stayed as it was.
    pub links: Option<LinksSummary>,
}

impl Study {
    /// `settings` is a config without `data`, whose place the data of each fit take.
    pub fn new(mut settings: Value) -> Study {
        settings["data"] = json!({"file": "in_memory.csv", "response": "y", "predictors": ["x1"]});
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("study.json");
        let config = config::parse(&settings.to_string(), &here, &[], &shipped_names());
        let config = config.unwrap_or_else(|error| panic!("{error}"));
        let source = stan_source(&config.model.stan).unwrap();
        let compiled = compiler().compile(&source).unwrap();
        let library = StanModel::open_library(&compiled.library).unwrap();
        Study {
            config,
            library,
            label: source.label,
        }
    }

    pub fn fit(&self, data: &Dataset, seed: u64, num_threads: usize) -> StudyFit {
        let num_rows = data.num_rows();
        let mut config = self.config.clone();
        config.sampler.seed = seed;
        let (alpha, _) = config.temperature.at(num_rows);
        let json = stan_json(data, alpha, &config.model.data).unwrap();
        let library = Arc::clone(&self.library);
        let block = &config.model.response;
        let model = StanModel::new(library, &self.label, &json, block, num_rows, 1).unwrap();
        let prior = Prior::new(prior_kind(config.permutation.prior), num_rows);
        let folder = tempfile::tempdir().unwrap();
        let run = Run {
            config: &config,
            data,
            model: &model,
            prior: &prior,
            output: folder.path(),
            num_threads,
            stop: &AtomicBool::new(false),
            observer: &Silent,
        };
        let outcomes = run.chains().unwrap();
        let chains = read_output(folder.path()).unwrap();
        let links = LinksSummary::read(folder.path(), &chains, num_rows).unwrap();
        StudyFit {
            chains,
            outcomes,
            links,
        }
    }
}

impl StudyFit {
    /// One slice of draws for each chain.
    pub fn draws(&self, name: &str) -> Vec<&[f64]> {
        let column = |chain| ChainDraws::column(chain, name).expect("a column of this name");
        self.chains.iter().map(column).collect()
    }

    /// All chains' draws in one vector.
    pub fn pooled(&self, name: &str) -> Vec<f64> {
        self.draws(name).concat()
    }
}

/// The compiler that a fit on this machine uses.
pub fn compiler() -> Compiler<'static> {
    let cache = Cache::locate().unwrap();
    let named = std::env::var_os("BRIDGESTAN")
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from);
    let toolchain = Toolchain::find_or_fetch(named.as_deref(), &cache, &SilentBuild).unwrap();
    Compiler::new(toolchain, cache, &SilentBuild, 2).unwrap()
}

/// `work` of every index below `count`, two at a time, in the order of the indices.
pub fn in_parallel<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    const NUM_THREADS: usize = 2;
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..NUM_THREADS {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let result = work(index);
                    done.lock().unwrap().push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
