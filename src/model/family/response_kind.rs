//! Which values the response of a model can have, and how x'beta becomes their mean.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sampler::links::Marginal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseKind {
    /// Any number, with mean x'beta as far as is known.
    Real,
    /// 0, 1, 2, ..., with mean exp(x'beta).
    Count,
    /// 0 or 1, with log odds x'beta of a 1.
    ZeroOne,
    /// Above 0, with mean, or median, exp(x'beta).
    Positive,
}

impl ResponseKind {
    pub fn allows(self, response: f64) -> bool {
        match self {
            ResponseKind::Real => true,
            ResponseKind::Count => response >= 0.0 && response.fract() == 0.0,
            ResponseKind::ZeroOne => response == 0.0 || response == 1.0,
            ResponseKind::Positive => response > 0.0,
        }
    }

    /// The rule in words, behind "must be".
    pub fn rule(self) -> &'static str {
        match self {
            ResponseKind::Real => "a number",
            ResponseKind::Count => "a count (0, 1, 2, ...)",
            ResponseKind::ZeroOne => "0 or 1",
            ResponseKind::Positive => "above 0",
        }
    }

    /// The law of a response of which nothing is known but the file.
    pub fn marginal(self) -> Marginal {
        match self {
            ResponseKind::Real => Marginal::Real,
            ResponseKind::Count => Marginal::Count,
            ResponseKind::ZeroOne => Marginal::ZeroOne,
            ResponseKind::Positive => Marginal::Positive,
        }
    }

    /// The mean of a response whose x'beta is `linear`.
    pub fn mean(self, linear: f64) -> f64 {
        match self {
            ResponseKind::Real => linear,
            ResponseKind::Count | ResponseKind::Positive => linear.exp(),
            ResponseKind::ZeroOne => 1.0 / (1.0 + (-linear).exp()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_allows_its_own_values() {
        let values = [-1.0, 0.0, 0.5, 1.0, 3.0];
        let allowed = |kind: ResponseKind| values.map(|value| kind.allows(value));
        assert_eq!(allowed(ResponseKind::Real), [true; 5]);
        assert_eq!(
            allowed(ResponseKind::Count),
            [false, true, false, true, true]
        );
        assert_eq!(
            allowed(ResponseKind::ZeroOne),
            [false, true, false, true, false]
        );
        assert_eq!(
            allowed(ResponseKind::Positive),
            [false, false, true, true, true]
        );
    }
}
