//! From saved chains to summary rows and findings; used by `fit`, `summary` and `diagnose` alike.

use std::fs;
use std::path::Path;

use ndarray::ArrayView1;
use serde::Deserialize;

use crate::config::ResponseKind;
use crate::data::Dataset;
use crate::posterior::diagnostics::{
    ChainRecord, Finding, MAX_PRIOR_DEVIATION, RunRecord, SummaryRow, Worst, check, summarize,
};
use crate::posterior::draws::ChainDraws;
use crate::priors::PriorsUsed;
use crate::sampler::chain::Drift;

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

/// Of the sampler's own columns only those that estimate something are reported, under plain names. `log_lik` is there
/// for the links and for `loo`, not to be estimated: one line for each row would bury the rest.
fn reported_name(column: &str) -> Option<&str> {
    match column {
        "lp__" => Some(column),
        "n_moved__" => Some("n_moved"),
        "mismatch_rate__" => Some("mismatch_rate"),
        _ if column.split('.').next() == Some("log_lik") => None,
        _ => (!column.ends_with("__")).then_some(column),
    }
}

/// The mean of each response at the posterior mean of `beta`, as `kind` has it of X times beta, for a list of responses
/// that of the first; None for a program without one `beta` for each column of X.
pub fn fitted_values(rows: &[SummaryRow], data: &Dataset, kind: ResponseKind) -> Option<Vec<f64>> {
    let beta: Option<Vec<f64>> = (1..=data.x.ncols())
        .map(|k| {
            let name = match data.response_names {
                Some(_) => format!("beta.{k}.1"),
                None => format!("beta.{k}"),
            };
            rows.iter().find(|row| row.name == name)?.mean
        })
        .collect();
    let linear = data.x.dot(&ArrayView1::from(&beta?));
    Some(linear.iter().map(|&linear| kind.mean(linear)).collect())
}

/// Chains, by number, whose warm-up ended before their links had settled.
pub fn drift_findings(drifts: impl IntoIterator<Item = (usize, Drift)>) -> Option<Finding> {
    let changes = drifts
        .into_iter()
        .map(|(chain, drift)| (format!("chain {chain}"), (drift.after - drift.before).abs()));
    Worst::above(0.0, changes).map(Finding::LinksDrift)
}

/// What diagnostics.json says of drift; a fit that was killed before it wrote the file has nothing to say.
pub fn saved_drifts(folder: &Path) -> Vec<(usize, Drift)> {
    #[derive(Deserialize)]
    struct Saved {
        chains: Vec<SavedChain>,
    }
    #[derive(Deserialize)]
    struct SavedChain {
        chain: usize,
        drift: Option<Drift>,
    }
    let text = fs::read_to_string(folder.join("diagnostics.json")).unwrap_or_default();
    let saved = serde_json::from_str::<Saved>(&text).ok();
    let chains = saved.into_iter().flat_map(|saved| saved.chains);
    chains
        .filter_map(|saved| Some((saved.chain, saved.drift?)))
        .collect()
}

/// Quantities whose posterior mean lies beyond what their prior expects.
pub fn prior_findings(priors: Option<&PriorsUsed>, rows: &[SummaryRow]) -> Option<Finding> {
    let mean = |name: &str| rows.iter().find(|row| row.name == name)?.mean;
    let deviations = priors?.deviations(mean);
    Worst::above(MAX_PRIOR_DEVIATION, deviations).map(Finding::PriorAgainstData)
}

/// The priors that data.json has; a fit of an older version has none.
pub fn saved_priors(folder: &Path) -> Option<PriorsUsed> {
    #[derive(Deserialize)]
    struct Saved {
        priors: Option<PriorsUsed>,
    }
    let text = fs::read_to_string(folder.join("data.json")).ok()?;
    serde_json::from_str::<Saved>(&text).ok()?.priors
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_likelihood_of_each_row_is_not_reported() {
        let names = [
            "beta.1",
            "log_lik.1",
            "log_lik",
            "log_likelihood",
            "energy__",
        ];
        let reported = names.map(|name| reported_name(name).is_some());
        assert_eq!(reported, [true, false, false, true, false]);
    }

    #[test]
    fn drift_is_found_again_in_the_saved_diagnostics() {
        let folder = tempfile::tempdir().unwrap();
        assert!(saved_drifts(folder.path()).is_empty());
        let text =
            r#"{"chains": [{"chain": 1}, {"chain": 2, "drift": {"before": 40.0, "after": 52.5}}]}"#;
        fs::write(folder.path().join("diagnostics.json"), text).unwrap();
        let finding = drift_findings(saved_drifts(folder.path())).unwrap();
        assert!(finding.to_string().contains("chain 2 (12.5)"), "{finding}");
    }
}
