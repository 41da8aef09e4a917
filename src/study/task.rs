//! One task: simulate, estimate, measure, and leave a folder with `done.json`, or `failed.json` with the reason.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ndarray::Axis;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::StudyError;
use super::answers::{Answer, TrustRecord};
use super::config::{Cell, CellData, Estimator, LinksUsed, Study};
use super::file_design::FileDesign;
use super::known_rate::{measure_known_rate, measure_robust_mixture};
use super::measure::{Detail, measure_baseline, measure_fit};
use super::metrics::{Interval, Metrics, Timing};
use super::plan::Task;
use super::programs::Programs;
use crate::config::{Audit, Prior};
use crate::data::Dataset;
use crate::sampler::chain::Silent;
use crate::study::simulate::{Truth, simulate};
use crate::text::{FileError, full_sentence, make_folder};

pub const DONE: &str = "done.json";
pub const FAILED: &str = "failed.json";
/// Part of the name of a folder in which a task is at work.
pub const PARTIAL: &str = ".partial-";

/// What is left of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Of the baseline, or of the joint posterior.
    pub metrics: Metrics,
    /// Of the other answers that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<(Answer, Metrics)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustRecord>,
    pub timing: Timing,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
}

impl Outcome {
    pub fn of(&self, answer: Answer) -> &Metrics {
        let further = self.further.iter().find(|(known, _)| *known == answer);
        further.map_or(&self.metrics, |(_, metrics)| metrics)
    }
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    Done,
    /// With the sentence that says why.
    Failed(String),
    /// Ctrl-C came first; nothing is left of it.
    Interrupted,
}

/// The data that a cell's method sees, and the truth about them.
pub struct TaskData {
    pub data: Dataset,
    pub truth: Truth,
    /// What an audit of links of the same kind found, where the study has one.
    pub audit: Option<Audit>,
    /// The file that the data were made from.
    pub file: Option<Arc<FileDesign>>,
}

impl TaskData {
    pub(super) fn new(cell: &Cell, seed: u64) -> Result<TaskData, StudyError> {
        match &cell.data {
            CellData::Simulated { design, .. } => {
                let simulated = simulate(design, seed)?;
                let mut data = simulated.dataset();
                let mut truth = simulated.truth;
                if cell.links == LinksUsed::True {
                    data.x = data.x.select(Axis(0), &truth.pi);
                    truth = truth.relinked();
                }
                Ok(TaskData {
                    data,
                    truth,
                    audit: None,
                    file: None,
                })
            }
            CellData::File(file) => {
                let mut planted = file.planting.plant(&file.unharmed, seed)?;
                if cell.links == LinksUsed::True {
                    planted.data.response = file.unharmed.response.clone();
                    planted.pi = (0..file.unharmed.num_rows()).collect();
                }
                let names = file.unharmed.predictor_names.clone();
                let beta = file.target.beta.clone();
                Ok(TaskData {
                    data: planted.data,
                    truth: Truth::new(names, beta, None, planted.pi, None),
                    audit: planted.audit,
                    file: Some(Arc::clone(file)),
                })
            }
        }
    }

    /// The prior of a fit that knows of the audit; a prior without a rate has no use for it.
    pub(super) fn with_audit(&self, prior: Prior) -> Prior {
        match (prior, self.audit) {
            (Prior::BetaBinomial { a, b, no_error, .. }, audit @ Some(_)) => Prior::BetaBinomial {
                a,
                b,
                no_error,
                audit,
            },
            (prior, _) => prior,
        }
    }

    /// Compares estimates of all coefficients with the truth: of a file the slopes alone, in standard errors of its fit as
    /// given.
    pub fn compare(&self, metrics: &mut Metrics, estimates: &[Interval]) {
        let Some(file) = &self.file else {
            metrics.of_coefficients(estimates, &self.truth.beta);
            return;
        };
        let target = &file.target;
        let in_errors = |k: &usize| {
            let unit = |value: f64| (value - target.beta[*k]) / target.standard_error[*k];
            let own = estimates[*k];
            Interval {
                estimate: unit(own.estimate),
                low: unit(own.low),
                high: unit(own.high),
            }
        };
        let slopes: Vec<Interval> = target.slopes.iter().map(in_errors).collect();
        metrics.of_coefficients(&slopes, &vec![0.0; slopes.len()]);
    }
}

impl Task {
    pub fn is_done(&self) -> bool {
        self.folder.join(DONE).exists()
    }

