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
    /// One bar for each chain, and one for all of them.
    Bars(ChainBars),
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
        ChainProgress::Bars(ChainBars::new(num_chains))
    }

    pub fn finish(&self) {
        if let ChainProgress::Bars(bars) = self {
            bars.finish();
        }
    }
}

/// The bars that are drawn now, above which messages are written.
static SHOWN: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Writes a message where no bar is drawn over it.
pub(super) fn above_bars(write: impl FnOnce()) {
    // A handler of signals must not wait for a lock that is held while bars are made.
    match SHOWN.try_lock().ok().and_then(|shown| shown.clone()) {
        Some(bars) => bars.suspend(write),
        None => write(),
    }
}

/// A bar for each chain, which waits until its chain begins, and one for all of them with the time that is left.
pub(super) struct ChainBars {
    chains: Vec<ProgressBar>,
    /// The iterations done by each chain, since a bar may not go back.
    done: Vec<AtomicUsize>,
    /// None for a single chain.
    all: Option<ProgressBar>,
}

const WAITING: &str = "Chain {prefix} waiting";
const RUNNING: &str = "Chain {prefix} [{bar:30}] {pos}/{len} {msg}";
const ALL: &str = "All {len} iterations [{bar:30}] {percent} %, about {eta} left";
/// A single chain has no bar for all of them.
const ALONE: &str = "Chain {prefix} [{bar:30}] {pos}/{len} {msg}, about {eta} left";

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.expect("a constant template").progress_chars("=> ")
}

impl ChainBars {
    fn new(num_chains: usize) -> ChainBars {
        let bars = MultiProgress::new();
        let chain = |chain: usize| {
            let bar = bars.add(ProgressBar::new(0));
            bar.set_style(style(WAITING));
            bar.set_prefix(chain.to_string());
            bar.tick();
            bar
        };
        let chains = (1..=num_chains).map(chain).collect();
        let all = (num_chains > 1).then(|| {
            let bar = bars.add(ProgressBar::new(0));
            bar.set_style(style(""));
            bar
        });
        *SHOWN.lock().expect("no panics") = Some(bars);
        ChainBars {
            chains,
            done: (0..num_chains).map(|_| AtomicUsize::new(0)).collect(),
            all,
        }
    }

    fn show(&self, progress: Progress, phase: &str) {
        let place = progress.chain - 1;
        let bar = &self.chains[place];
        if self.done[place].swap(progress.done, Ordering::Relaxed) == 0 {
            bar.reset_eta();
            bar.set_style(style(if self.all.is_some() { RUNNING } else { ALONE }));
        }
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(match progress.num_divergences {
            0 => phase.to_string(),
            divergences => format!("{phase}, {divergences} divergent"),
        });
        if let Some(all) = &self.all {
            if all.length() == Some(0) {
                all.reset_eta();
                all.set_style(style(ALL));
            }
            all.set_length((progress.total * self.chains.len()) as u64);
            let done = self.done.iter().map(|done| done.load(Ordering::Relaxed));
            all.set_position(done.sum::<usize>() as u64);
        }
    }

    fn finish(&self) {
        self.chains.iter().for_each(ProgressBar::abandon);
        if let Some(all) = &self.all {
            all.finish_and_clear();
        }
        *SHOWN.lock().expect("no panics") = None;
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
                bars.show(progress, phase);
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
