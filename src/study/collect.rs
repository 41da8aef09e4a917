//! Merges the results of all tasks into tables, and lists what is missing.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::StudyError;
use super::answers::Answer;
use super::config::Study;
use super::files::{csv_line, number, rounded, write_then_rename};
use super::metrics::{Metrics, Timing};
use super::plan::{Task, check_ours};
use super::run::{RUNS, RunRecord};
use super::task::{DONE, FAILED, Outcome, remove_leftovers};

/// The names of the tables of a study.
pub(super) const TABLES: [&str; 7] = [
    "results.csv",
    "timing.csv",
    "cells.csv",
    "coefficients.csv",
    "pi_corner.csv",
    "checks.csv",
    "study.json",
];

/// What became of a study's tasks.
#[derive(Debug, Default)]
pub struct Collected {
    /// In the order of the tasks.
    pub done: Vec<(Task, Outcome)>,
    pub missing: Vec<Task>,
    /// With the sentence that says why.
    pub failed: Vec<(Task, String)>,
}

impl Collected {
    pub fn read(tasks: &[Task]) -> Result<Collected, StudyError> {
        let mut collected = Collected::default();
        for task in tasks {
            let done = task.folder.join(DONE);
            let failed = task.folder.join(FAILED);
            let unreadable = |path: &Path, problem: String| StudyError::Unreadable {
                path: path.to_path_buf(),
                problem,
            };
            if done.exists() {
                let text = fs::read_to_string(&done).map_err(|e| unreadable(&done, e.to_string()));
                let outcome = serde_json::from_str(&text?)
                    .map_err(|error| unreadable(&done, error.to_string()))?;
                collected.done.push((task.clone(), outcome));
            } else if failed.exists() {
                let text = fs::read_to_string(&failed).unwrap_or_default();
                let value: Value = serde_json::from_str(&text).unwrap_or_default();
                let sentence = value["error"].as_str().unwrap_or("unknown").to_string();
                collected.failed.push((task.clone(), sentence));
            } else {
                collected.missing.push(task.clone());
            }
        }
        Ok(collected)
    }

    pub fn is_complete(&self) -> bool {
        self.missing.is_empty() && self.failed.is_empty()
    }

    /// Writes every table into the study's folder; returns their paths.
    pub fn write(&self, study: &Study) -> Result<Vec<PathBuf>, StudyError> {
        check_ours(study)?;
        let texts = [
            self.results_csv(study),
            self.timing_csv(study),
            self.cells_csv(study),
            self.coefficients_csv(study),
            self.corner_csv(study),
            self.checks_csv(study),
            self.about(study),
        ];
        let mut paths = Vec::new();
        for (name, text) in TABLES.into_iter().zip(texts) {
            let path = study.output.join(name);
            write_then_rename(&path, &text)?;
            paths.push(path);
        }
        if self.is_complete() {
            remove_leftovers(&study.output.join("tasks"));
        }
        Ok(paths)
    }

    /// One line for every answer of a task, with numbers that the seed determines.
    fn results_csv(&self, study: &Study) -> String {
        let mut text = tasks_header(study, &numbers(&Metrics::default()));
        for (task, outcome) in &self.done {
            let cell = &study.cells[task.cell];
            for answer in &cell.answers {
                let label = cell.label(*answer);
                text += &task_line(study, task, &label, &numbers(outcome.of(*answer)));
            }
        }
        text
    }

    /// One line a task.
    fn timing_csv(&self, study: &Study) -> String {
        let mut text = tasks_header(study, &numbers(&Timing::default()));
        for (task, outcome) in &self.done {
            let method = &study.cells[task.cell].method;
            text += &task_line(study, task, method, &numbers(&outcome.timing));
        }
        text
    }

    /// One line a cell, answer and metric: mean, its standard error over repeats, and the extremes.
    fn cells_csv(&self, study: &Study) -> String {
        let columns = ["metric", "repeats", "mean", "standard_error", "min", "max"];
        let mut text = csv_line(cell_columns(study).chain(columns));
        for (index, cell) in study.cells.iter().enumerate() {
            for answer in &cell.answers {
                let label = cell.label(*answer);
                for summary in self.cell(index, *answer) {
                    let fields = [
                        summary.metric.clone(),
                        summary.repeats.to_string(),
                        number(Some(summary.mean)),
                        number(summary.standard_error),
                        number(Some(summary.min)),
                        number(Some(summary.max)),
                    ];
                    let fields = fields.iter().map(String::as_str);
                    text += &csv_line(cell_fields(study, index, &label).chain(fields));
                }
            }
        }
        text
    }

    /// Every metric that a cell has, over the repeats that have it.
    pub fn cell(&self, cell: usize, answer: Answer) -> Vec<CellMetric> {
        let own = self.done.iter().filter(|(task, _)| task.cell == cell);
        let rows: Vec<Numbers> = own
            .map(|(_, outcome)| numbers(outcome.of(answer)))
            .collect();
        let names = numbers(&Metrics::default());
        let metrics = names
            .into_iter()
            .enumerate()
            .filter_map(|(k, (metric, _))| {
                let values: Vec<f64> = rows.iter().filter_map(|row| row[k].1).collect();
                CellMetric::new(metric, &values)
            });
        metrics.collect()
    }

