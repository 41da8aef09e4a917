//! Why is this row doubted? The log odds of a wrong link as a sum: the prior, the misfit at its own predictors, the fit at the
//! other places, and the rest.

use serde::Serialize;

use super::table::{Probability, probability};
use super::{MOVED, ranked};
use crate::config::Unlinked;
use crate::numerics::sd;
use crate::posterior::links::RowLinks;
use crate::posterior::{Posterior, Row};
use crate::report::coefficients::coefficients;
use crate::report::format::{significant, with_spread};
use crate::report::laws::MeanLaws;

/// Rows explained, those with the largest P(moved).
pub const MOST_ROWS: usize = 100;
/// Places shown besides the row's own, the most probable first.
const MOST_PLACES: usize = 5;
/// Fewer draws on either side say nothing of a coefficient.
const LEAST_DRAWS: usize = 20;
/// Coefficients named.
const MOST_NAMED: usize = 3;

/// How the probability that one row is linked wrongly comes about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Why {
    /// Of the row in the user's file.
    pub number: usize,
    pub label: String,
    pub p_moved: Probability,
    /// Whether it is more likely wrong than right.
    pub moved: bool,
    pub response: String,
    pub steps: Vec<Step>,
    pub places: Vec<Place>,
    /// Whether places have fitted values and fits.
    pub has_fits: bool,
    /// The coefficients in draws that move the row, beside those in draws that keep it.
    pub shifts: Vec<String>,
}

/// A bar of the waterfall.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    pub name: &'static str,
    pub words: String,
    pub value: f64,
    pub text: String,
    /// Where the bar begins and how long it is, in percent of the picture.
    pub left: f64,
    pub width: f64,
    pub is_total: bool,
}

/// A place where the response may belong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    pub label: String,
    pub is_itself: bool,
    pub fitted: String,
    /// By how much the log density of the response is higher there than at its own predictors.
    pub fit: String,
    pub probability: Probability,
}

pub fn explanations(fit: &Posterior, links: &[RowLinks]) -> Vec<Why> {
    let density = Density::new(fit);
    let order = ranked(links).into_iter().take(MOST_ROWS);
    order
        .map(|row| explanation(fit, links, row, density.as_ref()))
        .collect()
}

fn explanation(fit: &Posterior, links: &[RowLinks], row: usize, density: Option<&Density>) -> Why {
    let (own, data) = (&links[row], &fit.rows[row]);
    let responses: Vec<f64> = fit.rows.iter().map(|row| row.response).collect();
    let spread = sd(&responses).unwrap_or(0.0) / 10.0;
    let others = own.partners.iter().filter(|(column, _)| *column != row);
    let itself = (row, 1.0 - own.p_moved);
    let at_own = density.and_then(|d| d.log(data.response, row));
    let place = |(column, p): (usize, f64)| Place {
        label: fit.row_label(column),
        is_itself: column == row,
        // What the predictors of an unlinked row predict is not saved.
        fitted: (fit.rows.get(column))
            .and_then(|row| row.fitted)
            .map_or(String::new(), |[fitted, _]| with_spread(fitted, spread)),
        fit: density
            .and_then(|d| Some(signed(d.log(data.response, column)? - at_own?)))
            .unwrap_or_default(),
        probability: p.into(),
    };
    let places = [itself]
        .into_iter()
        .chain(others.take(MOST_PLACES).copied());
    Why {
        number: data.number,
        label: fit.row_label(row),
        p_moved: own.p_moved.into(),
        moved: own.p_moved > MOVED,
        response: with_spread(data.response, spread),
        steps: drawn(contributions(fit, own.p_moved, row, density)),
        places: places.map(place).collect(),
        has_fits: density.is_some(),
        shifts: shifts(fit, row),
    }
}

/// The density of a response at the predictors of any row, at the posterior means of the parameters.
struct Density<'a> {
    rows: &'a [Row],
    laws: MeanLaws,
    /// The power of the likelihood in the permutation step.
    power: f64,
    /// Whether unlinked rows are places too, of which less is saved.
    has_places: bool,
}

