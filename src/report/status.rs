//! The status of a fit: trust it, use it with care, or do not use it.

use serde::Serialize;

use crate::posterior::diagnostics::Finding;
use crate::posterior::{Check, Posterior};

/// R-hat above this: the chains have not found the same answer, as in the checks of trust.json.
const DISAGREEING: f64 = 1.1;

/// How far a fit can be relied on, from its findings and trust.json.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Trust,
    Care,
    Refuse,
}

impl Status {
    pub fn of(fit: &Posterior) -> Status {
        if no_answer(fit).is_some() {
            return Status::Refuse;
        }
        let is_problem = fit.findings().iter().any(Finding::is_problem);
        // Links that were kept are not judged, and need not be.
        let judged = fit.links.is_none() || fit.trust.is_some();
        let checks = fit.trust.iter().flat_map(|trust| &trust.checks);
        let failed = checks.into_iter().any(Check::has_failed);
        match is_problem || failed || !judged || fit.chains.len() < 2 {
            true => Status::Care,
            false => Status::Trust,
        }
    }

    /// The status in words.
    pub fn words(self) -> &'static str {
        match self {
            Status::Trust => "Trust it",
            Status::Care => "Use with care",
            Status::Refuse => "Do not use the joint posterior",
        }
    }

    /// A shape that tells the status without colour.
    pub fn shape(self) -> &'static str {
        match self {
            Status::Trust => "\u{2713}",
            Status::Care => "!",
            Status::Refuse => "\u{2715}",
        }
    }
}

/// Why no number of a fit may stand in a headline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoAnswer {
    /// A check of the model behind the links failed.
    Contradicted,
    /// The chains have not found the same answer.
    Disagreeing { largest_r_hat: f64 },
}

/// None where numbers may be given.
pub fn no_answer(fit: &Posterior) -> Option<NoAnswer> {
    if fit.trust.as_ref().is_some_and(|trust| !trust.trusted) {
        return Some(NoAnswer::Contradicted);
    }
    let is_answer = |name: &str| name == "n_moved" || name == "beta" || name.starts_with("beta.");
    let answers = fit.summary().iter().filter(|row| is_answer(&row.name));
    let largest_r_hat = answers.filter_map(|row| row.r_hat).reduce(f64::max)?;
    (largest_r_hat > DISAGREEING).then_some(NoAnswer::Disagreeing { largest_r_hat })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::{Aspect, Method, Trust};
    use crate::report::verdict_example::Example;

    #[test]
    fn every_kind_of_fit_has_its_status() {
        let mut fit = Example::default().fit();
        assert_eq!(Status::of(&fit), Status::Care, "nobody judged it");
        fit.trust = Some(trust(true, None));
        assert_eq!(Status::of(&fit), Status::Trust);
        fit.trust = Some(trust(true, Some(false)));
        assert_eq!(
            Status::of(&fit),
            Status::Care,
            "a failed check is overruled"
        );
        fit.trust = Some(trust(false, Some(false)));
        assert_eq!(Status::of(&fit), Status::Refuse);
        assert_eq!(no_answer(&fit), Some(NoAnswer::Contradicted));
    }

    #[test]
    fn what_the_chains_say_counts_too() {
        let with = |example: Example| {
            let mut fit = example.fit();
            fit.trust = Some(trust(true, None));
            Status::of(&fit)
        };
        let one_chain = Example {
            num_chains: 1,
            ..Example::default()
        };
        assert_eq!(with(one_chain), Status::Care);
        let divergent = Example {
            num_divergences: 30,
            ..Example::default()
        };
        assert_eq!(with(divergent), Status::Care);
        let disagreeing = Example {
            swaps_of_first_chain: vec![(4, 5), (8, 9)],
            ..Example::default()
        };
        assert_eq!(with(disagreeing), Status::Refuse);
    }

    fn trust(trusted: bool, passed: Option<bool>) -> Trust {
        Trust {
            trusted,
            source: Method::Joint,
            weight: 1.0,
            checks: vec![Check {
                name: Aspect::Spread,
                p_value: None,
                passed,
                decides: true,
                sentence: String::new(),
            }],
            sentence: String::new(),
            rates: None,
            wrong_along: Vec::new(),
        }
    }
}