    fn coefficients_csv(&self, study: &Study) -> String {
        let columns = [
            "repeat",
            "coefficient",
            "mean",
            "5%",
            "25%",
            "50%",
            "75%",
            "95%",
        ];
        let mut text = csv_line(cell_columns(study).chain(columns));
        for (task, outcome) in &self.done {
            let label = study.cells[task.cell].label(Answer::Joint);
            let details = outcome.detail.iter();
            for (k, values) in details.flat_map(|d| &d.coefficients).enumerate() {
                let mut fields = vec![task.repeat.to_string(), (k + 1).to_string()];
                fields.extend(values.iter().map(|value| rounded(*value)));
                let fields = fields.iter().map(String::as_str);
                text += &csv_line(cell_fields(study, task.cell, &label).chain(fields));
            }
        }
        text
    }

    fn corner_csv(&self, study: &Study) -> String {
        let columns = ["repeat", "row", "column", "probability"];
        let mut text = csv_line(cell_columns(study).chain(columns));
        for (task, outcome) in &self.done {
            let label = &study.cells[task.cell].method;
            for (row, column, probability) in outcome.detail.iter().flat_map(|d| &d.corner) {
                let fields = [
                    task.repeat.to_string(),
                    row.to_string(),
                    column.to_string(),
                    rounded(*probability),
                ];
                let fields = fields.iter().map(String::as_str);
                text += &csv_line(cell_fields(study, task.cell, label).chain(fields));
            }
        }
        text
    }

    /// One line for every check that a fit made of itself, with the source of its recommended answer.
    fn checks_csv(&self, study: &Study) -> String {
        let columns = ["repeat", "source", "weight", "check", "p_value", "passed"];
        let mut text = csv_line(cell_columns(study).chain(columns));
        for (task, outcome) in &self.done {
            let method = &study.cells[task.cell].method;
            if let Some(trust) = &outcome.trust {
                for check in &trust.checks {
                    let fields = [
                        task.repeat.to_string(),
                        trust.source.clone().unwrap_or("NA".into()),
                        number(trust.weight),
                        check.name.clone(),
                        number(check.p_value),
                        check
                            .passed
                            .map_or("NA".into(), |passed| passed.to_string()),
                    ];
                    let fields = fields.iter().map(String::as_str);
                    text += &csv_line(cell_fields(study, task.cell, method).chain(fields));
                }
            }
        }
        text
    }

    /// How the tables came about.
    fn about(&self, study: &Study) -> String {
        let runs: Vec<RunRecord> = fs::read_to_string(study.output.join(RUNS))
            .unwrap_or_default()
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let about = json!({
            "study": study.name,
            "command": command(study),
            "seed": study.seed,
            "repeats": study.repeats,
            "cells": study.cells.len(),
            "tasks": {
                "done": self.done.len(),
                "missing": self.missing.len(),
                "failed": self.failed.len(),
            },
            "task_seconds": self.done.iter().filter_map(|(_, o)| o.timing.seconds).sum::<f64>(),
            "runs": runs,
            "version": env!("CARGO_PKG_VERSION"),
        });
        serde_json::to_string_pretty(&about).expect("plain JSON") + "\n"
    }
}

/// The command that runs the study, with what overrides its config.
fn command(study: &Study) -> String {
    let overrides = study.overrides.iter();
    let overrides = overrides.map(|setting| format!(" --set '{setting}'"));
    let overrides: String = overrides.collect();
    format!("unshuffle study {}{overrides}", study.file.display())
}

/// One metric of one cell, over repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct CellMetric {
    pub metric: String,
    pub repeats: usize,
    pub mean: f64,
    pub standard_error: Option<f64>,
    pub min: f64,
    pub max: f64,
}

impl CellMetric {
    fn new(metric: String, values: &[f64]) -> Option<CellMetric> {
        let count = values.len() as f64;
        Some(CellMetric {
            metric,
            repeats: values.len(),
            mean: crate::numerics::mean(values)?,
            standard_error: crate::numerics::sd(values).map(|sd| sd / count.sqrt()),
            min: values.iter().copied().reduce(f64::min)?,
            max: values.iter().copied().reduce(f64::max)?,
        })
    }
}

type Numbers = Vec<(String, Option<f64>)>;

/// The fields of metrics or times, by name, in their order.
fn numbers(of: &impl Serialize) -> Numbers {
    let value = serde_json::to_value(of).expect("plain JSON");
    let fields: Map<String, Value> = value.as_object().expect("a struct").clone();
    let read = |value: Value| value.as_f64();
    fields
        .into_iter()
        .map(|(name, v)| (name, read(v)))
        .collect()
}

fn cell_columns(study: &Study) -> impl Iterator<Item = &str> {
    ["cell", "method"]
        .into_iter()
        .chain(study.axes.iter().map(String::as_str))
}

fn cell_fields<'a>(
    study: &'a Study,
    cell: usize,
    method: &'a str,
) -> impl Iterator<Item = &'a str> {
    let found = &study.cells[cell];
    [found.number.as_str(), method]
        .into_iter()
        .chain(found.labels.iter().map(String::as_str))
}

fn tasks_header(study: &Study, names: &Numbers) -> String {
    csv_line(
        ["task"]
            .into_iter()
            .chain(cell_columns(study))
            .chain(["repeat"])
            .chain(names.iter().map(|(name, _)| name.as_str())),
    )
}

fn task_line(study: &Study, task: &Task, method: &str, numbers: &Numbers) -> String {
    let values: Vec<String> = numbers.iter().map(|(_, v)| number(*v)).collect();
    let (task_number, repeat) = (task.number.to_string(), task.repeat.to_string());
    csv_line(
        [task_number.as_str()]
            .into_iter()
            .chain(cell_fields(study, task.cell, method))
            .chain([repeat.as_str()])
            .chain(values.iter().map(String::as_str)),
    )
}