impl<'a> Density<'a> {
    /// None where the laws of the responses are not known.
    fn new(fit: &'a Posterior) -> Option<Density<'a>> {
        Some(Density {
            rows: &fit.rows,
            laws: MeanLaws::new(fit)?,
            power: fit.config.temperature.at(fit.rows.len()).1,
            has_places: fit.config.data.unlinked == Unlinked::Places,
        })
    }

    /// The log density of a response at the predictors of `row`, as the permutation step weighs it.
    /// None for a place beyond the rows, whose predictors are not saved.
    fn log(&self, response: f64, row: usize) -> Option<f64> {
        (row < self.rows.len()).then_some(())?;
        let log = self.laws.at(row).log_density(response);
        Some(self.power * log).filter(|log| log.is_finite())
    }

    /// The log densities of a row's response at all other places where it may belong; None where these are not saved.
    fn elsewhere(&self, row: usize) -> Option<Vec<f64>> {
        let own = &self.rows[row];
        if own.num_candidates.is_some() || self.has_places {
            return None;
        }
        let is_fixed = |row: &Row| {
            row.safe == Some(true) || row.match_probability.is_some_and(|given| given >= 1.0)
        };
        let is_place = |&other: &usize| {
            other != row && self.rows[other].block == own.block && !is_fixed(&self.rows[other])
        };
        let places = (0..self.rows.len()).filter(is_place);
        let logs: Vec<f64> = places
            .filter_map(|other| self.log(own.response, other))
            .collect();
        (!logs.is_empty()).then_some(logs)
    }
}

struct Contribution {
    name: &'static str,
    words: String,
    value: f64,
}

/// The parts of the log odds that the row is linked wrongly, and their sum last.
///
/// Were rows independent, the odds would be those of the prior times the mean density of the response at the other places over its
/// density at its own predictors. What the draws say besides is the rest.
fn contributions(
    fit: &Posterior,
    p_moved: f64,
    row: usize,
    density: Option<&Density>,
) -> Vec<Contribution> {
    let num_draws = fit.num_draws() as f64;
    // Half a draw on either side, since a finite number of draws cannot say never.
    let total = ((num_draws * p_moved + 0.5) / (num_draws * (1.0 - p_moved) + 0.5)).ln();
    let mut parts = Vec::from_iter(prior(fit, row));
    let at_own = density.and_then(|d| d.log(d.rows[row].response, row));
    let elsewhere = density.and_then(|d| d.elsewhere(row));
    if let (Some(own), Some(logs)) = (at_own, &elsewhere) {
        let best = logs.iter().copied().fold(own, f64::max);
        let mean = logs.iter().map(|log| (log - best).exp()).sum::<f64>() / logs.len() as f64;
        parts.push(Contribution {
            name: "Misfit at its own predictors",
            words: match best > own {
                true => "log density at the best place, less that at its own".into(),
                false => "it fits nowhere better than at its own".into(),
            },
            value: best - own,
        });
        parts.push(Contribution {
            name: "Fit at the other places",
            words: format!(
                "mean density at {} other places, over that at the best",
                logs.len()
            ),
            value: mean.ln(),
        });
    }
    let explained: f64 = parts.iter().map(|part| part.value).sum();
    parts.push(Contribution {
        name: "The rest",
        words: match elsewhere {
            Some(_) => "each place takes one response, and the parameters are uncertain",
            None => "the likelihood, by the draws",
        }
        .into(),
        value: total - explained,
    });
    parts.push(Contribution {
        name: "Log odds of a wrong link",
        words: match p_moved {
            1.0 => format!("every one of {num_draws} draws moves it, so at least this"),
            0.0 => format!("not one of {num_draws} draws moves it, so at most this"),
            p => format!("P(moved) {}, by the draws", probability(p)),
        },
        value: total,
    });
    parts
}

/// The match probability of the row, or the share of wrong links that the whole file points to.
fn prior(fit: &Posterior, row: usize) -> Option<Contribution> {
    let (wrong, words) = match fit.rows[row].match_probability {
        Some(given) => (
            1.0 - given,
            format!("match probability {} in your file", probability(given)),
        ),
        None => {
            let rate = fit.quantity("mismatch_rate")?.mean?;
            let words = format!("share of wrong links in the file, {}", probability(rate));
            (rate, words)
        }
    };
    let value = (wrong / (1.0 - wrong)).ln();
    value.is_finite().then_some(Contribution {
        name: "Prior",
        words,
        value,
    })
}

/// Bars one behind the other; the last one begins at zero.
fn drawn(parts: Vec<Contribution>) -> Vec<Step> {
    let mut level = 0.0;
    let mut ends = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        let from = if k + 1 == parts.len() { 0.0 } else { level };
        ends.push((from, from + part.value));
        level += part.value;
    }
    let all = || ends.iter().flat_map(|(from, to)| [*from, *to]);
    let (low, high) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
    let reach = if high > low { high - low } else { 1.0 };
    let last = parts.len() - 1;
    let percent = |value: f64| (1000.0 * value / reach).round() / 10.0;
    let step = |(k, (part, (from, to))): (usize, (Contribution, &(f64, f64)))| Step {
        name: part.name,
        words: part.words,
        value: part.value,
        text: signed(part.value),
        left: percent(from.min(*to) - low),
        width: percent((to - from).abs()),
        is_total: k == last,
    };
    parts.into_iter().zip(&ends).enumerate().map(step).collect()
}

