//! The law of a response at each row of X, for one draw of the parameters.

use ndarray::{ArrayView1, ArrayView2};
use rand::Rng;

use crate::config::{Config, Family, ModelSource, Update};
use crate::model::Spread;
use crate::numerics::log_gamma;
use crate::numerics::{beta_cdf, gamma_cdf, normal_quantile};
use crate::posterior::draws::ChainDraws;
use crate::sampler::links;
use crate::study::simulate::Errors;

/// Normal scores beyond this are as good as impossible under the model, and would overflow fourth powers of nothing.
const LARGEST_SCORE: f64 = 8.0;

/// Which law a program has, and how many columns of X it needs coefficients for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum LawKind {
    Normal,
    AsymmetricLaplace { tau: f64 },
    StudentT { nu: f64 },
    Robust,
    Poisson,
    Logistic,
    NegativeBinomial,
    Gamma,
}

impl LawKind {
    /// None for a program of the user's own whose likelihood only the program knows.
    pub fn of(config: &Config) -> Option<LawKind> {
        let shipped = match &config.model.stan {
            ModelSource::Shipped(name) => name.as_str(),
            ModelSource::File(_) => "",
        };
        // Where links move, the agreement check has compared the program with its family.
        let is_checked = config.permutation.update != Update::None;
        let known = is_checked || !matches!(shipped, "" | "mean_shift");
        match (shipped, config.model.family()) {
            ("negative_binomial", _) => Some(LawKind::NegativeBinomial),
            ("gamma", _) => Some(LawKind::Gamma),
            _ if !known => None,
            (_, Family::Gaussian) => Some(LawKind::Normal),
            (_, Family::AsymmetricLaplace { tau }) => Some(LawKind::AsymmetricLaplace { tau }),
            (_, Family::StudentT { nu }) => Some(LawKind::StudentT { nu }),
            (_, Family::Robust) => Some(LawKind::Robust),
            (_, Family::Poisson) => Some(LawKind::Poisson),
            (_, Family::Logistic) => Some(LawKind::Logistic),
            (_, Family::Stan) => None,
        }
    }

    /// Whether x'beta is the mean of a response, or the logarithm or logit of it: the fit of the mean to wrongly linked
    /// rows is then known.
    pub fn has_mean(self) -> bool {
        !matches!(self, LawKind::AsymmetricLaplace { .. })
    }

    /// Whether responses are real numbers that scatter around x'beta.
    pub fn has_errors(self) -> bool {
        use LawKind::*;
        matches!(
            self,
            Normal | AsymmetricLaplace { .. } | StudentT { .. } | Robust
        )
    }

    /// Whether the likelihood claims the shape of the errors, and not only their spread: a quantile regression does not.
    pub fn claims_tails(self) -> bool {
        !matches!(self, LawKind::AsymmetricLaplace { .. } | LawKind::Logistic)
    }

    /// Whether a single response says anything of the spread at its row.
    pub fn has_spread(self) -> bool {
        self != LawKind::Logistic
    }
}

/// The law of the response at one row of X.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    pub errors: Errors,
    pub fitted: f64,
    pub scale: f64,
}

impl Law {
    pub fn log_density(&self, y: f64) -> f64 {
        match self.errors {
            Errors::NegativeBinomial { phi } => {
                let mean = self.fitted.exp();
                log_gamma(y + phi) - log_gamma(phi) - log_gamma(y + 1.0)
                    + phi * (phi / (phi + mean)).ln()
                    + y * (mean / (phi + mean)).ln()
            }
            Errors::Gamma { shape } => {
                shape * (shape.ln() - self.fitted) - log_gamma(shape) + (shape - 1.0) * y.ln()
                    - shape * y * (-self.fitted).exp()
            }
            errors => native(errors).log_density(y, self.fitted, self.scale),
        }
    }

    /// The derivative of the log density in x'beta.
    pub fn score(&self, y: f64) -> f64 {
        let step = 1e-4 * self.scale;
        let at = |fitted: f64| Law { fitted, ..*self }.log_density(y);
        (at(self.fitted + step) - at(self.fitted - step)) / (2.0 * step)
    }

    pub fn mean(&self) -> f64 {
        match self.errors {
            Errors::Poisson | Errors::NegativeBinomial { .. } | Errors::Gamma { .. } => {
                self.fitted.exp()
            }
            Errors::Logistic => 1.0 / (1.0 + (-self.fitted).exp()),
            _ => self.fitted,
        }
    }

