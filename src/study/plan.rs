//! The tasks of a study: one for each cell and repeat, with seeds and a folder that depend on nothing else.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::StudyError;
use super::answers::Answer;
use super::collect::TABLES;
use super::config::{Cell, CellData, Estimator, Study};
use super::files::{csv_line, write_then_rename};
use crate::fit::{FitError, stan_source};

const MANIFEST: &str = "plan.csv";

/// One method on one simulated data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The number of the task, from 1; repeats vary slowest, so that the first tasks show every cell once.
    pub number: usize,
    /// Index into the study's cells.
    pub cell: usize,
    /// The number of the repeat, from 1.
    pub repeat: usize,
    /// Shared by all methods on one setting of the data, which therefore see the same data sets.
    pub data_seed: u64,
    pub fit_seed: u64,
    /// Where its result is, or will be.
    pub folder: PathBuf,
}

/// All tasks, in the order of their numbers.
pub fn tasks(study: &Study) -> Result<Vec<Task>, StudyError> {
    let num_cells = study.cells.len();
    let mut tasks = Vec::with_capacity(study.repeats * num_cells);
    let mut versions = Vec::with_capacity(num_cells);
    for cell in &study.cells {
        versions.push(version(cell)?);
    }
    for repeat in 1..=study.repeats {
        for (index, cell) in study.cells.iter().enumerate() {
            let data = cell.data.identity().to_string();
            let seed_of = |purpose: &str, identity: &str| {
                seed(&hash(&[
                    purpose,
                    &study.seed.to_string(),
                    identity,
                    &repeat.to_string(),
                ]))
            };
            let (data_seed, fit_seed) = (seed_of("data", &data), seed_of("fit", &cell.identity));
            // An edited Stan program or file, or another unshuffle makes the old result worthless, but keeps its seeds.
            let key = hash(&[
                &fit_seed.to_string(),
                &data_seed.to_string(),
                &cell.identity,
                &versions[index],
                env!("CARGO_PKG_VERSION"),
            ]);
            tasks.push(Task {
                number: (repeat - 1) * num_cells + index + 1,
                cell: index,
                repeat,
                data_seed,
                fit_seed,
                folder: study.output.join("tasks").join(&hex(&key)[..16]),
            });
        }
    }
    Ok(tasks)
}

/// What a result depends on besides the cell's identity: the text of the program, the content of the file, and which answers
/// were measured.
fn version(cell: &Cell) -> Result<String, StudyError> {
    let mut version = String::new();
    if let Estimator::Fit(config) = &cell.estimator {
        let source = stan_source(&config.model.stan).map_err(FitError::from)?;
        let mut hasher = Sha256::new();
        source.hash_into(&mut hasher);
        version += &hex(&hasher.finalize());
    }
    if let CellData::File(file) = &cell.data {
        version += &format!(" {}", file.sha256);
    }
    if cell.answers != [Answer::Joint] {
        version += &format!(" {:?}", cell.answers);
    }
    Ok(version)
}

/// Each part ends where it ends: ("ab", "c") and ("a", "bc") differ.
fn hash(parts: &[&str]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// 53 bits, which every reader of JSON or CSV keeps.
fn seed(hash: &[u8; 32]) -> u64 {
    u64::from_le_bytes(hash[..8].try_into().expect("eight bytes")) >> 11
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Refuses a folder with tables that no study wrote; a study's folder has its plan.
pub(super) fn check_ours(study: &Study) -> Result<(), StudyError> {
    let plan = study.output.join(MANIFEST);
    if let Ok(text) = fs::read_to_string(&plan) {
        return match text.starts_with("task,cell,method,") {
            true => Ok(()),
            false => Err(StudyError::NotOurs { path: plan }),
        };
    }
    let mut tables = TABLES.iter().map(|name| study.output.join(name));
    match tables.find(|path| path.exists()) {
        Some(path) => Err(StudyError::NotOurs { path }),
        None => Ok(()),
    }
}

/// Writes plan.csv.
pub fn write_plan(study: &Study, tasks: &[Task]) -> Result<PathBuf, StudyError> {
    check_ours(study)?;
    let path = study.output.join(MANIFEST);
    write_then_rename(&path, &manifest(study, tasks))?;
    Ok(path)
}

/// Task numbers mean what they meant when the study was planned, or not at all.
pub fn check_plan(study: &Study, tasks: &[Task]) -> Result<(), StudyError> {
    let path = study.output.join(MANIFEST);
    let Ok(text) = fs::read_to_string(&path) else {
        return Err(StudyError::NotPlanned {
            path,
            file: study.file.clone(),
        });
    };
    if text != manifest(study, tasks) {
        return Err(StudyError::PlanChanged {
            path,
            file: study.file.clone(),
        });
    }
    Ok(())
}

fn manifest(study: &Study, tasks: &[Task]) -> String {
    let mut text = csv_line(
        ["task", "cell", "method"]
            .into_iter()
            .chain(study.axes.iter().map(String::as_str))
            .chain(["repeat", "seed", "data_seed", "folder"]),
    );
    for task in tasks {
        let cell = &study.cells[task.cell];
        let folder = task
            .folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let numbers = [task.number, task.cell + 1].map(|number| number.to_string());
        let seeds = [task.repeat as u64, task.fit_seed, task.data_seed].map(|n| n.to_string());
        let fields = numbers.iter().map(String::as_str);
        text += &csv_line(
            fields
                .chain([cell.method.as_str()])
                .chain(cell.labels.iter().map(String::as_str))
                .chain(seeds.iter().map(String::as_str))
                .chain([&*folder]),
        );
    }
    text
}
