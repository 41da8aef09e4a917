//! Before sampling: do the Stan program and the permutation step mean the same likelihood?
//!
//! A program is alpha * log likelihood + log prior. Built with two values of alpha, the difference of its log densities is
//! the likelihood alone, whatever the prior. It must equal the pair likelihood's for every theta and permutation, but for
//! one constant: an edited likelihood must never be ignored by half of the sampler.

use rand::Rng;
use thiserror::Error;

use super::{ModelError, Pairs, StanModel};
use crate::permutation::Permutation;

#[derive(Debug, Error)]
pub enum AgreementError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(
        "{label} and the family `{family}` disagree about the likelihood: moving {moved} of {rows} rows changes Stan's log likelihood by {stan:.6} but the family's by {pair:.6}; set model.family to what the program says (its parameters too), or to {{\"name\": \"stan\"}} with `vector[N] log_lik` in generated quantities"
    )]
    Likelihood {
        label: String,
        family: String,
        moved: usize,
        rows: usize,
        stan: f64,
        pair: f64,
    },
    #[error(
        "{label} and the family `{family}` disagree about the likelihood: between two values of the parameters, the part with alpha changes by {stan:.6} and the family's likelihood by {pair:.6}; either a parameter of model.family differs from the program's, or the program multiplies more than the likelihood by alpha (a prior?)"
    )]
    Parameters {
        label: String,
        family: String,
        stan: f64,
        pair: f64,
    },
    #[error(
        "{label} does not multiply its likelihood by alpha: write `target += alpha * ..._lpdf(...)`, or remove `alpha` from its data block and keep the temperature at 1"
    )]
    Untempered { label: String },
}

const TOLERANCE: f64 = 1e-8;
const NUM_PERMUTATIONS: usize = 3;

/// The program at the fit's alpha, and once more at another, where it declares alpha at all.
pub struct TwoTemperatures<'m> {
    pub model: &'m StanModel,
    pub alpha: f64,
    pub other: Option<(&'m StanModel, f64)>,
}

impl TwoTemperatures<'_> {
    fn log_likelihood(&self, theta: &[f64], aligned: &[f64]) -> Result<f64, ModelError> {
        let here = self.model.log_density(theta, aligned)?;
        match self.other {
            Some((model, alpha)) => {
                Ok((here - model.log_density(theta, aligned)?) / (self.alpha - alpha))
            }
            // Without alpha the prior stays in; it cancels between permutations.
            None => Ok(here),
        }
    }
}

/// Compares both at every theta of `points`, each with the identity and a few random permutations.
pub fn check_agreement(
    stan: &TwoTemperatures,
    pairs: &mut Pairs,
    family: &str,
    responses: &[f64],
    points: &[Vec<f64>],
    rng: &mut impl Rng,
) -> Result<(), AgreementError> {
    let num_rows = stan.model.shape().rows;
    let label = || stan.model.label().to_string();
    let mut aligned = vec![0.0; responses.len()];
    let mut first: Option<(f64, f64)> = None;
    for theta in points {
        pairs.update(theta)?;
        let mut at_identity = (0.0, 0.0);
        for k in 0..NUM_PERMUTATIONS {
            let num_moved = if k == 0 {
                0
            } else {
                (num_rows / 2).max(2).min(num_rows)
            };
            let pi = Permutation::random_sparse(num_rows, num_moved, rng);
            pi.align(responses, &mut aligned);
            let found = (
                stan.log_likelihood(theta, &aligned)?,
                pairs.log_likelihood(&pi)?,
            );
            if k == 0 {
                at_identity = found;
                continue;
            }
            let change = (found.0 - at_identity.0, found.1 - at_identity.1);
            if !agree(change, [found, at_identity]) {
                // Not their difference: absolute deviations add up to the same under every permutation while all
                // residuals have one sign.
                if stan.other.is_some() && found.0 == 0.0 && at_identity.0 == 0.0 {
                    return Err(AgreementError::Untempered { label: label() });
                }
                return Err(AgreementError::Likelihood {
                    label: label(),
                    family: family.to_string(),
                    moved: num_moved,
                    rows: num_rows,
                    stan: change.0,
                    pair: change.1,
                });
            }
        }
        // Only here does a wrong tau show: its term of the loss is the same for every permutation.
        let first = *first.get_or_insert(at_identity);
        let change = (at_identity.0 - first.0, at_identity.1 - first.1);
        if stan.other.is_some() && !agree(change, [at_identity, first]) {
            return Err(AgreementError::Parameters {
                label: label(),
                family: family.to_string(),
                stan: change.0,
                pair: change.1,
            });
        }
    }
    Ok(())
}

/// Equal up to rounding in the numbers that the differences were taken of.
fn agree(change: (f64, f64), of: [(f64, f64); 2]) -> bool {
    let scale = of
        .iter()
        .map(|(stan, pair)| stan.abs().max(pair.abs()))
        .fold(1.0, f64::max);
    (change.0 - change.1).abs() <= TOLERANCE * scale
}