    pub fn draw(&self, rng: &mut impl Rng) -> f64 {
        self.errors.respond(self.fitted, self.scale, rng)
    }

    /// The response as a standard normal number: the probability integral transform, at random inside the jumps of a
    /// discrete law.
    pub fn normal_score(&self, y: f64, rng: &mut impl Rng) -> f64 {
        let residual = (y - self.fitted) / self.scale;
        let (below, at_most) = match self.errors {
            Errors::Normal => return residual.clamp(-LARGEST_SCORE, LARGEST_SCORE),
            Errors::StudentT { nu } => return student_score(residual, nu),
            Errors::AsymmetricLaplace { tau } => {
                let p = match residual < 0.0 {
                    true => tau * ((1.0 - tau) * residual).exp(),
                    false => 1.0 - (1.0 - tau) * (-tau * residual).exp(),
                };
                (p, p)
            }
            Errors::Gamma { shape } => {
                let p = gamma_cdf(shape * y * (-self.fitted).exp(), shape);
                (p, p)
            }
            _ => {
                let mut below = 0.0;
                let mut count = 0.0;
                while count < y && below < 1.0 {
                    below += Law::log_density(self, count).exp();
                    count += 1.0;
                }
                (below, below + self.log_density(y).exp())
            }
        };
        let p = below + (at_most - below).max(0.0) * rng.random::<f64>();
        normal_quantile(p.clamp(1e-15, 1.0 - 1e-15)).clamp(-LARGEST_SCORE, LARGEST_SCORE)
    }
}

fn native(errors: Errors) -> links::Family {
    match errors {
        Errors::Normal => links::Family::Gaussian,
        Errors::AsymmetricLaplace { tau } => links::Family::AsymmetricLaplace { tau },
        Errors::StudentT { nu } => links::Family::StudentT { nu },
        Errors::Poisson => links::Family::Poisson,
        Errors::Logistic => links::Family::Logistic,
        Errors::NegativeBinomial { .. } | Errors::Gamma { .. } => unreachable!("handled above"),
    }
}

/// From the tail, which keeps its digits however far out it is.
fn student_score(residual: f64, nu: f64) -> f64 {
    let square = residual * residual;
    let tail = 0.5 * beta_cdf(nu / (nu + square), 0.5 * nu, 0.5);
    let score = -normal_quantile(tail.clamp(1e-15, 0.5));
    score.min(LARGEST_SCORE).copysign(residual)
}

/// The laws of all rows of X.
#[derive(Debug, Clone)]
pub(super) struct RowLaws {
    pub laws: Vec<Law>,
}

/// The posterior draws of everything that the laws need.
pub(super) struct LawDraws<'a> {
    kind: LawKind,
    x: ArrayView2<'a, f64>,
    chains: &'a [ChainDraws],
    /// Of the program whose spread depends on the predictors.
    spread: Option<Spread>,
}

