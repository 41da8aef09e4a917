//! The links: rows ranked by the probability of being wrong, the mean permutation matrix, and the fit before and after.

use serde::Serialize;

use super::saved::Saved;

#[derive(Debug, Clone, Serialize)]
pub struct Links {}

impl Links {
    /// None where every link was kept.
    pub fn new(saved: &Saved) -> Option<Links> {
        saved.links.as_ref().map(|_| Links {})
    }
}
