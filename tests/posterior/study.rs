//! Many fits of one model: the real sampler on data in memory, with the program compiled once.

// Every test uses its own part.
#![allow(dead_code)]

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};
use unshuffle::Posterior;
use unshuffle::internals::config::{self, Config};
use unshuffle::internals::data::Dataset;
use unshuffle::internals::fit::{Prepared, Program};
use unshuffle::internals::model::stan::{Compiler, SilentBuild};
use unshuffle::internals::posterior::{ChainDraws, read_links, read_output};
use unshuffle::internals::sampler::chain::Silent;

/// The prior of links that tests of something else compare with: no probability of no error, and a uniform rate.
pub fn flat_rate() -> Value {
    json!({"name": "beta_binomial", "a": 1, "b": 1, "no_error": 0})
}

/// Settings and a compiled program, waiting for data.
pub struct Study {
    config: Config,
    program: Program,
}

impl Study {
    /// `settings` is a config without `data`, whose place the data of each fit take.
    pub fn new(settings: Value) -> Study {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("study.json");
        let config = config::of_arrays(&settings, &here);
        let config = config.unwrap_or_else(|error| panic!("{error}"));
        let program = Program::compile(&config.model, &compiler()).unwrap();
        Study { config, program }
    }

    pub fn fit(&self, data: &Dataset, seed: u64) -> Posterior {
        let folder = tempfile::tempdir().unwrap();
        let mut config = self.config.clone();
        config.sampler.seed = seed;
        config.output = folder.path().to_path_buf();
        let prepared = self.program.with_data(config, data.clone()).unwrap();
        let stop = AtomicBool::new(false);
        prepared.sample(1, &stop, &Silent).unwrap()
    }
}

/// All chains' draws in one vector.
pub fn pooled(fit: &Posterior, name: &str) -> Vec<f64> {
    let column = |chain| ChainDraws::column(chain, name);
    let columns = fit.chains.iter().map(column);
    columns
        .flat_map(|c| c.expect("a column of this name"))
        .copied()
        .collect()
}

/// The draws of a whole fit, as its files have them, and the links of each, by chain and draw.
pub struct Draws {
    pub chains: Vec<ChainDraws>,
    pub links: Vec<Vec<Vec<usize>>>,
}

impl Draws {
    /// By chain.
    pub fn column(&self, name: &str) -> Vec<Vec<f64>> {
        let column = |chain: &ChainDraws| chain.column(name).unwrap().to_vec();
        self.chains.iter().map(column).collect()
    }

    /// By chain and draw, 1 where the links are so.
    pub fn indicator(&self, event: impl Fn(&[usize]) -> bool) -> Vec<Vec<f64>> {
        let holds = |pi: &Vec<usize>| f64::from(u8::from(event(pi)));
        let chains = self.links.iter();
        chains.map(|pi| pi.iter().map(holds).collect()).collect()
    }
}

/// Samples a fit and reads its files.
pub fn sampled(prepared: &Prepared) -> Draws {
    let stop = AtomicBool::new(false);
    prepared.sample(2, &stop, &Silent).unwrap();
    let output = &prepared.config.output;
    let chains = read_output(output).unwrap();
    let num_rows = prepared.data.num_rows();
    let links = chains.iter().map(|chain| {
        let mut links = vec![Vec::from_iter(0..num_rows); chain.num_draws()];
        let path = output.join(format!("links_{}.csv", chain.chain));
        for moved in read_links(&path).unwrap() {
            links[moved.draw - 1][moved.row - 1] = moved.linked_to - 1;
        }
        links
    });
    Draws {
        links: links.collect(),
        chains,
    }
}

pub fn all_permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |prefix: Vec<usize>| {
            let rest: Vec<usize> = (0..n).filter(|k| !prefix.contains(k)).collect();
            let with = move |k| prefix.iter().copied().chain([k]).collect();
            rest.into_iter().map(with).collect::<Vec<Vec<usize>>>()
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// The compiler that a fit on this machine uses.
pub fn compiler() -> Compiler<'static> {
    Compiler::find(None, &SilentBuild, 2).unwrap()
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
