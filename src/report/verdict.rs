//! The first thing a person reads: what was found, what it does, and whether to trust it, in plain words.

use serde::Serialize;

use super::data_notes;
use super::format::{count, percent, significant, with_spread};
use super::status::{NoAnswer, no_answer};
use crate::baseline::compare::{Estimate, UNSHUFFLE};
use crate::config::{Family, Outside, Unlinked};
use crate::data::INTERCEPT;
use crate::posterior::diagnostics::Finding;
use crate::posterior::{Coefficient, Posterior};
use crate::trust::{Check, Method, Trust};

/// Above this probability a link counts as probably wrong, or a partner as found.
pub const PROBABLY: f64 = 0.5;
/// Below this expected share of wrong links there is nothing to see.
const NEGLIGIBLE: f64 = 0.005;
/// Coefficients named in a sentence.
const MOST_NAMED: usize = 3;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// What stands in the way of trusting the rest, each with its remedy.
    pub problems: Vec<String>,
    /// What was found, in sentences.
    pub findings: Vec<String>,
    /// The checks of the model behind the links: how each ended, and its sentence.
    pub checks: Vec<CheckLine>,
    /// What was done to the file on the way to the fit.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckLine {
    pub result: &'static str,
    pub has_failed: bool,
    pub sentence: String,
}

impl Verdict {
    pub fn new(fit: &Posterior) -> Verdict {
        let problems = fit.findings().iter().filter(|finding| finding.is_problem());
        let in_her_names = |finding: &Finding| finding.clone().renamed(|name| fit.name_of(name));
        let mut problems: Vec<String> = problems.map(|f| in_her_names(f).to_string()).collect();
        if fit.is_interrupted() {
            let draws = fit.chains.iter().map(|chain| chain.num_draws()).sum();
            problems.insert(
                0,
                format!(
                    "The fit was interrupted after {}: go on with it with `unshuffle fit --resume`.",
                    count(draws, "draw")
                ),
            );
        }
        let mut findings = vec![mismatch(fit)];
        findings.extend(probably_wrong(fit));
        findings.extend(effect(fit));
        findings.extend(remarks(fit));
        findings.push(agreement(fit));
        let checks = fit.trust.iter().flat_map(|trust| &trust.checks);
        let line = |check: &Check| CheckLine {
            result: check.result(),
            has_failed: check.has_failed(),
            sentence: check.sentence.clone(),
        };
        Verdict {
            problems,
            findings,
            checks: checks.map(line).collect(),
            notes: data_notes::sentences(fit),
        }
    }

    /// As plain text, problems first.
    pub fn text(&self) -> String {
        let problems = self
            .problems
            .iter()
            .map(|problem| format!("Problem: {problem}"));
        let all: Vec<String> = problems.chain(self.findings.iter().cloned()).collect();
        all.join("\n")
    }
}

/// What was found besides the share of wrong links, in sentences that count no rows.
pub fn without_rows(fit: &Posterior) -> Vec<String> {
    let mut findings = Vec::from_iter(effect(fit));
    findings.extend(remarks(fit));
    findings.push(agreement(fit));
    findings
}

/// Failed checks that do not stand in the way of the joint posterior, and why they do not.
fn remarks(fit: &Posterior) -> Vec<String> {
    let Some(trust) = &fit.trust else {
        return Vec::new();
    };
    let failed = trust.checks.iter().filter(|check| check.has_failed());
    let mut sentences: Vec<String> = failed
        .filter(|check| !check.decides || trust.trusted)
        .map(|check| check.sentence.clone())
        .collect();
    if trust.trusted && !trust.sentence.is_empty() {
        sentences.push(trust.sentence.clone());
    }
    sentences
}

/// What the file says of wrong links: their share, under its condition, or what contradicts the model behind it.
fn mismatch(fit: &Posterior) -> String {
    if let (Some(objection), Some(_)) = (objection(fit), &fit.links) {
        return format!(
            "{objection} What would help: rows checked by hand (data.safe), an audit of links (permutation.prior.audit){}.",
            alternative(fit)
        );
    }
    headline(fit)
}

/// Why no number of wrong links is given, where a check stands against it.
fn objection(fit: &Posterior) -> Option<String> {
    let trust = fit.trust.as_ref()?;
    let objection = trust.objection()?;
    let reason = &trust.sentence;
    Some(format!(
        "{objection}, so no number of wrong links is given. {reason}"
    ))
}

