//! `--json`: one JSON object on each line of stdout, for programs that drive this one.
//!
//! `{"event": "progress", ...}`, `{"event": "note" | "warning", "message": ...}`, and at the end one
//! `{"event": "result", ...}` or `{"event": "error", "code": ..., "message": ...}`. What a command would print to stdout is
//! the field `text` of the last one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::output::write_to_stdout;

/// Whether events are written instead of text.
static IS_ON: AtomicBool = AtomicBool::new(false);
/// The fields of the last event.
static RESULT: LazyLock<Mutex<Map<String, Value>>> = LazyLock::new(Mutex::default);
static TEXT: Mutex<String> = Mutex::new(String::new());

pub(super) fn turn_on() {
    IS_ON.store(true, Ordering::Relaxed);
}

pub(super) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Adds a field to the last event. It costs nothing to call without `--json`.
pub(super) fn result(key: &str, value: impl Serialize) {
    if is_on() {
        let value = serde_json::to_value(value).expect("plain JSON");
        let mut fields = RESULT.lock().expect("no panics");
        fields.insert(key.to_string(), value);
    }
}

/// Keeps what would have been printed.
pub(super) fn add_text(text: &str) {
    TEXT.lock().expect("no panics").push_str(text);
}

/// A line that would have gone to stderr.
pub(super) fn message(line: &str) {
    let line = line.trim_end();
    let (event, message) = match line.strip_prefix("warning: ") {
        Some(message) => ("warning", message),
        None => ("note", line),
    };
    write(&json!({"event": event, "message": message}));
}

pub(super) fn progress(fields: Value) {
    let mut event = json!({"event": "progress"});
    let fields = fields.as_object().cloned().unwrap_or_default();
    event.as_object_mut().expect("an object").extend(fields);
    write(&event);
}

/// The last event of a command that ended well.
pub(super) fn end_well() {
    write(&with_fields(json!({"event": "result"})));
}

/// The last event of a command that did not. Without a `message` everything is in its text.
pub(super) fn end_badly(code: u8, message: Option<&str>) {
    let usual = match code {
        1 => "the diagnostics found a problem",
        3 => "a part of the Stan toolchain is missing",
        130 => "interrupted",
        _ => "some of the work failed",
    };
    let message = message.unwrap_or(usual);
    let event = json!({"event": "error", "code": code, "message": message});
    write(&with_fields(event));
}

fn with_fields(mut event: Value) -> Value {
    let fields = event.as_object_mut().expect("an object");
    fields.extend(RESULT.lock().expect("no panics").clone());
    let text = TEXT.lock().expect("no panics").clone();
    if !text.is_empty() {
        fields.insert("text".into(), json!(text));
    }
    event
}

fn write(event: &Value) {
    write_to_stdout(&format!("{event}\n"));
}
