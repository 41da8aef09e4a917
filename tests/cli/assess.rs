//! `unshuffle assess` as a person runs it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::str::contains;
use serde_json::Value;

fn unshuffle(arguments: &str, folder: &Path) -> assert_cmd::assert::Assert {
    Command::cargo_bin("unshuffle")
        .unwrap()
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .assert()
}

/// 100 rows with their own links, whose predictors explain this share of the variance.
fn simulated(r2: f64) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let arguments = format!(
        "simulate --design general --n 100 --predictors 2 --r2 {r2} --mislinked 0 --seed 7 --output ."
    );
    unshuffle(&arguments, folder.path()).success();
    folder
}

fn assessed(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("assess.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_file_with_a_strong_signal_is_to_be_used() {
    let folder = simulated(0.95);
    unshuffle("assess config.json", folder.path())
        .success()
        .stdout(contains(
            "rows       100, of which 100 can be linked elsewhere",
        ))
        .stdout(contains("20 % (20 rows)"))
        .stdout(contains("Use it: the checks hold on the file as given"))
        .stderr(contains("Fitting with 10 % planted wrong links"))
        .stderr(contains("Chain 2 Iteration"));
    let name = assessed_name(folder.path());
    let output = folder.path().join("out").join(format!("assess_{name}"));
    let found = assessed(&output);
    assert_eq!(found["advice"]["decision"], "use");
    let shares = found["trials"].as_array().unwrap().iter();
    let shares: Vec<u64> = shares.map(|t| t["num_planted"].as_u64().unwrap()).collect();
    assert_eq!(shares, [0, 5, 10, 20]);
    let last = &found["trials"][3]["errors"];
    for method in ["as_linked", "huber", "joint", "recommended"] {
        assert!(last[method].is_number(), "{method}");
    }
    assert_eq!(found["trials"][0]["errors"]["as_linked"], 0.0);
    let mut files: Vec<String> = fs::read_dir(&output)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["assess.json", "assess.svg"]);
}

fn assessed_name(folder: &Path) -> String {
    let config = folder.join("config.json");
    let config = unshuffle::internals::config::load(&config, &[]);
    config.unwrap().name
}

#[test]
fn a_file_of_noise_is_not() {
    let folder = simulated(0.001);
    // Compiling, or waiting for another test that compiles, is said even with --quiet.
    unshuffle("compile linear", folder.path()).success();
    let run = |output: &str, threads: usize| {
        let arguments = format!("assess config.json --quiet --threads {threads} --output {output}");
        unshuffle(&arguments, folder.path())
            .success()
            .stderr("")
            .stdout(contains("Use it: ").count(0));
        assessed(&folder.path().join(output))
    };
    let found = run("one", 1);
    assert_ne!(found["advice"]["decision"], "use");
    let again = run("two", 2);
    assert_eq!(found["trials"], again["trials"], "whatever the threads");
}

#[test]
fn what_cannot_be_assessed_is_said_in_one_sentence() {
    let folder = simulated(0.5);
    unshuffle(
        r#"assess config.json --set permutation={"update":{"name":"none"}}"#,
        folder.path(),
    )
    .code(2)
    .stderr("error: `permutation.update` is \"none\", so every link stays and there is nothing to assess; remove it\n");
    assert!(!folder.path().join("out").exists());
    let file = folder.path().join("mine/assess.svg");
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(&file, "mine").unwrap();
    let assert = unshuffle("assess config.json --output mine", folder.path()).code(2);
    let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(
        stderr.contains("assess.svg was not written by an earlier run"),
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
    // Said before minutes of fits, not after them.
    for (output, says) in [
        (
            "data.csv",
            "cannot write to data.csv: a file stands where a folder is needed; choose another folder\n",
        ),
        ("/proc/nothing", "error: cannot write to /proc/nothing: "),
    ] {
        let arguments = format!("assess config.json --output {output}");
        let assert = unshuffle(&arguments, folder.path()).code(2);
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(stderr.contains(says), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

/// Planted links know nothing of the covariates of rates.
#[test]
fn rates_by_covariates_are_left_out() {
    let folder = simulated(0.9);
    let few = "--set sampler.warmup=100 --set sampler.draws=50 --quiet --output here";
    let assert = unshuffle(
        &format!("assess config.json --set permutation.rate_formula=~x1 {few}"),
        folder.path(),
    )
    .success();
    let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(stderr.contains("rates by covariates"), "{stderr}");
    // Its own files are replaced.
    unshuffle(&format!("assess config.json {few}"), folder.path()).success();
}
