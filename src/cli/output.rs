//! The two streams of the program: results on stdout, everything else on stderr.
//!
//! `say!` and `note!` are used instead of `println!` and `eprintln!`, which panic where a stream cannot be written. What
//! could not be written to stdout is judged at the end, so that `--strict` has been judged before it.

use std::io::{Error, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::sync::OnceLock;

use super::closed::stdout_was_closed;
use super::json;
use crate::text::printable;

/// The first failed write to stdout; nothing is written after it.
static FAILED: OnceLock<Error> = OnceLock::new();

/// Prints one line to stdout.
macro_rules! say {
    ($($words:tt)*) => { $crate::cli::output::to_stdout(&format!("{}\n", format_args!($($words)*))) };
}

/// Prints one line to stderr.
macro_rules! note {
    ($($words:tt)*) => { $crate::cli::output::to_stderr(&format!("{}\n", format_args!($($words)*))) };
}

/// Text for people: control characters in the names of columns or files do not reach the terminal.
pub(super) fn to_stdout(text: &str) {
    match json::is_on() {
        true => json::add_text(text),
        false => write_to_stdout(&printable(text)),
    }
}

/// Text for programs, unchanged unless a terminal would show it.
pub(super) fn data_to_stdout(text: &str) {
    if json::is_on() || stdout().is_terminal() {
        to_stdout(text);
    } else {
        write_to_stdout(text);
    }
}

pub(super) fn write_to_stdout(text: &str) {
    by(|| {
        let mut stream = stdout().lock();
        stream.write_all(text.as_bytes())?;
        stream.flush()
    });
}

/// Writes to stdout by `write`, unless an earlier write failed.
pub(super) fn by(write: impl FnOnce() -> Result<(), Error>) {
    if FAILED.get().is_some() {
        return;
    }
    let written = match stdout_was_closed() {
        true => Err(Error::other("it is closed")),
        false => write(),
    };
    if let Err(error) = written {
        let _ = FAILED.set(error);
    }
}

/// A stderr that cannot be written ends nothing: there is no place left to say so.
pub(super) fn to_stderr(text: &str) {
    if json::is_on() {
        return json::message(text);
    }
    let _ = stderr().lock().write_all(printable(text).as_bytes());
}

/// The exit code of a program that would end with `code`: another one than 0 if results were lost. A reader that has
/// seen enough, as in `unshuffle summary DIR | head`, is no failure.
pub(super) fn exit_code(code: u8) -> u8 {
    match FAILED.get() {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => {
            let fix = match stdout_was_closed() {
                true => "send it to a file, or to /dev/null if nobody reads it",
                false => "free some space, or send it elsewhere",
            };
            let sentence = format!("error: cannot write to the standard output ({error}); {fix}\n");
            // Also with --json, whose events go to the stream that failed.
            let _ = stderr().lock().write_all(sentence.as_bytes());
            if code == 0 { 2 } else { code }
        }
        _ => code,
    }
}
