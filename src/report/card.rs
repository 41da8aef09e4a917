//! The first screen: a status, one sentence under its condition, three numbers, the fit before and after, and what to do next.

use serde::Serialize;

use super::format::percent;
use super::links;
use super::page::Picture;
use super::status::{NoAnswer, Status, no_answer};
use super::verdict::{PROBABLY, Share, changes, headline, keeps_every_link, num_expected, share};
use crate::config::Family;
use crate::posterior::Posterior;
use crate::posterior::diagnostics::Finding;

/// What stands for a number that is not given.
const NOT_GIVEN: &str = "\u{2013}";

#[derive(Debug, Clone, Serialize)]
pub struct Card {
    pub status: Status,
    pub words: &'static str,
    pub shape: &'static str,
    pub sentence: String,
    pub numbers: Vec<Number>,
    /// None for a fit that kept its links, and for a program without coefficients.
    pub before_after: Option<Picture>,
    pub steps: Vec<String>,
}

/// A number of the first screen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Number {
    pub value: String,
    /// What it counts.
    pub name: &'static str,
    /// Its interval or definition.
    pub note: String,
}

impl Card {
    pub fn new(fit: &Posterior) -> Card {
        let status = Status::of(fit);
        Card {
            status,
            words: status.words(),
            shape: status.shape(),
            sentence: headline(fit),
            numbers: numbers(fit),
            before_after: before_after(fit),
            steps: steps(fit, status),
        }
    }
}

/// The picture, with its condition where the checks refuse the fit.
fn before_after(fit: &Posterior) -> Option<Picture> {
    let mut picture = links::before_after(fit)?;
    if no_answer(fit).is_some() {
        picture.caption = format!(
            "Not to be relied on, as the fit itself. {}",
            picture.caption
        );
    }
    Some(picture)
}

/// The number of rows that are more likely wrong than right; None where links were kept.
pub fn num_probably_wrong(fit: &Posterior) -> Option<usize> {
    let links = fit.links.as_ref()?;
    let is_wrong = |row: &usize| links.row(*row).p_moved > PROBABLY;
    Some((0..links.num_rows()).filter(is_wrong).count())
}

/// The three numbers; none for a fit that kept its links, or whose numbers may not be relied on.
pub fn numbers(fit: &Posterior) -> Vec<Number> {
    let has_numbers = no_answer(fit).is_none() && !keeps_every_link(fit);
    let num_wrong = num_probably_wrong(fit).filter(|_| has_numbers);
    let Some(num_wrong) = num_wrong else {
        return Vec::new();
    };
    let note = format!(
        "more likely wrong than right; {:.0} wrong links are expected in all, and the others cannot be told from right ones",
        num_expected(fit)
    );
    let rows = Number {
        value: num_wrong.to_string(),
        name: "rows worth checking by hand",
        note,
    };
    vec![share_number(fit), coefficients_number(fit), rows]
}

fn share_number(fit: &Posterior) -> Number {
    let (value, note) = match share(fit) {
        Share::Unknown => (NOT_GIVEN.into(), "could not be estimated".into()),
        Share::Negligible { at_most } => (
            format!("\u{2264} {}", percent(at_most)),
            "with 95 % probability; no sign of wrong links".into(),
        ),
        Share::Found { mean, low, high } => (
            percent(mean),
            format!("90 % interval {} to {}", percent(low), percent(high)),
        ),
    };
    Number {
        value,
        name: "of the links are wrong",
        note,
    }
}

fn coefficients_number(fit: &Posterior) -> Number {
    let all = changes(fit).map(|(_, all)| all).unwrap_or_default();
    let num_moved = all.iter().filter(|change| change.outside).count();
    let (value, note) = match all.len() {
        0 => (NOT_GIVEN.into(), "nothing to compare with"),
        many => (
            format!("{num_moved} of {many}"),
            "the estimate with every link kept lies outside the 90 % interval of this fit",
        ),
    };
    Number {
        value,
        name: "coefficients move",
        note: note.into(),
    }
}

