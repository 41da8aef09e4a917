//! Prints a figure with every kind of mark, to look at after a change to `src/plot/`.

use unshuffle::plot::{Axis, Figure, HeatCell, Interval, Mark, Panel, Series, dodge};

fn main() {
    let figure = Figure::new(
        "Every mark of the plot module",
        "Lines, points, intervals, densities and heat maps with made-up values.",
    )
    .columns(2)
    .panel(lines())
    .panel(points())
    .panel(intervals())
    .panel(densities())
    .panel(probabilities())
    .panel(correlations())
    .panel(many_names())
    .panel(
        Panel::new("Nothing to show")
            .x(Axis::linear("x"))
            .y(Axis::linear("y")),
    )
    .legend(Series(0), "unshuffle")
    .legend(Series(1), "least squares, as linked")
    .legend(Series(2), "third series & <more>")
    .legend(Series(3), "fourth series, which has a rather long name");
    print!("{}", figure.svg());
}

fn lines() -> Panel {
    let decay = |power: f64| {
        (0..60)
            .map(|k| 10f64.powf(f64::from(k) / 15.0))
            .map(|x| (x, 3.0 * x.powf(-power)))
            .collect()
    };
    Panel::new("Lines on log axes, with a rule")
        .x(Axis::log("number of rows"))
        .y(Axis::log("error"))
        .mark(Mark::line(Series(0), decay(1.0)))
        .mark(Mark::line(Series(1), decay(0.5)))
        .mark(Mark::dashed(Series(2), decay(0.25)))
        .mark(Mark::dashed(Series(3), decay(0.75)))
        .mark(Mark::rule_at_y(0.01, "wanted"))
        .mark(Mark::rule_at_x(100.0, "this data set"))
}

fn points() -> Panel {
    let cloud = |series: usize| {
        let point = |k: usize| {
            let t = (k * 7 + series * 3) as f64;
            (
                10.0 + 4.0 * (t * 0.7).sin() + series as f64,
                -0.5 * (t * 1.3).cos(),
            )
        };
        Mark::points(Series(series), (0..25).map(point).collect())
    };
    Panel::new("Points of eight series")
        .x(Axis::linear("a predictor"))
        .y(Axis::linear(
            "the response, whose label is much too long for one line",
        ))
        .marks((0..8).map(cloud))
}

fn intervals() -> Panel {
    let names = ["(Intercept)", "log_income", "education <years>", "sigma2"];
    let of_series = |series: usize| {
        let bar = |k: usize| {
            let mid = (k as f64 - 1.0) * 0.8 + 0.2 * series as f64;
            Interval {
                at: k as f64 + dodge(series, 2),
                low: mid - 0.9,
                high: mid + 0.7,
                inner: Some((mid - 0.4, mid + 0.3)),
                mid,
            }
        };
        Mark::intervals(Series(series), (0..names.len()).map(bar).collect())
    };
    Panel::new("Intervals at categories")
        .x(Axis::categories("", names))
        .y(Axis::linear("coefficient"))
        .mark(Mark::rule_at_y(0.0, ""))
        .marks((0..2).map(of_series))
}

fn densities() -> Panel {
    let density = |centre: f64, scale: f64| {
        (0..=100)
            .map(|k| f64::from(k) / 100.0)
            .map(|x| (x, (-0.5 * ((x - centre) / scale).powi(2)).exp() / scale))
            .collect()
    };
    Panel::new("Densities, with truths close to each other")
        .x(Axis::linear("slope"))
        .y(Axis::linear("density"))
        .mark(Mark::area(Series(0), density(0.7, 0.05)))
        .mark(Mark::area(Series(1), density(0.5, 0.12)))
        .mark(Mark::rule_at_x(0.68, "truth"))
        .mark(Mark::rule_at_x(0.72, "estimate"))
}

fn probabilities() -> Panel {
    let cell = |row: u32, column: u32| HeatCell {
        x: f64::from(column),
        y: f64::from(row),
        value: (-(f64::from(row) - f64::from(column)).abs() / 3.0).exp(),
        text: None,
    };
    let cells = (1..=30).flat_map(|row| (1..=30).map(move |column| cell(row, column)));
    Panel::new("Probabilities, row 1 on top")
        .x(Axis::linear("column"))
        .y(Axis::linear("row").reversed())
        .mark(Mark::heat(cells.collect()))
}

fn correlations() -> Panel {
    let names = ["alpha", "beta[1]", "beta[2]", "sigma2", "mismatch_rate"];
    let cell = |row: usize, column: usize| {
        let value = if row == column {
            1.0
        } else {
            ((row * 5 + column * 5) as f64).sin()
        };
        HeatCell {
            x: column as f64,
            y: row as f64,
            value,
            text: Some(format!("{value:.2}")),
        }
    };
    let cells = (0..5).flat_map(|row| (0..5).map(move |column| cell(row, column)));
    Panel::new("Correlations with text, around zero")
        .x(Axis::categories("", names))
        .y(Axis::categories("", names).reversed())
        .mark(Mark::diverging_heat(cells.collect()))
}

fn many_names() -> Panel {
    let names = (1..=40).map(|k| format!("a household with a long name {k}"));
    let values = (0..40).map(|k| (f64::from(k), 1e6 * (1.5 + f64::from(k % 7))));
    Panel::new("Forty long names, and large numbers")
        .x(Axis::categories("household", names))
        .y(Axis::linear("income"))
        .mark(Mark::line(Series(0), values.clone().collect()))
        .mark(Mark::points(Series(0), values.collect()))
}
