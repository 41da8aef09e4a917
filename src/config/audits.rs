//! Audits in a config: links that were checked by hand, of the whole file or of single blocks.

use std::collections::BTreeMap;

use super::check::{Check, MOST_CHECKED};
use super::{Audit, ConfigError, Data, Prior};
use crate::sampler::links::RatePrior;

impl Check<'_> {
    pub(super) fn audit(&self, path: &str, audit: Audit) -> Result<(), ConfigError> {
        let Audit {
            checked,
            wrong,
            weight,
        } = audit;
        self.at_least_one(&format!("{path}.checked"), checked)?;
        self.at_most(&format!("{path}.checked"), checked, MOST_CHECKED)?;
        self.that(
            wrong <= checked,
            &format!("{path}.wrong"),
            wrong,
            &format!("it must be at most `checked`, which is {checked}"),
        )?;
        self.that(
            weight > 0.0 && weight <= 1.0,
            &format!("{path}.weight"),
            weight,
            "it must be above 0 and at most 1",
        )
    }

    /// Audits of blocks go with blocks, and with a prior that has a rate and no audit of its own.
    pub(super) fn audit_by_block(
        &self,
        audits: &BTreeMap<String, Audit>,
        prior: Prior,
        data: &Data,
    ) -> Result<(), ConfigError> {
        const PATH: &str = "permutation.audit_by_block";
        if audits.is_empty() {
            return Ok(());
        }
        let shown = serde_json::to_string(audits).expect("plain JSON");
        for (label, audit) in audits {
            self.audit(&format!("{PATH}.{label}"), *audit)?;
        }
        self.that(
            data.block.is_some(),
            PATH,
            &shown,
            "its labels are those of a column of blocks, so name that column in data.block",
        )?;
        self.that(
            matches!(prior, Prior::BetaBinomial { .. }),
            PATH,
            &shown,
            "audits update the rate of the prior `beta_binomial`, so choose that one or remove them",
        )?;
        self.that(
            !matches!(prior, Prior::BetaBinomial { audit: Some(_), .. }),
            PATH,
            &shown,
            "permutation.prior.audit is of all blocks together, so remove one of the two",
        )?;
        self.that(
            data.candidates.is_none(),
            PATH,
            &shown,
            "with data.candidates the rows of a block fall into several groups, so remove one of the two",
        )
    }
}

impl super::Permutation {
    /// The prior of the rate of each block, its audit counted in; None where no block was audited by itself.
    pub fn block_rates(&self, labels: &[String]) -> Option<Vec<RatePrior>> {
        let rate = self
            .prior
            .rate()
            .filter(|_| !self.audit_by_block.is_empty())?;
        let of_block = |label: &String| match self.audit_by_block.get(label) {
            Some(audit) => rate.after_audit(audit.checked, audit.wrong, audit.weight),
            None => rate,
        };
        Some(labels.iter().map(of_block).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::config::{Config, parse};

    fn with(permutation: Value, block: Value) -> Result<Config, String> {
        let config = json!({
            "model": {"stan": "linear"},
            "data": {"file": "a.csv", "formula": "y ~ x", "block": block},
            "permutation": permutation,
        });
        let parsed = parse(&config.to_string(), "/project/a.json".as_ref(), &[]);
        parsed.map_err(|error| error.to_string())
    }

    #[test]
    fn each_block_has_its_own_audit() {
        let audits = json!({"north": {"checked": 100, "wrong": 7, "weight": 1.0}});
        let config = with(json!({"audit_by_block": audits}), json!("region")).unwrap();
        let labels = ["south".to_string(), "north".to_string()];
        let rates = config.permutation.block_rates(&labels).unwrap();
        let words: Vec<String> = rates.iter().map(|rate| rate.to_string()).collect();
        assert_eq!(
            words,
            [
                "no link is wrong with probability 0.5, otherwise the mismatch rate is Beta(1, 9)",
                "the mismatch rate is Beta(8, 102)"
            ]
        );
        let saved = serde_json::to_value(&config).unwrap();
        assert_eq!(saved["permutation"]["audit_by_block"], audits);
        let without = with(json!({}), json!("region")).unwrap();
        assert_eq!(without.permutation.block_rates(&labels), None);
        let saved = serde_json::to_value(&without).unwrap();
        assert!(saved["permutation"].get("audit_by_block").is_none());
    }

    #[test]
    fn what_they_do_not_go_with_is_refused() {
        let audits = json!({"north": {"checked": 10, "wrong": 1}});
        let audit = json!({"name": "beta_binomial", "audit": {"checked": 10, "wrong": 1}});
        for (permutation, block, part) in [
            (
                json!({"audit_by_block": {"north": {"checked": 1, "wrong": 2}}}),
                json!("region"),
                "`permutation.audit_by_block.north.wrong` is 2; it must be at most `checked`, which is 1",
            ),
            (
                json!({"audit_by_block": audits}),
                json!(null),
                "name that column in data.block",
            ),
            (
                json!({"audit_by_block": audits, "prior": {"name": "hamming", "theta": 1}}),
                json!("region"),
                "choose that one or remove them",
            ),
            (
                json!({"audit_by_block": audits, "prior": audit}),
                json!("region"),
                "permutation.prior.audit is of all blocks together",
            ),
            (
                json!({"audit_by_block": audits, "rate_formula": "~ z"}),
                json!("region"),
                "choose that one or remove them",
            ),
            (
                json!({"audit_by_block": 3}),
                json!("region"),
                "`permutation.audit_by_block` is 3",
            ),
        ] {
            let found = with(permutation, block).unwrap_err();
            assert!(found.contains(part), "{found}");
        }
    }
}
