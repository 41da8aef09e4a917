//! Reads what a study left: tables, and how they came about.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use unshuffle::internals::numerics;

/// study.json.
#[derive(Deserialize)]
pub struct About {
    pub command: String,
    pub seed: u64,
    pub repeats: usize,
    pub cells: usize,
    pub tasks: TaskCounts,
    /// Summed over tasks, which may have run at the same time.
    pub task_seconds: f64,
    pub runs: Vec<Run>,
    pub version: String,
}

#[derive(Deserialize)]
pub struct TaskCounts {
    pub done: usize,
    pub missing: usize,
    pub failed: usize,
}

/// One call of `unshuffle study`.
#[derive(Deserialize)]
pub struct Run {
    pub jobs: usize,
    pub seconds: f64,
}

/// A CSV file whose fields stay text until a number is asked for.
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Some rows of a table, usually the repeats of one cell.
pub struct Rows<'a> {
    table: &'a Table,
    rows: Vec<&'a [String]>,
}

impl About {
    /// `command` writes the file.
    pub fn read(path: &Path, command: &str) -> Result<About> {
        let text = read_text(path, command)?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} cannot be understood", path.display()))
    }
}

fn read_text(path: &Path, command: &str) -> Result<String> {
    fs::read_to_string(path)
        .with_context(|| format!("{} cannot be read: run `{command}` first", path.display()))
}

impl Table {
    /// `command` writes the file, and the page needs the columns `needed`.
    pub fn read<'a>(
        path: &Path,
        needed: impl IntoIterator<Item = &'a str>,
        command: &str,
    ) -> Result<Table> {
        let text = read_text(path, command)?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns: Vec<String> = reader.headers()?.iter().map(str::to_string).collect();
        for name in needed {
            if !columns.iter().any(|column| column == name) {
                bail!("{} has no column `{name}`", path.display());
            }
        }
        let rows: csv::Result<Vec<Vec<String>>> = reader
            .records()
            .map(|record| Ok(record?.iter().map(str::to_string).collect()))
            .collect();
        let rows = rows.with_context(|| format!("{} is not a CSV file", path.display()))?;
        Ok(Table { columns, rows })
    }

    fn column(&self, name: &str) -> usize {
        let found = self.columns.iter().position(|column| column == name);
        found.unwrap_or_else(|| panic!("no column `{name}`"))
    }

    /// Rows whose columns have these values.
    pub fn select(&self, wanted: &[(&str, &str)]) -> Rows<'_> {
        let wanted: Vec<(usize, &str)> = wanted.iter().map(|(c, v)| (self.column(c), *v)).collect();
        let rows = self.rows.iter().map(Vec::as_slice);
        let rows = rows.filter(|row| wanted.iter().all(|(k, value)| row[*k] == *value));
        Rows {
            table: self,
            rows: rows.collect(),
        }
    }

    /// The values of a column, each once, as they first appear.
    pub fn distinct(&self, column: &str) -> Vec<String> {
        self.select(&[]).distinct(column)
    }
}

impl Rows<'_> {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn distinct(&self, column: &str) -> Vec<String> {
        let k = self.table.column(column);
        let mut values: Vec<String> = Vec::new();
        for row in &self.rows {
            if !values.contains(&row[k]) {
                values.push(row[k].clone());
            }
        }
        values
    }

    /// One a row; none where the method has no such number.
    pub fn numbers(&self, column: &str) -> Vec<Option<f64>> {
        let k = self.table.column(column);
        let number = |text: &str| text.parse().ok().filter(|value: &f64| value.is_finite());
        self.rows.iter().map(|row| number(&row[k])).collect()
    }

    /// Those that are there.
    pub fn values(&self, column: &str) -> Vec<f64> {
        self.numbers(column).into_iter().flatten().collect()
    }

    pub fn mean(&self, column: &str) -> Option<f64> {
        numerics::mean(&self.values(column))
    }

    pub fn max(&self, column: &str) -> Option<f64> {
        self.values(column).into_iter().reduce(f64::max)
    }

    /// By the number of the repeat, to compare methods on the same data.
    pub fn by_repeat(&self, column: &str) -> BTreeMap<u64, f64> {
        let repeat = self.table.column("repeat");
        let repeats = self.rows.iter().map(|row| row[repeat].parse().unwrap_or(0));
        let pairs = repeats.zip(self.numbers(column));
        pairs.filter_map(|(r, value)| Some((r, value?))).collect()
    }
}
