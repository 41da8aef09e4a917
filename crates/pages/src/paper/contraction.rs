//! The contraction theorem, and what the posterior does as n grows.

use unshuffle::internals::study::{CONTRACTION_D, CONTRACTION_T, epsilon2, radius};
use unshuffle_plot::{Axis, Figure, Mark, Panel, Series};

use super::Section;
use super::format::{of_all, range, sig, table};
use super::linear::cell;
use super::results::Study;

const MAX_MOVED: usize = 10;
const NUM_COEFFICIENTS: f64 = 20.0;
const EXACT: &str = "uniform_k10";

const MEASURED: Series = Series(0);
const EPSILON: Series = Series(1);
const RADIUS: Series = Series(2);
const KNOWN_LINKS: Series = Series(6);

/// One n and temperature of the paper's posterior.
struct Cell {
    n: f64,
    alpha: f64,
    epsilon2: f64,
    radius: f64,
    /// Mean over repeats of the posterior mean of the divergence.
    measured: f64,
    /// Largest over repeats.
    mass_outside: f64,
}

impl Cell {
    /// The theorem's bound on the mass outside.
    fn bound(&self) -> f64 {
        (-CONTRACTION_T * self.n * self.epsilon2).exp()
    }
}

/// What the divergence would be on average if the links were known: both the posterior's spread and the error of its
/// centre count.
fn known_links(n: f64, alpha: f64) -> f64 {
    NUM_COEFFICIENTS * (1.0 + alpha) / (2.0 * n)
}

fn cells(study: &Study) -> Vec<Cell> {
    let mut cells = Vec::new();
    let rows = study.results.select(&[("method", EXACT)]);
    for kappa in rows.distinct("temperature") {
        for n in rows.distinct("n") {
            let own = cell(study, EXACT, &n, Some(&kappa));
            let read = || {
                let (num_rows, alpha) = (n.parse().ok()?, kappa.parse().ok()?);
                Some(Cell {
                    n: num_rows as f64,
                    alpha,
                    epsilon2: epsilon2(num_rows, MAX_MOVED, alpha),
                    radius: radius(num_rows, MAX_MOVED, alpha)?,
                    measured: own.mean("renyi")?,
                    mass_outside: own.max("mass_outside")?,
                })
            };
            cells.extend(read());
        }
    }
    cells
}

pub fn section(study: &Study) -> Section {
    let cells = cells(study);
    let mut section = super::new_section();
    section.add("## Contraction");
    section.add(theorem());
    section.add(
        "We draw from this posterior with at most k = 10 moved rows by the exact sampler, on the paper's design with X ~ N(0, 1) and σ = 1. *mass outside* is the largest share, over repeats, of the draws beyond the radius. \
         *divergence* is the posterior mean of α|Π0Xβ0 − ΠXβ|² / (2σ²n), mean over repeats. *known links* is what it would be on average with the links and σ known, 20(1 + α) / (2n).",
    );
    section.add(bounds_table(&cells));
    section.show("contraction.svg", figure(study, &cells));
    section.add(findings(study, &cells));
    section.add(differences());
    section
}

fn theorem() -> String {
    format!(
        "The paper's theorem is about the posterior of Π and β with the likelihood raised to a power α below 1, σ² = 1 known and at most k moved rows. It measures how far a draw is from the truth by the Rényi divergence of order α, \
         which for normal errors is α|Π0Xβ0 − ΠXβ|² / 2. With ε_n² = (2/α)((log k + k log n)/n + 2/n) it says: the posterior probability that the divergence over n exceeds the radius (D + 3t)/(1 − α) · ε_n² is \
         at most exp(−t n ε_n²), on data that occur with probability 1 − 2/((D − 1 + t)² n ε_n²) or more. D ≥ 2 and t > 0 are free; we take D = {CONTRACTION_D} and t = {CONTRACTION_T}."
    )
}

fn bounds_table(cells: &[Cell]) -> String {
    let rows: Vec<Vec<String>> = cells
        .iter()
        .map(|cell| {
            vec![
                cell.alpha.to_string(),
                cell.n.to_string(),
                sig(Some(cell.epsilon2), 3),
                sig(Some(cell.radius), 3),
                format!("{:.0e}", cell.bound()),
                sig(Some(cell.mass_outside), 2),
                sig(Some(cell.measured), 3),
                sig(Some(known_links(cell.n, cell.alpha)), 3),
                sig(Some(cell.measured / cell.epsilon2), 2),
            ]
        })
        .collect();
    let headings = [
        "α",
        "n",
        "ε_n²",
        "radius",
        "bound on the mass",
        "mass outside",
        "divergence",
        "known links",
        "divergence / ε_n²",
    ];
    table(&headings, &rows)
}

fn of_ours(study: &Study) -> Vec<(f64, f64)> {
    let sizes = study.results.distinct("n");
    let point = |n: &String| Some((n.parse().ok()?, cell(study, "ours", n, None).mean("renyi")?));
    sizes.iter().filter_map(point).collect()
}

