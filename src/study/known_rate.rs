//! A study's baseline that is told the rate of wrong links, or an audit of it.

use rand_distr::{Binomial, Distribution};
use serde::Deserialize;

use super::StudyError;
use super::config::Cell;
use super::measure::{Detail, Z_75};
use super::metrics::{Interval, Metrics, Timing};
use super::task::{Outcome, TaskData};
use crate::baseline::{KnownRate, beta_rates, one_rate};
use crate::config::ResponseKind;
use crate::fit::link_space;
use crate::simulate::Errors;

/// The audit's stream of the data's seed, whose stream 0 has the data: all methods hear of the same audit.
const STREAM: usize = 1;

/// What is known of the rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RateKnown {
    Exactly(f64),
    /// So many links of the same kind were checked and so many of them found wrong; without a number it is drawn for each
    /// repeat from the true rate.
    Audit {
        checked: usize,
        wrong: Option<usize>,
    },
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"checked\": 100} or {\"checked\": 100, \"wrong\": 7}"
)]
pub(super) struct RawAudit {
    pub checked: usize,
    pub wrong: Option<usize>,
}

impl RateKnown {
    /// The distribution of the rate in one repeat.
    fn rates(self, task: &TaskData, data_seed: u64) -> Vec<(f64, f64)> {
        match self {
            RateKnown::Exactly(rate) => one_rate(rate),
            RateKnown::Audit { checked, wrong } => {
                let wrong = wrong.unwrap_or_else(|| {
                    let movable = link_space(&task.data).num_movable();
                    let true_rate = task.truth.num_moved as f64 / movable.max(1) as f64;
                    let law = Binomial::new(checked as u64, true_rate).expect("a share");
                    law.sample(&mut crate::rng::stream(data_seed, STREAM)) as usize
                });
                beta_rates(1.0 + wrong as f64, 1.0 + (checked - wrong) as f64)
            }
        }
    }
}

pub fn measure_known_rate(
    known: RateKnown,
    cell: &Cell,
    task: &TaskData,
    data_seed: u64,
    with_detail: bool,
) -> Result<Outcome, StudyError> {
    let kind = match cell.design.errors {
        Errors::Normal | Errors::AsymmetricLaplace { .. } | Errors::StudentT { .. } => {
            ResponseKind::Real
        }
        Errors::Poisson | Errors::NegativeBinomial { .. } => ResponseKind::Count,
        Errors::Logistic => ResponseKind::ZeroOne,
        Errors::Gamma { .. } => ResponseKind::Positive,
    };
    let data = &task.data;
    let rates = known.rates(task, data_seed);
    let estimator = KnownRate::within(&link_space(data));
    let fit = estimator.fit(kind, data.x.view(), &data.response, &rates);
    let fit = fit.ok_or(StudyError::NoEstimate)?;
    let quantiles = || fit.mean.iter().zip(&fit.q5).zip(&fit.q95);
    let intervals = quantiles().map(|((&estimate, &low), &high)| Interval {
        estimate,
        low,
        high,
    });
    let intervals: Vec<Interval> = intervals.collect();
    let mut metrics = Metrics {
        mismatch_rate: Some(fit.rate),
        ..Metrics::default()
    };
    metrics.of_coefficients(&intervals, &task.truth.beta);
    let detail = with_detail.then(|| Detail {
        coefficients: quantiles()
            .zip(&fit.sd)
            .map(|(((&mean, &low), &high), sd)| {
                [mean, low, mean - Z_75 * sd, mean, mean + Z_75 * sd, high]
            })
            .collect(),
        corner: Vec::new(),
    });
    Ok(Outcome {
        metrics,
        timing: Timing::default(),
        detail,
    })
}
