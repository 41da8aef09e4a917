//! Turns serde's account of a bad config into a sentence for the person who typed it.

use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::ConfigError;
use crate::text::{nearest, quoted_list};

/// The longest excerpt of a value that an error repeats.
const MAX_SHOWN: usize = 60;

pub(super) fn explain(
    file: &str,
    root: &Value,
    error: &serde_path_to_error::Error<serde_json::Error>,
) -> ConfigError {
    let message = error.inner().to_string();
    let path = error.path();
    let file = file.to_string();

    if let Some(rest) = message.strip_prefix("unknown field ") {
        let path = path.to_string();
        let advice = name_advice(rest, path.rsplit('.').next().unwrap_or(&path), "keys");
        return ConfigError::UnknownKey { file, path, advice };
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        let key = rest.trim_matches('`');
        let path = join(path, key);
        let example = example(&path, key);
        return ConfigError::MissingKey {
            file,
            path,
            example,
        };
    }
    let value = shown(value_at(root, path));
    let rule = if let Some(rest) = message.strip_prefix("unknown variant ") {
        name_advice(rest, value.trim_matches('"'), "choices")
    } else if let Some((_, expected)) = message.split_once(", expected ") {
        match expected {
            "a map" => format!("write {}", object_at(&path.to_string())),
            expected => format!("write {}", plain(expected)),
        }
    } else {
        message
    };
    if path.iter().next().is_none() {
        return ConfigError::BadFile { file, value, rule };
    }
    ConfigError::BadValue {
        file,
        path: path.to_string(),
        value,
        rule,
    }
}

/// `rest` is serde's "`typed`, expected one of `a`, `b`": names are what stands between backticks after "expected".
fn name_advice(rest: &str, typed: &str, kind: &str) -> String {
    let known: Vec<&str> = rest
        .split_once("expected ")
        .map(|(_, list)| list.split('`').skip(1).step_by(2).collect())
        .unwrap_or_default();
    let known: Vec<&str> = known
        .into_iter()
        .filter(|&key| key != "$schema" && key != "versions")
        .collect();
    match nearest(typed, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("the {kind} here are {}", quoted_list(&known)),
    }
}

fn join(path: &Path, key: &str) -> String {
    match path.to_string().as_str() {
        "." => key.to_string(),
        parent => format!("{parent}.{key}"),
    }
}

fn value_at<'a>(root: &'a Value, path: &Path) -> &'a Value {
    path.iter().fold(root, |value, segment| match segment {
        Segment::Map { key } => value.get(key).unwrap_or(value),
        Segment::Seq { index } => value.get(index).unwrap_or(value),
        Segment::Enum { .. } | Segment::Unknown => value,
    })
}

pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// An object whose keys are the user's own.
fn object_at(path: &str) -> &'static str {
    match path {
        "model.data" => "an object such as {\"K\": 3}",
        "data.reference" => "an object such as {\"sector\": \"public\"}",
        "methods" => "an object such as {\"huber\": {\"baseline\": \"huber\"}}",
        _ => "an object, which is keys and values in braces",
    }
}

/// Serde's names of Rust types, in the words of a person who writes JSON.
fn plain(expected: &str) -> &str {
    match expected {
        "u32" | "u64" | "usize" => "a whole number of 0 or more, without quotes",
        "f64" => "a number without quotes",
        "a boolean" => "true or false, without quotes",
        "a string" | "path string" | "a path string" | "string or map" => "text in quotes",
        "a sequence" => "a list such as [\"educ\", \"exper\"]",
        described => described,
    }
}

pub(super) fn example(path: &str, key: &str) -> String {
    let value = match path {
        "model" => "{\"stan\": \"linear\"}",
        "model.stan" => "\"linear\"",
        "data" => {
            "{\"file\": \"wages.csv\", \"response\": \"log_wage\", \"predictors\": [\"educ\", \"exper\"]}"
        }
        "data.n" => "100",
        "methods" => "{\"huber\": {\"baseline\": \"huber\"}}",
        "data.file" => "\"wages.csv\"",
        "data.response" => "\"log_wage\"",
        "data.predictors" => "[\"educ\", \"exper\"]",
        "data.formula" => "\"log(wage) ~ educ + exper\"",
        "data.left" => "\"survey.csv\"",
        "data.right" => "\"register.csv\"",
        "data.links" => "\"person\"",
        "data.links.left" => "\"register_id\"",
        "data.links.right" => "\"id\"",
        "data.links.pairs" => "\"predictions.csv\"",
        "model.family.name" => "\"gaussian\"",
        "model.family.tau" => "0.5",
        "model.family.nu" => "4",
        "permutation.prior.name" => "\"beta_binomial\"",
        "permutation.prior.audit.checked" => "100",
        "permutation.prior.audit.wrong" => "7",
        "permutation.prior.audit.weight" => "0.5",
        "permutation.prior.no_error" => "0.5",
        "permutation.prior.max_moved" => "10",
        "permutation.prior.theta" => "3",
        "permutation.update.name" => "\"active_set\"",
        _ => "...",
    };
    format!("\"{key}\": {value}")
}
