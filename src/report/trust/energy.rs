//! The sampler by chain: step size, tree depths, divergences, and the energies behind E-BFMI (Betancourt 2016).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::numerics::{density, mean};
use crate::plot::{Axis, Figure, Mark, Panel, Series};
use crate::posterior::Posterior;
use crate::posterior::diagnostics::{MIN_E_BFMI, e_bfmi, is_low_e_bfmi};
use crate::posterior::draws::ChainDraws;
use crate::report::by_chain::bare_axis;
use crate::report::format::{percent, significant};
use crate::report::page::Picture;
use crate::report::posterior::grid_around;

const MOST_PANELS: usize = 8;
const NUM_POINTS: usize = 80;
const MARGINAL: Series = Series(0);
const TRANSITION: Series = Series(1);

/// One line of the table of chains.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChainRow {
    pub chain: usize,
    pub num_draws: usize,
    pub step_size: String,
    pub accept: String,
    /// Each depth with its share of draws.
    pub depths: String,
    pub num_divergences: usize,
    pub e_bfmi: String,
    pub low_e_bfmi: bool,
}

pub fn chain_rows(fit: &Posterior) -> Vec<ChainRow> {
    fit.chains.iter().map(chain_row).collect()
}

fn chain_row(chain: &ChainDraws) -> ChainRow {
    let column = |name: &str| chain.column(name).unwrap_or_default();
    let shown = |value: Option<f64>, digits| value.map_or("NA".into(), |v| significant(v, digits));
    let e_bfmi = chain.e_bfmi();
    ChainRow {
        chain: chain.chain,
        num_draws: chain.num_draws(),
        step_size: shown(column("stepsize__").last().copied(), 3),
        accept: shown(mean(column("accept_stat__")), 2),
        depths: depths(column("treedepth__")),
        num_divergences: chain.num_divergences(),
        e_bfmi: shown(e_bfmi, 2),
        low_e_bfmi: e_bfmi.is_some_and(is_low_e_bfmi),
    }
}

fn depths(column: &[f64]) -> String {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for depth in column {
        *counts.entry(*depth as i64).or_insert(0) += 1;
    }
    let total = column.len() as f64;
    let shares = counts
        .iter()
        .map(|(depth, count)| format!("{depth}: {}", percent(*count as f64 / total)));
    shares.collect::<Vec<_>>().join(", ")
}

pub fn picture(fit: &Posterior) -> Result<Picture, String> {
    let by_chain: Vec<(usize, Energies)> = fit
        .chains
        .iter()
        .filter_map(|chain| Some((chain.chain, Energies::new(chain.column("energy__")?)?)))
        .collect();
    if by_chain.is_empty() {
        return Err("There is no energy plot: the chains have too few draws, or energies that are not finite.".into());
    }
    let shown = &by_chain[..by_chain.len().min(MOST_PANELS)];
    let pooled: Vec<f64> = shown
        .iter()
        .flat_map(|(_, energies)| energies.marginal.iter().chain(&energies.transitions))
        .copied()
        .collect();
    let grid = grid_around(&pooled, NUM_POINTS)
        .ok_or("There is no energy plot: the energies are too far apart.")?;
    let smallest = by_chain
        .iter()
        .map(|(_, e)| e.e_bfmi)
        .fold(f64::MAX, f64::min);
    let description = format!(
        "For each chain the density of the energy around its mean and of its change from draw to draw; the smallest E-BFMI is {}.",
        significant(smallest, 2)
    );
    let mut figure = Figure::new("Energies", description)
        .columns(shown.len().min(4))
        .width(720.0);
    for (chain, energies) in shown {
        let line = |draws: &[f64]| -> Vec<(f64, f64)> {
            let heights = density(draws, &grid).unwrap_or_default();
            grid.iter().copied().zip(heights).collect()
        };
        let (marginal, transitions) = (line(&energies.marginal), line(&energies.transitions));
        let highest = marginal.iter().chain(&transitions).map(|point| point.1);
        let top = 1.08 * highest.fold(f64::MIN_POSITIVE, f64::max);
        let title = format!("chain {chain}: {}", significant(energies.e_bfmi, 2));
        let panel = Panel::new(title)
            .x(Axis::linear("energy"))
            .y(bare_axis(0.0, top))
            .height(120.0)
            .mark(Mark::area(MARGINAL, marginal))
            .mark(Mark::line(TRANSITION, transitions));
        figure = figure.panel(panel);
    }
    let figure = figure
        .legend(MARGINAL, "energy, around its mean")
        .legend(TRANSITION, "change from draw to draw");
    let left_out = match by_chain.len() - shown.len() {
        0 => String::new(),
        more => {
            format!(" The first {MOST_PANELS} chains are drawn; the table has the other {more}.")
        }
    };
    let caption = format!(
        "How far the energy varies, and how far it changes from one draw to the next; above each panel is the E-BFMI. Where the line is much narrower than the area \
         (E-BFMI below {MIN_E_BFMI}), the sampler crosses the energies slowly and may miss the tails; links that move slowly narrow it too.{left_out}"
    );
    Ok(Picture::new(&figure, caption))
}

struct Energies {
    marginal: Vec<f64>,
    transitions: Vec<f64>,
    e_bfmi: f64,
}

impl Energies {
    fn new(energies: &[f64]) -> Option<Energies> {
        let mean = mean(energies)?;
        Some(Energies {
            marginal: energies.iter().map(|energy| energy - mean).collect(),
            transitions: energies.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            e_bfmi: e_bfmi(energies)?,
        })
    }
}
