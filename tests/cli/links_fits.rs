//! Both steps by the binary: the shipped configs, every update, and programs that the agreement check must refuse.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Project, binary, column, csv_of, ended_with, rows};
use serde_json::{Value, json};

/// The rows of the data of the shipped configs.
const HOUSEHOLDS: usize = 235;
/// Least squares on the data before they were mislinked.
const TRUE_SLOPE: f64 = 0.8559;

/// Fits a shipped config with short chains into `output`.
fn fit_shipped(name: &str, output: &Path, settings: &[&str]) {
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let mut command = assert_cmd::Command::new(binary());
    command
        .arg("fit")
        .arg(configs.join(name))
        .arg("--quiet")
        .arg("--set")
        .arg(format!("output={}", output.display()))
        .args(["--set", "sampler.warmup=400", "--set", "sampler.draws=400"])
        .env_remove("BRIDGESTAN");
    for setting in settings {
        command.args(["--set", setting]);
    }
    ended_with(&mut command, 0);
}

fn means(output: &Path) -> BTreeMap<String, f64> {
    let text = fs::read_to_string(output.join("summary.csv")).unwrap();
    text.lines()
        .skip(1)
        .map(|line| {
            let mut fields = line.split(',');
            let name = fields.next().unwrap().to_string();
            (name, fields.next().unwrap().parse().unwrap())
        })
        .collect()
}

fn records(path: PathBuf) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().collect::<Result<_, _>>().unwrap()
}

#[test]
fn models_with_links_find_the_unharmed_slope() {
    for (name, tolerance) in [
        ("quickstart.json", 0.06),
        ("student_t.json", 0.06),
        ("quantile.json", 0.08),
    ] {
        let dir = tempfile::tempdir().unwrap();
        fit_shipped(name, dir.path(), &[]);
        let means = means(dir.path());
        let slope = means["beta.2"];
        assert!((slope - TRUE_SLOPE).abs() < tolerance, "{name}: {slope}");
        assert!((0.1..0.35).contains(&means["mismatch_rate"]), "{name}");
        assert!((25.0..80.0).contains(&means["n_moved"]), "{name}");
    }
}

#[test]
fn files_of_links_agree_with_each_other() {
    let dir = tempfile::tempdir().unwrap();
    fit_shipped("quickstart.json", dir.path(), &["sampler.chains=2"]);
    let rows = records(dir.path().join("rows.csv"));
    assert_eq!(rows.len(), HOUSEHOLDS);
    assert_eq!(rows[4]["row"], "5");
    assert_eq!(rows[4]["id"], "5", "the household's own number");
    let number = |record: &BTreeMap<String, String>, key: &str| record[key].parse::<f64>().unwrap();
    let expected_moved: f64 = rows.iter().map(|row| number(row, "p_moved")).sum();
    assert!((expected_moved - means(dir.path())["n_moved"]).abs() < 1e-9);

    let mut row_sums = vec![0.0; HOUSEHOLDS + 1];
    let mut column_sums = vec![0.0; HOUSEHOLDS + 1];
    for entry in records(dir.path().join("pi_mean.csv")) {
        let place = |key: &str| entry[key].parse::<usize>().unwrap();
        row_sums[place("row")] += number(&entry, "probability");
        column_sums[place("column")] += number(&entry, "probability");
    }
    for sum in row_sums[1..].iter().chain(&column_sums[1..]) {
        assert!(
            (sum - 1.0).abs() < 1e-9,
            "a mean of permutation matrices: {sum}"
        );
    }

    // The first draw's links are as many as its n_moved__ says, and all of them moves.
    let draws = crate::common::without_comments(&dir.path().join("draws_1.csv"));
    let links = fs::read_to_string(dir.path().join("links_1.csv")).unwrap();
    let first: Vec<&str> = links
        .lines()
        .filter(|line| line.starts_with("1,"))
        .collect();
    assert_eq!(first.len() as f64, column(&draws, "n_moved__")[0]);
    // Readers of CmdStan CSV take what ends in `__` for statistics of the sampler.
    for name in ["n_moved", "mismatch_rate"] {
        assert_eq!(column(&draws, name), column(&draws, &format!("{name}__")));
    }
    for row in &rows {
        let best: usize = row["best_link"].parse().unwrap();
        assert_eq!(row["best_link_id"], rows[best - 1]["id"]);
    }
    for line in first {
        let fields: Vec<&str> = line.split(',').collect();
        assert_ne!(fields[1], fields[2]);
    }
}

