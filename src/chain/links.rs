//! Step 2 of a chain: the links given theta, and the response in their order.

use rand::Rng;

use crate::model::{ModelError, Pairs};
use crate::permutation::{Permutation, Prior, Update, UpdateInfo};

/// The links of one chain and how they move.
pub struct Links<'m> {
    pub permutation: Permutation,
    responses: &'m [f64],
    prior: &'m Prior,
    update: Update,
    pairs: Pairs<'m>,
    /// How the links started, for the diagnostics.
    pub start: &'static str,
}

impl<'m> Links<'m> {
    /// `responses` stand one behind the other, each in the order of the user's rows.
    pub fn new(
        responses: &'m [f64],
        prior: &'m Prior,
        update: Update,
        pairs: Pairs<'m>,
    ) -> Links<'m> {
        Links {
            permutation: Permutation::identity(prior.num_rows()),
            responses,
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
                let most = self.permutation.len() / 10;
                self.permutation.assign(&self.prior.random_links(most, rng));
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

    /// The permutation with its prior and the responses, for moves that change theta as well.
    pub(super) fn parts(&mut self) -> (&mut Permutation, &'m Prior, &'m [f64]) {
        (&mut self.permutation, self.prior, self.responses)
    }

    pub fn align(&self, aligned: &mut [f64]) {
        self.permutation.align(self.responses, aligned);
    }

    pub fn log_prior(&self) -> f64 {
        self.prior.log_prior(&self.permutation)
    }

    /// A draw of the mismatch rate where the prior has one, else the share of moved rows.
    pub fn mismatch_rate(&self, rng: &mut impl Rng) -> f64 {
        let num_moved = self.permutation.num_moved();
        let rate = self.prior.draw_rate(num_moved, rng);
        rate.unwrap_or(num_moved as f64 / self.permutation.len() as f64)
    }
}
