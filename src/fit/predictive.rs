//! A posterior predictive check: the density of the responses beside those of data sets drawn from the fit.

use super::{FitError, Prepared};
use crate::model::{Family, LogSpread, ResponseKind};
use crate::numerics::rng;
use crate::numerics::{density, grid};
use crate::posterior::{Folder, LawDraws, Posterior, Predictive};

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

    /// How the spread of the family `robust` depends on the predictors.
    pub(super) fn spread(&self) -> Option<LogSpread> {
        let is_robust = matches!(self.config.known_family(), Some(Family::Robust { .. }));
        is_robust.then(|| LogSpread::new(self.program_data().x.view()))
    }

    /// None where there are no errors to add, or nothing is known of them but what the Stan program says.
    fn predictive(&self, posterior: &Posterior) -> Option<Predictive> {
        if self.config.model.response_kind() != ResponseKind::Real {
            return None;
        }
        let spread = self.spread();
        let (family, x) = (self.config.known_family()?, self.data.x.view());
        let laws = LawDraws::new(
            family,
            x,
            self.data.offset.as_deref(),
            &posterior.chains,
            spread.as_ref(),
        )?;
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
            let (chain, draw) = laws.place(draw);
            let data = laws.at(chain, draw)?.draw(&mut rng);
            density(&data, &grid)
        });
        Some(Predictive {
            replicated: replicated.collect(),
            grid,
            observed,
        })
    }
}