/// With its sign, and a minus as wide as a plus.
fn signed(value: f64) -> String {
    let digits = format!("{:.1}", value.abs());
    match digits.as_str() {
        "0.0" => digits,
        _ if value < 0.0 => format!("\u{2212}{digits}"),
        _ => format!("+{digits}"),
    }
}

/// Each coefficient in draws that move the row against draws that keep it, in posterior standard deviations.
fn shifts(fit: &Posterior, row: usize) -> Vec<String> {
    let Some(links) = &fit.links else {
        return Vec::new();
    };
    let mut found: Vec<(String, f64)> = coefficients(fit)
        .into_iter()
        .filter_map(|(name, summary)| {
            let (mut moved, mut kept) = (Sum::default(), Sum::default());
            for (chain, links) in fit.chains.iter().zip(links.chains()) {
                let column = chain.column(&summary.name)?;
                let mut is_moved = vec![false; column.len()];
                links.row(row).for_each(|(draw, _)| is_moved[draw] = true);
                for (value, is_moved) in column.iter().zip(is_moved) {
                    if is_moved { &mut moved } else { &mut kept }.add(*value);
                }
            }
            let shift = (moved.mean()? - kept.mean()?) / summary.sd?;
            shift.is_finite().then_some((name, shift))
        })
        .collect();
    found.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    found.truncate(MOST_NAMED);
    let words = found.into_iter().map(|(name, shift)| {
        let side = if shift < 0.0 { "lower" } else { "higher" };
        format!("{name} {} sd {side}", significant(shift.abs(), 2))
    });
    words.collect()
}

