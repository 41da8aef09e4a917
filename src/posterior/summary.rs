//! From the draws of all chains to summary rows and findings.

use ndarray::ArrayView1;

use crate::config::ResponseKind;
use crate::data::Dataset;
use crate::posterior::diagnostics::{
    ChainRecord, Finding, MAX_PRIOR_DEVIATION, RunRecord, SummaryRow, Worst, check, summarize,
};
use crate::posterior::draws::{ChainDraws, is_log_lik};
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
        "n_outside__" => Some("n_outside"),
        "outside_share__" => Some("outside_share"),
        _ if is_log_lik(column) => None,
        _ => (!column.ends_with("__")).then_some(column),
    }
}

/// The mean of each response at the posterior mean of `beta`, as `kind` has it of X times beta, for a list of responses
/// that of the first; None for a program without one `beta` for each column of X.
pub fn fitted_values(rows: &[SummaryRow], data: &Dataset, kind: ResponseKind) -> Option<Vec<f64>> {
    let beta: Option<Vec<f64>> = (1..=data.x.ncols())
        .map(|k| {
            let named = |name: String| rows.iter().find(|row| row.name == name);
            // A list of responses may have one linear predictor, as a time and its event have.
            let first = data.response_names.as_ref();
            let first = first.and_then(|_| named(format!("beta.{k}.1")));
            first.or_else(|| named(format!("beta.{k}")))?.mean
        })
        .collect();
    let mut linear = data.x.dot(&ArrayView1::from(&beta?));
    if let Some(offset) = &data.offset {
        linear += &ArrayView1::from(offset);
    }
    Some(linear.iter().map(|&linear| kind.mean(linear)).collect())
}

/// Chains, by number, whose warm-up ended before their links had settled.
pub fn drift_findings(drifts: impl IntoIterator<Item = (usize, Drift)>) -> Option<Finding> {
    let changes = drifts
        .into_iter()
        .map(|(chain, drift)| (format!("chain {chain}"), (drift.after - drift.before).abs()));
    Worst::above(0.0, changes).map(Finding::LinksDrift)
}

/// Quantities whose posterior mean lies beyond what their prior expects.
pub fn prior_findings(priors: Option<&PriorsUsed>, rows: &[SummaryRow]) -> Option<Finding> {
    let mean = |name: &str| rows.iter().find(|row| row.name == name)?.mean;
    let deviations = priors?.deviations(mean);
    Worst::above(MAX_PRIOR_DEVIATION, deviations).map(Finding::PriorAgainstData)
}

/// What is wrong with the draws alone.
pub fn findings(chains: &[ChainDraws], rows: &[SummaryRow]) -> Vec<Finding> {
    let max_depth = chains
        .iter()
        .map(|chain| chain.max_depth)
        .max()
        .unwrap_or(0) as u32;
    let num_treedepth_hits = |chain: &ChainDraws| {
        let depths = chain.column("treedepth__").unwrap_or_default();
        let hits = depths
            .iter()
            .filter(|depth| **depth >= f64::from(max_depth));
        hits.count()
    };
    let records = chains.iter().map(|chain| ChainRecord {
        num_draws: chain.num_draws(),
        num_divergences: chain.num_divergences(),
        num_treedepth_hits: num_treedepth_hits(chain),
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
    fn a_mean_far_outside_its_prior_is_found() {
        let priors: PriorsUsed = serde_json::from_value(serde_json::json!({
            "numbers": "paper",
            "lines": [{"quantity": "beta.2", "label": "slope", "law": "normal", "location": 1.0, "scale": 2.0}],
        }))
        .unwrap();
        let row = |mean: f64| [summarize("beta.2", &[&[mean; 4]], None)];
        let finding = prior_findings(Some(&priors), &row(9.0)).unwrap();
        assert!(finding.to_string().contains("beta.2 (4.0)"), "{finding}");
        assert_eq!(prior_findings(Some(&priors), &row(7.0)), None);
        assert_eq!(prior_findings(None, &row(9.0)), None);
    }

    #[test]
    fn drift_is_found_by_chain() {
        let drift = Drift {
            before: 40.0,
            after: 52.5,
        };
        let finding = drift_findings([(2, drift)]).unwrap();
        assert!(finding.to_string().contains("chain 2 (12.5)"), "{finding}");
        assert_eq!(drift_findings([]), None);
    }
}
