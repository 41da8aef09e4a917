//! How theta reaches the permutation step: through a family written in Rust, or through the program itself.

use std::ops::Range;
use std::sync::Arc;

use ndarray::ArrayView2;
use rand::Rng;

use super::spread::LogSpread;
use super::{Block, Family, ModelError, Outputs, StanModel, StanPairs};
use crate::numerics::dot;
use crate::sampler::chain::LinkedPairs;
use crate::sampler::links::{
    FamilyLogLik, LinkKernel, LinksGivenMoved, OutsideLinks, PairLogLik, PairResponses,
    Permutation, Prior, SurveyWeights, UpdateInfo, WeightedLogLik,
};

/// The pair likelihood of one chain.
pub struct Pairs<'m> {
    source: PairSource<'m>,
    /// None where every row counts once.
    weights: Option<&'m SurveyWeights>,
}

/// Who computes the likelihood of a pair.
enum PairSource<'m> {
    Native(Box<NativePairs<'m>>),
    Stan(Box<StanPairs<'m>>),
}

/// Evaluates `$body` with `$pair` as the pair likelihood: of a family or of the program, with or without weights. Each is
/// a type of its own, so that the loops over pairs are compiled for it.
macro_rules! with_pair {
    ($pairs:expr, |$pair:ident| $body:expr) => {{
        let weighted = $pairs.weights;
        match (&$pairs.source, weighted) {
            (PairSource::Native(native), None) => {
                let $pair = &native.log_lik;
                Ok($body)
            }
            (PairSource::Native(native), Some(weights)) => {
                let pair = &native.log_lik;
                let $pair = &WeightedLogLik { pair, weights };
                Ok($body)
            }
            (PairSource::Stan(stan), None) => {
                let $pair = stan.as_ref();
                let result = $body;
                stan.take_error().map_or(Ok(result), Err)
            }
            (PairSource::Stan(stan), Some(weights)) => {
                let pair = stan.as_ref();
                let $pair = &WeightedLogLik { pair, weights };
                let result = $body;
                stan.take_error().map_or(Ok(result), Err)
            }
        }
    }};
}

impl<'m> Pairs<'m> {
    /// `model` may be the program on fewer rows than there are, where its parameters do not depend on them. `outputs` is this chain's own evaluator of it; `responses` stand one behind the other, each in the order of the user's rows.
    pub fn new(
        family: Family,
        model: &'m StanModel,
        outputs: Outputs<'m>,
        x: ArrayView2<'m, f64>,
        responses: &[f64],
        temperature: f64,
    ) -> Result<Pairs<'m>, ModelError> {
        let of_family = || Arc::new(PairResponses::new(family, responses.to_vec()));
        Pairs::sharing(family, model, outputs, x, responses, temperature, of_family)
    }

    /// As `new`; `of_family` gives what the family needs of the responses, where it is one written in Rust.
    pub fn sharing(
        family: Family,
        model: &'m StanModel,
        outputs: Outputs<'m>,
        x: ArrayView2<'m, f64>,
        responses: &[f64],
        temperature: f64,
        of_family: impl FnOnce() -> Arc<PairResponses>,
    ) -> Result<Pairs<'m>, ModelError> {
        if !family.facts().is_native {
            let pairs = StanPairs::new(model, outputs, responses, temperature)?;
            return Ok(Pairs::of(PairSource::Stan(Box::new(pairs))));
        }
        let num_responses = model.shape().num_responses();
        if num_responses > 1 {
            return Err(ModelError::OneResponse {
                label: model.label().to_string(),
                family: family.to_string(),
                num_responses,
            });
        }
        let log_lik = FamilyLogLik::of(family, of_family(), temperature);
        let pairs = NativePairs::new(model, outputs, x, log_lik)?;
        Ok(Pairs::of(PairSource::Native(Box::new(pairs))))
    }

    fn of(source: PairSource<'m>) -> Pairs<'m> {
        Pairs {
            source,
            weights: None,
        }
    }

    /// The same likelihood with an offset of each row of X. A program that computes the likelihood itself has it in its data.
    pub fn with_offset(mut self, offset: Option<&'m [f64]>) -> Pairs<'m> {
        if let PairSource::Native(pairs) = &mut self.source {
            pairs.offset = offset;
        }
        self
    }

    /// The same likelihood with survey weights.
    pub fn with_weights(self, weights: Option<&'m SurveyWeights>) -> Pairs<'m> {
        Pairs { weights, ..self }
    }

    /// The untempered log likelihood of all rows under `pi`, each with its weight.
    pub(super) fn log_likelihood(&self, pi: &Permutation) -> Result<f64, ModelError> {
        let rows = 0..pi.len();
        let sum = rows.map(|i| self.log_density(i, pi.column_of(i))).sum();
        match &self.source {
            PairSource::Native(_) => Ok(sum),
            PairSource::Stan(pairs) => pairs.take_error().map_or(Ok(sum), Err),
        }
    }

    /// The untempered log density of the response of `row` at the predictors of `column`, times its weight.
    fn log_density(&self, row: usize, column: usize) -> f64 {
        let weight = self.weights.map_or(1.0, |w| w.of_pair(row, column));
        match &self.source {
            _ if weight == 0.0 => 0.0,
            PairSource::Native(pairs) => weight * pairs.log_lik.log_density(row, column),
            PairSource::Stan(pairs) => weight * pairs.log_density(row, column),
        }
    }
}

impl LinkedPairs for Pairs<'_> {
    type Error = ModelError;

    fn update(&mut self, theta: &[f64]) -> Result<(), ModelError> {
        match &mut self.source {
            PairSource::Native(pairs) => pairs.update(theta),
            PairSource::Stan(pairs) => pairs.update(theta),
        }
    }

    fn step<R: Rng>(
        &self,
        kernel: &mut LinkKernel,
        pi: &mut Permutation,
        prior: &Prior,
        rng: &mut R,
    ) -> Result<UpdateInfo, ModelError> {
        with_pair!(self, |pair| kernel.step(pi, pair, prior, rng))
    }

    /// Programs that compute the likelihood of pairs themselves have other costs.
    fn keep_proposals(&self, kernel: &mut LinkKernel, prior: &Prior) {
        let PairSource::Native(native) = &self.source else {
            return;
        };
        let pair = &native.log_lik;
        match self.weights {
            None => kernel.keep_proposals(pair, prior),
            Some(weights) => kernel.keep_proposals(&WeightedLogLik { pair, weights }, prior),
        }
    }

    fn step_given_moved<R: Rng>(
        &self,
        links: &mut LinksGivenMoved,
        state: &Permutation,
        prior: &Prior,
        rng: &mut R,
    ) -> Result<(), ModelError> {
        with_pair!(self, |pair| links.step(state, pair, prior, rng))
    }

    fn step_outside<R: Rng>(
        &self,
        links: &mut OutsideLinks<'_>,
        pi: &mut Permutation,
        wrong: Option<&Permutation>,
        rng: &mut R,
    ) -> Result<UpdateInfo, ModelError> {
        let temperature = self.temperature();
        let own = |row: usize| temperature * self.log_density(row, row);
        with_pair!(self, |pair| links.step_as(pi, pair, own, wrong, rng))
    }

    fn draw_may_be_outside<R: Rng>(
        &self,
        links: &mut OutsideLinks<'_>,
        pi: &mut Permutation,
        whole: &Prior,
        rng: &mut R,
    ) -> Result<bool, ModelError> {
        let temperature = self.temperature();
        let own = |row: usize| temperature * self.log_density(row, row);
        with_pair!(self, |pair| links
            .draw_may_be_outside(pi, pair, own, whole, rng))
    }

    fn temperature(&self) -> f64 {
        match &self.source {
            PairSource::Native(pairs) => pairs.log_lik.temperature(),
            PairSource::Stan(pairs) => pairs.temperature(),
        }
    }

    fn own_log_densities(&self, own: &mut Vec<f64>) {
        own.clear();
        match &self.source {
            PairSource::Native(pairs) => {
                let log_lik = &pairs.log_lik;
                own.extend((0..log_lik.len()).map(|i| log_lik.log_density(i, i)));
            }
            PairSource::Stan(pairs) => own.extend_from_slice(pairs.diagonal()),
        }
        if let Some(weights) = self.weights {
            let rows = own.iter_mut().zip(weights.values());
            rows.for_each(|(own, weight)| *own *= weight);
        }
    }
}

/// A family that needs only coefficients of the program, and for some a scale.
pub struct NativePairs<'m> {
    outputs: Outputs<'m>,
    x: ArrayView2<'m, f64>,
    /// What is added to x'beta, row by row of X.
    offset: Option<&'m [f64]>,
    /// Where `beta` stands among the program's outputs.
    beta: Range<usize>,
    scale: Scale,
    last: Block,
    log_lik: FamilyLogLik<Family>,
}

