//! Tests of the parts of a study that need no Stan: configs, seeds, metrics, tables.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::answers::{Answer, TrustCheck, TrustRecord};
use super::metrics::{Interval, Metrics, TrueMeans, epsilon2, radius};
use super::task::Outcome;
use super::*;
use crate::study::simulate::{Design, simulate};

fn write_config(folder: &Path, changes: &[(&str, Value)]) -> PathBuf {
    let mut config = json!({
        "repeats": 3,
        "data": {"design": "general", "n": [40, 60], "predictors": 2, "mislinked": 0.2},
        "methods": {
            "naive": {"baseline": "least_squares"},
            "oracle": {"baseline": "least_squares", "links": "true"}
        },
        "output": "out"
    });
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        config.pointer_mut(parent).unwrap()[name] = value.clone();
    }
    let path = folder.join("study.json");
    fs::write(&path, config.to_string()).unwrap();
    path
}

fn load(changes: &[(&str, Value)]) -> (TempDir, Result<Study, StudyError>) {
    let folder = tempfile::tempdir().unwrap();
    let study = Study::load(&write_config(folder.path(), changes), &[]);
    (folder, study)
}

struct Deaf;

impl StudyObserver for Deaf {
    fn ended(&self, _: &Task, _: &Ended) {}
}

fn run_some(study: &Study, chosen: &[&Task]) -> RunCounts {
    let programs = Programs::compile(study, [], &|| panic!("baselines need no compiler")).unwrap();
    run(study, chosen, &programs, 2, &AtomicBool::new(false), &Deaf).unwrap()
}

fn tables(study: &Study) -> Vec<String> {
    let collected = Collected::read(&tasks(study).unwrap()).unwrap();
    collected.write(study).unwrap();
    let names = ["results.csv", "cells.csv", "coefficients.csv", "plan.csv"];
    let read = |name| fs::read_to_string(study.output.join(name)).unwrap();
    names.map(read).to_vec()
}

#[test]
fn cells_are_the_product_of_the_axes_and_the_methods() {
    let (_folder, study) = load(&[
        ("/data/mislinked", json!([0.1, 0.2])),
        (
            "/methods/ours",
            json!({"temperature": ["1/n", 0.5], "permutation": {"update": [{"name": "mode"}, {"name": "active_set"}]}}),
        ),
    ]);
    let study = study.unwrap();
    assert_eq!(study.cells.len(), 4 * (1 + 1 + 4));
    assert_eq!(
        study.axes,
        ["n", "mislinked", "temperature", "permutation.update"]
    );
    assert_eq!(study.cells[0].labels, ["40", "0.1", "NA", "NA"]);
    assert_eq!(study.cells[2].labels, ["40", "0.1", "1/n", "mode"]);
}

#[test]
fn a_default_fills_the_column_of_an_axis() {
    let (_folder, study) = load(&[
        ("/methods/ours", json!({})),
        ("/methods/tempered", json!({"temperature": [0.5]})),
    ]);
    let study = study.unwrap();
    let ours = study
        .cells
        .iter()
        .find(|cell| cell.method == "ours")
        .unwrap();
    assert_eq!(ours.labels, ["40", "1.0"]);
}

