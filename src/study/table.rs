//! A study's cells for a terminal.

use super::collect::{CellMetric, Collected};
use super::config::{CellData, Study};
use super::plan::Task;
use crate::text::aligned;

/// (metric, heading); the first with its standard error.
const SHOWN: [(&str, &str); 6] = [
    ("beta_error", "mean|b-beta|"),
    ("coverage", "coverage"),
    ("width", "width"),
    ("pi_error", "d_H/n^2"),
    ("recall", "recall"),
    ("r_hat", "R-hat"),
];

/// The same for a study on files, where errors are in standard errors of the unharmed fit.
const SHOWN_ON_FILES: [(&str, &str); 6] = [
    ("beta_error", "error/se"),
    ("coverage", "coverage"),
    ("width", "width/se"),
    ("mismatch_rate", "rate found"),
    ("recall", "recall"),
    ("r_hat", "R-hat"),
];

/// One aligned line for each cell that has results: means over repeats, with a standard error for the first.
pub fn study_table(study: &Study, collected: &Collected) -> String {
    let is_file = |data: &CellData| matches!(data, CellData::File(_));
    let shown_metrics = match study.cells.iter().all(|cell| is_file(&cell.data)) {
        true => SHOWN_ON_FILES,
        false => SHOWN,
    };
    let mut rows = vec![
        ["method"]
            .into_iter()
            .chain(study.axes.iter().map(String::as_str))
            .chain(["repeats"])
            .chain(shown_metrics.iter().map(|(_, heading)| *heading))
            .map(str::to_string)
            .collect::<Vec<_>>(),
    ];
    for (index, cell) in study.cells.iter().enumerate() {
        for answer in &cell.answers {
            let metrics = collected.cell(index, *answer);
            let repeats = metrics.iter().map(|metric| metric.repeats).max();
            let Some(repeats) = repeats else { continue };
            let shown = |(k, (name, _)): (usize, &(&str, &str))| {
                let found = metrics.iter().find(|metric| metric.metric == *name);
                found.map_or("-".into(), |metric| with_error(metric, k == 0))
            };
            let start = [cell.label(*answer)];
            let repeats = [repeats.to_string()];
            let fields = start.into_iter().chain(cell.labels.clone()).chain(repeats);
            let shown = shown_metrics.iter().enumerate().map(shown);
            rows.push(fields.chain(shown).collect());
        }
    }
    aligned(&rows, 1)
}

fn with_error(metric: &CellMetric, shown: bool) -> String {
    let mean = significant(metric.mean);
    match metric.standard_error {
        Some(error) if shown => format!("{mean} ({})", significant(error)),
        _ => mean,
    }
}

/// Four significant digits.
fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let exponent = value.abs().log10().floor() as i32;
    if (-4..6).contains(&exponent) {
        format!("{value:.*}", (3 - exponent).max(0) as usize)
    } else {
        format!("{value:.3e}")
    }
}

impl Study {
    /// A task in words.
    pub fn describe(&self, task: &Task) -> String {
        let cell = &self.cells[task.cell];
        let axes = self.axes.iter().zip(&cell.labels);
        let axes = axes.filter(|(_, label)| *label != "NA");
        let axes: Vec<String> = axes
            .map(|(name, label)| format!("{name} {label}"))
            .collect();
        let number = task.number;
        let words = [format!("task {number} ({}", cell.method)]
            .into_iter()
            .chain(axes);
        let words: Vec<String> = words.collect();
        format!("{}, repeat {})", words.join(", "), task.repeat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_at_any_size() {
        let shown = [0.0, 1.0, 0.012_345, 1.234_56e-9, 98.765_4, 123_456.7, 1e9];
        assert_eq!(
            shown.map(significant),
            [
                "0", "1.000", "0.01235", "1.235e-9", "98.77", "123457", "1.000e9"
            ]
        );
    }
}
