//! A figure with every kind of mark, to look at after a change to crates/plot, and an HTML page of figures of several sizes,
//! which state their style once.

use unshuffle_plot::{Axis, Figure, HeatCell, Interval, Mark, Panel, Series, dodge, page_style};

/// Prints the figure, or the page.
pub fn print(as_page: bool) {
    if as_page {
        print!("{}", page());
    } else {
        print!("{}", every_mark().svg());
    }
}

fn every_mark() -> Figure {
    Figure::new(
        "Every mark of crates/plot",
        "Lines, points, intervals, histograms, densities and heat maps with made-up values.",
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
    .panel(forest(2))
    .panel(forest(1))
    .panel(histogram())
    .panel(ranks())
    .panel(many_points())
    .panel(labelled_points())
    .legend(Series(0), "unshuffle")
    .legend(Series(1), "least squares, as linked")
    .legend(Series(2), "third series & <more>")
    .legend(Series(3), "fourth series, which has a rather long name")
}

fn page() -> String {
    let figures = [
        Figure::new("A wide figure of one forest plot", "").panel(forest(4)),
        Figure::new("A trace, wide and short", "")
            .width(900.0)
            .panel(trace("beta").height(90.0)),
        Figure::new("Small multiples, 160 px each", "")
            .columns(4)
            .width(720.0)
            .panel(trace("beta[1]").height(70.0))
            .panel(ranks().height(70.0))
            .panel(histogram().height(70.0))
            .panel(many_points().height(70.0))
            .panel(lines().height(100.0))
            .panel(densities().height(100.0))
            .panel(intervals().height(100.0))
            .panel(forest(1)),
        Figure::new("As wide as a phone", "")
            .width(360.0)
            .panel(forest(2)),
    ];
    let figures = figures.map(|figure| figure.inline_svg());
    format!(
        "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Figures</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <style>\n{}</style>\n{}",
        page_style(),
        figures.join("<br>\n")
    )
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

fn forest(num_methods: usize) -> Panel {
    let names = [
        "(Intercept)",
        "log_income",
        "a predictor whose name has 40 characters",
        "another predictor, whose name is longer than any column has room for <b>",
        "sigma2",
        "mismatch_rate",
    ];
    let of_method = |method: usize| {
        let bar = |k: usize| {
            let mid = (k as f64 * 2.3).sin() + 0.15 * method as f64;
            Interval {
                at: k as f64 + dodge(method, num_methods),
                low: mid - 0.6,
                high: mid + 0.7,
                inner: Some((mid - 0.2, mid + 0.3)),
                mid,
            }
        };
        Mark::intervals_across(Series(method), (0..names.len()).map(bar).collect())
    };
    Panel::new("Intervals across")
        .x(Axis::linear("coefficient"))
        .y(Axis::categories("", names).reversed())
        .mark(Mark::rule_at_x(0.0, ""))
        .marks((0..num_methods).map(of_method))
}

fn histogram() -> Panel {
    let bar = |k: i32| {
        let low = f64::from(k) / 4.0;
        (low, low + 0.25, (400.0 * (-low * low / 2.0).exp()).floor())
    };
    Panel::new("A histogram")
        .x(Axis::linear("slope"))
        .y(Axis::linear("draws"))
        .mark(Mark::bars(Series(0), (-12..12).map(bar).collect()))
        .mark(Mark::rule_at_x(0.3, "truth"))
}

fn ranks() -> Panel {
    let chain = |chain: usize| {
        let bar = |k: usize| {
            let low = 100.0 * k as f64;
            let height = 25.0 + ((k * (chain + 3) + chain) as f64 * 1.7).sin() * 4.0;
            (low, low + 100.0, height)
        };
        Mark::steps(Series(chain), (0..20).map(bar).collect())
    };
    Panel::new("Ranks of four chains")
        .x(Axis::linear("rank"))
        .y(Axis::linear("draws"))
        .marks((0..4).map(chain))
}

fn trace(name: &str) -> Panel {
    let chain = |chain: usize| {
        let draw = |k: usize| {
            let t = (k * (chain + 2)) as f64;
            (
                k as f64,
                1.2 + 0.01 * ((t * 12.9898).sin() * 43758.5453).fract(),
            )
        };
        Mark::line(Series(chain), (0..1000).map(draw).collect())
    };
    Panel::new(name)
        .x(Axis::linear("iteration"))
        .y(Axis::linear("value"))
        .marks((0..4).map(chain))
}

fn many_points() -> Panel {
    let cloud = |series: usize| {
        let noise = |k: f64| (k * 12.9898).sin() * 43758.5453 % 1.0;
        let point = |k: usize| {
            let t = (k * 8 + series) as f64;
            let sum = |shift: f64| (0..4).map(|j| noise(t + shift + f64::from(j) * 1e4)).sum();
            let (x, y): (f64, f64) = (sum(0.1), sum(0.7));
            (x + 5.0 * series as f64, y)
        };
        Mark::points(Series(series), (0..1000).map(point).collect())
    };
    Panel::new("A thousand points of each of seven series")
        .x(Axis::linear("x"))
        .y(Axis::linear("y"))
        .marks((0..7).map(cloud))
}

fn labelled_points() -> Panel {
    let of_series = |series: usize| {
        let point = |k: usize| {
            let x = k as f64 + 0.5 * series as f64;
            (x, (x * 0.9).sin(), format!("row {k} of <series {series}>"))
        };
        Mark::labelled_points(Series(series), (0..12).map(point).collect())
    };
    Panel::new("Points that say which they are")
        .x(Axis::linear("x"))
        .y(Axis::linear("y"))
        .marks((0..3).map(of_series))
}