/// The first sentence of a report: the share of wrong links under its condition, or why there is none.
pub fn headline(fit: &Posterior) -> String {
    let num_rows = fit.rows.len();
    if keeps_every_link(fit) {
        return "Every link was kept as it is, so this fit says nothing of wrong links.".into();
    }
    if let Some(objection) = objection(fit) {
        return objection;
    }
    if let Some(NoAnswer::Disagreeing { largest_r_hat }) = no_answer(fit) {
        return format!(
            "The chains have not found the same answer (largest R-hat {}), so no number of wrong links is given.",
            significant(largest_r_hat, 4)
        );
    }
    match share(fit) {
        Share::Unknown => {
            format!("How many of the {num_rows} rows are linked wrongly could not be estimated.")
        }
        Share::Negligible { at_most } => format!(
            "There is no sign of wrong links among the {num_rows} rows: if {}, their share is at most {} with 95 % probability.",
            condition(fit),
            percent(at_most)
        ),
        Share::Found { mean, low, high } => format!(
            "If {}, about {} of the {num_rows} rows are linked wrongly (90 % interval {} to {}){}.",
            condition(fit),
            percent(mean),
            percent(low),
            percent(high),
            from_outside(fit)
        ),
    }
}

/// Whether no row could be linked elsewhere: links were not sampled, or every row is safe or alone in its block.
pub fn keeps_every_link(fit: &Posterior) -> bool {
    fit.links.is_none() || fit.data.as_ref().is_some_and(|data| data.num_movable == 0)
}

/// The share of the rows that are linked wrongly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Share {
    /// So small that nothing was found; with 95 % probability it is not larger.
    Negligible { at_most: f64 },
    /// Posterior mean and 90 % interval.
    Found { mean: f64, low: f64, high: f64 },
    /// The draws do not tell.
    Unknown,
}

/// The share of wrong links of a fit that moved links, under its condition.
pub fn share(fit: &Posterior) -> Share {
    let num_rows = fit.rows.len();
    let moved = fit.quantity("n_moved");
    let share = |number: Option<f64>| number.map(|number| number / num_rows as f64);
    let (Some(mean), Some(low), Some(high)) = (
        share(moved.and_then(|row| row.mean)),
        share(moved.and_then(|row| row.q5)),
        share(moved.and_then(|row| row.q95)),
    ) else {
        return Share::Unknown;
    };
    // Where no draw moves a row, the rate still says how many wrong links could have gone unseen.
    let unseen = fit.quantity("mismatch_rate").and_then(|rate| rate.q95);
    let movable = fit.data.as_ref().map_or(num_rows, |data| data.num_movable);
    let high_unseen = unseen.unwrap_or(high) * movable as f64 / num_rows as f64;
    match mean < NEGLIGIBLE || num_expected(fit) < 1.0 {
        true => Share::Negligible {
            at_most: high.max(high_unseen),
        },
        false => Share::Found { mean, low, high },
    }
}

/// How many of the wrong links come from outside the file, where any may.
fn from_outside(fit: &Posterior) -> String {
    let number = fit.quantity("n_outside");
    let number = number.and_then(|row| Some((row.mean?, row.q5?, row.q95?)));
    match number {
        None => String::new(),
        Some((mean, q5, q95)) => format!(
            "; among these are the responses that belong to no row of the file, about {mean:.0} of them (90 % interval {q5:.0} to {q95:.0})"
        ),
    }
}

/// The checks of a fit that failed one.
fn distrust(fit: &Posterior) -> Option<&Trust> {
    fit.trust.as_ref().filter(|trust| !trust.trusted)
}

/// Under which condition the share of wrong links holds.
fn condition(fit: &Posterior) -> String {
    let law = fit.config.model.family().facts().condition;
    let has_places = fit.config.data.unlinked == Unlinked::Places;
    let rows = match (&fit.config.data.block, has_places) {
        (Some(_), false) => "other rows of their block",
        (None, false) => "other rows of this file",
        (Some(_), true) => "other rows of their block and its unlinked ones",
        (None, true) => "other rows and unlinked ones",
    };
    let outside = match fit.config.permutation.outside {
        Some(Outside {
            response: Some(_), ..
        }) => ", or to responses from outside whose distribution is the given one",
        Some(_) => ", or to responses from outside whose distribution is that of the file's",
        None => "",
    };
    format!("{law} and wrong links lead to {rows} at random{outside}")
}

