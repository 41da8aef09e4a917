//! Step 2 of a chain: the links given theta, and what theta sees of them.

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::model::{LinkedDensity, LinkedPairs};
use super::outcome::LinksStart;
use crate::sampler::links::{
    LinkKernel, LinksGivenMoved, Permutation, Prior, RowMixture, UpdateInfo,
};

/// Step 2: the links of one chain and how they move.
pub struct StepTwo<'m, P> {
    /// Without feedback only the set of moved rows counts; see `reported` for where they belong.
    permutation: Permutation,
    responses: &'m [f64],
    prior: &'m Prior,
    kernel: LinkKernel,
    pairs: P,
    /// None where moved rows inform theta.
    mixture: Option<Mixture>,
    start: LinksStart,
}

/// The links of one chain as data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StepTwoState {
    pub permutation: Permutation,
    /// The links that were reported last, without feedback.
    pub reported: Option<Permutation>,
}

/// Links without feedback: the parts of the row mixture at the current theta, and the links that are reported.
struct Mixture {
    own: Vec<f64>,
    marginal: Vec<f64>,
    /// 1 for each row whose link stays, 0 for each moved one.
    weights: Vec<f64>,
    reported: LinksGivenMoved,
}

impl<'m, P: LinkedPairs> StepTwo<'m, P> {
    /// `responses` are concatenated, each in the order of the user's rows.
    pub fn new(
        responses: &'m [f64],
        prior: &'m Prior,
        kernel: LinkKernel,
        pairs: P,
    ) -> StepTwo<'m, P> {
        StepTwo {
            permutation: Permutation::identity(prior.num_rows()),
            responses,
            prior,
            kernel,
            pairs,
            mixture: None,
            start: LinksStart::Identity,
        }
    }

    /// The same without feedback: theta sees a row only while its link stays, and a moved row has the law whose log
    /// density is `log_marginal`, for each row.
    pub fn without_feedback(mut self, log_marginal: &[f64]) -> StepTwo<'m, P> {
        let num_rows = self.prior.num_rows();
        assert_eq!(log_marginal.len(), num_rows, "one log density a row");
        let temperature = self.pairs.temperature();
        self.mixture = Some(Mixture {
            own: vec![0.0; num_rows],
            marginal: log_marginal.iter().map(|m| temperature * m).collect(),
            weights: vec![1.0; num_rows],
            reported: LinksGivenMoved::new(num_rows),
        });
        self
    }

    /// Spreads the chains' starts: the links as given, the mode at `theta`, or a random tenth of the rows moved.
    pub fn disperse(
        &mut self,
        chain: usize,
        theta: &[f64],
        rng: &mut impl Rng,
    ) -> Result<(), P::Error> {
        match chain % 3 {
            1 => {}
            2 => {
                let search = LinkKernel::Mode(Default::default());
                let kernel = std::mem::replace(&mut self.kernel, search);
                let found = self.draw(theta, rng);
                self.kernel = kernel;
                found?;
                self.start = LinksStart::Mode;
            }
            _ => {
                let most = self.permutation.len() / 10;
                self.permutation.assign(&self.prior.random_links(most, rng));
                self.weigh();
                self.start = LinksStart::Random;
            }
        }
        Ok(())
    }

    /// Draws the links given theta. True when theta sees something else than before.
    pub fn draw(
        &mut self,
        theta: &[f64],
        rng: &mut impl Rng,
    ) -> Result<(UpdateInfo, bool), P::Error> {
        let version = self.permutation.version();
        self.pairs.update(theta)?;
        let Some(mixture) = &mut self.mixture else {
            let info = self
                .pairs
                .step(&mut self.kernel, &mut self.permutation, self.prior, rng)?;
            return Ok((info, self.permutation.version() != version));
        };
        self.pairs.own_log_densities(&mut mixture.own);
        let temperature = self.pairs.temperature();
        mixture.own.iter_mut().for_each(|own| *own *= temperature);
        let pair = RowMixture {
            own: &mixture.own,
            marginal: &mixture.marginal,
        };
        let info = (self.kernel).step(&mut self.permutation, &pair, self.prior, rng);
        Ok((info, self.weigh()))
    }

    /// Sets the weights of the rows by their links; true when one changed. With feedback there are none.
    fn weigh(&mut self) -> bool {
        let Some(mixture) = &mut self.mixture else {
            return false;
        };
        let mut changed = false;
        for (row, weight) in mixture.weights.iter_mut().enumerate() {
            let now = f64::from(u8::from(!self.permutation.is_moved(row)));
            changed |= *weight != now;
            *weight = now;
        }
        changed
    }

    /// Gives theta what it sees of the links: the responses in their order or, without feedback, the weights of the rows.
    pub fn show(&self, density: &mut impl LinkedDensity) {
        match &self.mixture {
            Some(mixture) => density.weights_mut().copy_from_slice(&mixture.weights),
            None => density.align(&self.permutation, self.responses),
        }
    }

    /// Without feedback, draws the links to report at the theta of the last step.
    pub fn report(&mut self, rng: &mut impl Rng) -> Result<(), P::Error> {
        let Some(mixture) = &mut self.mixture else {
            return Ok(());
        };
        let links = &mut mixture.reported;
        self.pairs
            .step_given_moved(links, &self.permutation, self.prior, rng)
    }

    /// The links to save with a draw.
    pub fn reported(&self) -> &Permutation {
        let mixture = self.mixture.as_ref();
        mixture.map_or(&self.permutation, |mixture| mixture.reported.links())
    }

    pub fn state(&self) -> StepTwoState {
        let mixture = self.mixture.as_ref();
        StepTwoState {
            permutation: self.permutation.clone(),
            reported: mixture.map(|mixture| mixture.reported.links().clone()),
        }
    }

    /// Continues with saved links, or says why they belong to another model.
    pub(super) fn resume(&mut self, state: StepTwoState) -> Result<(), &'static str> {
        let is_other = |pi: &Permutation| pi.len() != self.prior.num_rows();
        if is_other(&state.permutation) || state.reported.as_ref().is_some_and(is_other) {
            return Err("its links have another number of rows");
        }
        match (&mut self.mixture, state.reported) {
            (Some(mixture), Some(links)) => mixture.reported.resume(links),
            (None, None) => {}
            _ => return Err("its links were sampled with another feedback"),
        }
        self.permutation = state.permutation;
        self.weigh();
        Ok(())
    }

    /// The permutation with its prior and the responses, for moves that change theta as well.
    pub(super) fn parts(&mut self) -> (&mut Permutation, &'m Prior, &'m [f64]) {
        (&mut self.permutation, self.prior, self.responses)
    }

    pub fn start(&self) -> LinksStart {
        self.start
    }

    pub fn num_moved(&self) -> usize {
        self.permutation.num_moved()
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
