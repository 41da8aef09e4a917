//! The table and the picture of docs/examples/engel.md, from the results beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{root, write_table};
use anyhow::{Context, ensure};
use unshuffle_plot::{Axis, Figure, Mark, Panel, Series};

pub const HEADER: [&str; 11] = [
    "model",
    "method",
    "intercept",
    "intercept_low",
    "intercept_high",
    "slope",
    "slope_low",
    "slope_high",
    "found",
    "moved_by_mistake",
    "r_hat",
];
const MODELS: [(&str, Series); 4] = [
    ("quantile 0.1", Series(2)),
    ("quantile 0.5", Series(1)),
    ("quantile 0.9", Series(3)),
    ("mean", Series(6)),
];
const METHODS: [&str; 3] = ["as linked", "unshuffle", "unharmed"];
/// The fit whose links the picture shows.
const SHOWN: &str = "mean";

/// Writes the page with its table and the picture into `to`; returns the table.
pub fn write(from: &Path, to: &Path) -> anyhow::Result<String> {
    let results = Results::read(&from.join("engel/results.csv"))?;
    let table = results.table()?;
    write_table(from, to, "engel", &table)?;
    let points = Points::read(from)?;
    fs::write(to.join("engel.svg"), results.figure(&points)?.svg())?;
    Ok(table)
}

/// Cells of results.csv by model and method.
struct Results(BTreeMap<(String, String), Vec<String>>);

impl Results {
    fn read(path: &Path) -> anyhow::Result<Results> {
        let mut reader = csv::Reader::from_path(path)?;
        ensure!(
            *reader.headers()? == HEADER[..],
            "other columns than these: {HEADER:?}"
        );
        let mut cells = BTreeMap::new();
        for record in reader.records() {
            let record = record?;
            let key = (record[0].to_string(), record[1].to_string());
            cells.insert(key, record.iter().map(String::from).collect());
        }
        Ok(Results(cells))
    }

    fn cell(&self, model: &str, method: &str, column: &str) -> anyhow::Result<&str> {
        let position = HEADER.iter().position(|name| *name == column);
        let row = self.0.get(&(model.into(), method.into()));
        let row = row.with_context(|| format!("no line of {model}, {method}"))?;
        Ok(&row[position.context("a known column")?])
    }

    fn number(&self, model: &str, method: &str, column: &str) -> anyhow::Result<f64> {
        Ok(self.cell(model, method, column)?.parse()?)
    }

    fn table(&self) -> anyhow::Result<String> {
        let mut text = String::from(
            "| slope of log food on log income | as linked | unshuffle | unharmed | mislinked rows found, of 47 | right rows moved, of 188 | largest R-hat |\n|---|---|---|---|---|---|---|\n",
        );
        for model in ["mean", "quantile 0.1", "quantile 0.5", "quantile 0.9"] {
            text += &format!("| {model} |");
            for method in METHODS {
                let number = |column| self.number(model, method, column);
                let [slope, low, high] = [
                    number("slope")?,
                    number("slope_low")?,
                    number("slope_high")?,
                ];
                text += &format!(" {slope:.3} [{low:.3}, {high:.3}] |");
            }
            let cell = |column| self.cell(model, "unshuffle", column);
            let r_hat: f64 = cell("r_hat")?.parse()?;
            text += &format!(
                " {} | {} | {r_hat:.3} |\n",
                cell("found")?,
                cell("moved_by_mistake")?
            );
        }
        Ok(text)
    }

    fn figure(&self, points: &Points) -> anyhow::Result<Figure> {
        let words = "Food expenditure against income of 235 households, both as logarithms, with the fitted mean and the 0.1, 0.5 and 0.9 quantiles. As linked, the lines are too flat and far apart.";
        let mut figure = Figure::new("Engel's quantiles: as linked, unshuffled, unharmed", words)
            .columns(3)
            .width(960.0);
        for method in METHODS {
            let mut panel = Panel::new(method)
                .x(Axis::linear("log income"))
                .y(Axis::linear("log food expenditure").range(5.3, 8.1))
                .mark(Mark::points(Series(0), points.of(method)));
            for (model, series) in MODELS {
                let [a, b] = [
                    self.number(model, method, "intercept")?,
                    self.number(model, method, "slope")?,
                ];
                let line = points.ends.map(|x| (x, a + b * x)).to_vec();
                panel = panel.mark(match model {
                    "mean" => Mark::dashed(series, line),
                    _ => Mark::line(series, line),
                });
            }
            figure = figure.panel(panel);
        }
        figure = figure.legend(Series(0), "household");
        for (model, series) in MODELS {
            figure = figure.legend(series, model);
        }
        Ok(figure)
    }
}

/// The households, and where their responses belong.
struct Points {
    log_income: Vec<f64>,
    mislinked: Vec<f64>,
    unharmed: Vec<f64>,
    /// The likeliest place of each response, from 0.
    linked_to: Vec<usize>,
    ends: [f64; 2],
}

impl Points {
    fn read(from: &Path) -> anyhow::Result<Points> {
        let data = root().join("configs/data");
        let column = |path: &Path, name: &str| -> anyhow::Result<Vec<f64>> {
            let mut reader = csv::Reader::from_path(path)?;
            let place = reader.headers()?.iter().position(|known| known == name);
            let place = place.with_context(|| format!("no column {name}"))?;
            let cells = reader.records().map(|record| Ok(record?[place].parse()?));
            cells.collect()
        };
        let [mislinked, unharmed] =
            ["engel_mislinked.csv", "engel.csv"].map(|name| data.join(name));
        let log_income = column(&mislinked, "log_income")?;
        let mut linked_to = Vec::new();
        for record in csv::Reader::from_path(from.join("engel/links.csv"))?.records() {
            let record = record?;
            if &record[0] == SHOWN {
                linked_to.push(record[2].parse::<usize>()? - 1);
            }
        }
        ensure!(
            linked_to.len() == log_income.len(),
            "links.csv has other rows than the data"
        );
        let ends = log_income
            .iter()
            .fold([f64::MAX, f64::MIN], |[low, high], x| {
                [low.min(*x), high.max(*x)]
            });
        Ok(Points {
            mislinked: column(&mislinked, "log_food")?,
            unharmed: column(&unharmed, "log_food")?,
            log_income,
            linked_to,
            ends,
        })
    }

    fn of(&self, method: &str) -> Vec<(f64, f64)> {
        let all = 0..self.log_income.len();
        all.map(|row| match method {
            "unshuffle" => (self.log_income[self.linked_to[row]], self.mislinked[row]),
            "unharmed" => (self.log_income[row], self.unharmed[row]),
            _ => (self.log_income[row], self.mislinked[row]),
        })
        .collect()
    }
}
