//! From a fit or a baseline to the numbers that a study keeps.

use serde::{Deserialize, Serialize};

use super::StudyError;
use super::answers::{Answer, TrustRecord, intervals};
use super::config::{Cell, CellData};
use super::metrics::{Interval, Metrics, Timing, TrueMeans, radius};
use super::task::{Outcome, TaskData};
use crate::baseline::Baseline;
use crate::config::{Family, Prior};
use crate::fit::Prepared;
use crate::numerics::{Z_90, quantile};
use crate::posterior::Posterior;
use crate::posterior::diagnostics::SummaryRow;
use crate::posterior::draws::LinkDraws;
use crate::posterior::links::LinksSummary;
use crate::sampler::chain::ChainOutcome;

/// Standard normal quantile at 0.75.
pub(super) const Z_75: f64 = 0.674_489_750_196_081_7;
/// The corner of the mean permutation matrix that is kept for a picture.
const CORNER: usize = 12;

/// What pictures need of a few repeats.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// Mean and the quantiles 5, 25, 50, 75 and 95 % of each coefficient.
    pub coefficients: Vec<[f64; 6]>,
    /// (row, column, probability) of the first rows, from 1.
    pub corner: Vec<(usize, usize, f64)>,
}

pub fn measure_baseline(baseline: Baseline, task: &TaskData, with_detail: bool) -> Outcome {
    let fit = baseline.fit(task.data.x.view(), &task.data.response);
    let pairs = || fit.beta.iter().zip(&fit.standard_error);
    let intervals: Vec<Interval> = pairs()
        .map(|(beta, error)| Interval {
            estimate: *beta,
            low: beta - Z_90 * error,
            high: beta + Z_90 * error,
        })
        .collect();
    let mut metrics = Metrics {
        sigma: Some(fit.sigma),
        mismatch_rate: fit.mismatch_rate,
        ..Metrics::default()
    };
    task.compare(&mut metrics, &intervals);
    if let Some(p_wrong) = &fit.p_wrong {
        metrics.of_moved_rows(p_wrong, &task.truth);
        metrics.num_moved = Some(p_wrong.iter().sum());
    }
    let detail = with_detail.then(|| Detail {
        coefficients: pairs()
            .map(|(b, e)| {
                [
                    *b,
                    b - Z_90 * e,
                    b - Z_75 * e,
                    *b,
                    b + Z_75 * e,
                    b + Z_90 * e,
                ]
            })
            .collect(),
        corner: Vec::new(),
    });
    Outcome {
        metrics,
        detail,
        ..Outcome::default()
    }
}

pub fn measure_fit(
    prepared: &Prepared,
    fitted: &Posterior,
    cell: &Cell,
    task: &TaskData,
    with_detail: bool,
) -> Result<Outcome, StudyError> {
    let of = |name: &str| fitted.quantity(name);
    let betas: Option<Vec<&SummaryRow>> = (1..=task.truth.beta.len())
        .map(|k| of(&format!("beta.{k}")))
        .collect();
    let betas = betas.ok_or_else(|| StudyError::NoBeta {
        label: prepared.model.label().to_string(),
        count: task.truth.beta.len(),
    })?;
    let interval = |row: &&SummaryRow| {
        Some(Interval {
            estimate: row.mean?,
            low: row.q5?,
            high: row.q95?,
        })
    };
    let mean_of = |name: &str| of(name).and_then(|row| row.mean);
    let mut metrics = Metrics {
        sigma: mean_of("sigma").or_else(|| mean_of("sigma2").map(f64::sqrt)),
        mismatch_rate: mean_of("mismatch_rate"),
        num_moved: mean_of("n_moved"),
        ess_bulk: least(betas.iter().map(|row| row.ess_bulk)),
        num_divergences: Some(
            fitted
                .outcomes()
                .iter()
                .map(|chain| chain.num_divergences as f64)
                .sum(),
        ),
        ..Metrics::default()
    };
    let others = ["sigma", "sigma2", "n_moved"].into_iter().filter_map(of);
    let r_hats = betas
        .iter()
        .copied()
        .chain(others)
        .filter_map(|row| row.r_hat);
    metrics.r_hat = r_hats.reduce(f64::max);
    if let Some(intervals) = betas.iter().map(interval).collect::<Option<Vec<_>>>() {
        task.compare(&mut metrics, &intervals);
    }
    if let Some(links) = &fitted.links {
        metrics.of_links(links, &task.truth);
    }
    if let CellData::Simulated { design, .. } = &cell.data
        && design.errors == Family::Gaussian
        && let Some(sigma) = task.truth.sigma.filter(|sigma| *sigma > 0.0)
    {
        contraction(&mut metrics, prepared, fitted, task, sigma);
    }
    let detail = if with_detail {
        Some(detail_of(fitted, task.truth.beta.len()))
    } else {
        None
    };
    let others = cell.answers.iter().filter(|a| **a != Answer::Joint);
    let further = others.map(|answer| {
        let estimates = intervals(fitted, *answer, &task.data.predictor_names)?;
        // All but the coefficients is the same for every answer of a fit.
        let mut own = metrics.clone();
        task.compare(&mut own, &estimates);
        Ok((*answer, own))
    });
    Ok(Outcome {
        further: further.collect::<Result<_, StudyError>>()?,
        trust: fitted.trust.as_ref().map(TrustRecord::of),
        metrics,
        timing: timing(prepared, fitted, &betas),
        detail,
    })
}

