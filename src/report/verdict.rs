//! The first thing a person reads: what was found, what it does, and whether to trust it, in plain words.

use serde::Serialize;

use super::data_notes;
use super::format::{count, percent, significant, with_spread};
use super::saved::Saved;
use crate::compare::{Estimate, UNSHUFFLE};
use crate::diagnostics::Finding;

/// Above this probability a link counts as probably wrong, or a partner as found.
const PROBABLY: f64 = 0.5;
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
    /// What was done to the file on the way to the fit.
    pub notes: Vec<String>,
}

impl Verdict {
    pub fn new(saved: &Saved) -> Verdict {
        let problems = saved.findings.iter().filter(|finding| finding.is_problem());
        let in_her_names = |finding: &Finding| finding.clone().renamed(|name| saved.name_of(name));
        let mut problems: Vec<String> = problems.map(|f| in_her_names(f).to_string()).collect();
        if saved.diagnostics["interrupted"] == true {
            let draws = saved.chains.iter().map(|chain| chain.num_draws()).sum();
            problems.insert(
                0,
                format!(
                    "The fit was interrupted after {}: fit again for all of them.",
                    count(draws, "draw")
                ),
            );
        }
        let mut findings = vec![mismatch(saved)];
        findings.extend(probably_wrong(saved));
        findings.extend(effect(saved));
        findings.push(agreement(saved));
        let notes = saved.data.as_ref().map(|data| &data.notes);
        Verdict {
            problems,
            findings,
            notes: notes.map(data_notes::sentences).unwrap_or_default(),
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

/// The estimated share of wrong links.
fn mismatch(saved: &Saved) -> String {
    let num_rows = saved.rows.len();
    let Some(rate) = saved
        .quantity("mismatch_rate")
        .filter(|_| saved.links.is_some())
    else {
        return "Every link was kept as it is, so this fit says nothing of wrong links.".into();
    };
    let (Some(mean), Some(low), Some(high)) = (rate.mean, rate.q5, rate.q95) else {
        return format!(
            "How many of the {num_rows} rows are linked wrongly could not be estimated."
        );
    };
    if mean < NEGLIGIBLE || num_expected(saved) < 1.0 {
        return format!(
            "There is no sign of wrong links among the {num_rows} rows: their share is below {} with 95 % probability.",
            percent(high)
        );
    }
    format!(
        "About {} of the {num_rows} rows are linked wrongly (90 % interval {} to {}).",
        percent(mean),
        percent(low),
        percent(high)
    )
}

/// The posterior mean of the number of moved rows.
fn num_expected(saved: &Saved) -> f64 {
    let moved = saved.quantity("n_moved").and_then(|row| row.mean);
    moved.unwrap_or(0.0)
}

/// How many rows are probably mislinked, and for how many it is known where they belong.
fn probably_wrong(saved: &Saved) -> Option<String> {
    let links = saved.links.as_ref()?;
    let (mut wrong, mut placed) = (0, 0);
    for row in 0..links.num_rows() {
        let found = links.row(row);
        if found.p_moved > PROBABLY {
            wrong += 1;
            let best = found.partners.iter().find(|(column, _)| *column != row);
            placed += usize::from(best.is_some_and(|(_, p)| *p > PROBABLY));
        }
    }
    Some(match wrong {
        0 => "No single row is more likely wrong than right.".into(),
        1 => format!(
            "1 row is more likely linked wrongly than rightly; where it belongs is {}.",
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
            format!("{wrong} rows are more likely linked wrongly than rightly; {places}.")
        }
    })
}

/// What wrong links did to the coefficients.
fn effect(saved: &Saved) -> Option<String> {
    saved.links.as_ref()?;
    let naive_name = saved.as_linked()?;
    let of = |method: &str| {
        let own = saved.estimates.iter().filter(|e| e.method == method);
        own.collect::<Vec<&Estimate>>()
    };
    let pairs = of(naive_name).into_iter().filter_map(|naive| {
        let ours = of(UNSHUFFLE).into_iter().find(|e| e.name == naive.name)?;
        let [low, high] = ours.interval?;
        let spread = ours.standard_error?;
        let outside = naive.value < low || naive.value > high;
        let distance = (ours.value - naive.value).abs() / spread;
        let words = format!(
            "{} {} instead of {} (90 % interval {} to {})",
            naive.name,
            with_spread(ours.value, spread),
            with_spread(naive.value, spread),
            with_spread(low, spread),
            with_spread(high, spread)
        );
        Some((outside, distance, words))
    });
    let pairs: Vec<_> = pairs.collect();
    let mut changed: Vec<_> = pairs.iter().filter(|(outside, ..)| *outside).collect();
    if changed.is_empty() {
        let same = match pairs.len() {
            1 => "The coefficient is".into(),
            2 => "Both coefficients are".into(),
            many => format!("All {many} coefficients are"),
        };
        return Some(format!(
            "{same} about what least squares with the links as given finds: its estimates lie inside our 90 % intervals."
        ));
    }
    changed.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named: Vec<&str> = changed
        .iter()
        .take(MOST_NAMED)
        .map(|c| c.2.as_str())
        .collect();
    let more = match changed.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Some(format!(
        "Against least squares with the links as given, {} of {} changed: {}{more}.",
        changed.len(),
        count(pairs.len(), "coefficient"),
        named.join("; ")
    ))
}

/// Whether the chains agree.
fn agreement(saved: &Saved) -> String {
    let worst = saved
        .summary
        .iter()
        .filter_map(|row| row.r_hat)
        .reduce(f64::max);
    let num_chains = saved.chains.len();
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
        Some(worst) if saved.findings.iter().any(disagree) => format!(
            "The {num_chains} chains do not agree well enough (largest R-hat {}): see the problems above before using these numbers.",
            significant(worst, 4)
        ),
        Some(worst) if saved.findings.iter().any(not_judged) => format!(
            "The {num_chains} chains agree as far as that can be judged (largest R-hat {}); the problems above name the rest.",
            significant(worst, 4)
        ),
        Some(worst) => format!(
            "The {num_chains} chains agree (largest R-hat {}).",
            significant(worst, 4)
        ),
    }
}
