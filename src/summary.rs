//! From saved chains to summary rows and findings; used by `fit`, `summary` and `diagnose` alike.

use crate::chain::ChainOutcome;
use crate::diagnostics::{ChainRecord, Finding, RunRecord, SummaryRow, Worst, check, summarize};
use crate::draws::ChainDraws;

/// One row for `lp__` and one for each saved quantity. Chains of different length are cut to the shortest.
pub fn rows(chains: &[ChainDraws]) -> Vec<SummaryRow> {
    let shortest = chains.iter().map(ChainDraws::num_draws).min().unwrap_or(0);
    let seconds: f64 = chains.iter().map(|chain| chain.sampling_seconds).sum();
    let Some(first) = chains.first() else {
        return Vec::new();
    };
    first
        .names
        .iter()
        .enumerate()
        .filter_map(|(k, name)| {
            let draws: Vec<&[f64]> = chains.iter().map(|c| &c.columns[k][..shortest]).collect();
            Some(summarize(
                reported_name(name)?,
                &draws,
                (seconds > 0.0).then_some(seconds),
            ))
        })
        .collect()
}

/// Of the sampler's own columns only those that estimate something are reported, under plain names.
fn reported_name(column: &str) -> Option<&str> {
    match column {
        "lp__" => Some(column),
        "n_moved__" => Some("n_moved"),
        "mismatch_rate__" => Some("mismatch_rate"),
        _ => (!column.ends_with("__")).then_some(column),
    }
}

/// Chains whose warm-up ended before their links had settled.
pub fn drift_findings(outcomes: &[ChainOutcome]) -> Option<Finding> {
    let changes = outcomes.iter().filter_map(|outcome| {
        let drift = outcome.drift?;
        Some((
            format!("chain {}", outcome.chain),
            (drift.after - drift.before).abs(),
        ))
    });
    Worst::above(0.0, changes).map(Finding::LinksDrift)
}

pub fn findings(chains: &[ChainDraws], rows: &[SummaryRow]) -> Vec<Finding> {
    let max_depth = chains
        .iter()
        .map(|chain| chain.max_depth)
        .max()
        .unwrap_or(0) as u32;
    let count = |chain: &ChainDraws, name: &str, hit: &dyn Fn(f64) -> bool| {
        let column = chain.column(name).unwrap_or_default();
        column.iter().filter(|value| hit(**value)).count()
    };
    let records = chains.iter().map(|chain| ChainRecord {
        num_draws: chain.num_draws(),
        num_divergences: count(chain, "divergent__", &|value| value > 0.0),
        num_treedepth_hits: count(chain, "treedepth__", &|v| v >= f64::from(max_depth)),
        energies: chain.column("energy__").unwrap_or_default(),
    });
    check(&RunRecord {
        max_depth,
        chains: records.collect(),
        quantities: rows,
    })
}
