//! Draws docs/quickstart.svg from a finished fit of configs/quickstart.json: the rows as linked, and as relinked.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use unshuffle::baseline::least_squares;
use unshuffle::config::{self, Config};
use unshuffle::data::{self, Dataset};
use unshuffle::diagnostics::read_csv;
use unshuffle::draws::read_output;
use unshuffle::links_summary::LinksSummary;
use unshuffle::stan::shipped_names;

const PANEL: f64 = 360.0;
const MARGIN: f64 = 40.0;

struct Point {
    x: f64,
    y: f64,
    p_moved: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let config = config::load(Path::new("configs/quickstart.json"), &[], &shipped_names())?;
    let data = data::read(&config.data)?;
    let naive = least_squares(data.x.view(), &data.response).beta;
    let (fitted, links) = results(&config, &data)?;
    let point = |row: usize, column: usize| Point {
        x: data.x[(column, 1)],
        y: data.response[row],
        p_moved: links.row(row).p_moved,
    };
    let rows = 0..data.num_rows();
    let as_linked: Vec<Point> = rows.clone().map(|row| point(row, row)).collect();
    let relinked: Vec<Point> = rows
        .map(|row| point(row, links.row(row).partners[0].0))
        .collect();

    let (width, height) = (2.0 * PANEL, PANEL);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\" \
         role=\"img\" aria-label=\"Food expenditure against income of 235 households, as linked and as relinked\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let titles = [
        format!("As linked: least squares, slope {:.2}", naive[1]),
        format!("unshuffle: slope {:.2}, moved rows in orange", fitted[1]),
    ];
    for (k, (points, line)) in [(as_linked, naive), (relinked, fitted)].iter().enumerate() {
        panel(&mut svg, k as f64 * PANEL, &titles[k], points, line, k == 1)?;
    }
    svg.push_str("</svg>\n");
    std::fs::write("docs/quickstart.svg", svg)?;
    println!("docs/quickstart.svg");
    Ok(())
}

/// Posterior means of the coefficients, and what the draws say of each link.
fn results(config: &Config, data: &Dataset) -> Result<(Vec<f64>, LinksSummary), Box<dyn Error>> {
    let chains = read_output(&config.output)?;
    let links = LinksSummary::read(&config.output, &chains, data.num_rows())?;
    let summary = read_csv(std::fs::File::open(config.output.join("summary.csv"))?)?;
    let beta = summary.iter().filter(|row| row.name.starts_with("beta."));
    let beta = beta.filter_map(|row| row.mean).collect();
    Ok((
        beta,
        links.ok_or("the fit has no links: run `make demo` first")?,
    ))
}

fn panel(
    svg: &mut String,
    left: f64,
    title: &str,
    points: &[Point],
    line: &[f64],
    colour_moved: bool,
) -> std::fmt::Result {
    let range = |value: fn(&Point) -> f64| {
        points
            .iter()
            .map(value)
            .fold((f64::MAX, f64::MIN), |(low, high), v| {
                (low.min(v), high.max(v))
            })
    };
    let ((x_low, x_high), (y_low, y_high)) = (range(|p| p.x), range(|p| p.y));
    let line_top = line[0] + line[1] * x_high;
    let y_high = y_high.max(line_top);
    let inner = PANEL - 2.0 * MARGIN;
    let across = |x: f64| left + MARGIN + inner * (x - x_low) / (x_high - x_low);
    let up = |y: f64| PANEL - MARGIN - inner * (y - y_low) / (y_high - y_low);
    writeln!(
        svg,
        "<text x=\"{}\" y=\"22\" fill=\"#222\">{title}</text>",
        left + MARGIN
    )?;
    for point in points {
        let moved = colour_moved && point.p_moved > 0.5;
        let colour = if moved { "#d9660b" } else { "#3b6ea5" };
        writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\" fill-opacity=\"0.65\"/>",
            across(point.x),
            up(point.y)
        )?;
    }
    let at = |x: f64| up(line[0] + line[1] * x);
    writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"#222\" stroke-width=\"1.5\"/>",
        across(x_low),
        at(x_low),
        across(x_high),
        at(x_high)
    )?;
    writeln!(
        svg,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\" fill=\"#555\">log income</text>\n\
         <text transform=\"translate({:.0} {:.0}) rotate(-90)\" text-anchor=\"middle\" fill=\"#555\">log food</text>",
        left + PANEL / 2.0,
        PANEL - 12.0,
        left + 22.0,
        PANEL / 2.0
    )
}