    /// Idempotent: the same task gives the same result, and a finished one is never touched.
    pub fn run(
        &self,
        study: &Study,
        programs: &Programs,
        num_threads: usize,
        stop: &AtomicBool,
    ) -> Result<Ended, StudyError> {
        let work = Work::new(&self.folder)?;
        let start = Instant::now();
        let cell = &study.cells[self.cell];
        let outcome = self.estimate(cell, study, programs, num_threads, stop, &work.path);
        let (name, text, ended) = match outcome {
            Ok(None) => return Ok(Ended::Interrupted),
            Ok(Some(mut outcome)) => {
                outcome.timing.seconds = Some(start.elapsed().as_secs_f64());
                let text = serde_json::to_string_pretty(&outcome).expect("plain JSON");
                (DONE, text, Ended::Done)
            }
            // Another process did the same task, and removed the folders of those that seemed left behind.
            Err(_) if self.is_done() => return Ok(Ended::Done),
            Err(error) => {
                let sentence = full_sentence(&error);
                let text = json!({"error": sentence}).to_string();
                (FAILED, text, Ended::Failed(sentence))
            }
        };
        match work.finish(name, &text) {
            Err(_) if self.is_done() => Ok(Ended::Done),
            finished => finished.map(|()| ended),
        }
    }

    /// None when Ctrl-C came first.
    fn estimate(
        &self,
        cell: &Cell,
        study: &Study,
        programs: &Programs,
        num_threads: usize,
        stop: &AtomicBool,
        work: &Path,
    ) -> Result<Option<Outcome>, StudyError> {
        let task_data = TaskData::new(cell, self.data_seed)?;
        let with_detail = self.repeat <= study.detail;
        match &cell.estimator {
            Estimator::Baseline(baseline) => {
                Ok(Some(measure_baseline(*baseline, &task_data, with_detail)))
            }
            Estimator::KnownRate(known) => {
                let seed = self.data_seed;
                let outcome = measure_known_rate(*known, cell, &task_data, seed, with_detail)?;
                Ok(Some(outcome))
            }
            Estimator::RobustMixture => {
                let outcome = measure_robust_mixture(&task_data, self.data_seed, with_detail)?;
                Ok(Some(outcome))
            }
            Estimator::Fit(config) => {
                let mut config = (**config).clone();
                config.sampler.seed = self.fit_seed;
                config.output = work.join("fit");
                config.permutation.prior = task_data.with_audit(config.permutation.prior);
                let program = programs.of(&config.model.stan);
                let prepared = program.with_data(config, task_data.data.clone())?;
                let mut fitted = prepared.sample(num_threads, stop, &Silent)?;
                if fitted.is_interrupted() {
                    return Ok(None);
                }
                if cell.answers != [Answer::Joint] {
                    prepared.judge(&mut fitted, num_threads, stop)?;
                }
                let outcome = measure_fit(&prepared, &fitted, cell, &task_data, with_detail)?;
                Ok(Some(outcome))
            }
        }
    }
}

/// The folder in which a task works until it can be renamed; removed when the task does not end.
struct Work {
    path: PathBuf,
    target: PathBuf,
    /// The folder, locked while the task is at work, where the file system can lock folders.
    _lock: Option<File>,
}

impl Work {
    fn new(target: &Path) -> Result<Work, StudyError> {
        let parent = target.parent().unwrap_or(Path::new("."));
        make_folder(parent)?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let builder = tempfile::Builder::new()
            .prefix(&format!("{name}{PARTIAL}"))
            .tempdir_in(parent);
        let path = builder.map_err(FileError::write(parent))?.keep();
        let lock = File::open(&path).ok();
        let lock = lock.filter(|folder| folder.try_lock().is_ok());
        Ok(Work {
            path,
            target: target.to_path_buf(),
            _lock: lock,
        })
    }

    fn finish(self, name: &str, text: &str) -> Result<(), StudyError> {
        let fit = self.path.join("fit");
        if fit.exists() {
            fs::remove_dir_all(&fit).map_err(FileError::write(&fit))?;
        }
        let file = self.path.join(name);
        fs::write(&file, text).map_err(FileError::write(&file))?;
        if self.target.join(FAILED).exists() {
            fs::remove_dir_all(&self.target).map_err(FileError::write(&self.target))?;
        }
        match fs::rename(&self.path, &self.target) {
            // Another process did the same task, with the same result.
            Err(_) if self.target.join(DONE).exists() => Ok(()),
            renamed => Ok(renamed.map_err(FileError::write(&self.target))?),
        }
    }
}

/// Removes what killed tasks left in the folder of tasks, once every task of a study is done. A task of another study in the
/// same folder may still be at work.
pub(super) fn remove_leftovers(tasks: &Path) {
    for entry in fs::read_dir(tasks).into_iter().flatten().flatten() {
        let locked = File::open(entry.path()).map(|folder| folder.try_lock());
        let is_at_work = matches!(locked, Ok(Err(TryLockError::WouldBlock)));
        if entry.file_name().to_string_lossy().contains(PARTIAL) && !is_at_work {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_of_the_dead_go_and_work_of_the_living_stays() {
        let folder = tempfile::tempdir().unwrap();
        let tasks = folder.path().join("tasks");
        let work = Work::new(&tasks.join("abc")).unwrap();
        let dead = tasks.join(format!("xyz{PARTIAL}1"));
        let done = tasks.join("done");
        for folder in [&dead, &done] {
            fs::create_dir(folder).unwrap();
        }
        remove_leftovers(&tasks);
        assert!(work.path.is_dir() && done.is_dir() && !dead.exists());
        let path = work.path.clone();
        drop(work);
        assert!(!path.exists());
    }
}