/// What to do next, the most useful first.
fn steps(fit: &Posterior, status: Status) -> Vec<String> {
    let Some(num_wrong) = num_probably_wrong(fit) else {
        return vec![
            "To let links move, set permutation.update.name to \"active_set\" and fit again."
                .into(),
        ];
    };
    let mut steps = Vec::new();
    if fit.is_interrupted() {
        steps.push("Finish the fit: `unshuffle fit --resume` with the same config.".into());
    }
    if fit.findings().iter().any(Finding::is_problem) {
        steps.push("Do what the problems below say, and fit again.".into());
    }
    match status {
        Status::Refuse => {
            let contradicted = no_answer(fit) == Some(NoAnswer::Contradicted);
            if contradicted {
                steps.push(
                    "Use the recommended coefficients (coefficients.csv), not the joint posterior."
                        .into(),
                );
                steps.push("Check some links by hand: mark right ones in a column for data.safe, or give the count as permutation.prior.audit.".into());
                let other = match fit.config.model.family() {
                    Family::Gaussian | Family::StudentT { .. } => Some(
                        "Try model.stan \"robust\", which allows tails and a spread that changes.",
                    ),
                    Family::Poisson => Some(
                        "Try model.stan \"negative_binomial\", which allows counts that vary more.",
                    ),
                    _ => None,
                };
                steps.extend(other.map(String::from));
            }
        }
        _ if num_wrong > 0 => {
            steps.push(format!(
                "Check {} by hand, from the top of the table of rows; mark right ones in a column for data.safe, and fit again.",
                match num_wrong {
                    1 => "the doubtful row".into(),
                    few if few <= 10 => format!("the {few} doubtful rows"),
                    _ => "the ten most doubtful rows".to_string(),
                }
            ));
        }
        _ => {}
    }
    if status != Status::Refuse {
        steps.push(format!(
            "Analyse relinked data: `unshuffle export {}` writes sets for multiple imputation, `unshuffle pool` joins their estimates.",
            folder_name(fit)
        ));
    }
    if fit.config.data.block.is_none() && fit.rows.iter().all(|row| row.block.is_none()) {
        steps.push("If wrong links can only lie within groups (region, year of birth), name that column as data.block: fewer places to confuse.".into());
    }
    steps
}

/// The last name of the output folder, since a report may be read on another machine.
fn folder_name(fit: &Posterior) -> String {
    let name = fit.folder.path().file_name();
    name.map_or("DIR".into(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::{Method, Trust};
    use crate::report::verdict_example::Example;

    fn judged(example: Example, trusted: bool) -> Posterior {
        let mut fit = example.fit();
        fit.trust = Some(Trust {
            trusted,
            source: Method::Joint,
            weight: 1.0,
            checks: Vec::new(),
            sentence: "Tails.".into(),
            rates: None,
            wrong_along: Vec::new(),
        });
        fit
    }

    fn card(fit: &Posterior) -> Card {
        Card::new(fit)
    }

    fn values(card: &Card) -> Vec<&str> {
        card.numbers.iter().map(|n| n.value.as_str()).collect()
    }

    #[test]
    fn a_clean_fit_has_three_numbers_and_a_picture() {
        let card = card(&judged(Example::default(), true));
        assert_eq!((card.status, card.words), (Status::Trust, "Trust it"));
        assert_eq!(values(&card), ["19 %", "2 of 2", "4"]);
        assert_eq!(card.numbers[0].note, "90 % interval 10 % to 20 %");
        assert!(card.numbers[2].note.contains("4 wrong links are expected"));
        assert!(card.before_after.is_some());
        assert!(card.sentence.starts_with("If errors are normal"));
        assert!(
            card.steps[0].contains("the 4 doubtful rows"),
            "{:?}",
            card.steps
        );
    }

    #[test]
    fn a_refused_fit_has_no_number() {
        let contradicted = judged(Example::default(), false);
        let disagreeing = judged(
            Example {
                swaps_of_first_chain: vec![(4, 5), (8, 9)],
                ..Example::default()
            },
            true,
        );
        for fit in [&contradicted, &disagreeing] {
            let card = card(fit);
            assert_eq!(
                (card.status, card.words),
                (Status::Refuse, "Do not use the joint posterior")
            );
            assert!(card.numbers.is_empty());
            assert!(card.sentence.contains("no number of wrong links is given"));
            assert!(!card.steps.iter().any(|step| step.contains("export")));
        }
        assert!(card(&contradicted).steps[0].contains("recommended coefficients"));
        assert!(card(&disagreeing).steps[0].contains("problems below"));
    }

    #[test]
    fn without_wrong_links_nobody_is_sent_to_check_rows() {
        let example = Example {
            swaps: vec![(2, 7, 0.01)],
            naive_shift: 0.3,
            num_rows: 400,
            ..Example::default()
        };
        let card = card(&judged(example, true));
        assert_eq!(values(&card), ["\u{2264} 0.3 %", "0 of 2", "0"]);
        assert!(!card.steps.iter().any(|step| step.contains("by hand")));
    }

    #[test]
    fn a_fit_that_kept_its_links_has_no_numbers() {
        let mut fit = judged(Example::default(), true);
        fit.links = None;
        let card = card(&fit);
        assert!(card.numbers.is_empty() && card.before_after.is_none());
        assert!(card.steps[0].contains("permutation.update"));
    }
}
