//! Ctrl-C, SIGTERM and SIGHUP: before sampling they end the program, and then they ask the chains to end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};

use super::json;
use super::progress::above_bars;

/// What chains look at, and what to tell when they are asked to end; empty until there are chains.
static CHAINS: OnceLock<(Arc<AtomicBool>, &'static str)> = OnceLock::new();

/// Told where nothing has been sampled, so that the output folder is as it was.
const BEFORE_SAMPLING: &str =
    "Interrupted before sampling began: nothing is lost, and the same command starts again.";

/// From now on a signal ends the program with a sentence and the exit code of an interruption.
pub(super) fn end_on_interrupt() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let ignores_hangup = ignores_hangup();
        if let Err(error) = ctrlc::set_handler(interrupted) {
            note!(
                "warning: Ctrl-C will lose the draws, since its handler could not be set: {error}"
            );
        }
        if ignores_hangup {
            ignore_hangup();
        }
    });
}

/// The first signal asks the chains to finish their iteration; a second one ends the program at once.
pub(super) fn stop_on_interrupt(words: &'static str) -> Arc<AtomicBool> {
    end_on_interrupt();
    let (stop, _) = CHAINS.get_or_init(|| (Arc::new(AtomicBool::new(false)), words));
    Arc::clone(stop)
}

/// Runs in a thread of its own.
fn interrupted() {
    match CHAINS.get() {
        None => {
            match json::is_on() {
                true => json::end_badly(INTERRUPTED, Some(BEFORE_SAMPLING)),
                false => above_bars(|| note!("{BEFORE_SAMPLING}")),
            }
            end();
        }
        Some((stop, words)) => {
            if stop.swap(true, Ordering::Relaxed) {
                end();
            }
            above_bars(|| note!("{words}; press Ctrl-C again to stop at once."));
        }
    }
}

/// The exit code of an interruption.
const INTERRUPTED: u8 = 130;

/// Ends the program at once. What C++ libraries do at a regular end is not safe while other threads are inside them.
#[cfg(unix)]
fn end() -> ! {
    // SAFETY: ends the process without running any code.
    unsafe { libc::_exit(INTERRUPTED.into()) }
}

#[cfg(not(unix))]
fn end() -> ! {
    std::process::exit(INTERRUPTED.into())
}

/// Whether the process was started to outlive its terminal, as by `nohup`.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    // SAFETY: reads the disposition of one signal by setting it for a moment, before any handler is there.
    unsafe {
        let before = libc::signal(libc::SIGHUP, libc::SIG_IGN);
        libc::signal(libc::SIGHUP, before);
        before == libc::SIG_IGN
    }
}

#[cfg(unix)]
fn ignore_hangup() {
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
}

#[cfg(not(unix))]
fn ignores_hangup() -> bool {
    false
}

#[cfg(not(unix))]
fn ignore_hangup() {}
