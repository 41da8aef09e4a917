//! After a fit: the same program with every link kept, other estimators, and what of it all to recommend.

use std::sync::atomic::AtomicBool;

use super::sample::split;
use super::{FitError, Prepared};
use crate::baseline::Baseline;
use crate::baseline::compare::{self, Estimate, KNOWN_RATE, KnownRateBaseline, UNSHUFFLE};
use crate::config::{Feedback, Update};
use crate::data::Dataset;
use crate::posterior::diagnostics::SummaryRow;
use crate::posterior::{Folder, Posterior, coefficients_csv, summary};
use crate::sampler::chain::Silent;
use crate::sampler::links::{SurveyWeights, WeightSide};
use crate::trust::{self, Coefficient, Judgement, Method};

/// Enough for a mean within 4 % of its posterior standard deviation; the links as given are a plain posterior.
const NUM_CHAINS: usize = 2;
const NUM_WARMUP: usize = 400;
const NUM_DRAWS: usize = 500;

impl Prepared {
    /// Checks the fit and writes coefficients.csv and trust.json; a fit without all its draws is not checked.
    pub fn judge(
        &self,
        posterior: &mut Posterior,
        num_threads: usize,
        stop: &AtomicBool,
    ) -> Result<(), FitError> {
        self.check(posterior, num_threads, stop)?;
        let Some(trust) = &posterior.trust else {
            return Ok(());
        };
        let folder = &posterior.folder;
        folder.write(
            Folder::COEFFICIENTS,
            coefficients_csv(&posterior.coefficients),
        )?;
        Ok(folder.write_json(Folder::TRUST, trust)?)
    }

    /// Checks the model behind the links, and sets what is to be recommended.
    pub(super) fn check(
        &self,
        posterior: &mut Posterior,
        num_threads: usize,
        stop: &AtomicBool,
    ) -> Result<(), FitError> {
        if posterior.chains.is_empty() || posterior.is_interrupted() {
            return Ok(());
        }
        let joint = self.coefficients(posterior.summary(), Method::Joint);
        let judgement = match &posterior.links {
            None => self.kept(joint),
            Some(links) => {
                let given = self.as_linked(num_threads, stop)?;
                if given.is_empty() {
                    // Ctrl-C came before its last draw.
                    return Ok(());
                }
                let p_moved: Vec<f64> = (0..links.num_rows())
                    .map(|row| links.row(row).p_moved)
                    .collect();
                let (known, spread) = (self.known_rate(), self.spread());
                let fit = trust::FitToJudge {
                    config: &self.config,
                    data: &self.data,
                    space: self.prior.space(),
                    num_movable: self.num_movable(),
                    no_exchange: self.no_exchange(),
                    chains: &posterior.chains,
                    spread: spread.as_ref(),
                    p_moved: &p_moved,
                    largest_r_hat: largest_r_hat(posterior.summary()),
                    as_linked: self.coefficients(&given, Method::AsLinked),
                    others: self.others(known.as_ref()),
                    has_known_rate: known.is_some(),
                    joint,
                };
                let reweigh = |weights: &[f64]| self.weighted(weights, num_threads, stop);
                let reweigh = self.is_beyond_least_squares().then_some(reweigh);
                match fit.judge(reweigh)? {
                    Some(judgement) => judgement,
                    // Ctrl-C came before the last draw of the weighted rows.
                    None => return Ok(()),
                }
            }
        };
        posterior.coefficients = judgement.coefficients;
        posterior.trust = Some(judgement.trust);
        Ok(())
    }

    /// The judgement of a fit that kept every link.
    fn kept(&self, joint: Vec<Coefficient>) -> Judgement {
        let as_method = |method: Method| {
            let relabel = move |c: &Coefficient| Coefficient {
                method,
                ..c.clone()
            };
            joint.iter().map(relabel).collect::<Vec<_>>()
        };
        let mut coefficients = as_method(Method::Recommended);
        coefficients.extend(as_method(Method::AsLinked));
        Judgement {
            trust: trust::Trust {
                trusted: true,
                source: Method::AsLinked,
                weight: 0.0,
                checks: Vec::new(),
                sentence: String::new(),
                rates: None,
                wrong_along: Vec::new(),
            },
            coefficients,
        }
    }

    /// The summary of a short run of the same program that keeps every link; empty where it was interrupted.
    fn as_linked(
        &self,
        num_threads: usize,
        stop: &AtomicBool,
    ) -> Result<Vec<SummaryRow>, FitError> {
        let mut config = self.config.clone();
        config.permutation.update = Update::None;
        config.sampler.chains = NUM_CHAINS;
        config.sampler.warmup = config.sampler.warmup.min(NUM_WARMUP);
        config.sampler.draws = config.sampler.draws.min(NUM_DRAWS);
        config.sampler.thin = 1;
        let responses = self.program_data().responses();
        let run = self.run(&config, &responses, num_threads, stop, &Silent);
        let chains = run.in_memory()?;
        let is_whole = chains.iter().all(|(outcome, _)| !outcome.interrupted);
        if chains.len() < config.sampler.chains || !is_whole {
            return Ok(Vec::new());
        }
        let samples = chains.into_iter().map(|(_, sample)| sample);
        let (draws, _) = split(samples.collect());
        Ok(summary::rows(&draws))
    }

