//! When a failed check does not stand against the joint posterior.

use super::{Aspect, Check, NEEDS_EVIDENCE};

/// Evidence for wrong links, as in the check of that name, from which on a share of them is stated although the tails or the
/// spread of the rows that stay contradict the error law.
const LEAST_EVIDENCE: f64 = 15.0;

/// Whether only the error law is contradicted while `agrees`, the coefficients being those of an estimate that does not rely
/// on it. What contradicts the links, or is no test, stands however well the coefficients agree, and both estimates can
/// take the same misfit for wrong links: a share of them that matters needs evidence too.
pub(super) fn is_overruled(
    checks: &[Check],
    share: f64,
    evidence: Option<f64>,
    agrees: impl FnOnce() -> bool,
) -> bool {
    let mut failed = checks
        .iter()
        .filter(|check| check.decides && check.has_failed())
        .peekable();
    let is_some = failed.peek().is_some();
    let only_law = failed.all(|check| matches!(check.name, Aspect::Spread | Aspect::Tails));
    let is_backed =
        share <= NEEDS_EVIDENCE || evidence.is_some_and(|evidence| evidence >= LEAST_EVIDENCE);
    is_some && only_law && is_backed && agrees()
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

    #[test]
    fn a_failed_check_of_the_law_is_overruled_where_the_coefficients_agree() {
        let spread = checks(&[Aspect::Spread, Aspect::Tails]);
        assert!(is_overruled(&spread, 0.03, None, || true));
        assert!(!is_overruled(&spread, 0.03, None, || false));
        // What does not decide needs no overruling, and does not prevent it.
        assert!(!is_overruled(
            &checks(&[Aspect::Curvature]),
            0.03,
            None,
            || true
        ));
        let curved = checks(&[Aspect::Spread, Aspect::Curvature]);
        assert!(is_overruled(&curved, 0.03, None, || true));
    }

    #[test]
    fn a_failed_check_of_the_links_stands() {
        let both = checks(&[Aspect::Spread, Aspect::ResponsesOfWrong]);
        assert!(!is_overruled(&both, 0.03, Some(100.0), || true));
    }

    #[test]
    fn a_share_that_matters_needs_evidence_beside_a_failed_check() {
        let spread = checks(&[Aspect::Spread]);
        assert!(!is_overruled(&spread, 0.18, Some(10.5), || true));
        assert!(!is_overruled(&spread, 0.18, None, || true));
        assert!(is_overruled(&spread, 0.18, Some(16.0), || true));
    }
}
