//! diagnostics.json, and the versions in config.json: what a fit records of its own run.

use serde::{Deserialize, Serialize};

use super::diagnostics::Finding;
use crate::sampler::chain::ChainOutcome;

/// Counts, times and findings of a fit, as in diagnostics.json.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Diagnostics {
    /// None for fits of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_rows: Option<usize>,
    pub findings: Vec<Finding>,
    pub chains: Vec<ChainOutcome>,
    pub seconds: f64,
    pub interrupted: bool,
}

/// The programs that made a fit and the SHA-256 of its data, as in config.json.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Versions {
    pub unshuffle: Option<String>,
    pub stan: Option<String>,
    pub toolchain: Option<String>,
    /// None for data that came from no file.
    pub data_sha256: Option<String>,
    /// The hash of the config without its paths; None for fits of older versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings_sha256: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::posterior::diagnostics::{Names, Worst};
    use crate::sampler::chain::{Drift, LinksStart};

    #[test]
    fn diagnostics_read_back_as_written() {
        let worst = Worst {
            named: vec![("beta.1".into(), f64::INFINITY), ("beta.2".into(), 1.5)],
            num_more: 2,
            limit: 1.01,
        };
        let names = Names {
            named: vec!["fixed".into()],
            num_more: 0,
        };
        let findings = vec![
            Finding::Unfinished {
                num_draws: 150,
                num_asked: 400,
            },
            Finding::Divergences {
                num_divergences: 3,
                num_draws: 400,
            },
            Finding::TreedepthHits {
                num_hits: 1,
                num_draws: 400,
                max_depth: 10,
            },
            Finding::HighRHat(worst.clone()),
            Finding::LowBulkEss(worst.clone()),
            Finding::LowTailEss(worst.clone()),
            Finding::LowEBfmi(worst.clone()),
            Finding::LinksDisagree(worst.clone()),
            Finding::PriorAgainstData(worst.clone()),
            Finding::NotJudged(names.clone()),
            Finding::LinksDrift(worst),
            Finding::Constant(names),
            Finding::Contradicted("So it is.".into()),
        ];
        let diagnostics = Diagnostics {
            num_rows: Some(20),
            findings,
            chains: vec![ChainOutcome {
                chain: 2,
                links_start: Some(LinksStart::Mode),
                drift: Some(Drift {
                    before: 40.0,
                    after: 52.5,
                }),
                ..ChainOutcome::default()
            }],
            seconds: 1.5,
            interrupted: true,
        };
        let value = serde_json::to_value(&diagnostics).unwrap();
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            ["num_rows", "findings", "chains", "seconds", "interrupted"]
        );
        assert_eq!(value["findings"][3]["values"], json!(["inf", 1.5]));
        let again: Diagnostics = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(again.findings, diagnostics.findings);
        assert_eq!(serde_json::to_value(&again).unwrap(), value);
    }

    #[test]
    fn older_files_lack_entries_and_unknown_findings_are_refused() {
        let text =
            r#"{"chains": [{"chain": 1}, {"chain": 2, "drift": {"before": 40.0, "after": 52.5}}]}"#;
        let older: Diagnostics = serde_json::from_str(text).unwrap();
        assert_eq!(older.chains[1].drift.unwrap().after, 52.5);
        assert_eq!((older.num_rows, older.interrupted), (None, false));
        let unknown: Value = json!({"findings": [{"kind": "bad_luck", "message": ""}]});
        let error = serde_json::from_value::<Diagnostics>(unknown).unwrap_err();
        assert!(error.to_string().contains("bad_luck"), "{error}");
    }
}
