//! Which links a data set allows.

use super::{Candidate, Dataset};
use crate::sampler::links::{LinkFacts, LinkSpace};

/// The links that blocks, safe rows and candidates allow, and what is known of them.
pub fn link_space(data: &Dataset) -> LinkSpace {
    let candidates: Option<Vec<(usize, usize, f64)>> = data.candidates.as_ref().map(|pairs| {
        let triple = |pair: &Candidate| (pair.row, pair.partner, pair.weight);
        pairs.iter().map(triple).collect()
    });
    let facts = LinkFacts {
        block_of_row: data.blocks.as_ref().map(|blocks| blocks.of_row.as_slice()),
        safe: data.safe.as_deref(),
        match_probability: data.match_probability.as_deref(),
        candidates: candidates.as_deref(),
    };
    LinkSpace::new(data.num_rows(), facts)
}
