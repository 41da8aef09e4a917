//! Can this fit be trusted? Checks of the model behind the links, and the answer to recommend.

mod along;
mod answer;
mod check;
mod checks;
mod effect;
mod frame;
mod overrule;
mod replicate;
mod rival;

use ndarray::Array2;
use rand::Rng;

pub use crate::posterior::{Aspect, Check, Coefficient, Method, Rates, Trust};

use crate::baseline::{KnownRate, RobustMixtureFit, robust_mixture};
use crate::config::{Config, Family, ResponseKind};
use crate::data::{Dataset, INTERCEPT};
use crate::model::LogSpread;
use crate::numerics::{Qr, dot, rng};
use crate::posterior::draws::ChainDraws;
use crate::posterior::{LawDraws, mean_group_part};
use crate::sampler::links::{LinkSpace, RatePrior};
use answer::{Ingredients, Recommended};
use checks::{MEASURED, applies, exchange_p_values, statistics};
use effect::Effect;
use frame::Frame;
use overrule::Case;
use replicate::Model;

/// Chains count from 1; the agreement check and the predictive check have the last streams.
const STREAM: usize = usize::MAX - 2;
/// The stream that chooses the rows for the rival explanation.
const RIVAL_STREAM: usize = usize::MAX - 3;
/// The stream that chooses the rows for the robust mixture.
const ROBUST_STREAM: usize = usize::MAX - 4;
/// The default prior of the rate, for priors that have none.
const USUAL_PRIOR: RatePrior = RatePrior {
    a: 1.0,
    b: 9.0,
    no_error: 0.5,
};
/// Added to counts before their logarithm is taken, so that 0 does not lie far out.
const HALF_A_COUNT: f64 = 0.5;
/// Draws at which the model is compared with its own data sets.
const NUM_DRAWS: usize = 1000;
/// The same for the coefficients, which take longer.
const NUM_EFFECT_DRAWS: usize = 400;
/// From so many rows on, the coefficients' differences are taken as normal.
const MANY_ROWS: usize = 20_000;
const NUM_LARGE_DRAWS: usize = 60;

/// What a fit left that the checks need.
pub struct FitToJudge<'a> {
    pub config: &'a Config,
    pub data: &'a Dataset,
    pub space: &'a LinkSpace,
    /// Rows whose link can be wrong.
    pub num_movable: usize,
    /// Why no check is possible that takes wrong links for an even exchange of the responses inside groups.
    pub no_exchange: Option<&'static str>,
    pub chains: &'a [ChainDraws],
    /// How the spread of the family `robust` depends on the predictors.
    pub spread: Option<&'a LogSpread>,
    /// P(moved) of each row.
    pub p_moved: &'a [f64],
    /// The largest R-hat of the coefficients and the number of moved rows.
    pub largest_r_hat: Option<f64>,
    pub joint: Vec<Coefficient>,
    pub as_linked: Vec<Coefficient>,
    /// Estimates by other methods, for coefficients.csv.
    pub others: Vec<Coefficient>,
    /// Whether the estimate for a known rate applies.
    pub has_known_rate: bool,
}

/// A share of wrong links above this contradicts the method, which is for files most of whose links are right.
pub(crate) const MOST_WRONG: f64 = 0.6;
/// How far the slopes of the joint posterior may lie from those of the robust mixture, as a mean square in units of the latter's
/// standard deviations. `unshuffle study configs/guard.json` measures how often data that follow the model lie further away.
const LARGEST_DISTANCE: f64 = 0.81;
/// The same in units of what is expected: the difference of an efficient estimate and another has the difference of their
/// variances (Hausman 1978).
const LARGEST_DISTANCE_EXPECTED: f64 = 2.5;
/// The joint posterior agrees with the robust mixture where no slope is further from it than its standard deviation, and
/// the rates differ by this part of the joint posterior's, or by this much.
const LIKE_RATES: (f64, f64) = (0.25, 0.02);

/// With a smaller share of wrong links every row has its whole weight.
const NEGLIGIBLE_SHARE: f64 = 1e-3;

/// A share of wrong links above this is only stated where the file holds evidence for it.
const NEEDS_EVIDENCE: f64 = 0.05;
/// Half of Akaike's criterion by which wrong links must explain a file better than the best explanation without any.
/// `unshuffle study configs/wages.json` has a file on which smaller values let errors with tails pass for wrong links.
const LEAST_EVIDENCE: f64 = 15.0;
/// The same where there is no other explanation to compare with: the posterior probability that no link is wrong, at most.
const MOST_NONE_WRONG: f64 = 0.05;
/// Evidence from which on nothing but wrong links explains the file: the coefficients need not agree with an estimate that
/// makes less of them.
const CLEAR_EVIDENCE: f64 = 20.0;
/// R-hat above this: the chains have not found the same answer.
const DISAGREEING: f64 = 1.1;

