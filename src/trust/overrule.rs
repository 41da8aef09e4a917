//! When a failed check does not stand against the joint posterior.

use super::{Aspect, Check, LEAST_EVIDENCE, NEEDS_EVIDENCE};

/// A check of the links that fails at a larger p-value is put down to chance where the evidence for wrong links is overwhelming:
/// some checks in a hundred do, and the other estimates lose much where links are certain.
/// `unshuffle study configs/recommended.json` measures it.
const CHANCE: f64 = 0.004;
const OVERWHELMING: f64 = 50.0;
/// With fewer draws no p-value is much smaller than that.
const DRAWS_FOR_CHANCE: usize = 400;

const AGREES: &str = "The coefficients agree with an estimate that does not rely on the error law, so the joint posterior is recommended all the same.";
const IS_CHANCE: &str = "Wrong links explain this file so much better than anything else that this is put down to chance, and the joint posterior is recommended all the same.";

/// What is known of a fit whose checks are to be weighed.
pub(super) struct Case<'a> {
    pub checks: &'a [Check],
    /// The share of wrong links by the joint posterior.
    pub share: f64,
    pub evidence: Option<f64>,
    pub num_draws: usize,
}

impl Case<'_> {
    /// Why failed checks do not stand: only the error law is contradicted while `agrees`, the coefficients being those of an
    /// estimate that does not rely on it; or what contradicts the links may be chance. Otherwise what contradicts the links,
    /// or is no test, stands however well the coefficients agree, and both estimates can take the same misfit for wrong links: a
    /// share of them that matters needs evidence too.
    pub fn overruled(&self, agrees: impl FnOnce() -> bool) -> Option<&'static str> {
        let failed = |check: &&Check| check.decides && check.has_failed();
        let failed: Vec<&Check> = self.checks.iter().filter(failed).collect();
        if failed.is_empty() {
            return None;
        }
        let is_law = |check: &&Check| matches!(check.name, Aspect::Spread | Aspect::Tails);
        let has = |least: f64| self.evidence.is_some_and(|evidence| evidence >= least);
        let is_backed = self.share <= NEEDS_EVIDENCE || has(LEAST_EVIDENCE);
        if failed.iter().all(is_law) && is_backed && agrees() {
            return Some(AGREES);
        }
        let may_be_chance = |check: &&Check| {
            let is_of_links = matches!(
                check.name,
                Aspect::WrongByPredictors | Aspect::ResponsesOfWrong | Aspect::Effect
            );
            is_of_links && check.p_value.is_some_and(|p| p > CHANCE)
        };
        let is_certain = has(OVERWHELMING) && self.num_draws >= DRAWS_FOR_CHANCE;
        (is_certain && failed.iter().all(may_be_chance)).then_some(IS_CHANCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(failed: &[Aspect]) -> Vec<Check> {
        let all = [
            Aspect::ResponsesOfWrong,
            Aspect::Spread,
            Aspect::Tails,
            Aspect::Curvature,
        ];
        let check = |aspect: Aspect| {
            let p_value = if failed.contains(&aspect) { 0.001 } else { 0.5 };
            Check::from_p_value(aspect, Some(p_value))
        };
        all.map(check).to_vec()
    }

    fn overruled(
        checks: &[Check],
        share: f64,
        evidence: Option<f64>,
        agrees: bool,
    ) -> Option<&'static str> {
        let case = Case {
            checks,
            share,
            evidence,
            num_draws: 1000,
        };
        case.overruled(|| agrees)
    }

    #[test]
    fn a_failed_check_of_the_law_is_overruled_where_the_coefficients_agree() {
        let spread = checks(&[Aspect::Spread, Aspect::Tails]);
        assert_eq!(overruled(&spread, 0.03, None, true), Some(AGREES));
        assert_eq!(overruled(&spread, 0.03, None, false), None);
        // What does not decide needs no overruling, and does not prevent it.
        let curvature = checks(&[Aspect::Curvature]);
        assert_eq!(overruled(&curvature, 0.03, None, true), None);
        let curved = checks(&[Aspect::Spread, Aspect::Curvature]);
        assert_eq!(overruled(&curved, 0.03, None, true), Some(AGREES));
    }

    #[test]
    fn a_failed_check_of_the_links_stands() {
        let both = checks(&[Aspect::Spread, Aspect::ResponsesOfWrong]);
        assert_eq!(overruled(&both, 0.03, Some(100.0), true), None);
        let links = checks(&[Aspect::ResponsesOfWrong]);
        assert_eq!(overruled(&links, 0.03, Some(100.0), true), None);
    }

    #[test]
    fn with_overwhelming_evidence_a_check_of_the_links_may_fail_by_chance() {
        let at = |aspect, p| vec![Check::from_p_value(aspect, Some(p))];
        let links = at(Aspect::WrongByPredictors, 0.02);
        assert_eq!(overruled(&links, 0.1, Some(100.0), false), Some(IS_CHANCE));
        assert_eq!(overruled(&links, 0.1, Some(45.0), false), None);
        assert_eq!(overruled(&links, 0.1, None, false), None);
        let short = Case {
            checks: &links,
            share: 0.1,
            evidence: Some(100.0),
            num_draws: 50,
        };
        assert_eq!(short.overruled(|| false), None);
        // The law of the errors is another matter.
        let law = at(Aspect::Tails, 0.02);
        assert_eq!(overruled(&law, 0.1, Some(100.0), false), None);
    }

    #[test]
    fn a_share_that_matters_needs_evidence_beside_a_failed_check() {
        let spread = checks(&[Aspect::Spread]);
        assert_eq!(overruled(&spread, 0.18, Some(14.5), true), None);
        assert_eq!(overruled(&spread, 0.18, None, true), None);
        assert_eq!(overruled(&spread, 0.18, Some(16.0), true), Some(AGREES));
    }
}