#[test]
fn mean_shift_gives_each_row_a_probability_and_no_links() {
    let dir = tempfile::tempdir().unwrap();
    fit_shipped("mean_shift.json", dir.path(), &[]);
    let means = means(dir.path());
    let shifted = (1..=HOUSEHOLDS).map(|row| means[&format!("p_shifted.{row}")]);
    let expected: f64 = shifted.sum();
    assert!((20.0..90.0).contains(&expected), "{expected}");
    assert!(!dir.path().join("links_1.csv").exists());
    assert!(!means.contains_key("n_moved"));
}

#[test]
fn every_update_and_prior_runs() {
    let checkerboard = r#"permutation.update={"name":"checkerboard","restart":"mode"}"#;
    for settings in [
        [
            checkerboard,
            r#"permutation.prior={"name":"uniform","max_moved":60}"#,
        ],
        [
            r#"permutation.update={"name":"checkerboard"}"#,
            r#"permutation.prior={"name":"hamming","theta":5}"#,
        ],
        [r#"permutation.update={"name":"mode"}"#, "temperature=0.5"],
        [
            r#"permutation.update={"name":"active_set"}"#,
            "temperature=1/n",
        ],
    ] {
        let dir = tempfile::tempdir().unwrap();
        let short = ["sampler.warmup=60", "sampler.draws=40", "sampler.chains=3"];
        fit_shipped(
            "quickstart.json",
            dir.path(),
            &[&settings[..], &short].concat(),
        );
        let text = fs::read_to_string(dir.path().join("diagnostics.json")).unwrap();
        let diagnostics: Value = serde_json::from_str(&text).unwrap();
        let starts: Vec<&Value> = diagnostics["chains"]
            .as_array()
            .unwrap()
            .iter()
            .map(|chain| &chain["links_start"])
            .collect();
        assert_eq!(starts, ["identity", "mode", "random"], "{settings:?}");
    }
}

#[test]
fn a_family_that_does_not_match_the_program_is_refused() {
    let quantile = |settings: Value| {
        let project = Project::new(&[
            ("model", json!({ "stan": "quantile" })),
            ("permutation.update.name", json!("active_set")),
        ]);
        let mut args = vec!["check".to_string(), "config.json".to_string()];
        for (key, value) in settings.as_object().unwrap() {
            args.extend(["--set".to_string(), format!("{key}={value}")]);
        }
        (project, args)
    };
    let refused = |settings: Value| {
        let (project, args) = quantile(settings);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        project.run(&args, 2).1
    };
    let (project, args) = quantile(json!({}));
    project.run(&args.iter().map(String::as_str).collect::<Vec<_>>(), 0);

    let gaussian = json!({ "name": "gaussian" });
    let message = refused(json!({ "model.family": gaussian }));
    assert!(
        message.contains("add it to model.data"),
        "no tau: {message}"
    );
    let message = refused(json!({ "model.family": gaussian, "model.data": { "tau": 0.5 } }));
    assert!(
        message.contains("disagree about the likelihood"),
        "{message}"
    );
    let message = refused(json!({ "model.data": { "tau": 0.3 } }));
    assert!(
        message.contains("asymmetric_laplace, tau = 0.5"),
        "{message}"
    );
    assert!(
        message.contains("a parameter of model.family differs"),
        "{message}"
    );
    let stan = json!({ "name": "stan" });
    let message = refused(json!({ "model.family": stan, "model.data": { "tau": 0.5 } }));
    assert!(message.contains("`vector[N] log_lik`"), "{message}");
}

#[test]
fn an_edited_program_is_refused_when_it_leaves_the_family_behind() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stan/switched.stan");
    let check = |mistake: usize, family: &str, code: i32| {
        let project = Project::new(&[
            (
                "model",
                json!({ "stan": program, "data": { "mistake": mistake } }),
            ),
            ("permutation.update.name", json!("active_set")),
            ("temperature", json!(0.7)),
        ]);
        let family = format!(r#"model.family={{"name":"{family}"}}"#);
        project
            .run(&["check", "config.json", "--set", &family], code)
            .1
    };
    for family in ["gaussian", "stan"] {
        check(0, family, 0);
        let edited = check(1, family, 2);
        assert!(edited.contains("disagree about the likelihood"), "{edited}");
        assert!(edited.contains("but the family's by"), "{edited}");
        let tempered = check(2, family, 2);
        assert!(
            tempered.contains("more than the likelihood by alpha"),
            "{tempered}"
        );
        let forgotten = check(3, family, 2);
        assert!(
            forgotten.contains("does not multiply its likelihood by alpha"),
            "{forgotten}"
        );
        let added = check(4, family, 2);
        assert!(
            added.contains("switched.stan has a term in the response without alpha: moving 10 of 20 rows changes its log density by "),
            "{added}"
        );
        assert!(
            added.contains("multiply every term that contains the response by alpha"),
            "{added}"
        );
    }
}

/// The priors of `switched.stan` have units: its log prior is -1e12 where responses are 10^4 times as large, and residuals
/// lose digits where the responses are far from zero. Neither is a disagreement, and neither hides one.
#[test]
fn a_right_program_is_never_accused_and_one_that_doubles_cannot_check_is_refused() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stan/switched.stan");
    let check = |mistake: usize, scale: f64, shift: f64, code: i32| {
        let project = Project::new(&[
            (
                "model",
                json!({ "stan": program, "data": { "mistake": mistake } }),
            ),
            ("permutation.update.name", json!("active_set")),
            ("temperature", json!(0.7)),
        ]);
        let rows: Vec<(f64, f64)> = rows()
            .iter()
            .map(|(x, y)| (*x, scale * y + shift))
            .collect();
        project.write("data.csv", &csv_of(&rows));
        project.run(&["check", "config.json"], code).1
    };
    for (scale, shift) in [(1e4, 0.0), (1e-60, 0.0), (1.0, 1e6)] {
        check(0, scale, shift, 0);
        for mistake in [1, 3, 4] {
            let message = check(mistake, scale, shift, 2);
            let is_told = message.contains("alpha") || message.contains("disagree");
            assert!(is_told, "{mistake} {scale} {shift}: {message}");
        }
    }
    // Here the log prior is -1e20 and below: no double could tell a likelihood beside it, right or wrong.
    for (scale, shift) in [(1e7, 0.0), (1e60, 0.0), (1.0, 1e11), (1e7, -1e12)] {
        for mistake in [0, 1] {
            let message = check(mistake, scale, shift, 2);
            let is_told = message.contains("cannot be checked") && message.contains("rescale");
            assert!(is_told, "{mistake} {scale} {shift}: {message}");
        }
    }
}

#[test]
fn where_no_row_can_move_a_warning_says_why() {
    let project = Project::new(&[
        ("permutation.update.name", json!("active_set")),
        ("data.block", json!("x")),
    ]);
    let (shown, warning) = project.run(&["check", "config.json"], 0);
    assert!(
        shown.contains("links    0 of 20 rows can move, in 0 groups"),
        "{shown}"
    );
    let why = "warning: no row can be linked elsewhere, so every link stays: every row is safe, certain by its match probability, or alone in its block";
    assert!(warning.contains(why), "{warning}");
    project.run(&["fit", "config.json", "--quiet"], 0);
    let moved = column(&project.draws("out")[0], "n_moved__");
    assert!(moved.iter().all(|moved| *moved == 0.0));
}
