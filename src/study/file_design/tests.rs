//! Studies on a user's file: which cells they have, what is planted, what estimates are compared with.

use std::fs;

use tempfile::TempDir;

use super::super::config::{Cell, CellData, Estimator, Study};
use super::super::known_rate::measure_known_rate;
use super::super::metrics::{Interval, Metrics};
use super::super::plan::tasks;
use super::super::task::TaskData;
use super::*;
use crate::config::Prior;
use crate::study::simulate::{DesignName, Settings, simulate};

/// A folder with two files: `wages.csv` (80 rows, y, x1, x2, part, known) and `counts.csv` (60 rows, count, x1).
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let simulated = |num_rows: usize, predictors: usize| {
        let settings = Settings {
            predictors: Some(predictors),
            intercept: Some(1.0),
            mislinked: Some(0.0),
            ..Settings::new(DesignName::General, num_rows)
        };
        simulate(&settings.design().unwrap(), 3).unwrap()
    };
    let rows = simulated(80, 2);
    let mut text = String::from("y,x1,x2,part,known\n");
    for (row, y) in rows.y.iter().enumerate() {
        let (x1, x2) = (rows.x[(row, 0)], rows.x[(row, 1)]);
        text += &format!("{y},{x1},{x2},p{},{}\n", row % 4, u8::from(row % 5 == 0));
    }
    fs::write(folder.path().join("wages.csv"), text).unwrap();
    let rows = simulated(60, 1);
    let mut text = String::from("count,x1\n");
    for (row, y) in rows.y.iter().enumerate() {
        text += &format!("{},{}\n", y.exp().round(), rows.x[(row, 0)]);
    }
    fs::write(folder.path().join("counts.csv"), text).unwrap();
    folder
}

fn wages() -> Value {
    json!({"design": "file", "file": "wages.csv", "response": "y", "predictors": ["x1", "x2"]})
}

fn load(folder: &TempDir, data: Value, methods: Value) -> Result<Study, StudyError> {
    let path = folder.path().join("study.json");
    let config = json!({"repeats": 2, "data": data, "methods": methods, "output": "out"});
    fs::write(&path, config.to_string()).unwrap();
    Study::load(&path, &[])
}

fn naive() -> Value {
    json!({"naive": {"baseline": "least_squares"}})
}

fn with(mut data: Value, key: &str, value: Value) -> Value {
    data[key] = value;
    data
}

fn design(cell: &Cell) -> &FileDesign {
    match &cell.data {
        CellData::File(file) => file,
        CellData::Simulated { .. } => panic!("a study on a file"),
    }
}

#[test]
fn files_are_an_axis_and_each_has_columns_of_its_own() {
    let folder = folder();
    let data = json!({
        "design": "file", "mislinked": [0, 0.2],
        "files": {
            "wages": {"file": "wages.csv", "response": "y", "predictors": ["x1", "x2"]},
            "counts": {"file": "counts.csv", "formula": "log(count + 1) ~ x1", "mislinked": 0.4}
        }
    });
    let study = load(&folder, data, naive()).unwrap();
    assert_eq!(study.axes, ["file", "mislinked"]);
    let labels: Vec<_> = study.cells.iter().map(|cell| &cell.labels).collect();
    assert_eq!(
        labels,
        [&["wages", "0"], &["wages", "0.2"], &["counts", "0.4"]]
    );
    assert_eq!(design(&study.cells[0]).unharmed.num_rows(), 80);
    assert_eq!(design(&study.cells[2]).unharmed.num_rows(), 60);
    let seeds: Vec<u64> = tasks(&study).unwrap().iter().map(|t| t.data_seed).collect();
    let mut distinct = seeds.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 6);
}

#[test]
fn a_list_of_paths_is_an_axis_too() {
    let folder = folder();
    fs::copy(folder.path().join("wages.csv"), folder.path().join("b.csv")).unwrap();
    let data = with(wages(), "file", json!(["wages.csv", "b.csv"]));
    let study = load(&folder, data, naive()).unwrap();
    assert_eq!(study.axes, ["file"]);
    assert_eq!(study.cells[1].labels, ["b.csv"]);
}

#[test]
fn an_edited_file_keeps_the_seeds_and_loses_the_results() {
    let folder = folder();
    let before = tasks(&load(&folder, wages(), naive()).unwrap()).unwrap();
    let path = folder.path().join("wages.csv");
    let text = fs::read_to_string(&path).unwrap() + "0.5,0.1,0.2,p0,0\n";
    fs::write(&path, text).unwrap();
    let after = tasks(&load(&folder, wages(), naive()).unwrap()).unwrap();
    assert_eq!(before[0].data_seed, after[0].data_seed);
    assert_ne!(before[0].folder, after[0].folder);
}

