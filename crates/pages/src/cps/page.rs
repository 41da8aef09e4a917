//! The table and the picture of docs/examples/cps.md, from the results beside it.

use std::fs;
use std::path::Path;

use crate::support::write_table;
use anyhow::ensure;
use unshuffle_plot::{Axis, Figure, Interval, Mark, Panel, Series, dodge};

struct Results(Vec<csv::StringRecord>);

/// Places of the columns of results.csv.
const RATE: usize = 0;
const METHOD: usize = 2;
const ERROR: usize = 3;
const EDUCATION: usize = 4;
const SHARE_MOVED: usize = 5;
const R_HAT: usize = 6;
pub const HEADER: [&str; 8] = [
    "rate",
    "repeat",
    "method",
    "error",
    "education",
    "share_moved",
    "r_hat",
    "seconds",
];

/// Writes the page with its table and the picture into `to`; returns the table.
pub fn write(from: &Path, to: &Path) -> anyhow::Result<String> {
    let results = Results::read(&from.join("cps/results.csv"))?;
    let table = results.table();
    write_table(from, to, "cps", &table)?;
    fs::write(to.join("cps.svg"), results.figure().svg())?;
    Ok(table)
}

impl Results {
    fn read(path: &Path) -> anyhow::Result<Results> {
        let mut reader = csv::Reader::from_path(path)?;
        ensure!(
            *reader.headers()? == HEADER[..],
            "other columns than these: {HEADER:?}"
        );
        Ok(Results(reader.records().collect::<Result<_, _>>()?))
    }

    /// Different values of a column, in the order of the file.
    fn distinct(&self, column: usize) -> Vec<&str> {
        let mut values: Vec<&str> = Vec::new();
        for record in &self.0 {
            if !values.contains(&&record[column]) {
                values.push(&record[column]);
            }
        }
        values
    }

    fn values(&self, rate: &str, method: &str, column: usize) -> Vec<f64> {
        let cell = self
            .0
            .iter()
            .filter(|r| &r[RATE] == rate && &r[METHOD] == method);
        cell.filter_map(|record| record[column].parse().ok())
            .collect()
    }

    fn table(&self) -> String {
        let rates = self.distinct(RATE);
        let repeats = self.values(rates[0], "plain", ERROR).len();
        let percent =
            |rate: &str| format!("{:.0} %", 100.0 * rate.parse::<f64>().unwrap_or(f64::NAN));
        let mut text = String::from("| |");
        for rate in &rates {
            let rate = percent(rate);
            text += &format!(
                " error, {rate} | education, {rate} | share moved, {rate} | R-hat above 1.01, {rate} |"
            );
        }
        text += &format!("\n|---|{}\n", "---|".repeat(4 * rates.len()));
        for method in self.distinct(METHOD) {
            text += &format!("| {method} |");
            for rate in &rates {
                let mean =
                    |column: usize, digits: usize| match mean(&self.values(rate, method, column)) {
                        Some(mean) => format!("{mean:.digits$}"),
                        None => "–".into(),
                    };
                let r_hats = self.values(rate, method, R_HAT);
                let high = r_hats.iter().filter(|r_hat| **r_hat > 1.01).count();
                let high = if r_hats.is_empty() {
                    "–".into()
                } else {
                    format!("{high} of {repeats}")
                };
                let error = mean(ERROR, 2);
                let spread = standard_error(&self.values(rate, method, ERROR)).unwrap_or(f64::NAN);
                text += &format!(
                    " {error} ± {spread:.2} | {} | {} | {high} |",
                    mean(EDUCATION, 4),
                    mean(SHARE_MOVED, 3)
                );
            }
            text += "\n";
        }
        text
    }

    fn figure(&self) -> Figure {
        let methods = self.distinct(METHOD);
        let rates = self.distinct(RATE);
        let panel = |title: &str, label: &str, column: usize| {
            let mut panel = Panel::new(title).x(Axis::linear(label)).y(Axis::categories(
                "",
                methods
                    .iter()
                    .map(|name| name.to_string())
                    .collect::<Vec<_>>(),
            )
            .reversed());
            for (k, rate) in rates.iter().enumerate() {
                let bars = methods.iter().enumerate().filter_map(|(place, method)| {
                    let values = self.values(rate, method, column);
                    let (mid, spread) = (mean(&values)?, standard_error(&values)?);
                    Some(Interval {
                        at: place as f64 + dodge(k, rates.len()),
                        low: mid - 2.0 * spread,
                        high: mid + 2.0 * spread,
                        inner: None,
                        mid,
                    })
                });
                panel = panel.mark(Mark::intervals_across(Series(k), bars.collect()));
            }
            panel
        };
        let errors = panel(
            "Error of the coefficients",
            "in standard errors of the unharmed fit",
            ERROR,
        );
        let mut shares = panel(
            "Share of rows found wrong",
            "share of all rows",
            SHARE_MOVED,
        );
        for rate in &rates {
            let at: f64 = rate.parse().unwrap_or(f64::NAN);
            shares = shares.mark(Mark::rule_at_x(at, "true"));
        }
        let words = "Each method on the same mislinked files: mean over repeats, with two standard errors of it.";
        let figure = Figure::new("What each kind of knowledge buys on CPS wages", words).columns(2);
        let figure = figure.panel(errors).panel(shares);
        rates.iter().enumerate().fold(figure, |figure, (k, rate)| {
            let percent = 100.0 * rate.parse::<f64>().unwrap_or(f64::NAN);
            figure.legend(Series(k), format!("{percent:.0} % mislinked"))
        })
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn standard_error(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let n = values.len() as f64;
    Some((squares / (n - 1.0) / n).sqrt())
}
