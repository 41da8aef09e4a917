//! The fits: each model on the file as linked, on the same file with its links to be found, and on the unharmed file.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::support::compiler;
use anyhow::Context;
use unshuffle::Posterior;
use unshuffle::internals::config;
use unshuffle::internals::fit::prepare;
use unshuffle::internals::model::stan::Compiler;
use unshuffle::internals::sampler::chain::Silent;
use unshuffle::internals::study::simulate::Truth;

const CONFIG: &str = "configs/quickstart.json";
const TRUTH: &str = "configs/data/engel_truth.json";
/// The model by its quantile; none for the mean.
const MODELS: [(&str, Option<f64>); 4] = [
    ("mean", None),
    ("quantile 0.1", Some(0.1)),
    ("quantile 0.5", Some(0.5)),
    ("quantile 0.9", Some(0.9)),
];
/// Name, file, and whether links are kept.
const METHODS: [(&str, &str, bool); 3] = [
    ("as linked", "data/engel_mislinked.csv", true),
    ("unshuffle", "data/engel_mislinked.csv", false),
    ("unharmed", "data/engel.csv", true),
];

/// Writes results.csv, and links.csv: where each row most probably belongs, by model.
pub fn write(to: &Path) -> anyhow::Result<()> {
    let truth: Truth = serde_json::from_str(&fs::read_to_string(TRUTH)?)?;
    let compiler = compiler()?;
    let mut results = csv::Writer::from_writer(Vec::new());
    results.write_record(super::page::HEADER)?;
    let mut links = csv::Writer::from_writer(Vec::new());
    links.write_record(["model", "row", "linked_to", "p_moved"])?;
    for (model, tau) in MODELS {
        for (method, file, kept) in METHODS {
            let fitted = fit(tau, file, kept, &compiler)?;
            let mut record = vec![model.to_string(), method.to_string()];
            for name in ["beta.1", "beta.2"] {
                let row = fitted.summary().iter().find(|row| row.name == name);
                let row = row.context("every coefficient has a summary")?;
                let numbers = [row.mean, row.q5, row.q95];
                record.extend(
                    numbers.map(|value| value.map_or(String::new(), |v| format!("{v:.6}"))),
                );
            }
            record.extend(
                found(&fitted, &truth).map(|count| count.map_or(String::new(), |n| n.to_string())),
            );
            let r_hats = fitted.summary().iter().filter_map(|row| row.r_hat);
            record.push(format!("{:.4}", r_hats.fold(0.0, f64::max)));
            results.write_record(&record)?;
            if let Some(summary) = &fitted.links {
                for row in 0..summary.num_rows() {
                    let of_row = summary.row(row);
                    let best = of_row.partners[0].0 + 1;
                    let fields = [
                        model.into(),
                        (row + 1).to_string(),
                        best.to_string(),
                        format!("{:.4}", of_row.p_moved),
                    ];
                    links.write_record(fields)?;
                }
            }
            eprintln!("{model}, {method}");
        }
    }
    fs::write(to.join("results.csv"), results.into_inner()?)?;
    fs::write(to.join("links.csv"), links.into_inner()?)?;
    Ok(())
}

/// Of the rows that are probably moved: how many are mislinked, and how many are not.
fn found(fitted: &Posterior, truth: &Truth) -> [Option<usize>; 2] {
    let Some(links) = &fitted.links else {
        return [None, None];
    };
    let moved: Vec<usize> = (0..links.num_rows())
        .filter(|&row| links.row(row).p_moved > 0.5)
        .collect();
    let wrong = moved.iter().filter(|&&row| truth.pi[row] != row).count();
    [Some(wrong), Some(moved.len() - wrong)]
}

fn fit(tau: Option<f64>, file: &str, kept: bool, compiler: &Compiler) -> anyhow::Result<Posterior> {
    let folder = tempfile::tempdir()?;
    let mut settings = vec![
        format!("data.file={file}"),
        format!("output={}", folder.path().join("fit").display()),
    ];
    if let Some(tau) = tau {
        settings.push("model.stan=quantile".into());
        settings.push(format!(
            r#"model.family={{"name":"asymmetric_laplace","tau":{tau}}}"#
        ));
    }
    if kept {
        settings.push(r#"permutation.update={"name":"none"}"#.into());
    }
    let config = config::load(Path::new(CONFIG), &settings)?;
    let prepared = prepare(config, compiler)?;
    Ok(prepared.sample(2, &AtomicBool::new(false), &Silent)?)
}
