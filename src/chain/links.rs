//! Step 2 of a chain: the links given theta, and the response in their order.

use rand::Rng;

use crate::model::{ModelError, Pairs};
use crate::permutation::{Permutation, Prior, PriorKind, Update, UpdateInfo};

/// The links of one chain and how they move.
pub struct Links<'m> {
    pub permutation: Permutation,
    response: &'m [f64],
    prior: &'m Prior,
    update: Update,
    pairs: Pairs<'m>,
    /// How the links started, for the diagnostics.
    pub start: &'static str,
}

impl<'m> Links<'m> {
    /// `response` is in the order of the user's rows.
    pub fn new(
        response: &'m [f64],
        prior: &'m Prior,
        update: Update,
        pairs: Pairs<'m>,
    ) -> Links<'m> {
        Links {
            permutation: Permutation::identity(response.len()),
            response,
            prior,
            update,
            pairs,
            start: "identity",
        }
    }

    /// Spreads the chains' starts: the links as given, the mode at `theta`, or a random tenth of the rows moved.
    pub fn disperse(
        &mut self,
        chain: usize,
        theta: &[f64],
        rng: &mut impl Rng,
    ) -> Result<(), ModelError> {
        match chain % 3 {
            1 => {}
            2 => {
                self.pairs.update(theta)?;
                let mut search = Update::Mode(Default::default());
                self.pairs
                    .step(&mut search, &mut self.permutation, self.prior, rng)?;
                self.start = "mode";
            }
            _ => {
                let mut num_moved = self.response.len() / 10;
                while num_moved > 1 && self.prior.log_weight(num_moved) == f64::NEG_INFINITY {
                    num_moved -= 1;
                }
                if num_moved > 1 {
                    let pi = Permutation::random_sparse(self.response.len(), num_moved, rng);
                    self.permutation.assign(&pi);
                }
                self.start = "random";
            }
        }
        Ok(())
    }

    /// Draws the links given theta. True when they changed.
    pub fn step_two(
        &mut self,
        theta: &[f64],
        rng: &mut impl Rng,
    ) -> Result<(UpdateInfo, bool), ModelError> {
        let version = self.permutation.version();
        self.pairs.update(theta)?;
        let info = self
            .pairs
            .step(&mut self.update, &mut self.permutation, self.prior, rng)?;
        Ok((info, self.permutation.version() != version))
    }

    pub fn align(&self, aligned: &mut [f64]) {
        self.permutation.align(self.response, aligned);
    }

    pub fn log_prior(&self) -> f64 {
        self.prior.log_weight(self.permutation.num_moved())
    }

    /// A draw of the mismatch rate: rho where the prior has one, else the share of moved rows.
    pub fn mismatch_rate(&self, rng: &mut impl Rng) -> f64 {
        let num_moved = self.permutation.num_moved();
        match self.prior.kind() {
            PriorKind::BetaBinomial { .. } => self.prior.draw_rho(num_moved, rng),
            PriorKind::Uniform { .. } | PriorKind::Hamming { .. } | PriorKind::MatchProbability => {
                None
            }
        }
        .unwrap_or(num_moved as f64 / self.response.len() as f64)
    }
}
