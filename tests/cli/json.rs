//! `--json`: the stream of events that the Python package and other programs drive this one by.

use crate::common::Project;
use serde_json::{Value, json};

/// The events of a command that ends with `code`; nothing else is written anywhere.
fn events(project: &Project, args: &[&str], code: i32) -> Vec<Value> {
    let (stdout, stderr) = project.run(&[args, &["--json"]].concat(), code);
    assert_eq!(stderr, "");
    let lines = stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    let is_kind = |event: &&Value| event["event"] == kind;
    events.iter().filter(is_kind).collect()
}

#[test]
fn a_fit_tells_its_progress_its_problems_and_its_folder() {
    let project = Project::new(&[
        ("permutation.update", json!({"name": "active_set"})),
        ("sampler.draws", json!(50)),
    ]);
    project.run(&["compile", "linear"], 0);
    let events = events(&project, &["fit", "config.json"], 0);
    let progress = of_kind(&events, "progress");
    let last = progress.last().unwrap();
    assert_eq!((&last["done"], &last["total"]), (&json!(350), &json!(350)));
    assert!(progress.iter().any(|event| event["phase"] == "warmup"));
    let warnings = of_kind(&events, "warning");
    let is_of_ess = |event: &&&Value| event["message"].as_str().unwrap().starts_with("Bulk ESS");
    let warning = warnings.iter().find(is_of_ess).unwrap();
    let message = warning["message"].as_str().unwrap();
    assert!(!message.contains("beta."), "the user's names: {message}");
    let result = events.last().unwrap();
    assert_eq!(result["event"], "result");
    assert_eq!(result["folder"], json!(project.path("out")));
    assert!(result["text"].as_str().unwrap().contains("Report: "));

    let summary = self::events(&project, &["summary", "out"], 0);
    assert_eq!(summary.len(), 1);
    let findings = summary[0]["verdict"]["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    let picture = summary[0]["picture"].as_str().unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("<style"));
}

#[test]
fn an_error_is_the_sentence_of_the_command_line_and_its_code() {
    let project = Project::new(&[("data.response", json!("z"))]);
    let (_, stderr) = project.run(&["fit", "config.json"], 2);
    let told = events(&project, &["fit", "config.json"], 2);
    let sentence = stderr.trim_end().strip_prefix("error: ").unwrap();
    let expected = json!({"event": "error", "code": 2, "message": sentence});
    assert_eq!(told, [expected]);

    let told = events(&project, &["fit", "config.json", "--no-such-option"], 2);
    assert_eq!(told.len(), 1);
    let message = told[0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("unexpected argument '--no-such-option'"),
        "{message}"
    );
}

#[test]
fn an_unfinished_fit_is_an_error_under_strict() {
    let project = Project::new(&[("sampler.draws", json!(12))]);
    let told = events(&project, &["fit", "config.json", "--strict", "--quiet"], 1);
    let last = told.last().unwrap();
    assert_eq!(
        (&last["event"], &last["code"]),
        (&json!("error"), &json!(1))
    );
    assert!(of_kind(&told, "progress").is_empty(), "--quiet");
}
