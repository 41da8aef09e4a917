//! Before sampling: do the Stan program and the permutation step mean the same likelihood?
//!
//! A program is alpha * log likelihood + log prior. Built with two values of alpha, the difference of its log densities is
//! the likelihood alone, whatever the prior. It must equal the pair likelihood's for every theta and permutation, but for
//! one constant: an edited likelihood must never be ignored by half of the sampler. And a permutation may change the
//! whole log density only by alpha times that: a term in the response without alpha would move theta but not the links.

use rand::Rng;
use thiserror::Error;

use super::{ModelError, Pairs, StanModel};
use crate::sampler::chain::LinkedPairs;
use crate::sampler::links::Permutation;

#[derive(Debug, Error)]
pub enum AgreementError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(
        "{label} and the family `{family}` disagree about the likelihood: moving {moved} of {rows} rows changes Stan's log likelihood by {stan:.6} but the family's by {pair:.6}; {}",
        remedy(.family)
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
    #[error(
        "{label} has a term in the response without alpha: moving {moved} of {rows} rows changes its log density by {whole:.6}, but alpha times its likelihood by {tempered:.6}; multiply every term that contains the response by alpha, and put it into the likelihood that model.family means"
    )]
    TermWithoutAlpha {
        label: String,
        moved: usize,
        rows: usize,
        whole: f64,
        tempered: f64,
    },
    #[error(
        "the likelihood of {label} cannot be checked: its log density is near {log_density:.0e}, so large that rounding hides the likelihood of {likelihood:.0e} in it; the priors do not fit the unit of the data, so rescale the response or the predictors, or widen the priors"
    )]
    Hidden {
        label: String,
        log_density: f64,
        likelihood: f64,
    },
}

/// What to do about a likelihood that is not the family's.
fn remedy(family: &str) -> &'static str {
    match family {
        "stan" => {
            "make each entry of `log_lik` in generated quantities the whole log likelihood of its row, without alpha"
        }
        _ => {
            "set model.family to what the program says (its parameters too), or to {\"name\": \"stan\"} with `vector[N] log_lik` in generated quantities"
        }
    }
}

/// The relative tolerance for log likelihoods: two ways to write a density differ by more than rounding of their sums.
const TOLERANCE: f64 = 1e-8;
/// Rounding errors above this part of the likelihood would hide a wrong one.
const HIDES: f64 = 0.1;

/// The program at the fit's alpha, and once more at another, where it declares alpha at all.
pub struct TwoTemperatures<'m> {
    pub model: &'m StanModel,
    pub alpha: f64,
    pub other: Option<(&'m StanModel, f64)>,
}

impl TwoTemperatures<'_> {
    /// The whole log density, and the log likelihood that alpha multiplies in it.
    fn evaluate(
        &self,
        theta: &[f64],
        aligned: &[f64],
        rng: &mut impl Rng,
    ) -> Result<[Rounded; 2], ModelError> {
        let whole = Rounded::log_density(self.model, theta, aligned, rng)?;
        let likelihood = match self.other {
            Some((model, alpha)) => {
                let other = Rounded::log_density(model, theta, aligned, rng)?;
                whole.minus(other).times(1.0 / (self.alpha - alpha))
            }
            // Without alpha the prior stays in; it cancels between permutations.
            None => whole,
        };
        Ok([whole, likelihood])
    }
}

/// A number, and how far rounding may have taken it from what exact arithmetic would give.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rounded {
    value: f64,
    error: f64,
}

impl Rounded {
    /// Rounding errors of a sum, relative to its value.
    const OF_SUM: f64 = 64.0 * f64::EPSILON;
    /// Relative changes of parameters and responses that are of the size of their own rounding errors...
    const NUDGE: f64 = 4.0 * f64::EPSILON;
    /// ...tried so often, and taken so many times, since a few random ones may happen to cancel.
    const NUM_NUDGES: usize = 2;
    const SAFETY: f64 = 16.0;