/// The mean squared distance of slopes, in units of a standard deviation, and what it is expected to be.
struct Distance {
    square: f64,
    expected: f64,
}

impl Distance {
    fn is_close(&self) -> bool {
        self.square <= LARGEST_DISTANCE.max(LARGEST_DISTANCE_EXPECTED * self.expected)
    }
}

/// The outcome of all checks.
pub struct Judgement {
    pub trust: Trust,
    /// The coefficients by method, the recommended ones first.
    pub coefficients: Vec<Coefficient>,
}

/// A check's p-value, None where it could not be made.
pub type PValue = (Aspect, Option<f64>);

impl FitToJudge<'_> {
    /// `reweigh` gives the coefficients of the same program with every link kept and these weights of the rows; it is there
    /// where the program may have other coefficients than least squares. None where it was interrupted.
    pub fn judge<E>(
        &self,
        reweigh: Option<impl Fn(&[f64]) -> Result<Option<Vec<Coefficient>>, E>>,
    ) -> Result<Option<Judgement>, E> {
        let rates = self.rates();
        let quantile = crate::numerics::quantile(&rates, answer::HIGH_POINT).unwrap_or(0.0);
        let mut ingredients = Ingredients {
            config: self.config,
            data: self.data,
            space: self.space,
            joint: &self.joint,
            as_linked: &self.as_linked,
            rate: (frame::mean_or_zero(&rates), quantile),
            has_known_rate: self.has_known_rate,
            robust: self.robust_mixture(),
            weighted: Vec::new(),
        };
        let mut checks: Vec<Check> = self
            .p_values()
            .into_iter()
            .map(|(aspect, p)| Check::from_p_value(aspect, p))
            .collect();
        if let Some(reason) = self.no_exchange {
            let sentence = format!("Not checked: {reason}.");
            (checks.iter_mut()).for_each(|check| check.sentence.clone_from(&sentence));
        }
        let evidence = self.evidence();
        checks.extend(self.facts(&ingredients, evidence));
        let first = checks
            .iter()
            .find(|check| check.decides && check.has_failed());
        let (found, _) = ingredients.rate;
        let case = Case {
            checks: &checks,
            share: found,
            evidence,
            num_draws: rates.len(),
        };
        let overruled = case.overruled(|| self.agrees(&ingredients));
        let trusted = first.is_none() || overruled.is_some();
        let sentence = match (first, overruled) {
            (Some(_), Some(why)) => why.into(),
            (Some(check), None) => check.sentence.clone(),
            (None, _) => String::new(),
        };
        if let (false, Some(reweigh), Some(robust)) = (trusted, reweigh, ingredients.of_real()) {
            let wrong = 1.0 - frame::mean(&robust.stays);
            let weighted = match wrong < NEGLIGIBLE_SHARE {
                true => Some(self.as_linked.clone()),
                false => reweigh(&robust.stays)?,
            };
            let Some(weighted) = weighted else {
                return Ok(None);
            };
            let relabel = |c| Coefficient {
                method: Method::Weighted,
                ..c
            };
            ingredients.weighted = weighted.into_iter().map(relabel).collect();
        }
        let Recommended {
            mut coefficients,
            source,
        } = ingredients.recommended(trusted);
        coefficients.extend(self.joint.iter().cloned());
        coefficients.extend(self.as_linked.iter().cloned());
        coefficients.extend(self.others.iter().cloned());
        if let Some(robust) = ingredients.of_real() {
            coefficients.extend(ingredients.named(&robust.estimate, Method::RobustMixture));
        }
        coefficients.extend(ingredients.weighted.iter().cloned());
        Ok(Some(Judgement {
            trust: Trust {
                trusted,
                source,
                weight: f64::from(u8::from(trusted)),
                checks,
                sentence,
                rates: Some(Rates {
                    joint: ingredients.rate.0,
                    rival: ingredients.robust.as_ref().map(|fit| fit.estimate.rate),
                    evidence,
                    believed: ingredients.believed_rate(),
                }),
                wrong_along: along::wrong_along(self.data, self.p_moved),
            },
            coefficients,
        }))
    }

    /// How far the slopes of the joint posterior lie from those of the robust mixture.
    fn distance(&self, ingredients: &Ingredients) -> Option<Distance> {
        let named = ingredients.beside_joint()?;
        let slopes = named.iter().filter(|c| c.name != INTERCEPT && c.sd > 0.0);
        let (mut distance, mut expected, mut count) = (0.0, 0.0, 0.0);
        for robust in slopes {
            let joint = self.joint.iter().find(|c| c.name == robust.name)?;
            distance += ((joint.estimate - robust.estimate) / robust.sd).powi(2);
            expected += (1.0 - (joint.sd / robust.sd).powi(2)).max(0.0);
            count += 1.0;
        }
        (count > 0.0).then_some(Distance {
            square: distance / count,
            expected: expected / count,
        })
    }

    /// Whether the joint posterior says the same as the robust mixture: then what contradicts its error law has not bent the
    /// coefficients.
    fn agrees(&self, ingredients: &Ingredients) -> bool {
        let (Some(robust), Some(named)) = (&ingredients.robust, ingredients.beside_joint()) else {
            return false;
        };
        let (found, _) = ingredients.rate;
        let (part, at_least) = LIKE_RATES;
        let are_like = (found - robust.estimate.rate).abs() <= part * found + at_least;
        let mut slopes = named.iter().filter(|c| c.name != INTERCEPT);
        let is_near = |robust: &Coefficient| {
            let joint = self.joint.iter().find(|joint| joint.name == robust.name);
            joint.is_some_and(|joint| (joint.estimate - robust.estimate).abs() <= robust.sd)
        };
        are_like && slopes.all(is_near)
    }

    /// A share of wrong links that matters needs evidence: against other explanations where there are any, else against every link
    /// being right.
    fn evidence_of_share(&self, ingredients: &Ingredients, evidence: Option<f64>) -> Option<Check> {
        let (found, _) = ingredients.rate;
        let none_wrong = self
            .none_wrong()
            .filter(|_| !ingredients.has_outside_rate());
        let has_densities = ingredients.robust.is_some() || !self.has_known_rate;
        let (passed, sentence): (bool, String) = match (evidence, none_wrong) {
            (None, None) => return None,
            _ if found <= NEEDS_EVIDENCE => {
                (true, "So few links look wrong that nothing rests on them.".into())
            }
            (Some(_), _) if !has_densities => {
                (false, "Many responses are equal, or rows are few.".into())
            }
            (Some(evidence), _) if evidence >= LEAST_EVIDENCE => (
                true,
                "Wrong links explain the responses better than tails, skewness, a changing spread or a curve would.".into(),
            ),
            (Some(_), _) => (
                false,
                "Heavy tails, skewness, a changing spread or a curve would explain the responses as well as wrong links do.".into(),
            ),
            (None, Some(none)) if none <= MOST_NONE_WRONG => (
                true,
                "The model does not explain the responses with every link kept.".into(),
            ),
            (None, Some(none)) => (
                false,
                format!(
                    "By the model itself every link may be right: that has a probability of {:.0} %.",
                    100.0 * none
                ),
            ),
        };
        Some(Check::of_fact(Aspect::Evidence, passed, sentence))
    }

    /// Checks that are no tests.
    fn facts(&self, ingredients: &Ingredients, evidence: Option<f64>) -> Vec<Check> {
        let (found, _) = ingredients.rate;
        let plausible = found <= MOST_WRONG;
        let sentence = match plausible {
            true => "The share of wrong links is one that the method is made for.".into(),
            false => format!(
                "{:.0} % of the links that can be wrong would be, and the method is for files most of whose links are right.",
                100.0 * found
            ),
        };
        let mut facts = vec![Check::of_fact(Aspect::Rate, plausible, sentence)];
        facts.extend(self.evidence_of_share(ingredients, evidence));
        let is_clear = evidence.is_some_and(|evidence| evidence >= CLEAR_EVIDENCE);
        if let Some(apart) = self.distance(ingredients).filter(|_| !is_clear) {
            let sentence = match apart.is_close() {
                true => {
                    "The coefficients are those of an estimate that relies on no particular error law."
                }
                false => {
                    "An estimate that relies on no particular error law has other coefficients, so the error law of the model has bent them."
                }
            };
            let close = apart.is_close();
            facts.push(Check::of_fact(Aspect::Agreement, close, sentence.into()));
        }
        if let Some(worst) = self.largest_r_hat {
            let agree = worst <= DISAGREEING;
            let sentence = match agree {
                true => format!("The chains agree (largest R-hat {worst:.3})."),
                false => format!("The chains disagree (largest R-hat {worst:.3})."),
            };
            facts.push(Check::of_fact(Aspect::Convergence, agree, sentence));
        }
        if self.config.model.response_kind() == ResponseKind::ZeroOne {
            let sentence = "Yes-or-no responses hold too little to tell which links are wrong, or how many: that needs an audit or match probabilities.";
            facts.push(Check::of_fact(Aspect::Information, false, sentence.into()));
        }
        facts
    }

    /// Responses that scatter around x'beta: real ones as they are, the logarithms of positive ones, and those of counts, each
    /// of which stands for the interval up to the next (Dunn and Smyth 1996). None for several responses, yes-or-no ones,
    /// and likelihoods that only the program knows.
    fn scattered(&self, rng: &mut impl Rng) -> Option<Vec<f64>> {
        let family = self.family()?;
        let is_possible = self.data.response_names.is_none() && self.no_exchange.is_none();
        // A response that moves leaves its offset behind, which the estimates without links do not know.
        if !is_possible || self.data.offset.is_some() {
            return None;
        }
        let responses = self.data.response.iter();
        match family.response_kind() {
            ResponseKind::Real if family.facts().is_additive => {
                let Some(groups) = &self.data.groups else {
                    return Some(self.data.response.clone());
                };
                let part = mean_group_part(groups, self.chains)?;
                Some(responses.zip(part).map(|(y, part)| y - part).collect())
            }
            ResponseKind::Count if self.has_known_rate => {
                let within = |count: &f64| (count + rng.random::<f64>() + HALF_A_COUNT).ln();
                Some(responses.map(within).collect())
            }
            ResponseKind::Positive if self.has_known_rate => {
                Some(responses.map(|y| y.ln()).collect())
            }
            _ => None,
        }
    }

    /// How much better wrong links explain the responses than anything else would.
    fn evidence(&self) -> Option<f64> {
        let mut rng = rng::stream(self.config.sampler.seed, RIVAL_STREAM);
        let x = self.data.x.view();
        let frame = Frame::new(x, self.space, frame::MOST_ROWS, &mut rng)?;
        let response = self.scattered(&mut rng)?;
        let y: Vec<f64> = frame.rows.iter().map(|&r| response[r]).collect();
        // Other families have a law that no rival of their logarithms contains.
        let family = self.family()?;
        let is_normal = matches!(family, Family::Gaussian | Family::LogNormal);
        let has_rival = is_normal || family.response_kind() == ResponseKind::Real;
        has_rival.then(|| rival::evidence(&frame, &y, is_normal))?
    }

    fn robust_mixture(&self) -> Option<RobustMixtureFit> {
        let mut rng = rng::stream(self.config.sampler.seed, ROBUST_STREAM);
        let response = self.scattered(&mut rng).filter(|_| self.has_known_rate)?;
        let prior = self.config.permutation.prior.rate().unwrap_or(USUAL_PRIOR);
        let x = self.data.x.view();
        robust_mixture(x, &response, self.space, prior, &mut rng)
    }

    /// The posterior probability that no link is wrong, where the prior gives it one. Yes-or-no responses tell nothing of it.
    fn none_wrong(&self) -> Option<f64> {
        let prior = self.config.permutation.prior.rate()?;
        let is_told = self.config.model.response_kind() != ResponseKind::ZeroOne;
        let rates = self.rates();
        let none = rates.iter().filter(|rate| **rate == 0.0).count() as f64;
        let is_possible = prior.no_error > 0.0 && is_told && !rates.is_empty();
        is_possible.then_some(none / rates.len() as f64)
    }

    /// Share of the rows that can move that each draw has moved.
    fn rates(&self) -> Vec<f64> {
        let movable = self.num_movable.max(1) as f64;
        let columns = self.chains.iter().filter_map(|c| c.column("n_moved__"));
        columns.flatten().map(|moved| moved / movable).collect()
    }

    pub fn p_values(&self) -> Vec<PValue> {
        let mut rng = rng::stream(self.config.sampler.seed, STREAM);
        let none = || MEASURED.map(|aspect| (aspect, None)).to_vec();
        let x = self.data.x.view();
        let frame = Frame::new(x, self.space, frame::MOST_ROWS, &mut rng);
        let Some(frame) = frame.filter(|_| self.no_exchange.is_none()) else {
            return none();
        };
        let family = self.family();
        let family = family.filter(|_| self.data.response_names.is_none());
        let draws = family.and_then(|family| Some((family, self.law_draws(family)?)));
        let y: Vec<f64> = frame.rows.iter().map(|&r| self.data.response[r]).collect();
        let Some((family, draws)) = draws else {
            let p_moved: Vec<f64> = frame.rows.iter().map(|&r| self.p_moved[r]).collect();
            let found = exchange_p_values(&frame, &p_moved, &y, &mut rng);
            let mut all = none();
            for (known, p) in all.iter_mut().zip(found) {
                known.1 = Some(p);
            }
            return all;
        };
        let rates = self.rates();
        let total = draws.num_draws().min(rates.len());
        let spread_over = |count: usize| {
            let count = count.min(total);
            (0..count).map(move |k| k * total / count)
        };
        let mut as_far = [0usize; MEASURED.len()];
        let mut count = 0;
        for number in spread_over(NUM_DRAWS) {
            let (chain, draw) = draws.place(number);
            let Some(laws) = draws.at(chain, draw) else {
                continue;
            };
            let model = Model::new(&frame, &laws, rates[number]);
            let observed = statistics(&model, family, &y, &mut rng);
            let drawn = model.draw(&mut rng);
            let replicated = statistics(&model, family, &drawn, &mut rng);
            for (k, (o, r)) in observed.iter().zip(replicated).enumerate() {
                as_far[k] += usize::from(r >= *o);
            }
            count += 1;
        }
        let mut found: Vec<PValue> = MEASURED
            .into_iter()
            .zip(as_far)
            .map(|(aspect, far)| {
                let p = (1 + far) as f64 / (1 + count) as f64;
                (aspect, applies(aspect, family).then_some(p))
            })
            .collect();
        // The estimate for a known rate, with which the coefficients are compared, takes no offset and no groups.
        let is_plain = self.data.offset.is_none() && self.data.groups.is_none();
        let has_effect = applies(Aspect::Effect, family) && is_plain;
        let effect = has_effect.then(|| {
            let known = KnownRate::within(self.space);
            let effect = self.effect(&known)?;
            let is_large = self.data.num_rows() > MANY_ROWS;
            let every = Frame::of_all(self.space, &mut rng)?;
            let number = if is_large {
                NUM_LARGE_DRAWS
            } else {
                NUM_EFFECT_DRAWS
            };
            let at = spread_over(number).map(|k| (k, rates[k]));
            effect.p_value(&draws, at, &every, is_large, &mut rng)
        });
        found.push((Aspect::Effect, effect.flatten()));
        found
    }

    fn law_draws(&self, family: Family) -> Option<LawDraws<'_>> {
        let offset = self.data.offset.as_deref();
        let x = self.data.x.view();
        let draws = LawDraws::new(family, x, offset, self.chains, self.spread)?;
        draws.with_groups(self.data.groups.as_ref())
    }

    /// The law of the responses, where it is known.
    fn family(&self) -> Option<Family> {
        let is_hierarchical = self.config.model.stan.is_shipped("hierarchical");
        let known = self.config.known_family();
        known.or_else(|| is_hierarchical.then_some(Family::Gaussian))
    }

    /// Means and covariances of the coefficients; None for a program without one `beta` for each column of X.
    fn moments(&self) -> Option<(Vec<f64>, Array2<f64>)> {
        let dim = self.data.x.ncols();
        let columns: Option<Vec<Vec<f64>>> = (1..=dim)
            .map(|k| {
                let name = format!("beta.{k}");
                let parts: Option<Vec<&[f64]>> = self
                    .chains
                    .iter()
                    .map(|chain| chain.column(&name))
                    .collect();
                parts.map(|parts| parts.concat())
            })
            .collect();
        let mut columns = columns?;
        let mean: Vec<f64> = columns.iter().map(|column| frame::mean(column)).collect();
        for (column, mean) in columns.iter_mut().zip(&mean) {
            column.iter_mut().for_each(|value| *value -= mean);
        }
        let count = columns.first()?.len() as f64;
        let covariance =
            Array2::from_shape_fn((dim, dim), |(i, j)| dot(&columns[i], &columns[j]) / count);
        Some((mean, covariance))
    }

    fn effect<'a>(&'a self, known: &'a KnownRate) -> Option<Effect<'a>> {
        let (mean, covariance) = self.moments()?;
        let rates = self.rates();
        let names = &self.data.predictor_names;
        Some(Effect {
            kind: self.config.model.response_kind(),
            x: self.data.x.view(),
            qr: Qr::new(self.data.x.view()),
            y: &self.data.response,
            known,
            intercept: names.iter().position(|name| name == INTERCEPT),
            mean,
            covariance,
            rate: frame::mean(&rates),
        })
    }
}

/// Whether x'beta stands for a mean: estimators of means then estimate the same coefficients.
pub(crate) fn is_of_mean(config: &Config) -> bool {
    config
        .known_family()
        .is_some_and(|family| family.facts().has_mean)
}