fn figure(study: &Study, cells: &[Cell]) -> Figure {
    let ours = of_ours(study);
    let lowest = cells.iter().map(|cell| cell.measured);
    let lowest = lowest.chain(ours.iter().map(|(_, y)| *y));
    let lowest = lowest.chain(cells.iter().map(|cell| known_links(cell.n, cell.alpha)));
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    let highest = cells.iter().map(|cell| cell.radius).fold(1.0, f64::max);
    let panel = |title: String| {
        Panel::new(title)
            .x(Axis::log("n"))
            .y(Axis::log("divergence over n").range(0.7 * lowest, 1.5 * highest))
    };
    let measured = |panel: Panel, points: Vec<(f64, f64)>| {
        panel
            .mark(Mark::line(MEASURED, points.clone()))
            .mark(Mark::points(MEASURED, points))
    };
    let mut figure = Figure::new(
        "Divergence from the truth as n grows",
        format!(
            "Log-log lines of the divergence over n, ε_n² and the radius against n. The measured divergence is below ε_n² in {}.",
            below_epsilon(cells)
        ),
    )
    .columns(3);
    let mut alphas: Vec<f64> = cells.iter().map(|cell| cell.alpha).collect();
    alphas.dedup();
    for alpha in alphas {
        let line = |of: &dyn Fn(&Cell) -> f64| -> Vec<(f64, f64)> {
            let own = cells.iter().filter(|cell| cell.alpha == alpha);
            own.map(|cell| (cell.n, of(cell))).collect()
        };
        let one = panel(format!("α = {alpha}, k = {MAX_MOVED}"))
            .mark(Mark::dashed(RADIUS, line(&|cell| cell.radius)))
            .mark(Mark::dashed(EPSILON, line(&|cell| cell.epsilon2)))
            .mark(Mark::dashed(
                KNOWN_LINKS,
                line(&|cell| known_links(cell.n, alpha)),
            ));
        figure = figure.panel(measured(one, line(&|cell| cell.measured)));
    }
    let known = ours.iter().map(|(n, _)| (*n, known_links(*n, 1.0)));
    let known = Mark::dashed(KNOWN_LINKS, known.collect());
    figure
        .panel(measured(panel("ours (α = 1)".into()).mark(known), ours))
        .legend(MEASURED, "measured, mean over repeats")
        .legend(RADIUS, "radius of the theorem")
        .legend(EPSILON, "ε_n²")
        .legend(KNOWN_LINKS, "with known links")
}

fn below_epsilon(cells: &[Cell]) -> String {
    let below = cells.iter().filter(|cell| cell.measured < cell.epsilon2);
    of_all(below.count(), cells.len(), "cells")
}

fn findings(study: &Study, cells: &[Cell]) -> String {
    let outside = cells.iter().filter(|cell| cell.mass_outside > 0.0).count();
    let masses = if outside == 0 {
        "No draw of any repeat lies beyond the radius. The bound itself is too small to be checked by any number of draws; this only fails to contradict it.".to_string()
    } else {
        let worst = cells.iter().map(|cell| cell.mass_outside);
        format!(
            "Draws lie beyond the radius in {}, a share of {} at most, which is above the bound.",
            of_all(outside, cells.len(), "cells"),
            sig(worst.reduce(f64::max), 2)
        )
    };
    let looseness: Vec<f64> = cells
        .iter()
        .map(|cell| cell.radius / cell.measured)
        .collect();
    let mut falls = Vec::new();
    let mut alphas: Vec<f64> = cells.iter().map(|cell| cell.alpha).collect();
    alphas.dedup();
    for alpha in alphas {
        let own = || cells.iter().filter(|cell| cell.alpha == alpha);
        if let (Some(first), Some(last)) = (own().next(), own().next_back()) {
            falls.push(format!(
                "at α = {alpha} the divergence falls by a factor of {:.1} and ε_n² by {:.1}",
                first.measured / last.measured,
                first.epsilon2 / last.epsilon2
            ));
        }
    }
    let ours = of_ours(study);
    if let (Some(first), Some(last)) = (ours.first(), ours.last()) {
        falls.push(format!(
            "for ours, which has no radius, the divergence falls by {:.1}",
            first.1 / last.1
        ));
    }
    let sizes = study.results.distinct("n");
    let ends = (sizes.first(), sizes.last());
    let from_to = match ends {
        (Some(first), Some(last)) => format!("From n = {first} to {last}"),
        _ => "Over n".to_string(),
    };
    format!(
        "{masses} The measured divergence is below ε_n² in {}; the radius is {} times as large as the divergence. {from_to}, {}.",
        below_epsilon(cells),
        range(&looseness, 2),
        falls.join(", ")
    )
}

fn differences() -> String {
    let items = [
        "σ² is estimated here, with the prior of the paper's experiments; the theorem takes it as known. The divergence is computed with the true σ.",
        "The entries of X are drawn from N(0, 1) and not rescaled; the theorem's proof assumes |X|² = n.",
        "The theorem wants α below 1, so it says nothing of ours, where the divergence is that of Kullback and Leibler.",
        "ε_n² has no term for the number of coefficients: it allows 2/n for β. The divergence with known links, 20(1 + α)/(2n), shows what 20 coefficients cost. It is below ε_n² at these sizes only because the term for the links is larger.",
        "The proof bounds |a + b|² by |a|² + |b|², which misses a factor of 2. That changes constants, not the rate.",
    ];
    format!(
        "What differs from the theorem, and what we noticed:\n\n- {}",
        items.join("\n- ")
    )
}
