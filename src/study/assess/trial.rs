//! One trial: wrong links planted into the file as given, a short fit, and how far each answer is off.

use std::sync::atomic::AtomicBool;

use serde::{Serialize, Serializer};

use super::AssessError;
use crate::config::{Config, Prior, Update};
use crate::data::{Dataset, INTERCEPT, link_space};
use crate::fit::{FitError, Program};
use crate::posterior::Posterior;
use crate::sampler::chain::Observer;
use crate::study::simulate::Planting;
use crate::text::FileError;
use crate::trust::{Coefficient, Method};

/// Shares of the links that are made wrong, of those that can be; the first trial is the file as given.
pub const SHARES: [f64; 4] = [0.0, 0.05, 0.1, 0.2];
/// The answers that are compared, in the order of tables.
pub const METHODS: [Method; 4] = [
    Method::AsLinked,
    Method::Huber,
    Method::Joint,
    Method::Recommended,
];

/// A trial needs the means of coefficients alone; the config's own settings where they are smaller.
const NUM_CHAINS: usize = 2;
const NUM_WARMUP: usize = 300;
const NUM_DRAWS: usize = 300;

/// The file as given, and a program that fits it.
pub struct Trials<'a> {
    program: &'a Program,
    config: Config,
    data: Dataset,
    num_movable: usize,
    /// The links as given of the first trial, which all others are measured by.
    target: Option<Vec<Coefficient>>,
}

/// What came of a trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// The share of wrong links, of those that can be wrong.
    pub share: f64,
    pub num_planted: usize,
    /// Mean over the slopes of the distance from the file as given with every link kept, in its standard deviations; by
    /// method, as far as it applies.
    #[serde(serialize_with = "by_name")]
    pub errors: Vec<(Method, f64)>,
    /// Mean share of the links that can be wrong which the fit found to be.
    pub found: f64,
    /// No check that decides has failed.
    pub trusted: bool,
    /// What contradicts the model; empty where nothing does.
    pub sentence: String,
    /// Time of one iteration of one chain.
    #[serde(skip)]
    pub iteration_seconds: f64,
}

