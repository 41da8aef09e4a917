//! Several fits on one page: their verdicts, and their coefficients side by side.

use serde::Serialize;

use super::card::numbers;
use super::coefficients::{ForestRow, coefficients, forest_figure, forest_interval};
use super::format::with_spread;
use super::page::Picture;
use super::provenance::model_name;
use super::status::Status;
use super::verdict::headline;
use crate::posterior::{Method, Posterior};

/// What stands for a number that is not given.
const NOT_GIVEN: &str = "\u{2013}";
/// Coefficients drawn; the table has the others.
const MOST_DRAWN: usize = 40;

#[derive(Debug, Clone, Serialize)]
pub struct Together {
    pub fits: Vec<FitLine>,
    /// None where no fit has coefficients.
    pub forest: Option<Picture>,
    pub coefficients: Vec<CoefficientLine>,
}

/// One fit and how far it can be relied on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitLine {
    pub label: String,
    /// The output folder.
    pub folder: String,
    pub model: String,
    pub num_rows: String,
    pub status: Status,
    pub shape: &'static str,
    pub words: &'static str,
    /// The share of wrong links.
    pub share: String,
    pub sentence: String,
}

/// One coefficient by each fit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoefficientLine {
    pub name: String,
    pub cells: Vec<Cell>,
}

/// As it is shown, and as it is sorted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    pub text: String,
    pub value: String,
}

/// An estimate with its 90 % interval.
#[derive(Debug, Clone, PartialEq)]
struct Estimated {
    name: String,
    mean: f64,
    ends: [f64; 2],
}

impl Together {
    pub fn new(fits: &[Posterior]) -> Together {
        let labels = labels(fits);
        let estimates: Vec<Vec<Estimated>> = fits.iter().map(estimated).collect();
        let mut names: Vec<&str> = Vec::new();
        for estimate in estimates.iter().flatten() {
            if !names.contains(&estimate.name.as_str()) {
                names.push(&estimate.name);
            }
        }
        let line = |(fit, label): (&Posterior, &String)| fit_line(fit, label.clone());
        Together {
            fits: fits.iter().zip(&labels).map(line).collect(),
            forest: forest(&names, &estimates, &labels),
            coefficients: names
                .iter()
                .map(|name| coefficient_line(name, &estimates))
                .collect(),
        }
    }
}

/// The name of each fit, with its folder where several have the same one.
fn labels(fits: &[Posterior]) -> Vec<String> {
    let folder = |fit: &Posterior| fit.folder.path().display().to_string();
    let is_shared = |fit: &Posterior| {
        let same = fits
            .iter()
            .filter(|other| other.config.name == fit.config.name);
        same.count() > 1
    };
    let label = |fit: &Posterior| match is_shared(fit) {
        true => format!("{} ({})", fit.config.name, folder(fit)),
        false => fit.config.name.clone(),
    };
    fits.iter().map(label).collect()
}

fn fit_line(fit: &Posterior, label: String) -> FitLine {
    let status = Status::of(fit);
    let share = numbers(fit).into_iter().next();
    FitLine {
        label,
        folder: fit.folder.path().display().to_string(),
        model: format!(
            "{} ({})",
            model_name(&fit.config),
            fit.config.model.family()
        ),
        num_rows: fit.num_rows().map_or(NOT_GIVEN.into(), |n| n.to_string()),
        status,
        shape: status.shape(),
        words: status.words(),
        share: share.map_or(NOT_GIVEN.into(), |number| {
            format!("{} ({})", number.value, number.note)
        }),
        sentence: headline(fit),
    }
}

/// The recommended coefficients, or those of the draws of a fit that recommends none.
fn estimated(fit: &Posterior) -> Vec<Estimated> {
    let recommended: Vec<Estimated> = fit
        .coefficients_by(Method::Recommended)
        .map(|c| Estimated {
            name: c.name.clone(),
            mean: c.estimate,
            ends: [c.q5, c.q95],
        })
        .collect();
    if !recommended.is_empty() {
        return recommended;
    }
    let of_draws = coefficients(fit).into_iter().filter_map(|(name, row)| {
        Some(Estimated {
            name,
            mean: row.mean?,
            ends: [row.q5?, row.q95?],
        })
    });
    of_draws.collect()
}

fn found<'a>(of_fit: &'a [Estimated], name: &str) -> Option<&'a Estimated> {
    of_fit.iter().find(|estimate| estimate.name == name)
}

fn forest(names: &[&str], estimates: &[Vec<Estimated>], labels: &[String]) -> Option<Picture> {
    if names.is_empty() {
        return None;
    }
    let rows = names.iter().take(MOST_DRAWN).map(|name| ForestRow {
        name: name.to_string(),
        bars: estimates
            .iter()
            .map(|of_fit| {
                let own = found(of_fit, name)?;
                forest_interval(Some(own.mean), own.ends.map(Some))
            })
            .collect(),
    });
    let rows: Vec<ForestRow> = rows.collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let figure = forest_figure(&rows, &labels);
    let mut caption = "Recommended coefficients with 90 % intervals, one colour for each fit; a fit that recommends none has its posterior means. \
                       Coefficients of different scale have panels with axes of their own."
        .to_string();
    if rows.len() < names.len() {
        caption += &format!(
            " Only the first {} of {} coefficients are drawn; the table has all.",
            rows.len(),
            names.len()
        );
    }
    Some(Picture::new(&figure, caption))
}

fn coefficient_line(name: &str, estimates: &[Vec<Estimated>]) -> CoefficientLine {
    let cell = |of_fit: &Vec<Estimated>| match found(of_fit, name) {
        None => Cell {
            text: NOT_GIVEN.into(),
            value: String::new(),
        },
        Some(own) => {
            let [low, high] = own.ends;
            let shown = |value: f64| with_spread(value, (high - low) / 4.0);
            Cell {
                text: format!("{} [{}, {}]", shown(own.mean), shown(low), shown(high)),
                value: own.mean.to_string(),
            }
        }
    };
    CoefficientLine {
        name: name.into(),
        cells: estimates.iter().map(cell).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page;
    use crate::report::verdict_example::Example;

    fn two() -> [Posterior; 2] {
        let second = Example {
            predictors: vec!["income".into(), "<b>age</b>".into()],
            ..Example::default()
        };
        [Example::default().fit(), second.fit()]
    }

    #[test]
    fn each_fit_has_a_verdict_and_each_coefficient_a_cell() {
        let together = Together::new(&two());
        assert_eq!(together.fits.len(), 2);
        // Both are called "example".
        assert_eq!(together.fits[0].label, "example (/fits/example)");
        let names: Vec<&str> = together
            .coefficients
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        assert_eq!(names, ["(Intercept)", "income", "<b>age</b>"]);
        let age = &together.coefficients[2].cells;
        assert_eq!(age[0].text, NOT_GIVEN);
        assert!(
            age[1].text.starts_with("3.0") && age[1].text.contains('['),
            "{age:?}"
        );
    }

    #[test]
    fn the_page_escapes_names_and_has_no_row() {
        let html = page::together_html(&two());
        assert!(html.contains("&lt;b&gt;age&lt;") && !html.contains("<b>age"));
        assert!(html.contains("Use with care"));
        assert!(!html.contains("id=\"rows\"") && !html.contains("id=\"scatter\""));
    }
}
