//! Step 2 of a chain: the links given theta, and what theta sees of them.

use std::borrow::Cow;

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::model::{LinkedDensity, LinkedPairs};
use super::outcome::LinksStart;
use super::outside::Outside;
use crate::numerics::floats;
use crate::sampler::links::{
    LinkKernel, LinksGivenMoved, Move, NOBODY, OutsidePrior, Permutation, Prior, RateRegression,
    RowMixture, SurveyWeights, UpdateInfo, WrongSets,
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
    /// The chain's own where the rates of wrong links are sampled.
    prior: Cow<'m, Prior>,
    kernel: LinkKernel,
    pairs: P,
    /// None where moved rows inform theta.
    mixture: Option<Mixture>,
    /// None where every response belongs to a row of the file.
    outside: Option<Outside<'m>>,
    /// None where all rows have one rate, or their own given odds.
    rate: Option<RateState<'m>>,
    /// None where every row counts once.
    survey: Option<Survey<'m>>,
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
    /// The coefficients of the rates of wrong links, where these depend on covariates. They are finite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Vec<f64>>,
}

/// The coefficients of the rates of wrong links, standardised.
struct RateState<'m> {
    regression: &'m RateRegression,
    gamma: Vec<f64>,
}

/// Survey weights, and what they make of the links: the weight of each row of predictors.
struct Survey<'m> {
    of_rows: &'m SurveyWeights,
    /// Used where moved rows inform theta and every response belongs to a row of the file.
    weights: Vec<f64>,
}

/// Draws of the rates given the links.
pub struct Rates {
    /// The mismatch rate where the prior has one, else the share of wrong links.
    pub mismatch: f64,
    /// The number of responses from outside and the share of wrong links that they are, where there can be any.
    pub outside: Option<(usize, f64)>,
    /// The mismatch rates of the blocks, where each has its own.
    pub by_block: Vec<f64>,
}

