//! From the prior on the links that a config names to the one that is sampled from.

use super::Prior;
use crate::sampler::links::PriorKind;

impl Prior {
    /// The prior on the links as the sampler knows it.
    pub fn kind(self) -> PriorKind {
        match self {
            Prior::BetaBinomial { .. } => {
                PriorKind::BetaBinomial(self.rate().expect("the beta-binomial has a rate"))
            }
            Prior::MatchProbability => PriorKind::MatchProbability,
            Prior::Uniform { max_moved } => PriorKind::Uniform { max_moved },
            Prior::Hamming { theta } => PriorKind::Hamming { theta },
        }
    }
}
