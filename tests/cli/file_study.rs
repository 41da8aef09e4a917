//! `unshuffle study` on users' files: a reduced form of `make real`, on the files that come with the repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

fn text(output: &Output) -> String {
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    words(&output.stdout) + &words(&output.stderr)
}

fn config(sampler: Value) -> Value {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/data");
    json!({
        "repeats": 2,
        "data": {
            "design": "file",
            "files": {
                "engel": {"file": data.join("engel.csv"), "response": "log_food", "predictors": ["log_income"]},
                "cps": {
                    "file": data.join("cps1985.csv"),
                    "formula": "log(wage) ~ education + experience + I(experience^2) + gender + union"
                }
            },
            "mislinked": [0, 0.2]
        },
        "sampler": sampler,
        "methods": {
            "ours": {},
            "mixture": {"baseline": "mixture"},
            "huber": {"baseline": "huber"},
            "least_squares": {"baseline": "least_squares"},
            "oracle": {"baseline": "least_squares", "links": "true"}
        },
        "output": "out"
    })
}

fn write(config: &Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("study.json"), config.to_string()).unwrap();
    folder
}

fn study(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_unshuffle"))
        .arg("study")
        .args(arguments)
        .arg(folder.join("study.json"))
        .env_remove("SLURM_ARRAY_TASK_ID")
        .output()
        .unwrap()
}

/// (method, file, rate, repeat) and the numbers of that line by name.
type Results = BTreeMap<(String, String, String, String), BTreeMap<String, f64>>;

fn results(folder: &Path) -> Results {
    let mut reader = csv::Reader::from_path(folder.join("out/results.csv")).unwrap();
    let names = reader.headers().unwrap().clone();
    let lines = reader.records().map(|record| {
        let record = record.unwrap();
        let fields = names.iter().zip(record.iter());
        let fields: BTreeMap<String, String> = fields
            .map(|(name, field)| (name.to_string(), field.to_string()))
            .collect();
        let of = |name: &str| fields[name].clone();
        let numbers = fields.iter();
        let numbers = numbers.filter_map(|(name, f)| Some((name.clone(), f.parse().ok()?)));
        (
            (of("method"), of("file"), of("mislinked"), of("repeat")),
            numbers.collect(),
        )
    });
    lines.collect()
}

#[test]
fn on_real_files_every_method_is_compared_with_the_unharmed_fit() {
    let sampler = json!({"chains": 2, "warmup": 200, "draws": 200});
    let folder = write(&config(sampler.clone()));
    // The first half of the tasks, as a job array would do them; the second half goes on from there.
    let planned = study(folder.path(), &["plan"]);
    assert!(text(&planned).contains("= 40 tasks"), "{}", text(&planned));
    let half = study(folder.path(), &["run", "--task", "1", "--batch", "20"]);
    assert!(text(&half).contains("20 done"), "{}", text(&half));
    let all = study(folder.path(), &[]);
    assert!(all.status.success(), "{}", text(&all));
    assert!(text(&all).contains("40 tasks done, 0 missing, 0 failed"));
    assert!(text(&all).contains("error/se"), "{}", text(&all));
    let found = results(folder.path());
    assert_eq!(found.len(), 40);
    for ((method, file, rate, repeat), numbers) in &found {
        let place = format!("{method}, {file}, {rate}, repeat {repeat}");
        let error = numbers["beta_error"];
        let exact = method == "oracle" || (method == "least_squares" && rate == "0");
        assert_eq!(error < 1e-9, exact, "{place}: {error}");
        if exact {
            assert_eq!(numbers["coverage"], 1.0, "{place}");
            // Least squares is exact without wrong links: its own interval is 2 x 1.645 standard errors wide.
            assert!((numbers["width"] - 3.29).abs() < 0.01, "{place}");
        }
        if method == "ours" {
            assert!(
                numbers["r_hat"] < 1.5 && numbers["mismatch_rate"] < 0.9,
                "{place}"
            );
        }
    }
    // Wrong links do harm to least squares, and different ones in each repeat.
    let of = |method: &str, file: &str, repeat: &str| {
        let key = [method, file, "0.2", repeat].map(str::to_string);
        let [method, file, rate, repeat] = key;
        found[&(method, file, rate, repeat)]["beta_error"]
    };
    assert!(of("least_squares", "engel", "1") > 2.0);
    assert_ne!(
        of("least_squares", "engel", "1"),
        of("least_squares", "engel", "2")
    );
    // Engel's data follow the model well: wrong links are found, and the slope is nearer to the unharmed one.
    assert!(of("ours", "engel", "1") < of("least_squares", "engel", "1"));

    // The same config elsewhere, done in one go, gives the same tables; what is done is not done again.
    let again = write(&config(sampler));
    let output = study(again.path(), &["--jobs", "1"]);
    assert!(output.status.success(), "{}", text(&output));
    for table in ["plan.csv", "results.csv", "cells.csv"] {
        let read = |folder: &TempDir| fs::read_to_string(folder.path().join("out").join(table));
        assert_eq!(read(&folder).unwrap(), read(&again).unwrap(), "{table}");
    }
    let skipped = study(again.path(), &["run", "--task", "1", "--batch", "40"]);
    assert!(text(&skipped).contains("0 done, 40 were done before"));
}

#[test]
fn an_answer_that_a_fit_does_not_leave_fails_its_task_in_one_sentence() {
    let mut config = config(json!({"chains": 1, "warmup": 50, "draws": 50}));
    config["data"] = json!({
        "design": "file", "file": config["data"]["files"]["engel"]["file"], "response": "log_food",
        "predictors": ["log_income"], "mislinked": 0.1, "safe": 0.2, "audit": {"checked": 100}
    });
    config["repeats"] = json!(1);
    // The estimator that takes the rate as known is there for means, not for quantiles.
    let answers = json!(["joint", "known_rate"]);
    config["methods"] = json!({"median": {"model": {"stan": "quantile"}, "answers": answers}});
    let folder = write(&config);
    let output = study(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    let printed = text(&output);
    assert!(
        printed.contains("coefficients.csv") && printed.contains("`known_rate`"),
        "{printed}"
    );
}
