//! A posterior predictive check: the density of the responses beside those of data sets drawn from the fit.

use ndarray::{ArrayView1, ArrayView2};
use rand::Rng;

use super::{FitError, Prepared};
use crate::config::Config;
use crate::model::{Family, ResponseKind, Source};
use crate::numerics::rng;
use crate::numerics::{density, grid};
use crate::posterior::draws::ChainDraws;
use crate::posterior::{Folder, Posterior, Predictive};

const NUM_REPLICATED: usize = 30;
const NUM_POINTS: usize = 120;
/// Chains count from 1 and the agreement check has the last stream.
const STREAM: usize = usize::MAX - 1;

impl Prepared {
    /// Writes predictive.json, where there is one to write.
    pub(super) fn check_predictive(&self, posterior: &mut Posterior) -> Result<(), FitError> {
        posterior.predictive = self.predictive(posterior);
        if let Some(predictive) = &posterior.predictive {
            let text = serde_json::to_string(predictive).expect("plain JSON");
            posterior.folder.write(Folder::PREDICTIVE, text)?;
        }
        Ok(())
    }

    /// None where there are no errors to add, or nothing is known of them but what the Stan program says.
    fn predictive(&self, posterior: &Posterior) -> Option<Predictive> {
        if self.config.model.response_kind() != ResponseKind::Real {
            return None;
        }
        let family = drawn_family(&self.config)?;
        let mut rng = rng::stream(self.config.sampler.seed, STREAM);
        let response = &self.data.response;
        let (low, high) = response
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), y| {
                (low.min(*y), high.max(*y))
            });
        let margin = 0.15 * (high - low);
        let grid = grid(low - margin, high + margin, NUM_POINTS);
        let observed = density(response, &grid)?;
        let num_draws = posterior.num_draws();
        let replicated = (0..NUM_REPLICATED.min(num_draws)).filter_map(|k| {
            let draw = k * num_draws / NUM_REPLICATED.min(num_draws);
            let (chain, draw) = posterior.place(draw);
            let (chain, x) = (&posterior.chains[chain], self.data.x.view());
            let data = draw_responses(chain, draw, x, family, &mut rng)?;
            density(&data, &grid)
        });
        Some(Predictive {
            replicated: replicated.collect(),
            grid,
            observed,
        })
    }
}

/// The family where its scale is all that it needs of the program besides the coefficients.
pub(crate) fn drawn_family(config: &Config) -> Option<Family> {
    let family = config.known_family()?;
    family
        .parameter_of(Source::Program)
        .is_none()
        .then_some(family)
}

/// Responses of the rows of `x` from one draw of a chain; None for a program without one `beta` for each column of X, or a scale.
pub(crate) fn draw_responses(
    chain: &ChainDraws,
    draw: usize,
    x: ArrayView2<f64>,
    family: Family,
    rng: &mut impl Rng,
) -> Option<Vec<f64>> {
    let value = |name: &str| chain.column(name).map(|column| column[draw]);
    let beta: Option<Vec<f64>> = (1..=x.ncols())
        .map(|k| value(&format!("beta.{k}")))
        .collect();
    let scale = match family.facts().is_additive {
        false => 1.0,
        true => value("sigma2").map(f64::sqrt).or_else(|| value("sigma"))?,
    };
    let linear = x.dot(&ArrayView1::from(&beta?));
    let responses = linear.iter().map(|at| family.at(*at, scale).draw(rng));
    Some(responses.collect())
}
