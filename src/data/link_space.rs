//! Which links a data set allows.

use super::{Candidate, Dataset};
use crate::sampler::links::{LinkFacts, LinkSpace, OutsidePrior, PriorKind, RatePrior};

/// The links between the rows that blocks, safe rows and candidates allow, and what is known of them. Places are left out.
pub fn link_space(data: &Dataset) -> LinkSpace {
    with_facts(data, |facts| LinkSpace::new(data.num_rows(), facts))
}

/// The prior of the links where a response may belong to nobody in the file, or to a place.
pub fn outside_prior(data: &Dataset, kind: PriorKind, share: RatePrior) -> OutsidePrior {
    let all = data.with_places();
    with_facts(&all, |facts| {
        OutsidePrior::new(kind, share, all.num_rows(), data.num_rows(), facts)
    })
}

fn with_facts<T>(data: &Dataset, use_facts: impl FnOnce(LinkFacts) -> T) -> T {
    let candidates: Option<Vec<(usize, usize, f64)>> = data.candidates.as_ref().map(|pairs| {
        let triple = |pair: &Candidate| (pair.row, pair.partner, pair.weight);
        let pairs = pairs.iter().filter(|pair| pair.partner < data.num_rows());
        pairs.map(triple).collect()
    });
    // Odds that depend on covariates are sampled: these are only where they begin.
    let start = data.rates.as_ref().map(|_| vec![0.9; data.num_rows()]);
    let probability = data.match_probability.as_ref().or(start.as_ref());
    use_facts(LinkFacts {
        block_of_row: data.blocks.as_ref().map(|blocks| blocks.of_row.as_slice()),
        safe: data.safe.as_deref(),
        match_probability: probability.map(Vec::as_slice),
        candidates: candidates.as_deref(),
    })
}