/// Where the scale stands among the program's outputs.
enum Scale {
    /// As `sigma2`.
    Variance(usize),
    /// As `sigma`.
    Itself(usize),
    /// As `sigma` at the mean of the predictors, with `gamma` for its change and the degrees of freedom `nu`.
    ByColumn {
        sigma: usize,
        gamma: Range<usize>,
        nu: usize,
        spread: LogSpread,
    },
    /// The family has none.
    None,
}

impl<'m> NativePairs<'m> {
    fn new(
        model: &'m StanModel,
        outputs: Outputs<'m>,
        x: ArrayView2<'m, f64>,
        log_lik: FamilyLogLik<Family>,
    ) -> Result<NativePairs<'m>, ModelError> {
        let missing = |what: String| ModelError::Family {
            label: model.label().to_string(),
            what,
        };
        let (beta, beta_block) = model
            .index_of("beta")
            .ok_or_else(|| missing("`vector[D] beta`".into()))?;
        if beta.len() != x.ncols() {
            return Err(missing(format!(
                "`beta` with {} values, one for each column of X (it has {})",
                x.ncols(),
                beta.len()
            )));
        }
        let named = |name: &str| {
            let (range, block) = model.index_of(name)?;
            (range.len() == 1).then_some((range.start, block))
        };
        let (scale, last) = if !log_lik.family().facts().is_additive {
            (Scale::None, beta_block)
        } else if matches!(log_lik.family(), Family::Robust { .. }) {
            let spread = LogSpread::new(x);
            let found = (named("sigma"), model.index_of("gamma"), named("nu"));
            let (Some(sigma), Some(gamma), Some(nu)) = found else {
                return Err(missing(
                    "`real<lower=0> sigma`, `vector gamma` and `real<lower=1> nu`".into(),
                ));
            };
            if gamma.0.len() != spread.num_columns() {
                return Err(missing(format!(
                    "`gamma` with {} values, one for each column of X that varies (it has {})",
                    spread.num_columns(),
                    gamma.0.len()
                )));
            }
            let last = beta_block.max(sigma.1).max(gamma.1).max(nu.1);
            let scale = Scale::ByColumn {
                sigma: sigma.0,
                gamma: gamma.0,
                nu: nu.0,
                spread,
            };
            (scale, last)
        } else if let Some((place, block)) = named("sigma2") {
            (Scale::Variance(place), beta_block.max(block))
        } else if let Some((place, block)) = named("sigma") {
            (Scale::Itself(place), beta_block.max(block))
        } else {
            return Err(missing("`real<lower=0> sigma2` or `sigma`".into()));
        };
        let mut outputs = outputs;
        outputs.place_response(log_lik.response());
        Ok(NativePairs {
            outputs,
            x,
            offset: None,
            beta,
            scale,
            last,
            log_lik,
        })
    }

    fn update(&mut self, theta: &[f64]) -> Result<(), ModelError> {
        let values = self.outputs.evaluate_again(theta, self.last)?;
        let beta = &values[self.beta.clone()];
        let (x, offset) = (self.x, self.offset);
        let fit = |fitted: &mut [f64]| {
            for (fitted, row) in fitted.iter_mut().zip(x.rows()) {
                *fitted = match row.as_slice() {
                    Some(row) => dot(row, beta),
                    None => row.iter().zip(beta).map(|(x, b)| x * b).sum(),
                };
            }
            for (fitted, offset) in fitted.iter_mut().zip(offset.unwrap_or_default()) {
                *fitted += offset;
            }
        };
        match &self.scale {
            Scale::Variance(place) => self.log_lik.update(values[*place].sqrt(), fit),
            Scale::Itself(place) => self.log_lik.update(values[*place], fit),
            Scale::None => self.log_lik.update(1.0, fit),
            Scale::ByColumn {
                sigma,
                gamma,
                nu,
                spread,
            } => {
                let family = Family::Robust { nu: values[*nu] };
                let (sigma, gamma) = (values[*sigma], &values[gamma.clone()]);
                self.log_lik.update_by_column(family, |fitted, scales| {
                    fit(fitted);
                    spread.fill(self.x, sigma, gamma, scales);
                });
            }
        }
        Ok(())
    }
}
