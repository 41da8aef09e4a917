//! Coverage and width of intervals, and whether the chains agree.

use super::Section;
use super::errors::by_rate;
use super::format::{fixed, percent, table};
use super::results::{Inputs, percent_of};

/// Chains disagree above it.
const LARGEST_R_HAT: f64 = 1.01;

pub fn section(inputs: &Inputs) -> Section {
    let mut section = super::new_section();
    section.add("## Coverage of 90 % intervals");
    section.add("Mean over files and repeats, by the share of mismatched rows:");
    section.add(by_rate(inputs, "coverage", percent));
    section.add("Mean width of the same intervals, in unharmed standard errors (an unharmed 90 % interval has a width of about 3.3):");
    section.add(by_rate(inputs, "width", |width| fixed(width, 1)));
    section.add("## Convergence");
    section.add(format!(
        "The share of the fits in which the largest R-hat exceeds {LARGEST_R_HAT} (slopes, intercept, error scale and the number of moved rows):"
    ));
    section.add(convergence(inputs));
    section
}

fn convergence(inputs: &Inputs) -> String {
    let mut headings = vec!["fit".to_string()];
    headings.extend(inputs.rates.iter().map(|rate| percent_of(rate)));
    headings.push("all rates".into());
    let share = |values: Vec<f64>| {
        let above = values.iter().filter(|r_hat| **r_hat > LARGEST_R_HAT);
        let above = above.count() as f64;
        (!values.is_empty()).then(|| above / values.len() as f64)
    };
    let rows: Vec<Vec<String>> = inputs
        .fits()
        .into_iter()
        .map(|method| {
            let of = |wanted: &[(&str, &str)]| {
                let rows = inputs.results.select(wanted);
                percent(share(rows.values("r_hat")))
            };
            let own = ("method", method.key.as_str());
            let rates = inputs.rates.iter();
            let mut row = vec![method.name.clone()];
            row.extend(rates.map(|rate| of(&[own, ("mislinked", rate)])));
            row.push(of(&[own]));
            row
        })
        .collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    table(&headings, &rows)
}
