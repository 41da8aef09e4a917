//! Each check in a few words, with its number.

use serde::Serialize;

use crate::posterior::Posterior;
use crate::posterior::diagnostics::{
    Finding, MAX_PRIOR_DEVIATION, MAX_R_HAT, MIN_E_BFMI, MIN_ESS_PER_CHAIN, SummaryRow, Worst,
    min_ess,
};
use crate::report::by_chain::shown_r_hat;
use crate::report::format::{count, percent, significant};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DrawsCheck {
    pub name: &'static str,
    pub result: Outcome,
    /// The number, and what it should be.
    pub words: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Pass,
    Problem,
    Unknown,
}

impl Outcome {
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Problem => "problem",
            Outcome::Unknown => "not judged",
        }
    }
}

/// All checks as one sentence.
pub fn in_short(checks: &[DrawsCheck]) -> String {
    let names = |outcome: Outcome| {
        let with = checks.iter().filter(|check| check.result == outcome);
        with.map(|check| check.name).collect::<Vec<_>>()
    };
    let (problems, unknown) = (names(Outcome::Problem), names(Outcome::Unknown));
    let all = checks.len();
    let judged = match (problems.len(), unknown.len()) {
        (0, 0) => return format!("all {all} checks pass."),
        (0, _) => "no check found a problem".into(),
        (some, _) => format!(
            "{some} of {all} checks found a problem: {}",
            problems.join(", ")
        ),
    };
    match unknown.len() {
        0 => format!("{judged}."),
        _ => format!("{judged}; not to be judged here: {}.", unknown.join(", ")),
    }
}

pub fn checks(fit: &Posterior) -> Vec<DrawsCheck> {
    let mut checks = vec![
        divergences(fit),
        tree_depth(fit),
        energies(fit),
        r_hat(fit),
        effective_size(fit),
    ];
    checks.extend(links(fit));
    checks.extend(drift(fit));
    checks.extend(priors(fit));
    checks
}

fn found(fit: &Posterior, kind: fn(&Finding) -> bool) -> bool {
    fit.findings().iter().any(kind)
}

fn judged(problem: bool) -> Outcome {
    if problem {
        Outcome::Problem
    } else {
        Outcome::Pass
    }
}

fn divergences(fit: &Posterior) -> DrawsCheck {
    let draws = fit.num_draws();
    let finding = fit.findings().iter().find_map(|finding| match finding {
        Finding::Divergences {
            num_divergences, ..
        } => Some(*num_divergences),
        _ => None,
    });
    let words = match finding {
        None => format!("none in {}", count(draws, "draw")),
        Some(hits) => format!(
            "{hits} of {} ({}), where none is wanted",
            count(draws, "draw"),
            percent(hits as f64 / draws as f64)
        ),
    };
    DrawsCheck {
        name: "divergences",
        result: judged(finding.is_some()),
        words,
    }
}

fn tree_depth(fit: &Posterior) -> DrawsCheck {
    let depths = fit
        .chains
        .iter()
        .filter_map(|chain| chain.column("treedepth__"));
    let deepest = depths.flatten().copied().fold(0.0, f64::max);
    let finding = fit.findings().iter().find_map(|finding| match finding {
        Finding::TreedepthHits {
            num_hits,
            num_draws,
            max_depth,
        } => Some((num_hits, num_draws, max_depth)),
        _ => None,
    });
    let words = match finding {
        Some((hits, draws, most)) => {
            format!("{hits} of {draws} draws were cut short at the largest depth of {most}")
        }
        None => format!(
            "no trajectory was cut short (deepest {deepest:.0}, allowed {})",
            fit.config.sampler.max_depth
        ),
    };
    DrawsCheck {
        name: "tree depth",
        result: judged(finding.is_some()),
        words,
    }
}

fn energies(fit: &Posterior) -> DrawsCheck {
    let by_chain = fit.chains.iter();
    let by_chain = by_chain.filter_map(|chain| Some((chain.e_bfmi()?, chain.chain)));
    let known: Vec<(f64, usize)> = by_chain.collect();
    let num_missing = fit.chains.len() - known.len();
    let least = known.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let (mut result, mut words) = match least {
        Some((least, chain)) => (
            judged(found(fit, |f| matches!(f, Finding::LowEBfmi(_)))),
            format!(
                "smallest {} (chain {chain}), wanted at least {MIN_E_BFMI}",
                significant(least, 2)
            ),
        ),
        None => (Outcome::Unknown, "too few draws to compute it".into()),
    };
    if least.is_some() && num_missing > 0 {
        words += &format!("; missing for {}", count(num_missing, "chain"));
        if result == Outcome::Pass {
            result = Outcome::Unknown;
        }
    }
    DrawsCheck {
        name: "E-BFMI",
        result,
        words,
    }
}

/// How many quantities lack a number, in words; a check that passed for the others only has not passed.
fn missing(fit: &Posterior, result: &mut Outcome, has: fn(&SummaryRow) -> bool) -> String {
    let lacking = |row: &&SummaryRow| !has(row) && !row.is_constant();
    let num_missing = fit.summary().iter().filter(lacking).count();
    if num_missing == 0 {
        return String::new();
    }
    if *result == Outcome::Pass {
        *result = Outcome::Unknown;
    }
    let all = fit.summary().len();
    format!("; missing for {num_missing} of the {all} in summary.csv")
}

