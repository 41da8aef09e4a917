//! Figures of the linear study: intervals of the coefficients, corners of the permutation, errors by temperature.

use unshuffle::internals::study::simulate::{Design, simulate};
use unshuffle_plot::{Axis, Figure, HeatCell, Interval, Mark, Panel, Series};

use super::format::range;
use super::linear::{VARIANTS, cell};
use super::paper_numbers::{KAPPAS, linear};
use super::results::Study;

/// The size that the paper's pictures have.
const SHOWN_N: &str = "100";
/// Rows and columns of the corner of the permutation matrix.
const CORNER: usize = 12;

/// (method, temperature, title) of the panels of both pictures.
const SHOWN: [(&str, Option<&str>, &str); 5] = [
    ("literal", Some("1/n"), "literal, κ = 1/n"),
    ("literal", Some("0.99"), "literal, κ = 0.99"),
    ("ours", None, "ours"),
    ("uniform_k10", Some("1/n"), "exact, k = 10, κ = 1/n"),
    ("uniform_k10", Some("0.99"), "exact, k = 10, κ = 0.99"),
];

fn wanted<'a>(method: &'a str, kappa: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
    let mut wanted = vec![("method", method), ("n", SHOWN_N), ("repeat", "1")];
    wanted.extend(kappa.map(|kappa| ("temperature", kappa)));
    wanted
}

/// 5, 25, 50, 75 and 95 % of every coefficient's posterior.
pub fn beta_posterior(study: &Study) -> Figure {
    let oracle = ("oracle", None, "oracle");
    let mut figure = Figure::new("", "").columns(3);
    let mut widths = Vec::new();
    for (method, kappa, title) in SHOWN.into_iter().chain([oracle]) {
        let rows = study.coefficients.select(&wanted(method, kappa));
        let column = |name: &str| rows.values(name);
        let (low, high) = (column("5%"), column("95%"));
        let (first, last, mid) = (column("25%"), column("75%"), column("50%"));
        let bars: Vec<Interval> = column("coefficient")
            .into_iter()
            .enumerate()
            .map(|(k, at)| Interval {
                at,
                low: low[k],
                high: high[k],
                inner: Some((first[k], last[k])),
                mid: mid[k],
            })
            .collect();
        let spread = bars.iter().map(|bar| bar.high - bar.low).sum::<f64>();
        widths.push(format!(
            "{title}: {}",
            range(&[spread / bars.len().max(1) as f64], 3)
        ));
        figure = figure.panel(
            Panel::new(title)
                .x(Axis::linear("coefficient"))
                .y(Axis::linear("value"))
                .mark(Mark::intervals(Series(0), bars))
                .mark(Mark::rule_at_y(1.0, "")),
        );
    }
    figure.title = format!(
        "Posterior of the 20 coefficients, n = {SHOWN_N}, first data set (each panel has its own y range; the rule is the truth)"
    );
    figure.description = format!(
        "Intervals of the 20 coefficients at n = {SHOWN_N} by method and temperature. Mean width of the 90 % intervals: {}.",
        widths.join("; ")
    );
    figure
}

/// The posterior mean of the first rows and columns of the permutation matrix, beside the true one.
pub fn pi_mean(study: &Study) -> Figure {
    let panel = |title: &str, entries: &[(f64, f64, f64)]| {
        let mut cells = Vec::new();
        for row in 1..=CORNER {
            for column in 1..=CORNER {
                let (x, y) = (column as f64, row as f64);
                let found = entries.iter().find(|(r, c, _)| *r == y && *c == x);
                cells.push(HeatCell {
                    x,
                    y,
                    value: found.map_or(0.0, |(_, _, probability)| *probability),
                    text: None,
                });
            }
        }
        Panel::new(title)
            .x(Axis::linear("linked to"))
            .y(Axis::linear("row").reversed())
            .mark(Mark::heat(cells))
    };
    let mut figure = Figure::new(
        format!("Posterior mean of Π, rows 1 to {CORNER}, n = {SHOWN_N}, first data set"),
        format!(
            "Heat maps of the first {CORNER} rows and columns of the posterior mean of the permutation matrix: the true one, with rows 1 to 6 reversed and \
             0.5 where rows 1 and 7 are copies, and those of literal, exact and our sampler."
        ),
    )
    .columns(3);
    let truth = simulate(&Design::paper(CORNER.max(21)), 1).expect("a possible design");
    let entries: Vec<(f64, f64, f64)> = truth
        .truth
        .pi0
        .iter()
        .map(|&(row, column, p)| (row as f64 + 1.0, column as f64 + 1.0, p))
        .collect();
    figure = figure.panel(panel("the true Π0", &entries));
    for (method, kappa, title) in SHOWN {
        let rows = study.corner.select(&wanted(method, kappa));
        let (row, column) = (rows.values("row"), rows.values("column"));
        let probability = rows.values("probability");
        let entries: Vec<(f64, f64, f64)> = (0..row.len())
            .map(|k| (row[k], column[k], probability[k]))
            .collect();
        figure = figure.panel(panel(title, &entries));
    }
    figure
}

/// The largest error over repeats against kappa, one panel an n.
pub fn by_kappa(study: &Study, metric: &str, title: &str) -> Figure {
    let unit = match metric {
        "beta_error" => "mean |β̂ − β|, 1e-4",
        _ => "d_H per entry, 1e-4",
    };
    let sizes = study.results.distinct("n");
    let mut figure = Figure::new(
        format!("{title}: largest over repeats (y ranges differ)"),
        format!(
            "{title}, on a log scale, by method; one panel for each n of {}.",
            sizes.join(", ")
        ),
    )
    .columns(2);
    for n in &sizes {
        let points = |of: &dyn Fn(&str) -> Option<f64>| -> Vec<(f64, f64)> {
            KAPPAS
                .iter()
                .enumerate()
                .filter_map(|(k, kappa)| Some((k as f64, 1e4 * of(kappa)?)))
                .collect()
        };
        let mut panel = Panel::new(format!("n = {n}"))
            .x(Axis::categories("κ", KAPPAS))
            .y(Axis::log(unit));
        let paper = points(&|kappa| linear(kappa, n).map(|cell| cell.of(metric)));
        let mut lines = vec![(PAPER, paper)];
        for (k, (method, _)) in VARIANTS.iter().enumerate() {
            let line = points(&|kappa| cell(study, method, n, Some(kappa)).max(metric));
            lines.push((Series(FIRST_VARIANT + k), line));
        }
        lines.push((OURS, points(&|_| cell(study, "ours", n, None).max(metric))));
        for (series, line) in lines {
            panel = panel
                .mark(Mark::line(series, line.clone()))
                .mark(Mark::points(series, line));
        }
        let oracle = points(&|_| cell(study, "oracle", n, None).max(metric));
        if !oracle.is_empty() {
            panel = panel.mark(Mark::dashed(ORACLE, oracle));
        }
        figure = figure.panel(panel);
    }
    figure = figure.legend(OURS, "ours").legend(PAPER, "paper");
    for (k, (_, name)) in VARIANTS.iter().enumerate() {
        figure = figure.legend(Series(FIRST_VARIANT + k), *name);
    }
    if metric == "beta_error" {
        figure = figure.legend(ORACLE, "oracle");
    }
    figure
}

const OURS: Series = Series(0);
const PAPER: Series = Series(6);
const ORACLE: Series = Series(7);
const FIRST_VARIANT: usize = 1;