/// Links without feedback: the parts of the row mixture at the current theta, and the links that are reported.
struct Mixture {
    own: Vec<f64>,
    marginal: Vec<f64>,
    /// 1, or its survey weight, for each row whose link stays; 0 for each moved one.
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
            prior: Cow::Borrowed(prior),
            kernel,
            pairs,
            mixture: None,
            outside: None,
            rate: None,
            survey: None,
            is_large: prior.num_rows() >= LARGE_FILE,
            kept_at: Vec::new(),
            start: LinksStart::Identity,
        }
    }

    /// The same where rows count with survey weights, which the pair likelihood must have too. Comes before the laws of moved
    /// and of outside responses, which count with the weights of their responses. Where responses may come from outside,
    /// weights move with the response: else the powers of the densities would depend on which places are left empty.
    pub fn with_survey(mut self, weights: &'m SurveyWeights) -> StepTwo<'m, P> {
        assert!(self.mixture.is_none() && self.outside.is_none());
        self.survey = Some(Survey {
            of_rows: weights,
            weights: weights.values().to_vec(),
        });
        self
    }

    /// The tempered log density of each row's response under a law that does not depend on predictors.
    fn weighted_marginal(&self, log_marginal: &[f64]) -> Vec<f64> {
        let temperature = self.pairs.temperature();
        let weight = |row: usize| (self.survey.as_ref()).map_or(1.0, |s| s.of_rows.values()[row]);
        let rows = log_marginal.iter().enumerate();
        rows.map(|(row, m)| weight(row) * (temperature * m))
            .collect()
    }

    /// The same without feedback: theta sees a row only while its link stays, and a moved row has the law whose log
    /// density is `log_marginal`, for each row.
    pub fn without_feedback(mut self, log_marginal: &[f64]) -> StepTwo<'m, P> {
        let num_rows = self.prior.num_rows();
        assert_eq!(log_marginal.len(), num_rows, "one log density a row");
        self.mixture = Some(Mixture {
            own: vec![0.0; num_rows],
            marginal: self.weighted_marginal(log_marginal),
            weights: vec![1.0; num_rows],
            reported: LinksGivenMoved::new(num_rows),
        });
        self.weigh();
        self
    }

    /// The same where a response may also belong to nobody in the file, and then has the law whose log density is
    /// `log_marginal`, for each row. Rows that `prior` has no response for are places that a response may belong to.
    pub fn with_outside(mut self, prior: &'m OutsidePrior, log_marginal: &[f64]) -> StepTwo<'m, P> {
        let log_marginal = self.weighted_marginal(log_marginal);
        let identity = Permutation::identity_of_present(prior.num_present(), prior.num_rows());
        self.outside = Some(Outside::new(prior, log_marginal, identity.clone()));
        self.permutation = identity;
        self.weigh();
        self
    }

    /// The same where each row's log odds of being wrong are linear in covariates. Both priors are of match probabilities,
    /// whose odds are replaced.
    pub fn with_rate_regression(mut self, regression: &'m RateRegression) -> StepTwo<'m, P> {
        self.rate = Some(RateState {
            gamma: regression.start(),
            regression,
        });
        self.set_odds();
        self
    }

    /// Gives both priors the odds that the coefficients say.
    fn set_odds(&mut self) {
        let Some(rate) = &self.rate else {
            return;
        };
        let log_odds = rate.regression.log_odds(&rate.gamma);
        self.prior.to_mut().set_log_odds(&log_odds);
        if let Some(outside) = &mut self.outside {
            outside.links.set_log_odds(&log_odds);
        }
    }

    /// Draws the coefficients of the rates given the links.
    fn draw_rate_regression(&mut self, may_be_outside: bool, rng: &mut impl Rng) {
        let Some(rate) = &mut self.rate else {
            return;
        };
        let sets = match &self.outside {
            Some(outside) if may_be_outside => WrongSets::Partial(outside.links.prior()),
            _ => WrongSets::Whole(&self.prior),
        };
        let links = &self.permutation;
        rate.regression.draw(&mut rate.gamma, links, sets, rng);
        self.set_odds();
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
            2 if self.outside.is_some() => self.start_at_mode(theta, rng)?,
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
                let links = self.prior.random_links(most, rng);
                let present = links.as_slice()[..self.permutation.num_present()].to_vec();
                let links = Permutation::from_partial(present, links.len());
                self.permutation.assign(&links.expect("a permutation"));
                self.weigh();
                self.start = LinksStart::Random;
            }
        }
        Ok(())
    }

    /// The best whole permutation, where there is one and it informs theta.
    fn start_at_mode(&mut self, theta: &[f64], rng: &mut impl Rng) -> Result<(), P::Error> {
        let has_absent = self.permutation.num_present() < self.permutation.len();
        if has_absent || self.mixture.is_some() {
            return Ok(());
        }
        let mut search = LinkKernel::Mode(Default::default());
        self.pairs.update(theta)?;
        self.pairs
            .step(&mut search, &mut self.permutation, &self.prior, rng)?;
        self.weigh();
        self.start = LinksStart::Mode;
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
        let is_plain = self.mixture.is_none() && self.outside.is_none();
        let keeps = self.is_large && is_plain && num_warmup >= LEAST_WARMUP;
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
        self.pairs.keep_proposals(&mut self.kernel, &self.prior);
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
            let pi = &mut self.permutation;
            let may_be_outside = match &mut self.outside {
                Some(outside) => {
                    let links = &mut outside.links;
                    self.pairs
                        .draw_may_be_outside(links, pi, &self.prior, rng)?
                }
                None => false,
            };
            let info = self.draw_with_feedback(may_be_outside, rng)?;
            self.draw_rate_regression(may_be_outside, rng);
            self.weigh();
            return Ok((info, self.permutation.version() != version));
        };
        self.pairs.own_log_densities(&mut mixture.own);
        let temperature = self.pairs.temperature();
        mixture.own.iter_mut().for_each(|own| *own *= temperature);
        let is_drawn_at_once = matches!(self.kernel, LinkKernel::ActiveSet(_));
        if is_drawn_at_once && possible_sets(&self.outside, &self.prior).have_odds() {
            return Ok((self.draw_wrong_rows(rng), self.weigh()));
        }
        let mixture = self.mixture.as_ref().expect("as above");
        let own = &mixture.own;
        let pair = RowMixture {
            own,
            marginal: &mixture.marginal,
        };
        let pi = &mut self.permutation;
        let info = match &mut self.outside {
            Some(outside) => outside.links.step_as(pi, &pair, |i| own[i], None, rng),
            None => self.kernel.step(pi, &pair, &self.prior, rng),
        };
        self.draw_rate_regression(true, rng);
        Ok((info, self.weigh()))
    }

    /// Without feedback and given their odds, rows are wrong independently of each other, but for those that are not wrong
    /// alone. So the rates are drawn given theta alone, and then the wrong rows at once; rates that are drawn given the wrong
    /// rows follow them slowly where responses say little of them.
    fn draw_wrong_rows(&mut self, rng: &mut impl Rng) -> UpdateInfo {
        let mixture = self.mixture.as_ref().expect("without feedback");
        let rows = mixture.own.iter().zip(&mixture.marginal);
        let log_ratio: Vec<f64> = rows.map(|(own, marginal)| marginal - own).collect();
        let sets = possible_sets(&self.outside, &self.prior);
        let log_odds = match &mut self.rate {
            Some(RateState { regression, gamma }) => {
                regression.draw_without_links(gamma, &log_ratio, sets, rng);
                Some(regression.log_odds(gamma))
            }
            None => sets.draw_log_odds(&self.permutation, &log_ratio, rng),
        };
        // Where the rate is 0, no row is wrong, and none was.
        if let Some(mut log_odds) = log_odds {
            (log_odds.iter_mut().zip(&log_ratio)).for_each(|(odds, ratio)| *odds += ratio);
            let mut is_wrong = vec![false; log_odds.len()];
            sets.draw(&log_odds, &mut is_wrong, rng);
            sets.apply(&is_wrong, &mut self.permutation);
        }
        self.set_odds();
        let mut info = UpdateInfo::default();
        info.count(Move::Draw, true);
        info
    }

    /// Where responses may come from outside, whether they may is drawn first: without any, the links are a whole
    /// permutation with the prior and the kernel of these.
    fn draw_with_feedback(
        &mut self,
        may_be_outside: bool,
        rng: &mut impl Rng,
    ) -> Result<UpdateInfo, P::Error> {
        let pi = &mut self.permutation;
        match &mut self.outside {
            Some(outside) if may_be_outside => {
                self.pairs.step_outside(&mut outside.links, pi, None, rng)
            }
            _ => self.pairs.step(&mut self.kernel, pi, &self.prior, rng),
        }
    }

    /// Sets the weights of the rows by their links; true when one changed. There are none where every row counts once.
    fn weigh(&mut self) -> bool {
        let pi = &self.permutation;
        let survey = self.survey.as_mut();
        let (of_rows, weighed) = match survey {
            Some(Survey { of_rows, weights }) => (Some(*of_rows), Some(weights)),
            None => (None, None),
        };
        let mut changed = false;
        let mut weigh = |weights: &mut [f64], counts: &dyn Fn(usize) -> bool| {
            for (place, weight) in weights.iter_mut().enumerate() {
                let now = match (counts(place), of_rows) {
                    (false, _) => 0.0,
                    (true, Some(of_rows)) => of_rows.at_place(pi, place),
                    (true, None) => 1.0,
                };
                changed |= *weight != now;
                *weight = now;
            }
        };
        match (&mut self.mixture, &mut self.outside) {
            (Some(mixture), _) => weigh(&mut mixture.weights, &|row| {
                !pi.is_moved(row) && row < pi.num_present()
            }),
            (None, Some(outside)) => {
                weigh(&mut outside.weights, &|place| pi.row_of(place) != NOBODY)
            }
            (None, None) => {
                if let Some(weights) = weighed {
                    weigh(weights, &|_| true);
                }
            }
        }
        changed
    }

    /// Gives theta what it sees of the links: the responses in their order or, without feedback, the weights of the rows.
    pub fn show(&self, density: &mut impl LinkedDensity) {
        match (&self.mixture, &self.outside) {
            (Some(mixture), _) => density.weights_mut().copy_from_slice(&mixture.weights),
            (None, outside) => {
                density.align(&self.permutation, self.responses);
                match (outside, &self.survey) {
                    (Some(outside), _) => density.weights_mut().copy_from_slice(&outside.weights),
                    (None, Some(survey)) => density.weights_mut().copy_from_slice(&survey.weights),
                    (None, None) => {}
                }
            }
        }
    }

    /// Without feedback, draws the links to report at the theta of the last step.
    pub fn report(&mut self, rng: &mut impl Rng) -> Result<(), P::Error> {
        let Some(mixture) = &mut self.mixture else {
            return Ok(());
        };
        let wrong = Some(&self.permutation);
        if let Some(Outside {
            links, reported, ..
        }) = &mut self.outside
        {
            self.pairs.step_outside(links, reported, wrong, rng)?;
            return Ok(());
        }
        let links = &mut mixture.reported;
        self.pairs
            .step_given_moved(links, &self.permutation, &self.prior, rng)
    }

    /// The links to save with a draw.
    pub fn reported(&self) -> &Permutation {
        match (&self.mixture, &self.outside) {
            (None, _) => &self.permutation,
            (Some(_), Some(outside)) => &outside.reported,
            (Some(mixture), None) => mixture.reported.links(),
        }
    }

    pub fn state(&self) -> StepTwoState {
        let mixture = self.mixture.as_ref();
        StepTwoState {
            permutation: self.permutation.clone(),
            reported: mixture.map(|_| self.reported().clone()),
            kept_at: self.kept_at.clone(),
            rate: self.rate.as_ref().map(|rate| rate.gamma.clone()),
        }
    }

    /// Continues with saved links, or says why they belong to another model.
    pub(super) fn resume(&mut self, state: StepTwoState) -> Result<(), &'static str> {
        let here = &self.permutation;
        let is_other =
            |pi: &Permutation| (pi.len(), pi.num_present()) != (here.len(), here.num_present());
        if is_other(&state.permutation) || state.reported.as_ref().is_some_and(is_other) {
            return Err("its links have another number of rows");
        }
        match (&mut self.mixture, state.reported) {
            (Some(mixture), Some(links)) => match &mut self.outside {
                Some(outside) => outside.reported = links,
                None => mixture.reported.resume(links),
            },
            (None, None) => {}
            _ => return Err("its links were sampled with another feedback"),
        }
        match (&mut self.rate, state.rate) {
            (Some(rate), Some(gamma)) if gamma.len() == rate.gamma.len() => rate.gamma = gamma,
            (None, None) => {}
            _ => return Err("its rates of wrong links have other coefficients"),
        }
        self.set_odds();
        self.permutation = state.permutation;
        self.kept_at = state.kept_at;
        self.weigh();
        Ok(())
    }

    /// The permutation with its prior and the responses, for moves that change theta as well.
    pub(super) fn parts(&mut self) -> (&mut Permutation, &Prior, &'m [f64]) {
        (&mut self.permutation, &self.prior, self.responses)
    }

    /// Whether responses may come from outside the file.
    pub(super) fn has_outside(&self) -> bool {
        self.outside.is_some()
    }

    pub fn start(&self) -> LinksStart {
        self.start
    }

    pub fn num_moved(&self) -> usize {
        self.permutation.num_moved()
    }

    pub fn log_prior(&self) -> f64 {
        match &self.outside {
            Some(outside) => outside.log_prior(&self.prior, self.reported()),
            None => self.prior.log_prior(&self.permutation),
        }
    }

    /// Draws of the rates given the links.
    pub fn rates(&self, rng: &mut impl Rng) -> Rates {
        let (pi, num_moved) = (&self.permutation, self.permutation.num_moved());
        let share = |rate: Option<f64>| {
            let of_covariates = || {
                let rate = self.rate.as_ref()?;
                let sets = possible_sets(&self.outside, &self.prior);
                Some(rate.regression.mean_rate(&rate.gamma, sets))
            };
            let rate = rate.or_else(of_covariates);
            rate.unwrap_or(num_moved as f64 / pi.num_present() as f64)
        };
        let whole = |rng: &mut _| match self.prior.draw_block_rates(pi, rng) {
            Some((by_block, overall)) => (overall, by_block),
            None => (share(self.prior.draw_rate(num_moved, rng)), Vec::new()),
        };
        let Some(outside) = &self.outside else {
            let (mismatch, by_block) = whole(rng);
            return Rates {
                mismatch,
                outside: None,
                by_block,
            };
        };
        let links = self.reported();
        let may_be = outside.may_be_outside(&self.prior, links, rng);
        let prior = outside.links.prior();
        let ((mismatch, by_block), of_wrong) = match may_be {
            true => {
                let rates = match prior.draw_block_rates(pi, rng) {
                    Some((by_block, overall)) => (overall, by_block),
                    None => (share(prior.draw_rate(pi, rng)), Vec::new()),
                };
                (rates, prior.draw_share(links, rng))
            }
            false => (whole(rng), 0.0),
        };
        Rates {
            mismatch,
            outside: Some((links.num_outside(), of_wrong)),
            by_block,
        }
    }

    /// The coefficients of the rates of wrong links per unit of their covariates, where these are sampled.
    pub(super) fn rate_coefficients(&self) -> impl Iterator<Item = f64> {
        let rate = self.rate.as_ref();
        rate.into_iter()
            .flat_map(|rate| rate.regression.in_units(&rate.gamma))
    }
}

/// The possible sets of wrong rows, where responses may come from outside if there is an outside.
fn possible_sets<'a>(outside: &'a Option<Outside>, whole: &'a Prior) -> WrongSets<'a> {
    match outside {
        Some(outside) => WrongSets::Partial(outside.links.prior()),
        None => WrongSets::Whole(whole),
    }
}

#[cfg(test)]
mod survey_tests;