fn by_name<S: Serializer>(errors: &[(Method, f64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(errors.iter().map(|(method, error)| (method.name(), error)))
}

impl Trial {
    pub fn error(&self, method: Method) -> Option<f64> {
        let found = self.errors.iter().find(|(known, _)| *known == method);
        found.map(|(_, error)| *error)
    }
}

impl<'a> Trials<'a> {
    pub fn new(
        program: &'a Program,
        mut config: Config,
        mut data: Dataset,
    ) -> Result<Trials<'a>, AssessError> {
        check(&config, &data)?;
        config.sampler.chains = config.sampler.chains.min(NUM_CHAINS);
        config.sampler.warmup = config.sampler.warmup.min(NUM_WARMUP);
        config.sampler.draws = config.sampler.draws.min(NUM_DRAWS);
        config.sampler.thin = 1;
        // They speak of the links that the file has, and would be wrong about planted ones.
        data.match_probability = None;
        data.candidates = None;
        data.rates = None;
        if config.permutation.prior == Prior::MatchProbability {
            config.permutation.prior = Prior::default();
        }
        let num_movable = link_space(&data).num_movable();
        if num_movable < 2 {
            return Err(AssessError::NothingMoves);
        }
        Ok(Trials {
            program,
            config,
            data,
            num_movable,
            target: None,
        })
    }

    pub fn num_chains(&self) -> usize {
        self.config.sampler.chains
    }

    /// The shares in the order of `SHARES`: the first one gives what the others are measured by. None when Ctrl-C came
    /// first.
    pub fn run(
        &mut self,
        share: f64,
        num_threads: usize,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Option<Trial>, AssessError> {
        let (data, num_planted) = self.planted(share)?;
        let unwritable = FileError::write_to(std::env::temp_dir());
        let folder = tempfile::tempdir().map_err(|error| FitError::from(unwritable(error)))?;
        let mut config = self.config.clone();
        config.output = folder.path().join("fit");
        let prepared = self.program.with_data(config, data)?;
        let mut fitted = prepared.sample(num_threads, stop, observer)?;
        prepared.judge(&mut fitted, num_threads, stop)?;
        let Some(trust) = &fitted.trust else {
            return Ok(None);
        };
        let of = |method: Method| slopes(&fitted, method);
        let target = self.target.get_or_insert_with(|| of(Method::AsLinked));
        if target.is_empty() {
            return Err(AssessError::NoSlopes);
        }
        let errors = METHODS
            .into_iter()
            .filter_map(|method| Some((method, distance(&of(method), target)?)))
            .collect();
        Ok(Some(Trial {
            share,
            num_planted,
            errors,
            found: num_moved(&fitted) / self.num_movable as f64,
            trusted: trust.trusted,
            sentence: trust.sentence.clone(),
            iteration_seconds: self.iteration_seconds(&fitted),
        }))
    }

    /// The data with planted links, and how many they are: 2 at least, and one more or less where blocks ask for it.
    fn planted(&self, share: f64) -> Result<(Dataset, usize), AssessError> {
        if share == 0.0 {
            return Ok((self.data.clone(), 0));
        }
        let count = (share * self.num_movable as f64).round() as usize;
        let count = count.clamp(2, self.num_movable);
        let mut refused = None;
        for count in [count, count + 1, count - 1] {
            let planting = Planting {
                fraction: count as f64 / self.data.num_rows() as f64,
                checked_share: 0.0,
                num_audited: None,
            };
            match planting.plant(&self.data, self.config.sampler.seed) {
                Ok(planted) => return Ok((planted.data, count)),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.map_or(AssessError::NothingMoves, AssessError::Plant))
    }

    fn iteration_seconds(&self, fitted: &Posterior) -> f64 {
        let chains = fitted.outcomes().iter();
        let seconds: f64 = chains.map(|c| c.warmup_seconds + c.sampling_seconds).sum();
        let sampler = &self.config.sampler;
        let iterations = sampler.chains * (sampler.warmup + sampler.draws);
        seconds / iterations as f64
    }
}

/// What cannot be assessed, before anything is compiled.
pub fn check(config: &Config, data: &Dataset) -> Result<(), AssessError> {
    if config.permutation.update == Update::None {
        return Err(AssessError::LinksStay);
    }
    if data.predictor_names.iter().all(|name| name == INTERCEPT) {
        return Err(AssessError::NoSlopes);
    }
    Ok(())
}

fn slopes(fitted: &Posterior, method: Method) -> Vec<Coefficient> {
    let all = fitted.coefficients.iter();
    let own = all.filter(|c| c.method == method && !c.name.ends_with(INTERCEPT));
    own.cloned().collect()
}

fn num_moved(fitted: &Posterior) -> f64 {
    let moved = fitted.quantity("n_moved");
    moved.and_then(|row| row.mean).unwrap_or(0.0)
}

/// None where the method has not estimated every slope, or the target has no spread to measure by.
fn distance(estimates: &[Coefficient], target: &[Coefficient]) -> Option<f64> {
    let distances = target.iter().map(|target| {
        let own = estimates.iter().find(|own| own.name == target.name)?;
        (target.sd > 0.0).then(|| (own.estimate - target.estimate).abs() / target.sd)
    });
    let distances: Vec<f64> = distances.collect::<Option<_>>()?;
    crate::numerics::mean(&distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coefficient(name: &str, method: Method, estimate: f64, sd: f64) -> Coefficient {
        Coefficient {
            name: name.into(),
            method,
            estimate,
            sd,
            q5: estimate - sd,
            q95: estimate + sd,
        }
    }

    #[test]
    fn distances_are_means_in_the_units_of_the_target() {
        let target = [
            coefficient("a", Method::AsLinked, 1.0, 0.5),
            coefficient("b", Method::AsLinked, -2.0, 0.1),
        ];
        let other = [
            coefficient("b", Method::Joint, -2.3, 9.0),
            coefficient("a", Method::Joint, 1.5, 9.0),
        ];
        let found = distance(&other, &target).unwrap();
        assert!((found - 2.0).abs() < 1e-12, "{found}");
        assert_eq!(distance(&target, &target), Some(0.0));
        assert_eq!(distance(&other[..1], &target), None, "b alone");
        let without_spread = [coefficient("a", Method::AsLinked, 1.0, 0.0)];
        assert_eq!(distance(&other, &without_spread), None);
    }
}
