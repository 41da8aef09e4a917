//! Step 2 of a chain: the links given theta, and what theta sees of them.

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::model::{LinkedDensity, LinkedPairs};
use super::outcome::LinksStart;
use crate::numerics::floats;
use crate::sampler::links::{
    LinkKernel, LinksGivenMoved, Permutation, Prior, RowMixture, UpdateInfo,
};

/// From this number of rows on, proposals are kept after a warm-up of at least so many iterations; during warm-up they
/// follow theta every so many.
const LARGE_FILE: usize = 5_000;
const LEAST_WARMUP: usize = 50;
const KEEP_EVERY: usize = 10;

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
    is_large: bool,
    /// The theta at which proposals are kept; empty where they follow theta.
    kept_at: Vec<f64>,
    start: LinksStart,
}

/// The links of one chain as data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StepTwoState {
    pub permutation: Permutation,
    /// The links that were reported last, without feedback.
    pub reported: Option<Permutation>,
    /// The theta at which proposals are kept; empty where they follow theta.
    #[serde(default, with = "floats")]
    pub kept_at: Vec<f64>,
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
            is_large: prior.num_rows() >= LARGE_FILE,
            kept_at: Vec::new(),
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

    /// As if the file were large.
    #[cfg(test)]
    pub(super) fn large(mut self) -> StepTwo<'m, P> {
        self.is_large = true;
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

    /// In a large file, keeps the proposals at `theta` where it is the turn of this iteration. They depend on all rows, and
    /// theta hardly moves there: following it would cost more than drawing the links. They are never changed once draws are
    /// saved, so Step 2 stays exact.
    pub(super) fn keep_proposals(
        &mut self,
        iteration: usize,
        num_warmup: usize,
        theta: &[f64],
    ) -> Result<(), P::Error> {
        let keeps = self.is_large && self.mixture.is_none() && num_warmup >= LEAST_WARMUP;
        let is_due = iteration <= KEEP_EVERY
            || iteration.is_multiple_of(KEEP_EVERY)
            || iteration == num_warmup;
        if keeps && iteration <= num_warmup && is_due {
            self.keep_proposals_at(theta.to_vec())?;
        }
        Ok(())
    }

    fn keep_proposals_at(&mut self, theta: Vec<f64>) -> Result<(), P::Error> {
        self.pairs.update(&theta)?;
        self.pairs.keep_proposals(&mut self.kernel, self.prior);
        self.kept_at = theta;
        Ok(())
    }

    /// Takes up the proposals of the state that was resumed.
    pub(super) fn resume_proposals(&mut self) -> Result<(), P::Error> {
        match std::mem::take(&mut self.kept_at) {
            theta if theta.is_empty() => Ok(()),
            theta => self.keep_proposals_at(theta),
        }
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
            kept_at: self.kept_at.clone(),
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
        self.kept_at = state.kept_at;
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
