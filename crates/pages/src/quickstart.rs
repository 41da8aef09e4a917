//! Draws docs/quickstart.svg from a finished fit of configs/quickstart.json: the rows as linked, and as relinked.

use std::path::Path;

use anyhow::Context;
use unshuffle::Posterior;
use unshuffle::internals::baseline::least_squares;
use unshuffle::internals::{config, data};
use unshuffle_plot::{Axis, Figure, Mark, Panel, Series};

const KEPT: Series = Series(0);
const MOVED: Series = Series(1);
const FITTED: Series = Series(6);

/// Writes the figure.
pub fn draw() -> anyhow::Result<()> {
    let config = config::load(Path::new("configs/quickstart.json"), &[])?;
    let data = data::read(&config.data)?;
    let naive = least_squares(data.x.view(), &data.response).beta;
    let posterior = Posterior::read(&config.output)?;
    let beta = posterior.summary().iter();
    let beta = beta.filter(|row| row.name.starts_with("beta."));
    let fitted: Vec<f64> = beta.filter_map(|row| row.mean).collect();
    let links = posterior.links.as_ref();
    let links = links.context("the fit has no links: run `make demo` first")?;
    // Each row's income is that of its own place, or of the place where its response most probably belongs.
    let own = |row: usize| row;
    let likeliest = |row: usize| links.row(row).partners[0].0;
    let moved = |row: usize| links.row(row).p_moved > 0.5;
    let rows = 0..data.num_rows();
    let points = |place: &dyn Fn(usize) -> usize, wanted: bool| {
        let rows = rows.clone().filter(|&row| moved(row) == wanted);
        rows.map(|row| (data.x[(place(row), 1)], data.response[row]))
            .collect()
    };
    let x_ends = ends(data.x.column(1).iter().copied());
    let line = |beta: &[f64]| x_ends.map(|x| (x, beta[0] + beta[1] * x));
    // Both panels show the same range, so that the lines can be compared.
    let heights = line(&naive).into_iter().chain(line(&fitted));
    let [low, high] = ends(heights.map(|(_, y)| y).chain(data.response.iter().copied()));
    let panel = |title: String, place: &dyn Fn(usize) -> usize, beta: &[f64]| {
        Panel::new(title)
            .x(Axis::linear("log income"))
            .y(Axis::linear("log food expenditure").range(low - 0.1, high + 0.1))
            .mark(Mark::points(KEPT, points(place, false)))
            .mark(Mark::points(MOVED, points(place, true)))
            .mark(Mark::line(FITTED, line(beta).to_vec()))
    };
    let figure = Figure::new(
        "Engel's households: as linked, and as relinked",
        format!(
            "Food expenditure against income of {} households, both as logarithms. As linked, {} of them are \
             probably mislinked, and least squares finds a slope of {:.2}; relinked, they lie along a line with slope {:.2}.",
            data.num_rows(),
            rows.clone().filter(|&row| moved(row)).count(),
            naive[1],
            fitted[1]
        ),
    )
    .columns(2)
    .panel(panel(
        format!("As linked: least squares, slope {:.2}", naive[1]),
        &own,
        &naive,
    ))
    .panel(panel(
        format!("unshuffle: slope {:.2}", fitted[1]),
        &likeliest,
        &fitted,
    ))
    .legend(KEPT, "link kept")
    .legend(MOVED, "probably mislinked")
    .legend(FITTED, "fitted line");
    std::fs::write("docs/quickstart.svg", figure.svg())?;
    println!("docs/quickstart.svg");
    Ok(())
}

fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| {
        [low.min(v), high.max(v)]
    })
}