/// Another program that needs less of the errors, where there is one.
fn alternative(fit: &Posterior) -> &'static str {
    match fit.config.model.family() {
        Family::Gaussian | Family::StudentT { .. } => {
            ", or the program `robust`, which allows tails and a spread that changes"
        }
        Family::Poisson => {
            ", or the program `negative_binomial`, which allows counts that vary more"
        }
        _ => "",
    }
}

/// The posterior mean of the number of moved rows.
pub fn num_expected(fit: &Posterior) -> f64 {
    let moved = fit.quantity("n_moved").and_then(|row| row.mean);
    moved.unwrap_or(0.0)
}

/// How many rows are probably mislinked, and for how many it is known where they belong.
fn probably_wrong(fit: &Posterior) -> Option<String> {
    let has_answer = no_answer(fit).is_none() && !keeps_every_link(fit);
    let links = fit.links.as_ref().filter(|_| has_answer)?;
    let (mut wrong, mut placed, mut outside) = (0, 0, 0);
    for row in 0..links.num_rows() {
        let found = links.row(row);
        if found.p_moved > PROBABLY {
            wrong += 1;
            outside += usize::from(found.p_outside > PROBABLY);
            let best = found.partners.iter().find(|(column, _)| *column != row);
            placed += usize::from(best.is_some_and(|(_, p)| *p > PROBABLY));
        }
    }
    let from_outside = match (fit.config.permutation.outside, outside) {
        (None, _) => String::new(),
        (Some(_), 0) => " None of them is likely to belong to no row of the file.".into(),
        (Some(_), 1) => " The response of 1 of them probably belongs to no row of the file.".into(),
        (Some(_), some) => {
            format!(" The responses of {some} of them probably belong to no row of the file.")
        }
    };
    Some(match wrong {
        0 => "No single row is more likely wrong than right.".into(),
        1 => format!(
            "1 row is more likely linked wrongly than rightly; where it belongs is {}.{from_outside}",
            if placed == 1 { "found" } else { "open" }
        ),
        _ => {
            let places = match placed {
                0 => "for none of them does one other row stand out as the place where it belongs"
                    .into(),
                all if all == wrong => {
                    "for each of them one other row stands out as the place where it belongs".into()
                }
                some => format!(
                    "for {some} of them one other row stands out as the place where they belong"
                ),
            };
            format!(
                "{wrong} rows are more likely linked wrongly than rightly; {places}.{from_outside}"
            )
        }
    })
}

/// What wrong links did to the coefficients, or which coefficients to use instead of the joint posterior's.
fn effect(fit: &Posterior) -> Option<String> {
    fit.links.as_ref()?;
    if let Some(trust) = distrust(fit) {
        return recommendation(fit, trust);
    }
    if no_answer(fit).is_some() {
        return None;
    }
    let (given_name, pairs) = changes(fit)?;
    let mut changed: Vec<&Change> = pairs.iter().filter(|change| change.outside).collect();
    if changed.is_empty() {
        let same = match pairs.len() {
            0 => return None,
            1 => "The coefficient is".into(),
            2 => "Both coefficients are".into(),
            many => format!("All {many} coefficients are"),
        };
        return Some(format!(
            "{same} about what {given_name} finds: its estimates lie inside our 90 % intervals."
        ));
    }
    changed.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    let words: Vec<&str> = changed.iter().map(|c| c.words.as_str()).collect();
    Some(format!(
        "Against {given_name}, {} of {} changed: {}.",
        changed.len(),
        count(pairs.len(), "coefficient"),
        first_few(&words)
    ))
}

/// What became of one coefficient.
pub struct Change {
    /// Whether the estimate with every link kept lies outside the 90 % interval of this fit.
    pub outside: bool,
    /// From that estimate, in standard deviations.
    distance: f64,
    words: String,
}