    /// Whether the coefficients may be others than those of least squares, by its error law or by its priors, and it can weigh
    /// its rows.
    fn is_beyond_least_squares(&self) -> bool {
        !self.config.model.stan.is_shipped("linear") && self.program.takes_weights
    }

    /// The coefficients of the same program with every link kept and these weights of the rows; None where Ctrl-C came before the
    /// last draw.
    fn weighted(
        &self,
        weights: &[f64],
        num_threads: usize,
        stop: &AtomicBool,
    ) -> Result<Option<Vec<Coefficient>>, FitError> {
        let mut config = self.config.clone();
        config.permutation.update = Update::None;
        // These have weights of their own, for links that move.
        config.permutation.feedback = Feedback::Full;
        (
            config.permutation.outside,
            config.permutation.outside_for_unlinked,
        ) = (None, None);
        let mut data = self.data.clone();
        data.weights = Some(SurveyWeights::new(weights.to_vec(), WeightSide::Predictors));
        let weighted = self.program.with_data(config, data)?;
        let rows = weighted.as_linked(num_threads, stop)?;
        let coefficients = self.coefficients(&rows, Method::AsLinked);
        Ok((!coefficients.is_empty()).then_some(coefficients))
    }

    /// Huber, the row mixture and the estimate for a known rate, as far as they apply.
    fn others(&self, known: Option<&KnownRateBaseline>) -> Vec<Coefficient> {
        let of_mean = self.is_real() && trust::is_of_mean(&self.config);
        let mut estimates = Vec::new();
        if self.has_coefficients() && of_mean {
            let methods = [Baseline::Huber, Baseline::Mixture];
            estimates.extend(compare::baselines(&self.data, &methods));
        }
        estimates.extend(known.map(KnownRateBaseline::estimates).unwrap_or_default());
        estimates.iter().filter_map(coefficient).collect()
    }

    /// The program's coefficients under the user's names, or all it estimates where it has other parameters.
    fn coefficients(&self, rows: &[SummaryRow], method: Method) -> Vec<Coefficient> {
        let names = coefficient_names(&self.data, self.model.output_names());
        let named = |row: &SummaryRow| {
            let known = names.iter().find(|(quantity, _)| *quantity == row.name);
            known.map(|(_, name)| name.clone())
        };
        let has_all = names
            .iter()
            .all(|(quantity, _)| rows.iter().any(|row| row.name == *quantity));
        let name_of = |row: &SummaryRow| match has_all {
            true => named(row),
            false => self.is_parameter(&row.name).then(|| row.name.clone()),
        };
        let line = |row: &SummaryRow| {
            Some(Coefficient {
                name: name_of(row)?,
                method,
                estimate: row.mean?,
                sd: row.sd?,
                q5: row.q5?,
                q95: row.q95?,
            })
        };
        rows.iter().filter_map(line).collect()
    }

    /// Neither one of the sampler's own quantities nor one that the program has for each row.
    fn is_parameter(&self, name: &str) -> bool {
        let of_links = [
            "lp__",
            "n_moved",
            "mismatch_rate",
            "n_outside",
            "outside_share",
        ]
        .contains(&name);
        let base = name.split('.').next().unwrap_or(name);
        let has_rates = self.rates.is_some() || self.num_block_rates() > 0;
        let of_links = of_links || (base == "rate" && has_rates);
        let last = format!("{base}.{}", self.program_data().num_rows());
        !of_links && !self.model.output_names().contains(&last)
    }
}

/// `beta.1`, ... by predictor, or `beta.1.1`, ... by predictor and response, with the user's names.
fn coefficient_names(data: &Dataset, outputs: &[String]) -> Vec<(String, String)> {
    let predictors = || (1..).zip(&data.predictor_names);
    // A list of responses may have one linear predictor, as a time and its event have.
    let by_response = outputs.iter().any(|name| name == "beta.1.1");
    match data.response_names.as_ref().filter(|_| by_response) {
        None => predictors()
            .map(|(d, name)| (format!("beta.{d}"), name.clone()))
            .collect(),
        Some(responses) => (1..)
            .zip(responses)
            .flat_map(|(k, response)| {
                predictors()
                    .map(move |(d, name)| (format!("beta.{d}.{k}"), format!("{response}: {name}")))
            })
            .collect(),
    }
}

fn coefficient(estimate: &Estimate) -> Option<Coefficient> {
    let method = match estimate.method.as_str() {
        "huber" => Method::Huber,
        "mixture" => Method::Mixture,
        KNOWN_RATE => Method::KnownRate,
        UNSHUFFLE => Method::Joint,
        _ => return None,
    };
    let [q5, q95] = estimate.interval?;
    Some(Coefficient {
        name: estimate.name.clone(),
        method,
        estimate: estimate.value,
        sd: estimate.standard_error?,
        q5,
        q95,
    })
}

/// Over all that is estimated but the log density.
fn largest_r_hat(rows: &[SummaryRow]) -> Option<f64> {
    let estimated = rows.iter().filter(|row| row.name != "lp__");
    estimated.filter_map(|row| row.r_hat).reduce(f64::max)
}
