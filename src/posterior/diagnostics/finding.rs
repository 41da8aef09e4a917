//! What can be wrong with a run, each with its remedy, as text and as JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::finding_json::FindingRecord;

pub(crate) const MAX_R_HAT: f64 = 1.01;
pub(crate) const MIN_ESS_PER_CHAIN: f64 = 100.0;
pub(crate) const MIN_E_BFMI: f64 = 0.3;
/// The largest distance from the prior mean without a finding, in standard deviations of the prior.
pub(crate) const MAX_PRIOR_DEVIATION: f64 = 3.0;
const MAX_NAMED: usize = 5;

/// The least bulk and tail ESS of a run with so many chains.
pub(crate) fn min_ess(num_chains: usize) -> f64 {
    MIN_ESS_PER_CHAIN * num_chains as f64
}

pub(crate) fn is_high_r_hat(r_hat: f64) -> bool {
    r_hat > MAX_R_HAT
}

pub(crate) fn is_low_e_bfmi(e_bfmi: f64) -> bool {
    e_bfmi < MIN_E_BFMI
}

/// One finding; its display says what was found and what to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "FindingRecord", try_from = "FindingRecord")]
#[expect(missing_docs, reason = "the sentence of a variant names its fields")]
pub enum Finding {
    /// The fit was interrupted or killed, or some of its draws are lost.
    Unfinished { num_draws: usize, num_asked: usize },
    /// Trajectories reached the largest tree depth.
    TreedepthHits {
        num_hits: usize,
        num_draws: usize,
        max_depth: u32,
    },
    /// Trajectories diverged.
    Divergences {
        num_divergences: usize,
        num_draws: usize,
    },
    /// The energy mixes slowly.
    LowEBfmi(Worst),
    /// Too few effective draws for means.
    LowBulkEss(Worst),
    /// Too few effective draws for quantiles.
    LowTailEss(Worst),
    /// Chains have not found the same distribution.
    HighRHat(Worst),
    /// Rows whose probability of being moved differs between chains, with the largest difference.
    LinksDisagree(Worst),
    /// Chains in which the number of moved rows still drifted when warm-up ended, with the change.
    LinksDrift(Worst),
    /// Quantities whose posterior mean is so many standard deviations from the centre of their prior.
    PriorAgainstData(Worst),
    /// Quantities that could not be judged.
    NotJudged(Names),
    /// Quantities that never changed.
    Constant(Names),
    /// A check of the model behind the links failed: its sentence.
    Contradicted(String),
}

/// The quantities or chains farthest beyond a limit, worst first, and how many more are beyond it.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    pub named: Vec<(String, f64)>,
    pub num_more: usize,
    pub limit: f64,
}

/// The first few names of a list and how many more there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Names {
    pub named: Vec<String>,
    pub num_more: usize,
}

impl Worst {
    pub(crate) fn above(
        limit: f64,
        values: impl IntoIterator<Item = (String, f64)>,
    ) -> Option<Self> {
        let mut beyond: Vec<_> = values
            .into_iter()
            .filter(|&(_, value)| value > limit)
            .collect();
        beyond.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        Self::first(beyond, limit)
    }

    pub(super) fn below(
        limit: f64,
        values: impl IntoIterator<Item = (String, f64)>,
    ) -> Option<Self> {
        let mut beyond: Vec<_> = values
            .into_iter()
            .filter(|&(_, value)| value < limit)
            .collect();
        beyond.sort_by(|(_, a), (_, b)| a.total_cmp(b));
        Self::first(beyond, limit)
    }

    fn first(beyond: Vec<(String, f64)>, limit: f64) -> Option<Self> {
        let (named, num_more) = first(beyond)?;
        Some(Self {
            named,
            num_more,
            limit,
        })
    }

    fn list(&self, num_decimals: usize) -> String {
        let named = self
            .named
            .iter()
            .map(|(name, value)| format!("{name} ({value:.num_decimals$})"));
        list(named.collect(), self.num_more)
    }
}

impl Names {
    pub(super) fn first(names: Vec<String>) -> Option<Self> {
        let (named, num_more) = first(names)?;
        Some(Self { named, num_more })
    }

    fn list(&self) -> String {
        list(self.named.clone(), self.num_more)
    }
}

fn first<T>(mut items: Vec<T>) -> Option<(Vec<T>, usize)> {
    let num_more = items.len().saturating_sub(MAX_NAMED);
    items.truncate(MAX_NAMED);
    (!items.is_empty()).then_some((items, num_more))
}

fn list(named: Vec<String>, num_more: usize) -> String {
    let named = named.join(", ");
    if num_more > 0 {
        format!("{named} and {num_more} more")
    } else {
        named
    }
}