impl<'a> LawDraws<'a> {
    /// None where the draws lack one `beta` for each column of X, or a scale.
    pub fn new(
        kind: LawKind,
        x: ArrayView2<'a, f64>,
        chains: &'a [ChainDraws],
    ) -> Option<LawDraws<'a>> {
        let draws = LawDraws {
            kind,
            x,
            chains,
            spread: (kind == LawKind::Robust).then(|| Spread::new(x)),
        };
        let first = chains.first()?;
        (first.num_draws() > 0).then_some(())?;
        draws.at(first, 0).map(|_| draws)
    }

    pub fn num_draws(&self) -> usize {
        self.chains.iter().map(ChainDraws::num_draws).sum()
    }

    /// A draw of all chains by its number: its chain, and its number there.
    pub fn place(&self, mut number: usize) -> (&'a ChainDraws, usize) {
        for chain in self.chains {
            if number < chain.num_draws() {
                return (chain, number);
            }
            number -= chain.num_draws();
        }
        panic!("fewer draws than were counted");
    }

    pub fn beta(&self, chain: &ChainDraws, draw: usize) -> Option<Vec<f64>> {
        let entry = |k: usize| Some(chain.column(&format!("beta.{k}"))?[draw]);
        (1..=self.x.ncols()).map(entry).collect()
    }

    pub fn at(&self, chain: &ChainDraws, draw: usize) -> Option<RowLaws> {
        let value = |name: &str| chain.column(name).map(|column| column[draw]);
        let scale = || {
            let variance = value("sigma2").map(f64::sqrt);
            variance.or_else(|| value("sigma"))
        };
        let (errors, scale) = match self.kind {
            LawKind::Normal => (Errors::Normal, scale()?),
            LawKind::AsymmetricLaplace { tau } => (Errors::AsymmetricLaplace { tau }, scale()?),
            LawKind::StudentT { nu } => (Errors::StudentT { nu }, scale()?),
            LawKind::Robust => (Errors::StudentT { nu: value("nu")? }, scale()?),
            LawKind::Poisson => (Errors::Poisson, 1.0),
            LawKind::Logistic => (Errors::Logistic, 1.0),
            LawKind::NegativeBinomial => {
                let phi = value("phi")?;
                (Errors::NegativeBinomial { phi }, 1.0)
            }
            LawKind::Gamma => {
                let shape = value("shape")?;
                (Errors::Gamma { shape }, 1.0)
            }
        };
        let beta = self.beta(chain, draw)?;
        let fitted = self.x.dot(&ArrayView1::from(&beta));
        let mut scales = vec![scale; fitted.len()];
        if let Some(spread) = &self.spread {
            let entry = |k: usize| value(&format!("gamma.{k}"));
            let gamma: Option<Vec<f64>> = (1..=spread.num_columns()).map(entry).collect();
            spread.fill(scale, &gamma?, &mut scales);
        }
        let law = |(&fitted, &scale): (&f64, &f64)| Law {
            errors,
            fitted,
            scale,
        };
        Some(RowLaws {
            laws: fitted.iter().zip(&scales).map(law).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const ALL: [Errors; 7] = [
        Errors::Normal,
        Errors::AsymmetricLaplace { tau: 0.3 },
        Errors::StudentT { nu: 3.0 },
        Errors::Poisson,
        Errors::Logistic,
        Errors::NegativeBinomial { phi: 2.5 },
        Errors::Gamma { shape: 4.0 },
    ];

    /// Mean and variance of n standard normal numbers lie within 5 standard errors of 0 and 1, with sd 1/sqrt(n), sqrt(2/n).
    fn moments(errors: Errors, scored_as: Errors) -> (f64, f64) {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let n = 40_000;
        let law = |errors| Law {
            errors,
            fitted: 0.8,
            scale: 0.6,
        };
        let scores: Vec<f64> = (0..n)
            .map(|_| {
                let y = law(errors).draw(&mut rng);
                law(scored_as).normal_score(y, &mut rng)
            })
            .collect();
        let mean = scores.iter().sum::<f64>() / f64::from(n);
        let variance = scores.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / f64::from(n);
        let root = f64::from(n).sqrt();
        (mean * root, (variance - 1.0) * root / 2f64.sqrt())
    }

    #[test]
    fn responses_of_the_law_itself_have_normal_scores() {
        for errors in ALL {
            let (mean, variance) = moments(errors, errors);
            assert!(
                mean.abs() < 5.0 && variance.abs() < 5.0,
                "{errors:?}: {mean} {variance}"
            );
        }
    }

    #[test]
    fn responses_of_another_law_do_not() {
        let (_, variance) = moments(Errors::StudentT { nu: 3.0 }, Errors::Normal);
        assert!(variance > 20.0, "{variance}");
        let (_, variance) = moments(Errors::NegativeBinomial { phi: 2.5 }, Errors::Poisson);
        assert!(variance > 20.0, "{variance}");
    }

    #[test]
    fn scores_in_the_linear_predictor_have_mean_zero() {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let n = 20_000;
        for errors in ALL
            .into_iter()
            .filter(|e| !matches!(e, Errors::AsymmetricLaplace { .. }))
        {
            let law = Law {
                errors,
                fitted: -0.4,
                scale: 1.3,
            };
            let scores: Vec<f64> = (0..n).map(|_| law.score(law.draw(&mut rng))).collect();
            let mean = scores.iter().sum::<f64>() / f64::from(n);
            let variance = scores.iter().map(|s| s * s).sum::<f64>() / f64::from(n);
            let z = mean / (variance / f64::from(n)).sqrt();
            assert!(z.abs() < 5.0, "{errors:?}: {z}");
        }
    }
}
