//! Many tasks at once, on the threads of one process.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::StudyError;
use super::config::Study;
use super::plan::Task;
use super::programs::Programs;
use super::task::Ended;
use crate::text::FileError;

/// One line for every call of `run`, so that the results can say what they cost.
pub(super) const RUNS: &str = "runs.jsonl";

/// Hears of every task that ends.
pub trait StudyObserver: Sync {
    fn ended(&self, task: &Task, ended: &Ended);
}

/// What came of the tasks that were asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunCounts {
    pub done: usize,
    /// Finished before, and left alone.
    pub skipped: usize,
    pub failed: usize,
    pub interrupted: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub tasks: usize,
    pub jobs: usize,
    pub seconds: f64,
}

/// Runs what is not done yet of `tasks`, `jobs` at a time.
pub fn run(
    study: &Study,
    tasks: &[&Task],
    programs: &Programs,
    jobs: usize,
    stop: &AtomicBool,
    observer: &dyn StudyObserver,
) -> Result<RunCounts, StudyError> {
    let start = Instant::now();
    let todo: Vec<&Task> = tasks.iter().copied().filter(|t| !t.is_done()).collect();
    let num_workers = jobs.clamp(1, todo.len().max(1));
    // Cores that no other task needs go to a task's chains.
    let threads_each = (jobs / num_workers).max(1);
    let next = AtomicUsize::new(0);
    let counts = Mutex::new(RunCounts {
        skipped: tasks.len() - todo.len(),
        ..RunCounts::default()
    });
    let error = Mutex::new(None);
    let work = || {
        while let Some(task) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
            if stop.load(Ordering::Relaxed) {
                counts.lock().expect("no panics").interrupted = true;
                break;
            }
            match task.run(study, programs, threads_each, stop) {
                Ok(ended) => {
                    let mut counts = counts.lock().expect("no panics");
                    match &ended {
                        Ended::Done => counts.done += 1,
                        Ended::Failed(_) => counts.failed += 1,
                        Ended::Interrupted => counts.interrupted = true,
                    }
                    observer.ended(task, &ended);
                }
                Err(failure) => {
                    stop.store(true, Ordering::Relaxed);
                    error.lock().expect("no panics").get_or_insert(failure);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..num_workers {
            scope.spawn(work);
        }
    });
    if let Some(error) = error.into_inner().expect("no panics") {
        return Err(error);
    }
    let counts = counts.into_inner().expect("no panics");
    if counts.done > 0 {
        record(
            study,
            &RunRecord {
                tasks: counts.done,
                jobs: num_workers,
                seconds: start.elapsed().as_secs_f64(),
            },
        )?;
    }
    Ok(counts)
}

fn record(study: &Study, record: &RunRecord) -> Result<(), StudyError> {
    let path = study.output.join(RUNS);
    let line = serde_json::to_string(record).expect("plain JSON") + "\n";
    // One write to a file opened for appending stays whole beside those of other processes.
    let file = OpenOptions::new().append(true).create(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    Ok(written.map_err(FileError::write(path))?)
}
