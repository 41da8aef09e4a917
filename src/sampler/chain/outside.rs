//! What a chain keeps where responses may come from outside the file.

use rand::Rng;

use crate::sampler::links::{OutsideLinks, OutsidePrior, Permutation, Prior};

/// The partial permutations of one chain.
pub(super) struct Outside<'m> {
    pub links: OutsideLinks<'m>,
    /// 1 for each row of predictors that a response belongs to, else 0; used with feedback.
    pub weights: Vec<f64>,
    /// The links to save, without feedback.
    pub reported: Permutation,
}

impl<'m> Outside<'m> {
    /// `log_marginal` is tempered.
    pub fn new(prior: &'m OutsidePrior, log_marginal: Vec<f64>, identity: Permutation) -> Self {
        Self {
            weights: vec![1.0; identity.len()],
            links: OutsideLinks::new(prior, log_marginal),
            reported: identity,
        }
    }

    /// A draw of whether responses may come from outside, given the links.
    pub fn may_be_outside(&self, whole: &Prior, pi: &Permutation, rng: &mut impl Rng) -> bool {
        self.links.prior().draw_may_be_outside(whole, pi, rng)
    }

    pub fn log_prior(&self, whole: &Prior, pi: &Permutation) -> f64 {
        self.links.prior().log_prior(whole, pi)
    }
}
