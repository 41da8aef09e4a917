//! The fits: rows mislinked inside strata, every method on the same data.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::page::HEADER;
use crate::support::compiler;
use anyhow::Context;
use rand::seq::index;
use rand_distr::{Binomial, Distribution};
use serde_json::{Value, json};
use unshuffle::internals::baseline::{Baseline, least_squares};
use unshuffle::internals::config::{self, Config};
use unshuffle::internals::data::{self, Blocks, Dataset};
use unshuffle::internals::fit::Program;
use unshuffle::internals::model::stan::Compiler;
use unshuffle::internals::numerics::rng;
use unshuffle::internals::sampler::chain::Silent;
use unshuffle::internals::study::simulate::{Source, mislink_file};

const CONFIG: &str = "configs/cps.json";
const RATES: [f64; 2] = [0.1, 0.2];
/// Links of the same kind, outside this file, that were checked by hand.
const AUDITED: u64 = 100;
/// Chains of `mislink_file` have their own streams.
const STREAM: usize = 77;

/// What a method knows besides the rows as linked.
struct Method {
    name: &'static str,
    model: &'static str,
    block: Option<&'static str>,
    safe: bool,
    audit: bool,
}

const PLAIN: Method = Method {
    name: "plain",
    model: "linear",
    block: None,
    safe: false,
    audit: false,
};

const METHODS: [Method; 9] = [
    PLAIN,
    Method {
        name: "student_t",
        model: "student_t",
        ..PLAIN
    },
    Method {
        name: "safe rows",
        safe: true,
        ..PLAIN
    },
    Method {
        name: "audit",
        audit: true,
        ..PLAIN
    },
    Method {
        name: "blocks: region",
        block: Some("region"),
        ..PLAIN
    },
    Method {
        name: "blocks: sector",
        block: Some("sector"),
        ..PLAIN
    },
    Method {
        name: "blocks: stratum",
        block: Some("stratum"),
        ..PLAIN
    },
    Method {
        name: "all three",
        block: Some("stratum"),
        safe: true,
        audit: true,
        ..PLAIN
    },
    Method {
        name: "all three, student_t",
        model: "student_t",
        block: Some("stratum"),
        safe: true,
        audit: true,
    },
];

/// Estimators that look at each row alone.
const BASELINES: [(&str, Baseline); 3] = [
    ("as linked", Baseline::LeastSquares),
    ("Huber", Baseline::Huber),
    ("mixture", Baseline::Mixture),
];

/// One mislinked file, and what a careful analyst would know of it.
struct Mislinked {
    data: Dataset,
    /// Half of the rows were checked by hand; these are the ones among them that are right.
    safe: Vec<bool>,
    /// Wrong links among the audited ones.
    wrong: u64,
}

pub fn write(path: &Path, repeats: u64) -> anyhow::Result<()> {
    let config = config::load(Path::new(CONFIG), &[])?;
    let unharmed = data::read(&config.data)?;
    let target = least_squares(unharmed.x.view(), &unharmed.response);
    let blocks = |column: &str| -> anyhow::Result<Blocks> {
        let columns = config::Data {
            block: Some(column.into()),
            ..config.data.clone()
        };
        data::read(&columns)?.blocks.context("a column of blocks")
    };
    let compiler = compiler()?;
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(HEADER)?;
    let education = unharmed
        .predictor_names
        .iter()
        .position(|name| name == "education");
    let education = education.context("education is a predictor")?;
    let error = |beta: &[f64]| {
        let errors = beta.iter().zip(&target.beta).zip(&target.standard_error);
        errors.map(|((b, t), se)| (b - t).abs() / se).sum::<f64>() / beta.len() as f64
    };
    for rate in RATES {
        for repeat in 0..repeats {
            let mislinked = mislink(&config, &unharmed, rate, 1985 + repeat)?;
            let mut record = |method: &str, beta: &[f64], others: [Option<f64>; 3]| {
                let number = |value: f64| format!("{value:.6}");
                let mut fields = vec![rate.to_string(), repeat.to_string(), method.to_string()];
                fields.extend([number(error(beta)), number(beta[education])]);
                fields.extend(others.map(|value| value.map_or(String::new(), number)));
                csv.write_record(fields)
            };
            for (name, baseline) in BASELINES {
                let fit = baseline.fit(unharmed.x.view(), &mislinked.data.response);
                record(name, &fit.beta, [fit.mismatch_rate, None, None])?;
            }
            for method in &METHODS {
                let mut data = mislinked.data.clone();
                data.safe = method.safe.then(|| mislinked.safe.clone());
                data.blocks = method.block.map(blocks).transpose()?;
                let fit = fit(method, data, mislinked.wrong, &compiler)?;
                let others = [fit.share_moved, fit.r_hat, fit.seconds].map(Some);
                record(method.name, &fit.beta, others)?;
            }
            eprintln!(
                "{:.0} % mislinked, repeat {} of {repeats}",
                100.0 * rate,
                repeat + 1
            );
        }
    }
    fs::write(path, csv.into_inner()?)?;
    Ok(())
}