    fn exact(value: f64) -> Rounded {
        Rounded {
            value,
            error: Rounded::OF_SUM * value.abs(),
        }
    }

    /// The log density of the program, and how much it changes when theta and the response change by rounding errors. A
    /// response far from zero and predictors far from zero lose most of their digits when residuals are taken.
    fn log_density(
        model: &StanModel,
        theta: &[f64],
        aligned: &[f64],
        rng: &mut impl Rng,
    ) -> Result<Rounded, ModelError> {
        let here = Rounded::exact(model.log_density(theta, aligned)?);
        let mut nudged = |values: &[f64]| -> Vec<f64> {
            let factor = |rng: &mut _| match Rng::random_bool(rng, 0.5) {
                true => 1.0 + Rounded::NUDGE,
                false => 1.0 - Rounded::NUDGE,
            };
            values.iter().map(|value| value * factor(rng)).collect()
        };
        let mut noise = 0.0f64;
        for _ in 0..Rounded::NUM_NUDGES {
            let (theta, aligned) = (nudged(theta), nudged(aligned));
            // A program may refuse a response that is not exactly 1.
            if let Ok(there) = model.log_density(&theta, &aligned) {
                noise = noise.max((there - here.value).abs());
            }
        }
        Ok(Rounded {
            value: here.value,
            error: here.error + Rounded::SAFETY * noise,
        })
    }

    fn minus(self, other: Rounded) -> Rounded {
        Rounded {
            value: self.value - other.value,
            error: self.error + other.error,
        }
    }

    fn times(self, factor: f64) -> Rounded {
        Rounded {
            value: self.value * factor,
            error: self.error * factor.abs(),
        }
    }

    /// Equal up to rounding, and up to a small part of `size`.
    fn agrees_with(self, other: Rounded, size: f64) -> bool {
        let both_overflow = !self.value.is_finite() && !other.value.is_finite();
        let tolerance = TOLERANCE * size.max(1.0) + self.error + other.error;
        both_overflow || (self.value - other.value).abs() <= tolerance
    }
}

/// Everything that is compared, at one theta and permutation.
#[derive(Clone, Copy)]
struct Compared {
    whole: Rounded,
    stan: Rounded,
    pair: Rounded,
}

impl Compared {
    fn since(self, earlier: Compared) -> Compared {
        Compared {
            whole: self.whole.minus(earlier.whole),
            stan: self.stan.minus(earlier.stan),
            pair: self.pair.minus(earlier.pair),
        }
    }

    /// The size of the likelihood, as the family has it, which does not depend on any prior.
    fn size(self) -> f64 {
        self.pair.value.abs()
    }

    /// Whether the program's density is so much larger than the likelihood that rounding hides it.
    fn hides_likelihood(self) -> bool {
        self.stan.error > HIDES * self.size().max(1.0)
    }
}

