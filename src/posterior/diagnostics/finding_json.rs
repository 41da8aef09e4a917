//! Findings as flat JSON objects: `kind`, `message`, and the numbers of the finding.

use serde::de::{Deserializer, Error};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::finding::{Finding, Names, Worst};

/// All that the object of any finding can have.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FindingRecord {
    kind: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_hits: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_divergences: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_draws: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_asked: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Number>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_more: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<String>,
}

impl From<Finding> for FindingRecord {
    fn from(finding: Finding) -> FindingRecord {
        let record = FindingRecord {
            kind: finding.kind().into(),
            message: finding.to_string(),
            ..FindingRecord::default()
        };
        match finding {
            Finding::Unfinished {
                num_draws,
                num_asked,
            } => FindingRecord {
                num_draws: Some(num_draws),
                num_asked: Some(num_asked),
                ..record
            },
            Finding::TreedepthHits {
                num_hits,
                num_draws,
                max_depth,
            } => FindingRecord {
                num_hits: Some(num_hits),
                num_draws: Some(num_draws),
                max_depth: Some(max_depth),
                ..record
            },
            Finding::Divergences {
                num_divergences,
                num_draws,
            } => FindingRecord {
                num_divergences: Some(num_divergences),
                num_draws: Some(num_draws),
                ..record
            },
            Finding::LowEBfmi(worst)
            | Finding::LowBulkEss(worst)
            | Finding::LowTailEss(worst)
            | Finding::HighRHat(worst)
            | Finding::LinksDisagree(worst)
            | Finding::LinksDrift(worst)
            | Finding::PriorAgainstData(worst) => {
                let named = worst.named.into_iter();
                let (names, values) = named.map(|(name, value)| (name, Number(value))).unzip();
                FindingRecord {
                    names: Some(names),
                    values: Some(values),
                    num_more: Some(worst.num_more),
                    limit: Some(worst.limit),
                    ..record
                }
            }
            Finding::NotJudged(names) | Finding::Constant(names) => FindingRecord {
                names: Some(names.named),
                num_more: Some(names.num_more),
                ..record
            },
            Finding::Contradicted(sentence) => FindingRecord {
                sentence: Some(sentence),
                ..record
            },
        }
    }
}

impl TryFrom<FindingRecord> for Finding {
    type Error = String;

    fn try_from(record: FindingRecord) -> Result<Finding, String> {
        let kind = record.kind.clone();
        let finding = match kind.as_str() {
            "unfinished" => record.unfinished(),
            "treedepth_hits" => record.treedepth_hits(),
            "divergences" => record.divergences(),
            "low_e_bfmi" => record.worst().map(Finding::LowEBfmi),
            "low_bulk_ess" => record.worst().map(Finding::LowBulkEss),
            "low_tail_ess" => record.worst().map(Finding::LowTailEss),
            "high_r_hat" => record.worst().map(Finding::HighRHat),
            "links_disagree" => record.worst().map(Finding::LinksDisagree),
            "links_drift" => record.worst().map(Finding::LinksDrift),
            "prior_against_data" => record.worst().map(Finding::PriorAgainstData),
            "not_judged" => record.names().map(Finding::NotJudged),
            "constant" => record.names().map(Finding::Constant),
            "contradicted" => record.sentence.map(Finding::Contradicted),
            _ => return Err(format!("there is no kind of finding `{kind}`")),
        };
        finding.ok_or_else(|| format!("the finding `{kind}` lacks a number or a name"))
    }
}

impl FindingRecord {
    fn unfinished(&self) -> Option<Finding> {
        Some(Finding::Unfinished {
            num_draws: self.num_draws?,
            num_asked: self.num_asked?,
        })
    }

    fn treedepth_hits(&self) -> Option<Finding> {
        Some(Finding::TreedepthHits {
            num_hits: self.num_hits?,
            num_draws: self.num_draws?,
            max_depth: self.max_depth?,
        })
    }

    fn divergences(&self) -> Option<Finding> {
        Some(Finding::Divergences {
            num_divergences: self.num_divergences?,
            num_draws: self.num_draws?,
        })
    }

    fn worst(self) -> Option<Worst> {
        let values = self.values?.into_iter().map(|Number(value)| value);
        Some(Worst {
            named: self.names?.into_iter().zip(values).collect(),
            num_more: self.num_more?,
            limit: self.limit?,
        })
    }

    fn names(self) -> Option<Names> {
        Some(Names {
            named: self.names?,
            num_more: self.num_more?,
        })
    }
}

/// JSON has no infinity, and null would read as unknown: an infinite R-hat is written as the string "inf".
#[derive(Clone, Copy)]
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_infinite() {
            serializer.serialize_str("inf")
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let number = match value.as_str() {
            Some("inf") => Some(f64::INFINITY),
            _ => value.as_f64(),
        };
        number
            .map(Number)
            .ok_or_else(|| D::Error::custom(format!("{value} is no number")))
    }
}
