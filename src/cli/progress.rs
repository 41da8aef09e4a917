//! What a person sees while she waits: bars on a terminal, plain lines elsewhere, always on stderr.

use std::io::{IsTerminal, stderr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::json;

use super::json;
use crate::model::stan::{BuildObserver, StanError};
use crate::sampler::chain::{Observer, Progress};
use crate::study::{Ended, Study, StudyObserver, Task};
use crate::text::printable;

/// Names each task of fetching and compiling, and how long it is going to take.
pub(super) struct BuildProgress {
    bars: Option<MultiProgress>,
}

impl BuildProgress {
    pub fn new() -> BuildProgress {
        BuildProgress {
            bars: has_bars().then(MultiProgress::new),
        }
    }
}

impl BuildObserver for BuildProgress {
    fn task(
        &self,
        what: &str,
        about_seconds: u64,
        work: &mut dyn FnMut() -> Result<(), StanError>,
    ) -> Result<(), StanError> {
        let start = Instant::now();
        let message = format!("{what}, about {about_seconds} s");
        let spinner = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new_spinner());
            let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
            bar.set_style(style.expect("a constant template"));
            bar.set_message(printable(&message).into_owned());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        if json::is_on() {
            json::progress(json!({"task": what, "about_seconds": about_seconds}));
        } else if spinner.is_none() {
            note!("{message} ...");
        }
        let result = work();
        if let Some(bar) = spinner {
            bar.finish_and_clear();
        }
        let seconds = start.elapsed().as_secs_f64();
        if result.is_ok() && json::is_on() {
            json::progress(json!({"task": what, "seconds": seconds}));
        } else if result.is_ok() {
            note!("{what}: done in {seconds:.1} s");
        }
        result
    }

    fn note(&self, sentence: &str) {
        match &self.bars {
            Some(bars) => bars.suspend(|| note!("{sentence}")),
            None => note!("{sentence}"),
        }
    }
}

/// Whether a person watches a terminal.
fn has_bars() -> bool {
    !json::is_on() && stderr().is_terminal()
}

/// Progress of the chains.
pub(super) enum ChainProgress {
    Quiet,
    /// One bar for each chain.
    Bars(Vec<ProgressBar>),
    /// CmdStan's lines, one for every tenth of a chain.
    Lines {
        last_tenth: Vec<AtomicUsize>,
    },
    /// Events, some for every hundredth of a chain.
    Events {
        last_hundredth: Vec<AtomicUsize>,
    },
}

impl ChainProgress {
    pub fn new(num_chains: usize, quiet: bool) -> ChainProgress {
        if quiet {
            return ChainProgress::Quiet;
        }
        let zeros = || (0..num_chains).map(|_| AtomicUsize::new(0)).collect();
        if json::is_on() {
            let last_hundredth = zeros();
            return ChainProgress::Events { last_hundredth };
        }
        if !has_bars() {
            let last_tenth = zeros();
            return ChainProgress::Lines { last_tenth };
        }
        let bars = MultiProgress::new();
        let template = "Chain {prefix} [{bar:30}] {pos}/{len} {msg} {eta} left";
        let style = ProgressStyle::with_template(template)
            .expect("a constant template")
            .progress_chars("=> ");
        ChainProgress::Bars(
            (1..=num_chains)
                .map(|chain| {
                    let bar = bars.add(ProgressBar::new(0));
                    bar.set_style(style.clone());
                    bar.set_prefix(chain.to_string());
                    bar
                })
                .collect(),
        )
    }

    pub fn finish(&self) {
        if let ChainProgress::Bars(bars) = self {
            bars.iter().for_each(ProgressBar::abandon);
        }
    }
}

impl Observer for ChainProgress {
    fn iteration(&self, progress: Progress) {
        let phase = if progress.warming_up {
            "Warmup"
        } else {
            "Sampling"
        };
        match self {
            ChainProgress::Quiet => {}
            ChainProgress::Bars(bars) => {
                // Redrawing costs more than an iteration.
                if !progress.done.is_multiple_of(16) && progress.done != progress.total {
                    return;
                }
                let bar = &bars[progress.chain - 1];
                bar.set_length(progress.total as u64);
                bar.set_position(progress.done as u64);
                bar.set_message(match progress.num_divergences {
                    0 => phase.to_string(),
                    divergences => format!("{phase}, {divergences} divergent"),
                });
            }
            ChainProgress::Lines { last_tenth } => {
                let tenth = 10 * progress.done / progress.total;
                if last_tenth[progress.chain - 1].swap(tenth, Ordering::Relaxed) != tenth {
                    note!(
                        "Chain {} Iteration: {:>width$} / {} [{:>3}%] ({phase})",
                        progress.chain,
                        progress.done,
                        progress.total,
                        100 * progress.done / progress.total,
                        width = progress.total.to_string().len(),
                    );
                }
            }
            ChainProgress::Events { last_hundredth } => {
                let hundredth = 100 * progress.done / progress.total;
                if last_hundredth[progress.chain - 1].swap(hundredth, Ordering::Relaxed)
                    != hundredth
                {
                    json::progress(json!({
                        "chain": progress.chain,
                        "done": progress.done,
                        "total": progress.total,
                        "phase": phase.to_lowercase(),
                        "divergences": progress.num_divergences,
                    }));
                }
            }
        }
    }
}

/// Progress of a study, with the time that is left.
pub(super) struct StudyProgress<'a> {
    study: &'a Study,
    total: usize,
    start: Instant,
    ended: AtomicUsize,
    quiet: bool,
    bar: Option<ProgressBar>,
    /// When the last line was written, where there is no terminal.
    last_line: Mutex<Instant>,
}

impl StudyProgress<'_> {
    pub fn new(study: &Study, total: usize, quiet: bool) -> StudyProgress<'_> {
        let bar = (!quiet && has_bars()).then(|| {
            let bar = ProgressBar::new(total as u64);
            let template = "{pos}/{len} tasks [{bar:30}] {elapsed} passed, about {eta} left";
            let style = ProgressStyle::with_template(template).expect("a constant template");
            bar.set_style(style.progress_chars("=> "));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        let now = Instant::now();
        StudyProgress {
            study,
            total,
            start: now,
            ended: AtomicUsize::new(0),
            quiet,
            bar,
            last_line: Mutex::new(now),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn say(&self, line: String) {
        match &self.bar {
            Some(bar) => bar.println(printable(&line)),
            None => note!("{line}"),
        }
    }
}

impl StudyObserver for StudyProgress<'_> {
    fn ended(&self, task: &Task, ended: &Ended) {
        const BETWEEN_LINES: Duration = Duration::from_secs(10);
        let done = self.ended.fetch_add(1, Ordering::Relaxed) + 1;
        if let Ended::Failed(sentence) = ended {
            self.say(format!("failed: {}: {sentence}", self.study.describe(task)));
        }
        if let Some(bar) = &self.bar {
            bar.inc(1);
        } else if json::is_on() && !self.quiet {
            json::progress(json!({"done": done, "total": self.total}));
        } else if !self.quiet {
            let mut last = self.last_line.lock().expect("no panics");
            if last.elapsed() >= BETWEEN_LINES || done == self.total {
                *last = Instant::now();
                let passed = self.start.elapsed().as_secs_f64();
                let left = passed / done as f64 * (self.total - done) as f64;
                note!(
                    "Task {done} / {} [{:>3}%], about {} left",
                    self.total,
                    100 * done / self.total,
                    in_words(left)
                );
            }
        }
    }
}

pub(super) fn in_words(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