#[test]
fn slopes_are_compared_in_standard_errors_of_the_unharmed_fit() {
    let folder = folder();
    let study = load(&folder, with(wages(), "mislinked", json!(0.3)), naive()).unwrap();
    let cell = &study.cells[0];
    let task = TaskData::new(cell, 7).unwrap();
    let target = &design(cell).target;
    let unharmed = least_squares(
        design(cell).unharmed.x.view(),
        &design(cell).unharmed.response,
    );
    assert_eq!(target.beta, unharmed.beta);
    assert_eq!(target.slopes, [1, 2]);
    assert_eq!(task.truth.num_moved, 24);
    // The intercept is off by much and does not count; x1 is off by 2 standard errors and not covered, x2 is right.
    let at = |k: usize, error: f64, half: f64| {
        let unit = target.standard_error[k];
        let estimate = target.beta[k] + error * unit;
        Interval {
            estimate,
            low: estimate - half * unit,
            high: estimate + half * unit,
        }
    };
    let mut metrics = Metrics::default();
    task.compare(
        &mut metrics,
        &[at(0, 50.0, 1.0), at(1, 2.0, 1.0), at(2, 0.0, 3.0)],
    );
    let near = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9;
    assert!(near(metrics.beta_error, 1.0), "{metrics:?}");
    assert!(near(metrics.width, 4.0), "{metrics:?}");
    assert_eq!(metrics.coverage, Some(0.5));
    assert_eq!(metrics.relative_l2, None);
}

#[test]
fn the_target_is_the_fit_of_the_law_that_the_data_name() {
    let folder = folder();
    let counts = json!({"design": "file", "file": "counts.csv", "response": "count",
                        "predictors": ["x1"], "errors": "poisson"});
    let study = load(&folder, counts.clone(), json!({"ours": {}})).unwrap();
    let found = design(&study.cells[0]);
    let fit = generalised(
        ResponseKind::Count,
        found.unharmed.x.view(),
        &found.unharmed.response,
    );
    assert_eq!(found.target.beta, fit.unwrap().beta);
    let Estimator::Fit(config) = &study.cells[0].estimator else {
        panic!("a fit");
    };
    assert_eq!(config.model.response_kind(), ResponseKind::Count);
    assert!(config.data.files()[0].ends_with("counts.csv"));
    let median = with(with(counts, "errors", json!("ald")), "tau", json!(0.8));
    let study = load(&folder, median, naive()).unwrap();
    let quantile = Baseline::Quantile { tau: 0.8 };
    let found = design(&study.cells[0]);
    let fit = quantile.fit(found.unharmed.x.view(), &found.unharmed.response);
    assert_eq!(found.target.beta, fit.beta);
}

#[test]
fn checked_rows_audits_and_blocks_reach_the_method() {
    let folder = folder();
    let data = json!({"design": "file", "file": "wages.csv", "formula": "y ~ x1 + x2", "block": "part",
                      "mislinked": 0.4, "safe": 0.25, "audit": {"checked": 200}});
    let methods = json!({"ours": {}, "oracle": {"baseline": "least_squares", "links": "true"}});
    let study = load(&folder, data, methods).unwrap();
    let task = TaskData::new(&study.cells[0], 5).unwrap();
    let safe = task.data.safe.as_ref().unwrap();
    assert_eq!(safe.iter().filter(|safe| **safe).count(), 20);
    assert!((0..80).all(|row| task.truth.pi[row] % 4 == row % 4));
    assert!((0..80).all(|row| !safe[row] || task.truth.pi[row] == row));
    assert_eq!(task.data.blocks.as_ref().unwrap().labels.len(), 4);
    // Binomial(200, 0.4): within five standard deviations.
    let audit = task.audit.unwrap();
    assert!(
        audit.checked == 200 && audit.wrong.abs_diff(80) < 35,
        "{audit:?}"
    );
    // The oracle sees the same rows, rightly linked.
    let oracle = TaskData::new(&study.cells[1], 5).unwrap();
    assert_eq!(
        oracle.data.response,
        design(&study.cells[1]).unharmed.response
    );
    assert_eq!(oracle.truth.num_moved, 0);

    let column = with(
        with(wages(), "safe", json!("known")),
        "mislinked",
        json!(0.5),
    );
    let study = load(&folder, column, naive()).unwrap();
    let task = TaskData::new(&study.cells[0], 5).unwrap();
    assert!((0..80).step_by(5).all(|row| task.truth.pi[row] == row));
    assert_eq!(task.truth.num_moved, 40);
}

