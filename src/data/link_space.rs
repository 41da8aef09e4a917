//! Which links a data set allows.

use super::{Candidate, Dataset};
use crate::sampler::links::{LinkFacts, LinkSpace, OutsidePrior, Prior, PriorKind, RatePrior};

/// The links between the rows that blocks, safe rows and candidates allow, and what is known of them. Places are left out.
pub fn link_space(data: &Dataset) -> LinkSpace {
    with_facts(data, |facts| LinkSpace::new(data.num_rows(), facts))
}

/// The prior of whole permutations; `rates` are those of the blocks, where each has its own.
pub fn whole_prior(data: &Dataset, kind: PriorKind, rates: Option<&[RatePrior]>) -> Prior {
    match (rates, &data.blocks) {
        (Some(rates), Some(blocks)) => Prior::by_block(rates, &blocks.of_row, link_space(data)),
        _ => Prior::new(kind, link_space(data)),
    }
}

/// The prior of the links where a response may belong to nobody in the file, or to a place; `rates` are those of the blocks,
/// where each has its own.
pub fn outside_prior(
    data: &Dataset,
    kind: PriorKind,
    share: RatePrior,
    rates: Option<&[RatePrior]>,
) -> OutsidePrior {
    let all = data.with_places();
    let numbers = (all.num_rows(), data.num_rows());
    with_facts(&all, |facts| match (rates, &all.blocks) {
        (Some(rates), Some(blocks)) => {
            OutsidePrior::by_block(rates, &blocks.of_row, share, numbers, facts)
        }
        _ => OutsidePrior::new(kind, share, numbers.0, numbers.1, facts),
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
