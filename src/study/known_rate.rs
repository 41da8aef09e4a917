//! A study's baseline that is told the rate of wrong links, or an audit of it.

use rand_distr::{Binomial, Distribution};
use serde::Deserialize;

use super::StudyError;
use super::config::Cell;
use super::measure::{Detail, Z_75};
use super::metrics::{Interval, Metrics};
use super::task::{Outcome, TaskData};
use crate::baseline::{KnownRate, RateAveraged, one_rate, robust_mixture};
use crate::config::{Check, ConfigError, Prior, ResponseKind};
use crate::data::link_space;
use crate::sampler::links::RatePrior;

/// The audit's stream of the data's seed, whose stream 0 has the data: all methods hear of the same audit.
const STREAM: usize = 1;
/// The stream that chooses rows of a large file.
const ROWS_STREAM: usize = 2;

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
    /// The audit that the data of every repeat come with.
    AuditOfData,
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
    /// `audited` tells whether the data come with an audit, which is what a method without `rate` and `audit` is told.
    pub(super) fn read(
        rate: Option<f64>,
        audit: Option<RawAudit>,
        audited: bool,
        check: &Check,
        place: &str,
    ) -> Result<RateKnown, ConfigError> {
        let that = |holds: bool, key: &str, value: &dyn std::fmt::Display, rule: &str| {
            check.that(holds, &format!("{place}.{key}"), value, rule)
        };
        let rule = "this baseline is told either `rate` or `audit`, such as {\"checked\": 100}";
        let twice = rate.is_some() && audit.is_some();
        that(!twice, "rate", &"given beside `audit`", rule)?;
        if let Some(rate) = rate {
            let holds = (0.0..=1.0).contains(&rate);
            that(holds, "rate", &rate, "it must be between 0 and 1")?;
            return Ok(RateKnown::Exactly(rate));
        }
        let Some(RawAudit { checked, wrong }) = audit else {
            that(audited, "rate", &"missing", rule)?;
            return Ok(RateKnown::AuditOfData);
        };
        let rule = "it must be 1 or more";
        that(checked >= 1, "audit.checked", &checked, rule)?;
        let num_wrong = wrong.unwrap_or(0);
        let rule = format!("it must be at most `checked`, which is {checked}");
        that(num_wrong <= checked, "audit.wrong", &num_wrong, &rule)?;
        Ok(RateKnown::Audit { checked, wrong })
    }

    /// The distribution of the rate in one repeat.
    fn rates(self, task: &TaskData, data_seed: u64) -> Vec<(f64, f64)> {
        let after = |checked: usize, wrong: usize| {
            RatePrior::beta(1.0, 1.0)
                .after_audit(checked, wrong, 1.0)
                .grid()
        };
        match self {
            RateKnown::Exactly(rate) => one_rate(rate),
            RateKnown::AuditOfData => {
                let audit = task.audit.expect("the config was read with an audit");
                after(audit.checked, audit.wrong)
            }
            RateKnown::Audit { checked, wrong } => {
                let wrong = wrong.unwrap_or_else(|| {
                    let movable = link_space(&task.data).num_movable();
                    let true_rate = task.truth.num_moved as f64 / movable.max(1) as f64;
                    let law = Binomial::new(checked as u64, true_rate).expect("a share");
                    law.sample(&mut crate::numerics::rng::stream(data_seed, STREAM)) as usize
                });
                after(checked, wrong)
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
    let kind = cell.data.errors().response_kind();
    let data = &task.data;
    let rates = known.rates(task, data_seed);
    let estimator = KnownRate::within(&link_space(data));
    let fit = estimator.fit(kind, data.x.view(), &data.response, &rates);
    let fit = fit.ok_or(StudyError::NoEstimate)?;
    Ok(averaged(&fit, task, with_detail))
}

/// The robust mixture with the default prior of the rate and the data's audit; the links as given where it does not apply.
pub fn measure_robust_mixture(
    task: &TaskData,
    data_seed: u64,
    with_detail: bool,
) -> Result<Outcome, StudyError> {
    let data = &task.data;
    let (x, y, space) = (data.x.view(), &data.response, link_space(data));
    let prior = task.with_audit(Prior::default()).rate();
    let prior = prior.expect("the default prior has a rate");
    let mut rng = crate::numerics::rng::stream(data_seed, ROWS_STREAM);
    if let Some(fit) = robust_mixture(x, y, &space, prior, &mut rng) {
        return Ok(averaged(&fit.estimate, task, with_detail));
    }
    let as_given = KnownRate::within(&space).fit(ResponseKind::Real, x, y, &one_rate(0.0));
    let as_given = as_given.ok_or(StudyError::NoEstimate)?;
    Ok(averaged(&as_given, task, with_detail))
}

fn averaged(fit: &RateAveraged, task: &TaskData, with_detail: bool) -> Outcome {
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
    task.compare(&mut metrics, &intervals);
    let detail = with_detail.then(|| Detail {
        coefficients: quantiles()
            .zip(&fit.sd)
            .map(|(((&mean, &low), &high), sd)| {
                [mean, low, mean - Z_75 * sd, mean, mean + Z_75 * sd, high]
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
