//! Linkage output as it comes: pairs of records, with probabilities and with labels of a clerical review, become
//! one-to-one links, what is known of each link, and candidates for other links.

mod ids;
mod labels;
mod pairs;
mod pick;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::linked::Linked;
use super::table::Table;
use super::{Candidate, DataError};
use crate::config::LinkPairs;
use ids::Records;
use labels::Labels;
use pairs::{Pair, Pairs};

/// The links of two files, by the places of their rows.
pub(super) struct Linkage {
    /// Row of the left and of the right file, in the order of the left one.
    pub(super) links: Vec<(usize, usize)>,
    /// For each link the probability that it is right, where the pairs have probabilities.
    pub(super) probability: Option<Vec<f64>>,
    /// For each link whether the labels say that it is right, where there are labels.
    pub(super) safe: Option<Vec<bool>>,
    /// Possible pairs that were not picked, with their weight.
    pub(super) others: Vec<(usize, usize, f64)>,
    pub(super) notes: LinkageNotes,
    /// Whether `others` are the only places where a row may belong besides its own.
    with_candidates: bool,
}

/// What a linkage says of the rows that are fitted.
#[derive(Default)]
pub(super) struct KnownLinks {
    pub(super) safe: Option<Vec<bool>>,
    pub(super) match_probability: Option<Vec<f64>>,
    pub(super) candidates: Option<Vec<Candidate>>,
}

/// How the links were picked, for people to read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LinkageNotes {
    pub num_pairs: usize,
    /// Pairs of two records of one file, which link nothing.
    #[serde(default)]
    pub num_inside: usize,
    pub num_links: usize,
    /// Rows of the left file without a link, which are not fitted.
    pub num_left_out: usize,
    /// Lowest, mean and highest probability of a link.
    pub probability: Option<[f64; 3]>,
    pub labels: Option<LabelNotes>,
}

/// What a clerical review found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LabelNotes {
    /// Labelled pairs that belong together; they are links, and safe.
    pub num_right: usize,
    /// Labelled pairs that do not; they are no links and no candidates.
    pub num_wrong: usize,
    /// Labels between 0 and 1, which were not used.
    pub num_undecided: usize,
    /// Links picked without the labels of which the labels say whether they are right.
    pub checked: usize,
    /// Those of them that are wrong.
    pub wrong: usize,
}

impl Linkage {
    /// Picks the links of `left` and `right` from the files of pairs and labels.
    pub(super) fn read(
        config: &LinkPairs,
        left: &Table,
        right: &Table,
    ) -> Result<Linkage, DataError> {
        let records = Records::new(config, left, right)?;
        let pairs = Pairs::read(config, &records)?;
        let labels = match &config.labels {
            Some(path) => Some(Labels::read(path, &records)?),
            None => None,
        };
        let none = Labels::default();
        let known = labels.as_ref().unwrap_or(&none);
        let sizes = (left.rows.len(), right.rows.len());
        let picked = |known: &Labels| pick::pick(&pairs.pairs, known, sizes, config.threshold);
        let mut links: Vec<(usize, usize)> = picked(known);
        links.sort_unstable();
        if links.is_empty() {
            return Err(nothing_picked(&pairs, config.threshold));
        }
        let possible: Vec<&Pair> = pairs
            .pairs
            .iter()
            .filter(|pair| known.allow(pair))
            .collect();
        let mut others = Vec::new();
        for pair in &possible {
            let link = (pair.left, pair.right);
            if links.binary_search(&link).is_err() {
                others.push((pair.left, pair.right, pair.weight()));
            }
        }
        let safe: Vec<bool> = links.iter().map(|link| known.is_right(*link)).collect();
        let probability = config.probability.as_ref().map(|_| {
            let mut found = pick::link_probabilities(&links, &possible, sizes);
            for (probability, _) in found.iter_mut().zip(&safe).filter(|(_, safe)| **safe) {
                *probability = 1.0;
            }
            found
        });
        let notes = LinkageNotes {
            num_pairs: pairs.pairs.len(),
            num_inside: pairs.num_inside,
            num_links: links.len(),
            num_left_out: left.rows.len() - links.len(),
            probability: probability.as_deref().map(range_and_mean),
            labels: labels.as_ref().map(|labels| labels.notes(&picked(&none))),
        };
        Ok(Linkage {
            links,
            probability,
            safe: labels.is_some().then_some(safe),
            others,
            notes,
            with_candidates: config.candidates,
        })
    }

    /// `linked` are the rows that are fitted; the response stands in the left or in the right file.
    pub(super) fn known(&self, linked: &Linked, response_is_left: bool) -> KnownLinks {
        let left = linked.positions(0);
        let right = linked.positions(1);
        let links: Vec<usize> = (0..self.links.len())
            .filter(|&link| left[self.links[link].0].is_some())
            .collect();
        let safe = self.safe.as_ref();
        let probability = self.probability.as_ref();
        let candidates = self
            .others
            .iter()
            .filter_map(|&(of_left, of_right, weight)| {
                let (row, partner) = left[of_left].zip(right[of_right])?;
                let (row, partner) = match response_is_left {
                    true => (row, partner),
                    false => (partner, row),
                };
                Some(Candidate {
                    row,
                    partner,
                    weight,
                })
            });
        let candidates: Vec<Candidate> = candidates.filter(|_| self.with_candidates).collect();
        KnownLinks {
            safe: safe.map(|safe| links.iter().map(|&link| safe[link]).collect()),
            match_probability: probability.map(|p| links.iter().map(|&link| p[link]).collect()),
            candidates: (!candidates.is_empty()).then_some(candidates),
        }
    }
}

fn range_and_mean(values: &[f64]) -> [f64; 3] {
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    [
        lowest,
        values.iter().sum::<f64>() / values.len() as f64,
        highest,
    ]
}

fn nothing_picked(pairs: &Pairs, threshold: f64) -> DataError {
    DataError::NoLinks {
        file: pairs.file.clone(),
        threshold,
    }
}
