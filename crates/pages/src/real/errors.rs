//! Errors of the slopes by method and rate, and the worst loss against the links as given.

use unshuffle_plot::{Axis, Figure, HeatCell, Mark, Panel, Series};

use super::Section;
use super::format::{NONE, fixed, table};
use super::results::{Inputs, Method, percent_of};

/// A loss against the links as given that counts, in unharmed standard errors.
const LARGE_LOSS: f64 = 1.0;
/// The ends of the colours of the heat maps.
const HEAT: f64 = 3.0;

pub fn section(inputs: &Inputs) -> Section {
    let mut section = super::new_section();
    section.add("## Error of the slopes");
    section.add("Mean over files and repeats, by the share of mismatched rows:");
    section.add(by_rate(inputs, "beta_error", |error| fixed(error, 2)));
    section.add(best(inputs));
    section.show("error.svg", figure(inputs));
    section.add("## Worst loss against the links as given");
    section.add(format!(
        "A method does harm where its error exceeds that of the links as given (least squares on the mismatched file). Differences are means over the repeats of a file at one rate; \
         the last column counts differences above {LARGE_LOSS:.1}."
    ));
    section.add(worst(inputs));
    section.show("excess.svg", heat(inputs));
    section.add("Blue cells are better than the links as given, orange cells worse.");
    section
}

/// One line a method and one column a rate.
pub fn by_rate(inputs: &Inputs, column: &str, shown: impl Fn(Option<f64>) -> String) -> String {
    let mut headings = vec!["method".to_string()];
    headings.extend(inputs.rates.iter().map(|rate| percent_of(rate)));
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = inputs
        .methods
        .iter()
        .map(|method| {
            let means = inputs.rates.iter();
            let means = means.map(|rate| shown(inputs.mean(method, rate, column)));
            [method.name.clone()].into_iter().chain(means).collect()
        })
        .collect();
    table(&headings, &rows)
}

/// Which method has the smallest error at each rate.
fn best(inputs: &Inputs) -> String {
    let lines = inputs.rates.iter().filter_map(|rate| {
        let errors = inputs.methods.iter().filter_map(|method| {
            let error = inputs.mean(method, rate, "beta_error")?;
            Some((method, error))
        });
        let (method, error) = errors.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(format!(
            "- {} mismatched: the smallest mean error is {} ({}).",
            percent_of(rate),
            fixed(Some(error), 2),
            method.name
        ))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn figure(inputs: &Inputs) -> Figure {
    let number = |rate: &str| 100.0 * rate.parse::<f64>().unwrap_or(0.0);
    let mut panel = Panel::new("")
        .x(Axis::linear("mismatched rows, %"))
        .y(Axis::linear("mean error, unharmed standard errors"));
    let mut figure = Figure::new("Error of the slopes on real files", "");
    let mut words = Vec::new();
    for (k, method) in inputs.methods.iter().enumerate() {
        let points = inputs.rates.iter().filter_map(|rate| {
            let error = inputs.mean(method, rate, "beta_error")?;
            Some((number(rate), error))
        });
        let points: Vec<(f64, f64)> = points.collect();
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            words.push(format!(
                "{} from {} to {}",
                method.name,
                fixed(Some(first.1), 2),
                fixed(Some(last.1), 2)
            ));
        }
        panel = panel.mark(Mark::line(Series(k), points));
        figure = figure.legend(Series(k), method.name.clone());
    }
    figure.description = format!(
        "Mean error of each method against the share of mismatched rows: {}.",
        words.join(", ")
    );
    figure.panel(panel)
}

/// (excess, file, rate) of every cell.
fn excesses<'a>(inputs: &'a Inputs, method: &Method) -> Vec<(f64, &'a str, &'a str)> {
    let mut all = Vec::new();
    for file in &inputs.file_names {
        for rate in &inputs.rates {
            if let Some(excess) = inputs.excess(method, file, rate) {
                all.push((excess, file.as_str(), rate.as_str()));
            }
        }
    }
    all
}

fn worst(inputs: &Inputs) -> String {
    let rows: Vec<Vec<String>> = inputs
        .others()
        .map(|method| {
            let all = excesses(inputs, method);
            let large = all.iter().filter(|(excess, ..)| *excess > LARGE_LOSS);
            let worst = all.iter().max_by(|a, b| a.0.total_cmp(&b.0));
            vec![
                method.name.clone(),
                fixed(worst.map(|worst| worst.0), 2),
                worst.map_or(NONE.into(), |(_, file, rate)| {
                    format!("{file}, {}", percent_of(rate))
                }),
                format!("{} of {}", large.count(), all.len()),
            ]
        })
        .collect();
    table(
        &["method", "worst difference", "where", "large losses"],
        &rows,
    )
}

fn heat(inputs: &Inputs) -> Figure {
    let rates: Vec<String> = inputs.rates.iter().map(|rate| percent_of(rate)).collect();
    let mut figure = Figure::new("Error minus that of the links as given", "").columns(2);
    let mut words = Vec::new();
    for method in inputs.others() {
        let all = excesses(inputs, method);
        let place = |values: &[String], value: &str| {
            values.iter().position(|v| v == value).unwrap_or(0) as f64
        };
        let cells = all.iter().map(|(excess, file, rate)| HeatCell {
            x: place(&inputs.rates, rate),
            y: place(&inputs.file_names, file),
            value: excess.clamp(-HEAT, HEAT),
            text: Some(fixed(Some(*excess), 1)),
        });
        let heat = Mark::Heat {
            cells: cells.collect(),
            low: -HEAT,
            high: HEAT,
            diverging: true,
        };
        let worse = all.iter().filter(|(excess, ..)| *excess > 0.0).count();
        words.push(format!("{}: {worse} of {}", method.name, all.len()));
        figure = figure.panel(
            Panel::new(method.name.clone())
                .x(Axis::categories("mismatched rows", rates.clone()))
                .y(Axis::categories("", inputs.file_names.clone()))
                .mark(heat),
        );
    }
    figure.description = format!(
        "Heat maps over files and rates. Cells in which a method is worse than the links as given, {}.",
        words.join(", ")
    );
    figure
}