/// Every coefficient beside the fit that takes every link as given, and what that fit is called.
pub fn changes(fit: &Posterior) -> Option<(&'static str, Vec<Change>)> {
    let (given_name, given) = as_linked(fit)?;
    let ours = joint(fit);
    let pairs = given.into_iter().filter_map(|naive| {
        let ours = ours.iter().find(|e| e.name == naive.name)?;
        let [low, high] = ours.interval?;
        let spread = ours.standard_error?;
        let words = format!(
            "{} {} instead of {} (90 % interval {} to {})",
            naive.name,
            with_spread(ours.value, spread),
            with_spread(naive.value, spread),
            with_spread(low, spread),
            with_spread(high, spread)
        );
        Some(Change {
            outside: naive.value < low || naive.value > high,
            distance: (ours.value - naive.value).abs() / spread,
            words,
        })
    });
    Some((given_name, pairs.collect()))
}

/// The fit that takes every link as given, by name: the same program where coefficients.csv has it, else least squares.
fn as_linked(fit: &Posterior) -> Option<(&'static str, Vec<Estimate>)> {
    let same: Vec<Estimate> = of_method(fit, Method::AsLinked);
    if !same.is_empty() {
        return Some(("the same model with every link kept", same));
    }
    let first = fit.as_linked()?;
    let own = fit.estimates().iter().filter(|e| e.method == first);
    Some((
        "least squares with the links as given",
        own.cloned().collect(),
    ))
}

fn joint(fit: &Posterior) -> Vec<Estimate> {
    let own = fit.estimates().iter().filter(|e| e.method == UNSHUFFLE);
    let own: Vec<Estimate> = own.cloned().collect();
    match own.is_empty() {
        true => of_method(fit, Method::Joint),
        false => own,
    }
}

fn of_method(fit: &Posterior, method: Method) -> Vec<Estimate> {
    let own = fit.coefficients_by(method);
    own.map(Coefficient::as_estimate).collect()
}

/// Which coefficients to use where a check has failed.
fn recommendation(fit: &Posterior, trust: &Trust) -> Option<String> {
    let words: Vec<String> = fit
        .coefficients
        .iter()
        .filter(|c| c.method == Method::Recommended && c.name != INTERCEPT)
        .map(|c| {
            format!(
                "{} {} ({} to {})",
                c.name,
                with_spread(c.estimate, c.sd),
                with_spread(c.q5, c.sd),
                with_spread(c.q95, c.sd)
            )
        })
        .collect();
    if words.is_empty() {
        return None;
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let what = match trust.source {
        Method::RobustMixture => {
            "are those of a mixture of right and wrong rows that relies on no particular error law"
        }
        Method::Weighted => {
            "are those of the same model with every link kept and each row weighted by the probability that its link is right, which relies on no particular error law"
        }
        Method::KnownRate => {
            "are those of the same model with every link kept, corrected for a share of wrong links without using the likelihood"
        }
        _ => "are those of the same model with every link kept",
    };
    Some(format!(
        "The recommended coefficients {what}, with 90 % intervals that allow for every share of wrong links that cannot be excluded: {}.",
        first_few(&words)
    ))
}

/// The first words of a list, at most `MOST_NAMED`, and how many more there are.
fn first_few(words: &[&str]) -> String {
    let named = words[..words.len().min(MOST_NAMED)].join("; ");
    match words.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}

/// Whether the chains agree.
fn agreement(fit: &Posterior) -> String {
    let worst = fit
        .summary()
        .iter()
        .filter_map(|row| row.r_hat)
        .reduce(f64::max);
    let num_chains = fit.chains.len();
    let disagree =
        |finding: &Finding| matches!(finding, Finding::HighRHat(_) | Finding::LinksDisagree(_));
    let not_judged = |finding: &Finding| matches!(finding, Finding::NotJudged(_));
    match worst {
        _ if num_chains == 1 => {
            "With one chain only, nobody can say whether chains agree: set sampler.chains to 4."
                .into()
        }
        None => format!(
            "Whether the {num_chains} chains agree could not be judged: they are too short."
        ),
        Some(worst) if fit.findings().iter().any(disagree) => format!(
            "The {num_chains} chains do not agree well enough (largest R-hat {}): see the problems above before using these numbers.",
            significant(worst, 4)
        ),
        Some(worst) if fit.findings().iter().any(not_judged) => format!(
            "The {num_chains} chains agree as far as that can be judged (largest R-hat {}); the problems above name the rest.",
            significant(worst, 4)
        ),
        Some(worst) => format!(
            "The {num_chains} chains agree (largest R-hat {}).",
            significant(worst, 4)
        ),
    }
}