fn mislink(config: &Config, unharmed: &Dataset, rate: f64, seed: u64) -> anyhow::Result<Mislinked> {
    let source = Source {
        data: config::Data {
            block: Some("stratum".into()),
            ..config.data.clone()
        },
        drop: Vec::new(),
        fraction: rate,
        adjacent: false,
    };
    let pi = mislink_file(&source, seed)?.truth.pi;
    let mut data = unharmed.clone();
    for (response, &home) in data.response.iter_mut().zip(&pi) {
        *response = unharmed.response[home];
    }
    let num_rows = pi.len();
    let is_right = |row: usize| pi[row] == row;
    let mut rng = rng::stream(seed, STREAM);
    let mut safe = vec![false; num_rows];
    for row in index::sample(&mut rng, num_rows, num_rows / 2) {
        safe[row] = is_right(row);
    }
    let wrong = Binomial::new(AUDITED, rate)?.sample(&mut rng);
    Ok(Mislinked { data, safe, wrong })
}

struct Fit {
    beta: Vec<f64>,
    share_moved: f64,
    r_hat: f64,
    seconds: f64,
}

fn fit(method: &Method, data: Dataset, wrong: u64, compiler: &Compiler) -> anyhow::Result<Fit> {
    let folder = tempfile::tempdir()?;
    let mut settings: Value = json!({
        "model": {"stan": method.model},
        // Flat: what each fact buys is seen best where the prior itself knows nothing.
        "permutation": {"prior": {"name": "beta_binomial", "a": 1, "b": 1, "no_error": 0}},
        "sampler": {"warmup": 1000, "draws": 1000},
        "output": folder.path()
    });
    if method.audit {
        let audit = json!({"checked": AUDITED, "wrong": wrong});
        settings["permutation"]["prior"]["audit"] = audit;
    }
    let here = folder.path().join("config.json");
    let config = config::of_arrays(&settings, &here)?;
    let num_rows = data.num_rows() as f64;
    let num_coefficients = data.x.ncols();
    let program = Program::compile(&config.model, compiler)?;
    let fitted = program
        .with_data(config, data)?
        .sample(2, &AtomicBool::new(false), &Silent)?;
    let row = |name: &str| fitted.summary().iter().find(|row| row.name == name);
    let mean = |name: &str| {
        row(name)
            .and_then(|row| row.mean)
            .context("a summary of every quantity")
    };
    let beta = (1..=num_coefficients).map(|k| mean(&format!("beta.{k}")));
    Ok(Fit {
        beta: beta.collect::<anyhow::Result<_>>()?,
        share_moved: mean("n_moved")? / num_rows,
        r_hat: fitted
            .summary()
            .iter()
            .filter_map(|row| row.r_hat)
            .fold(0.0, f64::max),
        seconds: fitted.seconds().unwrap_or(0.0),
    })
}