/// Without a probability of no error a cell keeps the seeds that it had before configs knew of one.
#[test]
fn a_prior_without_a_probability_of_no_error_keeps_its_seeds() {
    let prior = |no_error: f64| {
        let prior = json!({"name": "beta_binomial", "a": 1, "b": 1, "no_error": no_error});
        let method = json!({"permutation": {"prior": prior}});
        let (_folder, study) = load(&[("/methods/ours", method)]);
        study.unwrap().cells[2].identity.clone()
    };
    let (without, with) = (prior(0.0), prior(0.5));
    assert!(without.contains(r#""prior":{"name":"beta_binomial","a":1.0,"b":1.0}"#));
    assert!(with.contains(r#""b":1.0,"no_error":0.5}"#), "{with}");
}

#[test]
fn mistakes_name_the_file_the_key_and_the_fix() {
    for (changes, expected) in [
        (
            ("/repeats", json!(0)),
            "`repeats` is 0; it must be 1 or more",
        ),
        (("/data/n", json!([])), "`data` is {"),
        (
            ("/data/x_scal", json!(2)),
            "unknown key `data.x_scal`; did you mean `x_scale`?",
        ),
        (
            ("/data/sigma", json!(-1)),
            "data.sigma is -1; it must be 0 or more",
        ),
        (
            ("/data/n", json!([40, 2])),
            "data.n is 2, which is too small",
        ),
        (("/data/tau", json!(0.5)), "data.tau needs data.errors ald"),
        (
            ("/methods", json!({})),
            "`methods` is {}; name at least one",
        ),
        (
            ("/methods/naive/baseline", json!("hubert")),
            "`methods.naive.baseline` is \"hubert\"; did you mean `huber`?",
        ),
        (
            ("/methods/naive/temperature", json!(0.5)),
            "`methods.naive.temperature` is given; this baseline has none; remove it",
        ),
        (
            ("/methods/naive/rate", json!(0.1)),
            "`methods.naive.rate` is given; this baseline has none; remove it",
        ),
        (
            ("/methods/known", json!({"baseline": "known_rate"})),
            "`methods.known.rate` is missing; this baseline is told either `rate` or `audit`",
        ),
        (
            (
                "/methods/known",
                json!({"baseline": "known_rate", "rate": 0.1, "audit": {"checked": 9}}),
            ),
            "`methods.known.rate` is given beside `audit`",
        ),
        (
            (
                "/methods/known",
                json!({"baseline": "known_rate", "rate": 1.5}),
            ),
            "`methods.known.rate` is 1.5; it must be between 0 and 1",
        ),
        (
            (
                "/methods/known",
                json!({"baseline": "known_rate", "audit": {"checked": 9, "wrong": 10}}),
            ),
            "`methods.known.audit.wrong` is 10; it must be at most `checked`, which is 9",
        ),
        (
            ("/methods/ours", json!({"audit": {"checked": 9}})),
            "`methods.ours.audit` is given; a fit has it in permutation.prior; remove it",
        ),
        (
            ("/methods/ours", json!({"temperature": [0.5, 2]})),
            "`methods.ours.temperature` is 2",
        ),
        (
            (
                "/methods/ours",
                json!({"permutation": {"prior": {"name": "unifrom"}}}),
            ),
            "did you mean `uniform`?",
        ),
        (
            ("/sampler", json!({"seed": 3})),
            "`sampler.seed` is given; every fit has a seed of its own",
        ),
        (
            ("/sampler", json!({"chians": 3})),
            "unknown key `sampler.chians`; did you mean `chains`?",
        ),
    ] {
        let (_folder, study) = load(&[changes]);
        let sentence = study.unwrap_err().to_string();
        assert!(sentence.contains(expected), "{sentence}\nlacks {expected}");
        assert!(sentence.contains("study.json"), "{sentence}");
    }
}

#[test]
fn seeds_and_folders_do_not_depend_on_the_rest_of_the_grid() {
    let (_a, small) = load(&[]);
    let (_b, large) = load(&[
        ("/data/n", json!([20, 40, 60])),
        (
            "/methods",
            json!({"huber": {"baseline": "huber"}, "renamed": {"baseline": "least_squares"}}),
        ),
        ("/repeats", json!(5)),
    ]);
    let (small, large) = (small.unwrap(), large.unwrap());
    let key = |study: &Study, task: &Task| {
        let folder = task.folder.file_name().unwrap().to_owned();
        (
            study.cells[task.cell].labels.clone(),
            task.repeat,
            task.fit_seed,
            task.data_seed,
            folder,
        )
    };
    let of = |study: &Study, method: &str| -> Vec<_> {
        let tasks = tasks(study).unwrap();
        let own = tasks
            .iter()
            .filter(|task| study.cells[task.cell].method == method);
        own.map(|task| key(study, task)).collect()
    };
    let renamed = of(&large, "renamed");
    for task in of(&small, "naive") {
        assert!(renamed.contains(&task), "{task:?}");
    }
}

#[test]
fn methods_share_data_and_nothing_else() {
    let (_folder, study) = load(&[]);
    let study = study.unwrap();
    let tasks = tasks(&study).unwrap();
    let seeds = |of: fn(&Task) -> u64| {
        let mut seeds: Vec<u64> = tasks.iter().map(of).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds.len()
    };
    assert_eq!(tasks.len(), 12);
    assert_eq!(seeds(|task| task.fit_seed), 12);
    assert_eq!(seeds(|task| task.data_seed), 6);
    // Another seed of the study changes all of them.
    let (_other, other) = load(&[("/seed", json!(2))]);
    let other = super::tasks(&other.unwrap()).unwrap();
    assert!(
        tasks
            .iter()
            .zip(&other)
            .all(|(a, b)| a.fit_seed != b.fit_seed && a.folder != b.folder)
    );
}

#[test]
fn any_order_gives_the_same_tables() {
    let (_a, forwards) = load(&[]);
    let (_b, backwards) = load(&[]);
    let (forwards, backwards) = (forwards.unwrap(), backwards.unwrap());
    for (study, reversed) in [(&forwards, false), (&backwards, true)] {
        let tasks = tasks(study).unwrap();
        write_plan(study, &tasks).unwrap();
        let mut order: Vec<&Task> = tasks.iter().collect();
        if reversed {
            order.reverse();
        }
        for batch in order.chunks(if reversed { 5 } else { 12 }) {
            run_some(study, batch);
        }
    }
    assert_eq!(tables(&forwards), tables(&backwards));
    let (_c, other) = load(&[("/seed", json!(2))]);
    let other = other.unwrap();
    let all = tasks(&other).unwrap();
    write_plan(&other, &all).unwrap();
    run_some(&other, &all.iter().collect::<Vec<_>>());
    assert_ne!(tables(&forwards)[0], tables(&other)[0]);
}

#[test]
fn what_is_done_is_left_alone_and_what_is_missing_is_listed() {
    let (_folder, study) = load(&[]);
    let study = study.unwrap();
    let tasks = tasks(&study).unwrap();
    let counts = run_some(&study, &[&tasks[0], &tasks[5]]);
    assert_eq!((counts.done, counts.skipped), (2, 0));
    let counts = run_some(&study, &[&tasks[0], &tasks[1]]);
    assert_eq!((counts.done, counts.skipped), (1, 1));
    let collected = Collected::read(&tasks).unwrap();
    let missing: Vec<usize> = collected.missing.iter().map(|task| task.number).collect();
    assert_eq!(missing, [3, 4, 5, 7, 8, 9, 10, 11, 12]);
    assert_eq!(study.describe(&tasks[5]), "task 6 (oracle, n 40, repeat 2)");
    // A folder without done.json is what a killed task of an older version may leave: it is run again.
    fs::remove_file(tasks[0].folder.join("done.json")).unwrap();
    fs::remove_dir(&tasks[0].folder).unwrap();
    assert_eq!(run_some(&study, &[&tasks[0]]).done, 1);
}

#[test]
fn a_changed_plan_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let study = Study::load(&write_config(folder.path(), &[]), &[]).unwrap();
    let all = tasks(&study).unwrap();
    let sentence = check_plan(&study, &all).unwrap_err().to_string();
    assert!(sentence.contains("run `unshuffle study plan"), "{sentence}");
    write_plan(&study, &all).unwrap();
    check_plan(&study, &all).unwrap();
    let changed =
        Study::load(&write_config(folder.path(), &[("/repeats", json!(4))]), &[]).unwrap();
    let sentence = check_plan(&changed, &tasks(&changed).unwrap())
        .unwrap_err()
        .to_string();
    assert!(sentence.contains("has changed since"), "{sentence}");
}

fn interval(estimate: f64, low: f64, high: f64) -> Interval {
    Interval {
        estimate,
        low,
        high,
    }
}

#[test]
fn coefficients_are_measured_as_by_hand() {
    let mut metrics = Metrics::default();
    metrics.of_coefficients(
        &[interval(1.5, 1.0, 2.0), interval(2.0, 2.5, 4.0)],
        &[1.0, 4.0],
    );
    assert_eq!(metrics.beta_error, Some(1.25));
    assert_eq!(
        metrics.relative_l2,
        Some((0.25f64 + 4.0).sqrt() / 17f64.sqrt())
    );
    assert_eq!(metrics.coverage, Some(1.0));
    assert_eq!(metrics.width, Some(1.25));
    metrics.of_coefficients(
        &[interval(1.5, 1.1, 2.0), interval(2.0, 2.5, 4.0)],
        &[1.0, 4.0],
    );
    assert_eq!(metrics.coverage, Some(0.5));
}

#[test]
fn found_rows_are_counted_as_by_hand() {
    let truth = simulate(&Design::paper(30), 1).unwrap().truth;
    let mut p_moved = vec![0.0; 30];
    let mut metrics = Metrics::default();
    metrics.of_moved_rows(&p_moved, &truth);
    assert_eq!((metrics.precision, metrics.recall), (None, Some(0.0)));
    // Three of the six moved rows, one wrong alarm, and one row that is not beyond the limit.
    for row in [0, 1, 2, 20] {
        p_moved[row] = 0.6;
    }
    p_moved[3] = 0.5;
    metrics.of_moved_rows(&p_moved, &truth);
    assert_eq!((metrics.precision, metrics.recall), (Some(0.75), Some(0.5)));
}

#[test]
fn the_distance_of_a_draw_is_that_of_the_matrices() {
    let simulated = simulate(&Design::paper(30), 1).unwrap();
    let truth = &simulated.truth;
    let means = TrueMeans::new(simulated.x.view(), truth);
    let moved = || truth.pi.iter().copied().enumerate().filter(|(i, j)| i != j);
    assert!(means.distance2(&truth.beta, moved()) < 1e-18);
    let beta: Vec<f64> = (0..20).map(|k| 1.0 + 0.01 * f64::from(k)).collect();
    let by_hand: f64 = (0..30)
        .map(|i| {
            let at = |row: usize, beta: &[f64]| simulated.x.row(row).dot(&ndarray::arr1(beta));
            (at(truth.pi[i], &truth.beta) - at(i, &beta)).powi(2)
        })
        .sum();
    assert!((means.distance2(&beta, std::iter::empty()) - by_hand).abs() < 1e-9 * by_hand);
}

#[test]
fn the_radius_is_the_theorems() {
    // n = 100, k = 10, alpha = 0.5: eps^2 = 4 (2/100 + (ln 10 + 10 ln 100) / 100), radius = 10 eps^2.
    let expected = 4.0 * (0.02 + (10f64.ln() + 10.0 * 100f64.ln()) / 100.0);
    assert!((epsilon2(100, 10, 0.5) - expected).abs() < 1e-12);
    assert!((radius(100, 10, 0.5).unwrap() - 10.0 * expected).abs() < 1e-12);
    assert_eq!(radius(100, 10, 1.0), None);
}

#[test]
fn the_oracle_sees_the_rows_as_they_belong() {
    let (_folder, study) = load(&[("/data/sigma", json!(0.0))]);
    let study = study.unwrap();
    let tasks = tasks(&study).unwrap();
    run_some(&study, &tasks.iter().collect::<Vec<_>>());
    let collected = Collected::read(&tasks).unwrap();
    for (task, outcome) in &collected.done {
        let error = outcome.metrics.beta_error.unwrap();
        let exact = study.cells[task.cell].method == "oracle";
        assert_eq!(error < 1e-12, exact, "{}: {error}", study.describe(task));
    }
}

/// Told the true rate, or an audit of it, the slopes' errors shrink; the audit is drawn anew in each repeat, and is the
/// same for every method.
#[test]
fn a_known_rate_is_told_or_audited() {
    let known = |known: Value| {
        let mut method = json!({"baseline": "known_rate"});
        method
            .as_object_mut()
            .unwrap()
            .extend(known.as_object().unwrap().clone());
        method
    };
    let (_folder, study) = load(&[
        ("/repeats", json!(20)),
        (
            "/data",
            json!({"design": "general", "n": 300, "predictors": 2, "r2": 0.8, "mislinked": 0.3, "kind": "blocks", "blocks": 3}),
        ),
        ("/methods/told", known(json!({"rate": [0.3, 0.0]}))),
        ("/methods/audited", known(json!({"audit": {"checked": 50}}))),
        (
            "/methods/again",
            known(json!({"audit": {"checked": 50}, "links": "as_linked"})),
        ),
        (
            "/methods/fixed",
            known(json!({"audit": {"checked": 50, "wrong": 15}})),
        ),
    ]);
    let study = study.unwrap();
    let all = tasks(&study).unwrap();
    write_plan(&study, &all).unwrap();
    let counts = run_some(&study, &all.iter().collect::<Vec<_>>());
    assert_eq!((counts.done, counts.failed), (all.len(), 0));
    let results = tables(&study)[0].clone();
    let mut reader = csv::Reader::from_reader(results.as_bytes());
    let header = reader.headers().unwrap().clone();
    let place = |name: &str| header.iter().position(|known| known == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let of = |method: &str, rate: &str, column: &str| -> Vec<f64> {
        let own = |row: &&csv::StringRecord| {
            &row[place("method")] == method && (rate.is_empty() || &row[place("rate")] == rate)
        };
        let values = rows.iter().filter(own);
        values
            .map(|row| row[place(column)].parse().unwrap())
            .collect()
    };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let error = |method: &str, rate: &str| mean(of(method, rate, "beta_error"));
    let (told, naive) = (error("told", "0.3"), error("naive", ""));
    assert!(told < 0.5 * naive, "{told} {naive}");
    assert!((error("told", "0.0") - naive).abs() < 1e-9);
    assert!(error("audited", "") < 0.7 * naive);
    let rates = of("audited", "", "mismatch_rate");
    assert_eq!(rates, of("again", "", "mismatch_rate"));
    assert!(rates.iter().any(|rate| *rate != rates[0]));
    // Beta(1 + wrong, 1 + right) of 20 audits: within four standard errors of 31 % of 52.
    assert!((mean(rates) - 16.0 / 52.0).abs() < 4.0 * (0.21f64 / 50.0 / 20.0).sqrt());
    let fixed = of("fixed", "", "mismatch_rate");
    assert!(fixed.iter().all(|rate| (rate - 16.0 / 52.0).abs() < 0.01));
    assert!(mean(of("fixed", "", "coverage")) > 0.7);
}

/// A fit that was asked for two answers leaves one outcome and two lines in the results.
#[test]
fn every_answer_has_a_line_of_its_own() {
    let (_folder, study) = load(&[
        ("/data/n", json!(40)),
        ("/repeats", json!(2)),
        (
            "/methods",
            json!({"ours": {"answers": ["joint", "recommended"]}, "naive": {"baseline": "least_squares"}}),
        ),
    ]);
    let study = study.unwrap();
    let tasks = tasks(&study).unwrap();
    assert_eq!(tasks.len(), 4);
    let error = |beta_error: f64| Metrics {
        beta_error: Some(beta_error),
        ..Metrics::default()
    };
    for task in &tasks {
        fs::create_dir_all(&task.folder).unwrap();
        let is_fit = study.cells[task.cell].method == "ours";
        let outcome = Outcome {
            metrics: error(if is_fit { 1.0 } else { 5.0 }),
            further: match is_fit {
                true => vec![(Answer::Recommended, error(task.repeat as f64 / 4.0))],
                false => Vec::new(),
            },
            trust: is_fit.then(|| TrustRecord {
                source: Some("as_linked".into()),
                weight: Some(0.25),
                checks: vec![TrustCheck {
                    name: "spread".into(),
                    p_value: Some(0.5),
                    passed: Some(true),
                }],
            }),
            ..Outcome::default()
        };
        let text = serde_json::to_string(&outcome).unwrap();
        fs::write(task.folder.join("done.json"), text).unwrap();
    }
    let collected = Collected::read(&tasks).unwrap();
    collected.write(&study).unwrap();
    let read = |name: &str| fs::read_to_string(study.output.join(name)).unwrap();
    let start = |text: &str, fields: usize| -> Vec<String> {
        let lines = text.lines().skip(1);
        let start = |line: &str| line.split(',').take(fields).collect::<Vec<_>>().join(",");
        lines.map(start).collect()
    };
    assert_eq!(
        start(&read("results.csv"), 5),
        [
            "1,1,ours:joint,1,1",
            "1,1,ours:recommended,1,0.25",
            "2,2,naive,1,5",
            "3,1,ours:joint,2,1",
            "3,1,ours:recommended,2,0.5",
            "4,2,naive,2,5",
        ]
    );
    assert_eq!(
        start(&read("cells.csv"), 5),
        [
            "1,ours:joint,beta_error,2,1",
            "1,ours:recommended,beta_error,2,0.375",
            "2,naive,beta_error,2,5",
        ]
    );
    assert_eq!(read("timing.csv").lines().count(), 5);
    assert_eq!(
        read("checks.csv").lines().nth(1),
        Some("1,ours,1,as_linked,0.25,spread,0.5,true")
    );
    let table = study_table(&study, &collected);
    assert!(table.contains("ours:recommended"), "{table}");
    // One answer alone keeps the method's name, and other answers do not change the seeds.
    let (_other, single) = load(&[
        ("/data/n", json!(40)),
        ("/methods", json!({"ours": {"answers": ["joint"]}})),
    ]);
    let single = single.unwrap();
    assert_eq!(single.cells[0].label(Answer::Joint), "ours");
    let task = &super::tasks(&single).unwrap()[0];
    assert_eq!(task.fit_seed, tasks[0].fit_seed);
    assert_ne!(task.folder, tasks[0].folder);
}

#[test]
fn the_command_that_is_recorded_has_every_override() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_config(folder.path(), &[]);
    let overrides = ["repeats=1".to_string(), "data.n=40".to_string()];
    let study = Study::load(&path, &overrides).unwrap();
    let tasks = tasks(&study).unwrap();
    run_some(&study, &tasks.iter().collect::<Vec<_>>());
    Collected::read(&tasks).unwrap().write(&study).unwrap();
    let about = fs::read_to_string(study.output.join("study.json")).unwrap();
    let about: Value = serde_json::from_str(&about).unwrap();
    let expected = format!(
        "unshuffle study {} --set 'repeats=1' --set 'data.n=40'",
        path.display()
    );
    assert_eq!(about["command"], json!(expected));
}