impl Finding {
    /// The same finding in the user's names of quantities.
    pub fn renamed(mut self, name_of: impl Fn(&str) -> String) -> Finding {
        match &mut self {
            Finding::LowBulkEss(worst)
            | Finding::LowTailEss(worst)
            | Finding::HighRHat(worst)
            | Finding::PriorAgainstData(worst) => {
                worst
                    .named
                    .iter_mut()
                    .for_each(|(name, _)| *name = name_of(name));
            }
            Finding::NotJudged(names) | Finding::Constant(names) => {
                names
                    .named
                    .iter_mut()
                    .for_each(|name| *name = name_of(name));
            }
            Finding::Unfinished { .. }
            | Finding::TreedepthHits { .. }
            | Finding::Divergences { .. }
            | Finding::LowEBfmi(_)
            | Finding::LinksDisagree(_)
            | Finding::LinksDrift(_)
            | Finding::Contradicted(_) => {}
        }
        self
    }

    /// Whether the draws should not be relied on before it is dealt with; a constant quantity is only worth knowing.
    pub fn is_problem(&self) -> bool {
        !matches!(self, Finding::Constant(_))
    }

    pub(super) fn kind(&self) -> &'static str {
        match self {
            Finding::Unfinished { .. } => "unfinished",
            Finding::TreedepthHits { .. } => "treedepth_hits",
            Finding::Divergences { .. } => "divergences",
            Finding::LowEBfmi(_) => "low_e_bfmi",
            Finding::LowBulkEss(_) => "low_bulk_ess",
            Finding::LowTailEss(_) => "low_tail_ess",
            Finding::HighRHat(_) => "high_r_hat",
            Finding::LinksDisagree(_) => "links_disagree",
            Finding::LinksDrift(_) => "links_drift",
            Finding::PriorAgainstData(_) => "prior_against_data",
            Finding::NotJudged(_) => "not_judged",
            Finding::Constant(_) => "constant",
            Finding::Contradicted(_) => "contradicted",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole as f64;
        match self {
            Finding::Unfinished {
                num_draws,
                num_asked,
            } => write!(
                f,
                "The fit did not finish: there are {num_draws} of {num_asked} draws. Fit again, or ask for fewer in sampler.draws.",
            ),
            Finding::TreedepthHits {
                num_hits,
                num_draws,
                max_depth,
            } => write!(
                f,
                "{num_hits} of {num_draws} draws ({:.1}%) reached the maximum tree depth of {max_depth}: the draws are valid but \
                 slow to explore. Raise sampler.max_depth to {}, or rescale the predictors.",
                percent(*num_hits, *num_draws),
                max_depth + 2,
            ),
            Finding::Divergences {
                num_divergences,
                num_draws,
            } => write!(
                f,
                "{num_divergences} of {num_draws} draws ({:.1}%) ended in a divergence: estimates may be biased, because regions \
                 of high curvature are missed. Raise sampler.target_accept to 0.95, then 0.99; if some remain, reparametrise the \
                 Stan model or tighten its priors.",
                percent(*num_divergences, *num_draws),
            ),
            Finding::LowEBfmi(worst) => write!(
                f,
                "E-BFMI is below {MIN_E_BFMI} in {}: the energies are explored slowly, so heavy tails may be missed; links that move \
                 slowly lower it too. Raise sampler.warmup and sampler.draws; if it stays low, reparametrise the Stan model or give \
                 its scales lighter-tailed priors.",
                worst.list(2),
            ),
            Finding::LowBulkEss(worst) => write!(
                f,
                "Bulk ESS is below {MIN_ESS_PER_CHAIN} per chain for {}: means and medians are not yet reliable. Raise \
                 sampler.draws; if it hardly grows, the chains mix slowly and sampler.warmup should be raised too.",
                worst.list(0),
            ),
            Finding::LowTailEss(worst) => write!(
                f,
                "Tail ESS is below {MIN_ESS_PER_CHAIN} per chain for {}: 5% and 95% quantiles are not yet reliable. Raise \
                 sampler.draws.",
                worst.list(0),
            ),
            Finding::HighRHat(worst) => write!(
                f,
                "R-hat is above {MAX_R_HAT} for {}: the chains do not agree yet. Raise sampler.warmup and sampler.draws; if it \
                 stays high, the chains sit in different modes and should be compared one by one.",
                worst.list(3),
            ),
            Finding::LinksDisagree(worst) => write!(
                f,
                "The chains disagree by more than {} on the probability of being moved of {}: they may sit in different modes of \
                 the links. Raise sampler.warmup and sampler.draws; if it stays, give an informative permutation.prior.",
                worst.limit,
                worst.list(2),
            ),
            Finding::LinksDrift(worst) => write!(
                f,
                "The number of moved rows was still changing at the end of warm-up in {} (rows, between its last two quarters): \
                 the first draws are not yet from the posterior. Raise sampler.warmup.",
                worst.list(1),
            ),
            Finding::PriorAgainstData(worst) => write!(
                f,
                "The posterior mean lies more than {MAX_PRIOR_DEVIATION} prior standard deviations from the centre of the prior of {}: \
                 the prior contradicts the data, and shifts estimates and links. Set model.priors to \"scaled\" if it is \"paper\" or \
                 if model.data has numbers of its own; otherwise look for outliers in these columns, or widen the prior in model.data.",
                worst.list(1),
            ),
            Finding::NotJudged(names) => write!(
                f,
                "Convergence cannot be judged for {}: there are fewer than 4 draws per chain, draws that are not finite, or almost \
                 only equal draws. Raise sampler.draws, and look for nan or inf in the files draws_<id>.csv; if there are any, \
                 correct the expression in the Stan model that gives them.",
                names.list(),
            ),
            Finding::Constant(names) => write!(
                f,
                "Constant in all draws, so without ESS and R-hat: {}. Nothing needs to be done if the model fixes them.",
                names.list(),
            ),
            Finding::Contradicted(sentence) => write!(
                f,
                "{sentence} Use the method `recommended` of coefficients.csv, not the joint posterior.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn worst(named: &[(&str, f64)], num_more: usize, limit: f64) -> Worst {
        let named = named
            .iter()
            .map(|&(name, value)| (name.to_owned(), value))
            .collect();
        Worst {
            named,
            num_more,
            limit,
        }
    }

    fn names(named: &[&str]) -> Names {
        Names {
            named: named.iter().map(|&name| name.to_owned()).collect(),
            num_more: 0,
        }
    }

    #[test]
    fn every_message_says_what_was_found_and_what_to_do() {
        let cases = [
            (
                Finding::Unfinished {
                    num_draws: 150,
                    num_asked: 4000,
                },
                ["there are 150 of 4000 draws", "Fit again"],
            ),
            (
                Finding::TreedepthHits {
                    num_hits: 7,
                    num_draws: 4000,
                    max_depth: 10,
                },
                ["7 of 4000 draws (0.2%)", "Raise sampler.max_depth to 12"],
            ),
            (
                Finding::Divergences {
                    num_divergences: 60,
                    num_draws: 4000,
                },
                [
                    "60 of 4000 draws (1.5%)",
                    "Raise sampler.target_accept to 0.95",
                ],
            ),
            (
                Finding::LowEBfmi(worst(&[("chain 3", 0.109)], 0, 0.3)),
                ["below 0.3 in chain 3 (0.11):", "Raise sampler.warmup"],
            ),
            (
                Finding::LowBulkEss(worst(&[("a", 21.6), ("b", 99.0)], 3, 400.0)),
                [
                    "below 100 per chain for a (22), b (99) and 3 more:",
                    "Raise sampler.draws",
                ],
            ),
            (
                Finding::LowTailEss(worst(&[("a", 21.6)], 0, 400.0)),
                ["below 100 per chain for a (22):", "Raise sampler.draws"],
            ),
            (
                Finding::HighRHat(worst(&[("a", f64::INFINITY), ("b", 1.0146)], 0, 1.01)),
                [
                    "above 1.01 for a (inf), b (1.015):",
                    "Raise sampler.warmup and sampler.draws",
                ],
            ),
            (
                Finding::PriorAgainstData(worst(&[("a", 4.26)], 0, 3.0)),
                [
                    "more than 3 prior standard deviations from the centre of the prior of a (4.3):",
                    "Set model.priors to \"scaled\"",
                ],
            ),
            (
                Finding::NotJudged(names(&["a", "b"])),
                ["cannot be judged for a, b:", "Raise sampler.draws"],
            ),
            (
                Finding::Constant(names(&["a"])),
                ["Constant in all draws", "Nothing needs to be done"],
            ),
        ];
        for (finding, parts) in cases {
            let message = finding.to_string();
            for part in parts {
                assert!(message.contains(part), "`{part}` is missing in: {message}");
            }
        }
    }

    #[test]
    fn json_holds_kind_message_and_numbers() {
        let finding = Finding::Divergences {
            num_divergences: 60,
            num_draws: 4000,
        };
        let expected = json!({
            "kind": "divergences", "message": finding.to_string(), "num_divergences": 60, "num_draws": 4000
        });
        assert_eq!(serde_json::to_value(&finding).unwrap(), expected);

        let finding = Finding::TreedepthHits {
            num_hits: 7,
            num_draws: 4000,
            max_depth: 10,
        };
        let expected = json!({
            "kind": "treedepth_hits", "message": finding.to_string(), "num_hits": 7, "num_draws": 4000, "max_depth": 10
        });
        assert_eq!(serde_json::to_value(&finding).unwrap(), expected);

        let finding = Finding::HighRHat(worst(&[("a", f64::INFINITY), ("b", 1.5)], 2, 1.01));
        let expected = json!({
            "kind": "high_r_hat", "message": finding.to_string(),
            "names": ["a", "b"], "values": ["inf", 1.5], "num_more": 2, "limit": 1.01
        });
        assert_eq!(serde_json::to_value(&finding).unwrap(), expected);

        let finding = Finding::NotJudged(names(&["a"]));
        let expected = json!({ "kind": "not_judged", "message": finding.to_string(), "names": ["a"], "num_more": 0 });
        assert_eq!(serde_json::to_value(&finding).unwrap(), expected);
    }
}