#[derive(Default)]
struct Sum {
    number: usize,
    sum: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.number += 1;
        self.sum += value;
    }

    /// None of too few.
    fn mean(&self) -> Option<f64> {
        (self.number >= LEAST_DRAWS).then(|| self.sum / self.number as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::verdict_example::Example;

    fn links_of(fit: &Posterior) -> Vec<RowLinks> {
        let links = fit.links.as_ref().unwrap();
        (0..links.num_rows()).map(|row| links.row(row)).collect()
    }

    fn why(fit: &Posterior, number: usize) -> Why {
        let all = explanations(fit, &links_of(fit));
        all.into_iter().find(|why| why.number == number).unwrap()
    }

    fn values(why: &Why) -> Vec<(&'static str, f64)> {
        why.steps
            .iter()
            .map(|step| (step.name, step.value))
            .collect()
    }

    /// Rows 3 and 8 have each other's responses.
    fn exchanged() -> Posterior {
        let mut fit = Example::default().fit();
        fit.rows[2].response = 8.1;
        fit.rows[7].response = 3.1;
        fit
    }

    #[test]
    fn the_parts_are_those_of_the_formula_and_sum_to_the_log_odds() {
        let fit = exchanged();
        let why = why(&fit, 3);
        let found = values(&why);
        let names: Vec<&str> = found.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            [
                "Prior",
                "Misfit at its own predictors",
                "Fit at the other places",
                "The rest",
                "Log odds of a wrong link"
            ]
        );
        // Row k is fitted as k, so the response 8.1 of row 3 fits best at row 8.
        let variance = fit.quantity("sigma2").unwrap().mean.unwrap();
        let log = |k: f64| -0.5 * (8.1 - k).powi(2) / variance;
        let rate = fit.quantity("mismatch_rate").unwrap().mean.unwrap();
        let near = |k: usize, expected: f64| {
            assert!((found[k].1 - expected).abs() < 1e-9, "{found:?} {expected}");
        };
        near(0, (rate / (1.0 - rate)).ln());
        near(1, log(8.0) - log(3.0));
        let others = (1..=20).filter(|k| *k != 3).map(f64::from);
        let mean = others.map(|k| (log(k) - log(8.0)).exp()).sum::<f64>() / 19.0;
        near(2, mean.ln());
        let p = why.p_moved.value;
        near(4, ((2000.0 * p + 0.5) / (2000.0 * (1.0 - p) + 0.5)).ln());
        near(3, found[4].1 - found[0].1 - found[1].1 - found[2].1);
        assert!(found[1].1 > 20.0 && found[2].1 < 0.0);
    }

    #[test]
    fn bars_meet_and_the_total_begins_at_zero() {
        let steps = why(&exchanged(), 3).steps;
        let ends = |step: &Step| match step.value < 0.0 {
            true => (step.left + step.width, step.left),
            false => (step.left, step.left + step.width),
        };
        for pair in steps[..4].windows(2) {
            let (end, start) = (ends(&pair[0]).1, ends(&pair[1]).0);
            assert!((end - start).abs() < 0.25, "{steps:?}");
        }
        assert!((ends(&steps[4]).0 - ends(&steps[0]).0).abs() < 0.25);
        assert!((ends(&steps[4]).1 - ends(&steps[3]).1).abs() < 0.25);
        assert!(
            steps
                .iter()
                .all(|step| step.left >= 0.0 && step.left + step.width <= 100.2)
        );
    }

    #[test]
    fn places_have_their_fit_and_probability() {
        let places = why(&exchanged(), 3).places;
        let shown: Vec<(&str, bool, &str)> = places
            .iter()
            .map(|p| (p.label.as_str(), p.is_itself, p.fitted.as_str()))
            .collect();
        assert_eq!(shown, [("3", true, "3.00"), ("8", false, "8.00")]);
        assert_eq!(places[0].fit, "0.0");
        assert!(places[1].fit.starts_with('+') && places[1].probability.value > 0.9);
    }

    #[test]
    fn a_given_match_probability_is_the_prior() {
        let mut fit = exchanged();
        for row in &mut fit.rows {
            row.match_probability = Some(0.9);
        }
        let why = why(&fit, 3);
        assert!((why.steps[0].value - (0.1_f64 / 0.9).ln()).abs() < 1e-12);
        assert_eq!(why.steps[0].words, "match probability 0.900 in your file");
    }

    #[test]
    fn places_outside_the_block_and_safe_rows_do_not_count() {
        let mut fit = exchanged();
        for (k, row) in fit.rows.iter_mut().enumerate() {
            row.block = Some(if k < 10 { "a" } else { "b" }.into());
            row.safe = Some(k == 0);
        }
        assert!(why(&fit, 3).steps[2].words.contains("at 8 other places"));
    }

    #[test]
    fn what_is_not_saved_is_not_made_up() {
        let mut fit = exchanged();
        for row in &mut fit.rows {
            row.num_candidates = Some(3);
        }
        let with_candidates = values(&why(&fit, 3));
        assert_eq!(with_candidates.len(), 3, "prior, rest and sum");
        let mut fit = exchanged();
        for row in &mut fit.rows {
            row.fitted = None;
        }
        let unknown = why(&fit, 3);
        assert_eq!(unknown.steps.len(), 3);
        assert!(!unknown.has_fits && unknown.places[0].fit.is_empty());
    }

    #[test]
    fn coefficients_that_go_with_the_row_are_named() {
        let mut fit = exchanged();
        let links = fit.links.clone().unwrap();
        for (chain, links) in fit.chains.iter_mut().zip(links.chains()) {
            let place = chain.names.iter().position(|n| n == "beta.2").unwrap();
            let column = &mut chain.columns[place];
            // Beside the noise, which has a standard deviation of 0.1.
            links.row(2).for_each(|(draw, _)| column[draw] += 2.0);
        }
        fit.forget_summary();
        let shifts = why(&fit, 3).shifts;
        assert!(
            shifts[0].starts_with("income ") && shifts[0].ends_with("sd higher"),
            "{shifts:?}"
        );
        // A row that is hardly ever moved has too few draws to compare.
        assert!(why(&fit, 1).shifts.is_empty());
    }

    #[test]
    fn so_many_rows_are_explained() {
        let fit = Example {
            num_rows: 300,
            ..Example::default()
        }
        .fit();
        assert_eq!(explanations(&fit, &links_of(&fit)).len(), MOST_ROWS);
    }
}
