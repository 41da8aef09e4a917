//! Before sampling with weights: does the program multiply the log likelihood of each row by its weight, and do both steps
//! mean the same weighted likelihood?

use rand::Rng;
use thiserror::Error;

use super::{ModelError, Pairs, TwoTemperatures};
use crate::sampler::chain::LinkedPairs;
use crate::sampler::links::{Permutation, SurveyWeights};

#[derive(Debug, Error)]
pub enum WeightsError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(
        "{label} does not multiply the log likelihood of each row by its weight: without {left_out} of {rows} rows Stan's changes by {stan:.6} between two values of the parameters and the family's by {pair:.6}; where `weighted` is 1, write `target += alpha * dot_product(weight, ...)` of the log densities of the rows"
    )]
    Likelihood {
        label: String,
        left_out: usize,
        rows: usize,
        stan: f64,
        pair: f64,
    },
    #[error(
        "{label} and the family disagree about the likelihood with the weights of data.weights: with {moved} of {rows} rows moved, Stan's changes by {stan:.6} between two values of the parameters and the family's by {pair:.6}; where `weighted` is 1, write `target += alpha * dot_product(weight, ...)` of the log densities of the rows, and let `log_lik` be the complete log density"
    )]
    Survey {
        label: String,
        moved: usize,
        rows: usize,
        stan: f64,
        pair: f64,
    },
}

const TOLERANCE: f64 = 1e-8;

/// Gives about half of the rows weight 0. The log likelihood that they take with them must change between the `points`
/// as their own log densities do; terms in the response alone, which a program may leave out, cancel.
pub fn check_weights(
    stan: &TwoTemperatures,
    pairs: &mut Pairs,
    responses: &[f64],
    points: &[Vec<f64>],
    rng: &mut impl Rng,
) -> Result<(), WeightsError> {
    let num_rows = stan.model.shape().rows;
    let ones = vec![1.0; num_rows];
    let mut weights = ones.clone();
    (weights.iter_mut().skip(1))
        .for_each(|weight| *weight = f64::from(u8::from(rng.random::<bool>())));
    weights[0] = 0.0;
    let mut own = Vec::new();
    let mut first: Option<(f64, f64)> = None;
    for theta in points {
        pairs.update(theta)?;
        pairs.own_log_densities(&mut own);
        let all = stan.weighted_log_likelihood(theta, responses, &ones)?;
        let rest = stan.weighted_log_likelihood(theta, responses, &weights)?;
        let left_out = own.iter().zip(&weights).filter(|(_, w)| **w == 0.0);
        let here = (all - rest, left_out.map(|(own, _)| own).sum::<f64>());
        let first = *first.get_or_insert(here);
        let (by_stan, by_pair) = (here.0 - first.0, here.1 - first.1);
        let sizes = [all, rest, first.0, here.1, first.1];
        let scale = sizes.iter().fold(1.0, |size: f64, v| size.max(v.abs()));
        if (by_stan - by_pair).abs() > TOLERANCE * scale {
            return Err(WeightsError::Likelihood {
                label: stan.model.label().to_string(),
                left_out: weights.iter().filter(|w| **w == 0.0).count(),
                rows: num_rows,
                stan: by_stan,
                pair: by_pair,
            });
        }
    }
    Ok(())
}

/// Both steps must mean one weighted likelihood: under any permutation that of the program, with the weights where the
/// permutation puts them, changes between the `points` as that of `pairs`, which has the weights. Terms in the response
/// alone cancel: Step 1 does not see them, and Step 2 takes them from `pairs`.
pub fn check_survey(
    stan: &TwoTemperatures,
    pairs: &mut Pairs,
    survey: &SurveyWeights,
    responses: &[f64],
    points: &[Vec<f64>],
    rng: &mut impl Rng,
) -> Result<(), WeightsError> {
    const NUM_PERMUTATIONS: usize = 3;
    let num_rows = stan.model.shape().rows;
    let most = (num_rows / 2).max(2).min(num_rows);
    let links: Vec<Permutation> = (0..NUM_PERMUTATIONS)
        .map(|k| Permutation::random_sparse(num_rows, if k == 0 { 0 } else { most }, rng))
        .collect();
    let mut aligned = vec![0.0; responses.len()];
    let mut first: Vec<(f64, f64)> = Vec::new();
    for theta in points {
        pairs.update(theta)?;
        let mut here = Vec::with_capacity(NUM_PERMUTATIONS);
        for pi in &links {
            pi.align(responses, &mut aligned);
            let places = 0..num_rows;
            let weights: Vec<f64> = places.map(|place| survey.at_place(pi, place)).collect();
            let by_stan = stan.weighted_log_likelihood(theta, &aligned, &weights)?;
            here.push((by_stan, pairs.log_likelihood(pi)?));
        }
        if first.is_empty() {
            first.clone_from(&here);
        }
        let change = |k: usize| (here[k].0 - first[k].0, here[k].1 - first[k].1);
        let at_identity = change(0);
        for (k, pi) in links.iter().enumerate() {
            let (mut by_stan, mut by_pair) = change(k);
            let mut sizes = vec![here[k].0, here[k].1, first[k].0, first[k].1];
            // Without alpha the prior stays in; it is the same under every permutation.
            if stan.other.is_none() {
                by_stan -= at_identity.0;
                by_pair -= at_identity.1;
                sizes.extend([here[0].0, here[0].1]);
            }
            let scale = sizes.iter().fold(1.0, |size: f64, v| size.max(v.abs()));
            if (by_stan - by_pair).abs() > TOLERANCE * scale {
                return Err(WeightsError::Survey {
                    label: stan.model.label().to_string(),
                    moved: pi.num_moved(),
                    rows: num_rows,
                    stan: by_stan,
                    pair: by_pair,
                });
            }
        }
    }
    Ok(())
}

impl TwoTemperatures<'_> {
    fn weighted_log_likelihood(
        &self,
        theta: &[f64],
        responses: &[f64],
        weights: &[f64],
    ) -> Result<f64, ModelError> {
        let here = self.model.log_density_weighted(theta, responses, weights)?;
        match self.other {
            Some((model, alpha)) => {
                let other = model.log_density_weighted(theta, responses, weights)?;
                Ok((here - other) / (self.alpha - alpha))
            }
            None => Ok(here),
        }
    }
}
