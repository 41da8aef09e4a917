//! Before sampling without feedback: does the program multiply the log likelihood of each row by its weight?

use rand::Rng;
use thiserror::Error;

use super::{ModelError, Pairs, TwoTemperatures};
use crate::sampler::chain::LinkedPairs;

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
