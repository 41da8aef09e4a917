//! Simulation studies: a grid of cells x repeats, each a task of its own, collected into tables.
//!
//! `plan` lists the tasks, `run` does some of them in any order and any number of processes, `collect` merges what is
//! there. A task's numbers depend on the study's seed, its cell and its repeat alone.

mod answers;
pub mod assess;
mod axes;
mod collect;
mod config;
mod file_design;
mod files;
mod identity;
mod known_rate;
mod measure;
mod metrics;
mod plan;
mod programs;
mod run;
pub mod simulate;
mod table;
mod task;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use thiserror::Error;

use crate::config::ConfigError;
use crate::fit::FitError;
use crate::study::simulate::SimulateError;
use crate::text::FileError;

pub use collect::Collected;
pub use config::Study;
pub use metrics::{CONTRACTION_D, CONTRACTION_T, epsilon2, radius};
pub use plan::{Task, check_plan, tasks, write_plan};
pub use programs::Programs;
pub use run::{RunCounts, StudyObserver, run};
pub use table::study_table;
pub use task::Ended;

#[derive(Debug, Error)]
pub enum StudyError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{file}: {problem}")]
    Design { file: String, problem: String },
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error(
        "{} is not there: run `unshuffle study plan {}` first", path.display(), file.display()
    )]
    NotPlanned { path: PathBuf, file: PathBuf },
    #[error(
        "{} or its Stan program has changed since {} was written, so task numbers mean something else: run `unshuffle study plan {}` again",
        file.display(), path.display(), file.display()
    )]
    PlanChanged { path: PathBuf, file: PathBuf },
    #[error(
        "{label} has no `vector[{count}] beta` among its parameters, so it cannot be compared with the truth: name the coefficients `beta`"
    )]
    NoBeta { label: String, count: usize },
    #[error(
        "the responses have no estimate even with the links as given, as where the predictors separate 0 from 1: simulate more rows, or smaller coefficients"
    )]
    NoEstimate,
    #[error("{} {problem}", path.display())]
    Answers { path: PathBuf, problem: String },
    #[error("{} cannot be read ({problem}): remove its folder and run the task again", path.display())]
    Unreadable { path: PathBuf, problem: String },
    #[error("{} was not written by a study, so it is not replaced: choose another `output`, or move that file", path.display())]
    NotOurs { path: PathBuf },
    #[error(transparent)]
    File(#[from] FileError),
}