/// The quantity with the most extreme number.
fn extreme(
    fit: &Posterior,
    number: impl Fn(&SummaryRow) -> Option<f64>,
    largest: bool,
) -> Option<(f64, &SummaryRow)> {
    let known = fit
        .summary()
        .iter()
        .filter_map(|row| Some((number(row)?, row)));
    if largest {
        known.max_by(|a, b| a.0.total_cmp(&b.0))
    } else {
        known.min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

fn r_hat(fit: &Posterior) -> DrawsCheck {
    let problem = found(fit, |f| matches!(f, Finding::HighRHat(_)));
    let (mut result, mut words) = match extreme(fit, |row| row.r_hat, true) {
        Some((worst, row)) => (
            judged(problem),
            format!(
                "largest {} ({}), wanted at most {MAX_R_HAT}",
                shown_r_hat(worst),
                fit.name_of(&row.name)
            ),
        ),
        None => (Outcome::Unknown, "could not be computed".into()),
    };
    words += &missing(fit, &mut result, |row| row.r_hat.is_some());
    if !problem && fit.chains.len() == 1 {
        result = Outcome::Unknown;
        words += "; but one chain alone is only compared with itself";
    }
    DrawsCheck {
        name: "R-hat",
        result,
        words,
    }
}

fn effective_size(fit: &Posterior) -> DrawsCheck {
    let wanted = min_ess(fit.chains.len());
    let low = |f: &Finding| matches!(f, Finding::LowBulkEss(_) | Finding::LowTailEss(_));
    let bulk = extreme(fit, |row| row.ess_bulk, false);
    let tail = extreme(fit, |row| row.ess_tail, false);
    let (mut result, mut words) = match (bulk, tail) {
        (Some(bulk), Some(tail)) => (
            judged(found(fit, low)),
            format!(
                "smallest {:.0} in the bulk ({}) and {:.0} in the tails ({}), wanted at least {wanted:.0}",
                bulk.0,
                fit.name_of(&bulk.1.name),
                tail.0,
                fit.name_of(&tail.1.name)
            ),
        ),
        _ => (Outcome::Unknown, "too few draws to compute it".into()),
    };
    words += &missing(fit, &mut result, |row| {
        row.ess_bulk.is_some() && row.ess_tail.is_some()
    });
    DrawsCheck {
        name: "ESS",
        result,
        words,
    }
}

/// None where every link was kept.
fn links(fit: &Posterior) -> Option<DrawsCheck> {
    let links = fit.links.as_ref()?;
    let name = "agreement of links";
    if fit.chains.len() < 2 {
        return Some(DrawsCheck {
            name,
            result: Outcome::Unknown,
            words: "one chain has no other to agree with".into(),
        });
    }
    let lengths = fit.chains.iter().map(|chain| chain.num_draws());
    let shortest = lengths.min().unwrap_or(0);
    let spread = |row: usize| {
        let shares = links.share_by_chain(row);
        let known = || shares.iter().copied().filter(|share| share.is_finite());
        known().reduce(f64::max).zip(known().reduce(f64::min))
    };
    let spreads =
        (0..links.num_rows()).filter_map(|row| spread(row).map(|(high, low)| (high - low, row)));
    // Of equals the first.
    let largest = spreads.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let disagree = fit.findings().iter().find_map(|finding| match finding {
        Finding::LinksDisagree(worst) => Some(worst),
        _ => None,
    });
    let beyond = |worst: &Worst| worst.named.len() + worst.num_more;
    let (result, words) = match (largest, disagree) {
        (None, _) => (Outcome::Unknown, "no draws to compare".into()),
        (Some((difference, row)), disagree) => {
            let words = format!(
                "P(moved) differs between chains by at most {} (row {})",
                significant(difference, 2),
                fit.row_label(row)
            );
            match disagree {
                Some(worst) => (
                    Outcome::Problem,
                    format!(
                        "{words}, and by more than chance in {}",
                        count(beyond(worst), "row")
                    ),
                ),
                None if (shortest as f64) < MIN_ESS_PER_CHAIN => (
                    Outcome::Unknown,
                    format!(
                        "{words}; with {} in the shortest chain, that may be chance",
                        count(shortest, "draw")
                    ),
                ),
                None => (
                    Outcome::Pass,
                    format!("{words}, not more than chance explains"),
                ),
            }
        }
    };
    Some(DrawsCheck {
        name,
        result,
        words,
    })
}

/// None where every link was kept.
fn drift(fit: &Posterior) -> Option<DrawsCheck> {
    fit.links.as_ref()?;
    let worst = fit.findings().iter().find_map(|finding| match finding {
        Finding::LinksDrift(worst) => worst.named.first(),
        _ => None,
    });
    let recorded = fit.diagnostics.is_some() && fit.config.sampler.warmup > 0;
    Some(DrawsCheck {
        name: "warm-up of links",
        result: match worst {
            Some(_) => Outcome::Problem,
            None if recorded => Outcome::Pass,
            None => Outcome::Unknown,
        },
        words: match worst {
            None if !recorded => "nothing is recorded of it".into(),
            None => "the number of moved rows had settled when warm-up ended".into(),
            Some((chain, change)) => format!(
                "the number of moved rows still changed by {} in {chain} when warm-up ended",
                significant(*change, 2)
            ),
        },
    })
}

/// None where the priors are known to the user's own program alone.
fn priors(fit: &Posterior) -> Option<DrawsCheck> {
    let priors = fit.data.as_ref()?.priors.as_ref()?;
    if priors.lines.is_empty() {
        return None;
    }
    let worst = fit.findings().iter().find_map(|finding| match finding {
        Finding::PriorAgainstData(worst) => worst.named.first(),
        _ => None,
    });
    Some(DrawsCheck {
        name: "priors",
        result: judged(worst.is_some()),
        words: match worst {
            None => format!(
                "no posterior mean is more than {MAX_PRIOR_DEVIATION} prior standard deviations from its prior"
            ),
            Some((name, deviation)) => format!(
                "the posterior mean of {} is {} standard deviations of its prior away from it",
                fit.name_of(name),
                significant(*deviation, 2)
            ),
        },
    })
}