/// The least, when every one exists.
fn least(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values
        .collect::<Option<Vec<f64>>>()?
        .into_iter()
        .reduce(f64::min)
}

fn timing(prepared: &Prepared, fitted: &Posterior, betas: &[&SummaryRow]) -> Timing {
    let sampler = &prepared.config.sampler;
    let iterations = (sampler.chains * (sampler.warmup + sampler.draws)) as f64;
    let sum = |of: fn(&ChainOutcome) -> f64| -> Option<f64> {
        Some(1000.0 * fitted.outcomes().iter().map(of).sum::<f64>() / iterations)
    };
    Timing {
        seconds: None,
        iteration_ms: sum(|chain| chain.warmup_seconds + chain.sampling_seconds),
        step_one_ms: sum(|chain| chain.step_one_seconds),
        step_two_ms: sum(|chain| chain.step_two_seconds),
        ess_per_second: least(betas.iter().map(|row| row.ess_bulk_per_s)),
    }
}

/// The Renyi divergence of order alpha between normal models with the true sigma is alpha |mu - mu0|^2 / (2 sigma^2); at
/// alpha = 1 it is that of Kullback and Leibler.
fn contraction(
    metrics: &mut Metrics,
    prepared: &Prepared,
    fitted: &Posterior,
    task: &TaskData,
    sigma: f64,
) {
    let num_rows = task.data.num_rows();
    let (alpha, _) = prepared.config.temperature.at(num_rows);
    let means = TrueMeans::new(task.data.x.view(), &task.truth);
    let scale = alpha / (2.0 * sigma.powi(2) * num_rows as f64);
    let mut divergences = Vec::new();
    let links = fitted.links.as_ref().map(LinksSummary::chains);
    for (k, chain) in fitted.chains.iter().enumerate() {
        let links = links.map(|links| &links[k]);
        let mut moved = links.into_iter().flat_map(LinkDraws::by_draw);
        let names: Vec<String> = (1..=task.truth.beta.len())
            .map(|k| format!("beta.{k}"))
            .collect();
        let columns: Option<Vec<&[f64]>> = names.iter().map(|name| chain.column(name)).collect();
        let columns = columns.expect("the summary has them");
        for draw in 0..chain.num_draws() {
            let beta: Vec<f64> = columns.iter().map(|column| column[draw]).collect();
            let moved = moved.next().into_iter().flatten();
            divergences.push(scale * means.distance2(&beta, moved));
        }
    }
    metrics.renyi = crate::numerics::mean(&divergences);
    metrics.renyi_q95 = quantile(&divergences, 0.95);
    if let Prior::Uniform { max_moved } = prepared.config.permutation.prior
        && fitted.links.is_some()
    {
        metrics.radius = radius(num_rows, max_moved.min(num_rows), alpha);
        metrics.mass_outside = metrics.radius.map(|radius| {
            let outside = divergences.iter().filter(|d| **d >= radius).count();
            outside as f64 / divergences.len() as f64
        });
    }
}

fn detail_of(fitted: &Posterior, num_coefficients: usize) -> Detail {
    let coefficients = (1..=num_coefficients).filter_map(|k| {
        let name = format!("beta.{k}");
        let columns = fitted.chains.iter().filter_map(|chain| chain.column(&name));
        let pooled: Vec<f64> = columns.flatten().copied().collect();
        let at = |probability| quantile(&pooled, probability);
        let mean = crate::numerics::mean(&pooled)?;
        Some([mean, at(0.05)?, at(0.25)?, at(0.5)?, at(0.75)?, at(0.95)?])
    });
    let mut corner = Vec::new();
    if let Some(links) = &fitted.links {
        for row in 0..links.num_rows().min(CORNER) {
            let mut entries = links.row(row).partners;
            entries.retain(|(column, _)| *column < CORNER);
            entries.sort_by_key(|(column, _)| *column);
            corner.extend(entries.iter().map(|(column, p)| (row + 1, column + 1, *p)));
        }
    }
    Detail {
        coefficients: coefficients.collect(),
        corner,
    }
}