#[test]
fn mistakes_name_the_key_and_the_fix() {
    let folder = folder();
    let refused = |data: Value, methods: Value| {
        let error = load(&folder, data, methods).unwrap_err();
        error.to_string()
    };
    let ours = |method: Value| json!({"ours": method});
    for (data, methods, expected) in [
        (
            with(wages(), "misslinked", json!(0.1)),
            naive(),
            "unknown key `data.misslinked`; did you mean `mislinked`?",
        ),
        (
            with(wages(), "mislinked", json!(1.2)),
            naive(),
            "data.mislinked is 1.2; it is a fraction, from 0 to 1",
        ),
        (
            with(wages(), "safe", json!(1.2)),
            naive(),
            "data.safe is 1.2; it is a share of the rows, from 0 to 1",
        ),
        (
            with(wages(), "safe", json!({"share": 0.1})),
            naive(),
            "`data.safe` is {\"share\":0.1}; write the share of rows to check, such as 0.2,",
        ),
        (
            with(wages(), "audit", json!({"checked": 0})),
            naive(),
            "`data.audit.checked` is 0; it must be 1 or more",
        ),
        (
            with(wages(), "file", json!("wage.csv")),
            naive(),
            "wage.csv",
        ),
        (
            with(wages(), "response", json!("salary")),
            naive(),
            "salary",
        ),
        (
            with(wages(), "errors", json!("student_t")),
            naive(),
            "`data.errors` is \"student_t\"; the choices here are",
        ),
        (
            with(wages(), "errors", json!("poisson")),
            naive(),
            "with these `data.errors` it must be a count (0, 1, 2, ...)",
        ),
        (
            with(wages(), "files", json!({"a": {}})),
            naive(),
            "`data.file` is given; each of `data.files` has its own; remove it here",
        ),
        (
            json!({"design": "file", "files": {"a": {"file": ["wages.csv"]}}}),
            naive(),
            "`data.files.a.file` is [\"wages.csv\"]; it must be the path of one CSV file",
        ),
        (
            json!({"design": "file", "files": {"a": {"formula": "y ~ x1"}}}),
            naive(),
            "`data.file` is missing; add it",
        ),
        (
            json!({"design": "file", "files": {}}),
            naive(),
            "an empty list leaves nothing to run",
        ),
        (
            wages(),
            ours(json!({"model": {"stan": "poisson"}})),
            "`methods.ours.model.stan` is \"poisson\"; its responses are a count (0, 1, 2, ...), so give `data.errors`",
        ),
        (
            with(wages(), "audit", json!({"checked": 50})),
            ours(
                json!({"permutation": {"prior": {"name": "beta_binomial", "audit": {"checked": 9, "wrong": 1}}}}),
            ),
            "`methods.ours.permutation.prior.audit` is given; `data.audit` gives one of its own",
        ),
        (
            wages(),
            json!({"naive": {"baseline": "least_squares", "answers": ["joint"]}}),
            "`methods.naive.answers` is given; this baseline has none; remove it",
        ),
        (
            wages(),
            ours(json!({"answers": []})),
            "`methods.ours.answers` is []; list at least one",
        ),
        (
            wages(),
            ours(json!({"answers": ["joint", "joint"]})),
            "`methods.ours.answers` is with \"joint\" twice; name each once",
        ),
        (
            wages(),
            ours(json!({"answers": ["recomended"]})),
            "did you mean `recommended`?",
        ),
    ] {
        let sentence = refused(data, methods);
        assert!(sentence.contains(expected), "{sentence}\nnot: {expected}");
    }
}

/// Without a rate or an audit of its own the baseline of a known rate is told the data's.
#[test]
fn a_known_rate_hears_of_the_audit_of_the_data() {
    let folder = folder();
    let known = json!({"known": {"baseline": "known_rate"}});
    let missing = load(&folder, wages(), known.clone()).unwrap_err();
    assert!(
        missing
            .to_string()
            .contains("`methods.known.rate` is missing"),
        "{missing}"
    );
    let data = with(wages(), "audit", json!({"checked": 5000}));
    let data = with(data, "mislinked", json!(0.4));
    let study = load(&folder, data, known).unwrap();
    let cell = &study.cells[0];
    let Estimator::KnownRate(known) = cell.estimator else {
        panic!("a known rate");
    };
    let task = TaskData::new(cell, 3).unwrap();
    let audit = task.audit.unwrap();
    let outcome = measure_known_rate(known, cell, &task, 3, false).unwrap();
    let told = (1 + audit.wrong) as f64 / 5002.0;
    let rate = outcome.metrics.mismatch_rate.unwrap();
    assert!((rate - told).abs() < 1e-3, "{rate} {told}");
    assert!(outcome.metrics.beta_error.is_some());
}

/// The audit of a repeat is the one that the fit's prior gets; other priors have no rate to audit.
#[test]
fn priors_keep_their_own_parameters_beside_the_audit() {
    let folder = folder();
    let data = with(wages(), "audit", json!({"checked": 50}));
    let methods = json!({"ours": {"permutation": {"prior": {"name": "beta_binomial", "a": 2}}},
                         "uniform": {"permutation": {"prior": {"name": "uniform", "max_moved": 9}}}});
    let study = load(&folder, data, methods).unwrap();
    let audited = |cell: &Cell| {
        let Estimator::Fit(config) = &cell.estimator else {
            panic!("a fit");
        };
        TaskData::new(cell, 1)
            .unwrap()
            .with_audit(config.permutation.prior)
    };
    let Prior::BetaBinomial { a, audit, .. } = audited(&study.cells[0]) else {
        panic!("still a beta-binomial");
    };
    assert_eq!((a, audit.unwrap().checked), (2.0, 50));
    assert_eq!(audited(&study.cells[1]), Prior::Uniform { max_moved: 9 });
}
