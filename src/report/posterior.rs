//! The posterior of each parameter by chain, and of the number and share of moved rows against their prior.

mod moved;

use serde::Serialize;

use super::by_chain::{bare_axis, by_trouble, draws, largest_r_hat, listed, with_legend};
use super::format::{count, significant};
use super::page::Picture;
use crate::numerics::{density, grid, quantile};
use crate::plot::{Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::posterior::diagnostics::SummaryRow;

const MOST_PANELS: usize = 24;
/// Names of quantities that are not drawn, in one sentence.
const MOST_NAMED: usize = 8;

#[derive(Debug, Clone, Serialize)]
pub struct PosteriorSection {
    pub parameters: Option<Picture>,
    /// What is not drawn, and why.
    pub notes: Vec<String>,
    /// None where every link was kept.
    pub moved: Option<Picture>,
}

impl PosteriorSection {
    pub fn new(fit: &Posterior) -> PosteriorSection {
        let parameters: Vec<&SummaryRow> = parameters(fit);
        let (mut panels, mut shown, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut constant, mut broken) = (Vec::new(), Vec::new());
        let selected = selected(&parameters);
        for row in &selected {
            let name = fit.name_of(&row.name);
            let by_chain = draws(fit, &row.name);
            if row.is_constant() {
                let value = row.mean.map_or("NA".into(), |mean| significant(mean, 4));
                constant.push(format!("{name} = {value}"));
            } else if let Some(panel) = density_panel(fit, &name, &by_chain) {
                panels.push(panel);
                shown.push(*row);
            } else {
                broken.push(name);
            }
        }
        if parameters.len() > selected.len() {
            notes.push(format!(
                "Of {} the first {} are drawn and the {} with the largest R-hat among the others; summary.csv has them all.",
                count(parameters.len(), "parameter"),
                MOST_PANELS / 2,
                MOST_PANELS / 2,
            ));
        }
        if !constant.is_empty() {
            let list = listed(&constant, MOST_NAMED);
            notes.push(format!("The same in every draw, so not drawn: {list}."));
        }
        if !broken.is_empty() {
            let list = listed(&broken, MOST_NAMED);
            notes.push(format!(
                "Not drawn, because there are too few draws or some are not finite: {list}."
            ));
        }
        PosteriorSection {
            parameters: (!panels.is_empty()).then(|| picture(fit, panels, &shown)),
            notes,
            moved: moved::picture(fit),
        }
    }
}

/// Everything the Stan program saved, coefficients first.
fn parameters(fit: &Posterior) -> Vec<&SummaryRow> {
    let derived = [
        "lp__",
        "n_moved",
        "mismatch_rate",
        "n_outside",
        "outside_share",
    ];
    let own = fit.summary().iter();
    let own = own.filter(|row| !derived.contains(&row.name.as_str()));
    let (coefficients, others): (Vec<_>, Vec<_>) =
        own.partition(|row| row.name == "beta" || row.name.starts_with("beta."));
    coefficients.into_iter().chain(others).collect()
}

/// All of a few; of many the first, and among the others those whose chains agree least.
fn selected<'a>(parameters: &[&'a SummaryRow]) -> Vec<&'a SummaryRow> {
    if parameters.len() <= MOST_PANELS {
        return parameters.to_vec();
    }
    let (first, others) = parameters.split_at(MOST_PANELS / 2);
    let mut others = others.to_vec();
    others.sort_by(|a, b| by_trouble(a, b));
    others.truncate(MOST_PANELS - first.len());
    [first, &others].concat()
}

fn picture(fit: &Posterior, panels: Vec<Panel>, shown: &[&SummaryRow]) -> Picture {
    let num_chains = fit.chains.len();
    let names: Vec<String> = shown.iter().map(|row| fit.name_of(&row.name)).collect();
    let description = format!(
        "Densities of the draws of {} in {}: {}; {}.",
        listed(&names, MOST_NAMED),
        count(num_chains, "chain"),
        match num_chains {
            1 => "one line for each parameter",
            _ => "one line a chain, which lie over each other where the chains agree",
        },
        largest_r_hat(shown)
    );
    let columns = if panels.len() > 9 { 4 } else { 3 };
    let figure = Figure::new("Density of each parameter", description)
        .columns(columns)
        .width(720.0);
    let figure = with_legend(panels.into_iter().fold(figure, Figure::panel), fit);
    let caption = match num_chains {
        1 => "The posterior density of each parameter.",
        _ => {
            "The posterior density of each parameter, one line a chain. Lines that lie apart mean chains that found different answers."
        }
    };
    Picture::new(&figure, caption)
}

/// None where a draw is not finite or there are too few of them.
fn density_panel(fit: &Posterior, name: &str, by_chain: &[&[f64]]) -> Option<Panel> {
    let pooled = by_chain.concat();
    let grid = grid_around(&pooled, num_points(by_chain.len()))?;
    let mut highest = 0.0_f64;
    let mut marks = Vec::new();
    for (k, chain) in by_chain.iter().enumerate() {
        match density(chain, &grid) {
            Some(heights) => {
                highest = heights.iter().copied().fold(highest, f64::max);
                let line = grid.iter().copied().zip(heights).collect();
                marks.push(Mark::fine(Series(k), line));
            }
            None => {
                let label = format!("chain {} never moves", fit.chains[k].chain);
                marks.push(Mark::rule_at_x(*chain.first()?, label));
            }
        }
    }
    let top = if highest > 0.0 { 1.08 * highest } else { 1.0 };
    let panel = Panel::new(name).y(bare_axis(0.0, top)).height(110.0);
    Some(panel.marks(marks))
}

/// Many chains have fewer points each, for the size of the page.
fn num_points(num_chains: usize) -> usize {
    (320 / num_chains.max(1)).clamp(40, 80)
}

/// Where nearly all draws are; None where some are not finite.
pub fn grid_around(draws: &[f64], count: usize) -> Option<Vec<f64>> {
    let (low, high) = (quantile(draws, 0.0025)?, quantile(draws, 0.9975)?);
    let margin = 0.1 * (high - low);
    let points = grid(low - margin, high + margin, count);
    points.iter().all(|x| x.is_finite()).then_some(points)
}