/// The links as they are, some that move half of the rows, and some that move all: no row is left out.
fn permutations(num_rows: usize, rng: &mut impl Rng) -> [Permutation; 3] {
    let half = (num_rows / 2).max(2).min(num_rows);
    [0, half, num_rows].map(|num_moved| Permutation::random_sparse(num_rows, num_moved, rng))
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
    let mut first: Option<Compared> = None;
    let mut hidden: Option<Compared> = None;
    let mut num_visible = 0;
    for theta in points {
        pairs.update(theta)?;
        let mut at_identity: Option<Compared> = None;
        for pi in permutations(num_rows, rng) {
            let num_moved = pi.num_moved();
            pi.align(responses, &mut aligned);
            let [whole, likelihood] = stan.evaluate(theta, &aligned, rng)?;
            let found = Compared {
                whole,
                stan: likelihood,
                pair: Rounded::exact(pairs.log_likelihood(&pi)?),
            };
            match found.hides_likelihood() {
                true => hidden = Some(found),
                false => num_visible += 1,
            }
            let Some(at_identity) = at_identity else {
                at_identity = Some(found);
                continue;
            };
            let size = found.size().max(at_identity.size());
            let change = found.since(at_identity);
            if !change.stan.agrees_with(change.pair, size) {
                // Not their difference: absolute deviations add up to the same under every permutation while all
                // residuals have one sign.
                let is_tempered = [found, at_identity].iter().any(|c| c.stan.value != 0.0);
                if stan.other.is_some() && !is_tempered {
                    return Err(AgreementError::Untempered { label: label() });
                }
                return Err(AgreementError::Likelihood {
                    label: label(),
                    family: family.to_string(),
                    moved: num_moved,
                    rows: num_rows,
                    stan: change.stan.value,
                    pair: change.pair.value,
                });
            }
            let tempered = change.pair.times(stan.alpha);
            if stan.other.is_some() && !change.whole.agrees_with(tempered, stan.alpha * size) {
                return Err(AgreementError::TermWithoutAlpha {
                    label: label(),
                    moved: num_moved,
                    rows: num_rows,
                    whole: change.whole.value,
                    tempered: tempered.value,
                });
            }
        }
        // Only here does a wrong tau show: its term of the loss is the same for every permutation.
        let at_identity = at_identity.expect("the first permutation is the identity");
        let first = *first.get_or_insert(at_identity);
        let size = first.size().max(at_identity.size());
        let change = at_identity.since(first);
        if stan.other.is_some() && !change.stan.agrees_with(change.pair, size) {
            return Err(AgreementError::Parameters {
                label: label(),
                family: family.to_string(),
                stan: change.stan.value,
                pair: change.pair.value,
            });
        }
    }
    match hidden.filter(|_| num_visible == 0) {
        Some(hidden) => Err(AgreementError::Hidden {
            label: label(),
            log_density: hidden.whole.value,
            likelihood: hidden.pair.value,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn differences_are_compared_at_the_size_of_what_was_subtracted() {
        let prior = -1e13;
        let log_density = |alpha: f64, log_lik: f64| Rounded::exact(alpha * log_lik + prior);
        let log_lik = |value: f64| {
            log_density(1.0, value)
                .minus(log_density(0.5, value))
                .times(2.0)
        };
        let change = log_lik(-812.337).minus(log_lik(-455.129));
        let expected = Rounded::exact(-812.337).minus(Rounded::exact(-455.129));
        // The prior has eaten the digits behind the third.
        let error = (change.value - expected.value).abs();
        assert!(error > 1e-8 * 812.337, "{error}");
        assert!(change.agrees_with(expected, 812.337));
        let wrong = Rounded::exact(-812.337).minus(Rounded::exact(-440.129));
        assert!(!change.agrees_with(wrong, 812.337));
        // Without the prior every digit counts.
        let near = Rounded::exact(1e-6).minus(Rounded::exact(0.0));
        assert!(!near.agrees_with(Rounded::exact(0.0), 1.0));
    }

    #[test]
    fn every_row_is_moved_at_every_point() {
        for seed in 0..20 {
            let tried = permutations(9, &mut ChaCha8Rng::seed_from_u64(seed));
            assert_eq!(tried[0].num_moved(), 0);
            for row in 0..9 {
                assert!(tried.iter().any(|pi| pi.is_moved(row)), "row {row}");
            }
        }
    }

    #[test]
    fn a_prior_that_leaves_no_digit_of_the_likelihood_hides_it() {
        let beside = |prior: f64| Compared {
            whole: Rounded::exact(prior - 800.0),
            stan: Rounded::exact(prior - 800.0).minus(Rounded::exact(prior - 400.0)),
            pair: Rounded::exact(-800.0),
        };
        assert!(!beside(-1e13).hides_likelihood());
        assert!(beside(-1e17).hides_likelihood());
    }

    #[test]
    fn densities_that_overflow_on_both_sides_say_nothing() {
        let overflow = Rounded::exact(f64::NEG_INFINITY);
        assert!(overflow.agrees_with(overflow, f64::INFINITY));
        assert!(!Rounded::exact(-5.0).agrees_with(Rounded::exact(5.0), 1.0));
    }
}
