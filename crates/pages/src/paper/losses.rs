//! Ours against the mixture on the same data: where the difference is more than chance, and why.

use unshuffle::internals::numerics::{mean, sd};
use unshuffle::internals::text::list;

use super::format::{fixed, of_all, significant, table};
use super::pays::{Setting, settings};
use super::results::Study;

/// A difference counts from so many standard errors.
const CLEAR: f64 = 2.0;

/// Error of ours minus error of the mixture, over the repeats of one setting.
struct Paired {
    setting: Setting,
    repeats: usize,
    difference: f64,
    standard_error: f64,
}

impl Paired {
    fn new(study: &Study, setting: Setting) -> Option<Paired> {
        let ours = setting.rows(study, "ours").by_repeat("beta_error");
        let mixture = setting.rows(study, "mixture").by_repeat("beta_error");
        let differences: Vec<f64> = ours
            .iter()
            .filter_map(|(repeat, error)| Some(error - mixture.get(repeat)?))
            .collect();
        let count = differences.len();
        Some(Paired {
            setting,
            repeats: count,
            difference: mean(&differences)?,
            standard_error: sd(&differences)? / (count as f64).sqrt(),
        })
    }

    /// In standard errors; positive where ours is worse.
    fn score(&self) -> f64 {
        if self.standard_error > 0.0 {
            self.difference / self.standard_error
        } else {
            0.0
        }
    }
}

/// Paragraphs and a table.
pub fn blocks(study: &Study) -> Vec<String> {
    let all: Vec<Paired> = settings(study)
        .into_iter()
        .filter_map(|setting| Paired::new(study, setting))
        .collect();
    let Some(repeats) = all.iter().map(|paired| paired.repeats).min() else {
        return vec!["There are too few repeats to compare the two.".to_string()];
    };
    let (worse, better): (Vec<&Paired>, Vec<&Paired>) = all
        .iter()
        .filter(|paired| paired.score().abs() > CLEAR)
        .partition(|paired| paired.score() > 0.0);
    let by_chance = all.len() as f64 * t_tail(CLEAR, repeats as f64 - 1.0);
    let mut blocks = vec![
        format!(
            "Both methods see the same data, so we compare them repeat by repeat: the error of ours minus the error of the mixture, its mean over {repeats} repeats, and the standard error of that mean. If the two were equally \
             good, about {} of the {} cells would show ours worse by more than {CLEAR} standard errors by chance alone, and as many better.",
            significant(by_chance, 2),
            all.len()
        ),
        format!(
            "Ours is worse by more than {CLEAR} standard errors in {}{}.",
            of_all(worse.len(), all.len(), "cells"),
            named(&worse)
        ),
        format!(
            "Ours is better by more than {CLEAR} standard errors in {}{}.",
            of_all(better.len(), all.len(), "cells"),
            named(&better)
        ),
    ];
    if !worse.is_empty() {
        blocks.push(losing_cells(study, &worse));
        blocks.push(explanation(study, &worse));
    }
    blocks
}

/// Which cells: the shares of mislinked rows at each R².
fn named(cells: &[&Paired]) -> String {
    let mut by_r2: Vec<(&str, Vec<String>)> = Vec::new();
    for setting in cells.iter().map(|paired| &paired.setting) {
        match by_r2.last_mut() {
            Some((r2, shares)) if *r2 == setting.r2 => shares.push(setting.mislinked_percent()),
            _ => by_r2.push((&setting.r2, vec![setting.mislinked_percent()])),
        }
    }
    let named: Vec<String> = by_r2
        .iter()
        .map(|(r2, shares)| format!("R² = {r2} with {} mislinked", list(shares)))
        .collect();
    if named.is_empty() {
        String::new()
    } else {
        format!(": {}", named.join("; "))
    }
}

fn rate(study: &Study, paired: &Paired, method: &str) -> Option<f64> {
    paired.setting.rows(study, method).mean("mismatch_rate")
}

fn losing_cells(study: &Study, worse: &[&Paired]) -> String {
    let rows: Vec<Vec<String>> = worse
        .iter()
        .map(|paired| {
            vec![
                paired.setting.r2.clone(),
                paired.setting.mislinked_percent(),
                fixed(Some(paired.difference), 4),
                fixed(Some(paired.standard_error), 4),
                fixed(rate(study, paired, "ours"), 3),
                fixed(rate(study, paired, "mixture"), 3),
            ]
        })
        .collect();
    let headings = [
        "R²",
        "mislinked",
        "difference",
        "standard error",
        "rate, ours",
        "rate, mixture",
    ];
    let text = "The cells where ours is worse, with the mismatch rate that each method estimates, mean over repeats:";
    format!("{text}\n\n{}", table(&headings, &rows))
}

/// Why ours loses where it loses, as far as the estimated rates bear it out. Reasons that they do not bear out are left out.
fn explanation(study: &Study, worse: &[&Paired]) -> String {
    let truth = |paired: &Paired| paired.setting.mislinked.parse::<f64>().ok();
    let count = |holds: &dyn Fn(&Paired) -> Option<bool>| {
        let held = worse.iter().filter(|paired| holds(paired) == Some(true));
        held.count()
    };
    let too_many = count(&|paired| Some(rate(study, paired, "ours")? > truth(paired)?));
    let collapsed = count(&|paired| Some(rate(study, paired, "mixture")? < 0.5 * truth(paired)?));
    let total = worse.len();
    let mut text = format!(
        "Cells of these in which ours estimates a rate above the true one: {too_many} of {total}; in which the mixture estimates less than half of the true one: {collapsed} of {total}."
    );
    let explained = 2 * too_many > total;
    if explained {
        text += " A weak regression says little about which rows are mislinked, so it leaves the rate open. The uniform prior on the rate then lets the posterior move too many rows, and rows that are moved because they then fit \
                 better pull the coefficients away from the truth.";
    }
    if 2 * collapsed > total {
        text += " The mixture's rate is a point estimate, which collapses towards 0 in these cells and leaves the mixture close to least squares. That happens to be near the truth when few rows are mislinked.";
    } else if !explained {
        text += " The estimated rates do not explain the difference.";
    }
    text
}

/// P(T > t) for Student's t. With T = sqrt(nu) tan(angle) the density is in proportion to cos(angle)^(nu - 1).
fn t_tail(t: f64, nu: f64) -> f64 {
    let right = std::f64::consts::FRAC_PI_2;
    let integral = |from: f64| {
        const STEPS: usize = 10_000;
        let step = (right - from) / STEPS as f64;
        let middle = |k: usize| (from + (k as f64 + 0.5) * step).cos().powf(nu - 1.0);
        step * (0..STEPS).map(middle).sum::<f64>()
    };
    integral((t / nu.sqrt()).atan()) / (2.0 * integral(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_printed_tables() {
        // Upper 5 % points at 1 and 24 degrees of freedom, and nearly normal at many.
        assert!((t_tail(6.313_75, 1.0) - 0.05).abs() < 1e-4);
        assert!((t_tail(1.710_88, 24.0) - 0.05).abs() < 1e-4);
        assert!((t_tail(2.0, 1e5) - 0.022_75).abs() < 1e-4);
    }
}
