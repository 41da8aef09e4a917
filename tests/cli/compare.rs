//! `fit --compare` by the binary: the table, baselines.csv, and what `summary` makes of it.

use std::fs;

use crate::common::{Project, csv_of, program, rows};
use serde_json::json;

/// What follows the heading of the table, up to the next empty line.
fn coefficients(stdout: &str) -> Vec<&str> {
    let lines = stdout.lines();
    let after = lines.skip_while(|line| *line != "Coefficients with 90 % intervals:");
    after.skip(1).take_while(|line| !line.is_empty()).collect()
}

/// The trend of 1 + 2 x, with three responses that belong elsewhere.
fn mislinked() -> Project {
    let project = Project::new(&[("permutation.update.name", json!("active_set"))]);
    let mut rows = rows();
    (rows[1].1, rows[18].1, rows[12].1) = (rows[18].1, rows[12].1, rows[1].1);
    project.write("data.csv", &csv_of(&rows));
    let mut links: Vec<usize> = (1..=20).collect();
    (links[1], links[18], links[12]) = (19, 13, 2);
    let truth = json!({"coefficients": ["(Intercept)", "x"], "beta": [1.0, 2.0], "sigma": 0.9, "num_moved": 3,
        "linked_to": links, "pi0": []});
    project.write("truth.json", &truth.to_string());
    project
}

#[test]
fn compare_sets_the_baselines_beside_the_fit_and_saves_them() {
    let project = mislinked();
    let args = ["fit", "config.json", "--compare", "--truth", "truth.json"];
    let (stdout, stderr) = project.run(&args, 0);
    assert!(!stderr.contains("warning"), "{stderr}");
    let table = coefficients(&stdout);
    assert!(table.iter().all(|line| line.chars().count() <= 100));
    let labels: Vec<&str> = table.iter().map(|line| line[15..40].trim_end()).collect();
    let methods = [
        "as linked (least squares)",
        "Huber",
        "mixture",
        "known rate",
        "joint (not recommended)",
        "recommended",
        "truth",
    ];
    let of_rate = ["mixture", "joint (not recommended)", "truth"];
    assert_eq!(labels, [&methods[..], &methods, &of_rate].concat());
    assert!(table[7].starts_with("x ") && table[14].starts_with("mismatch_rate "));
    assert!(table[16].ends_with(" 0.1500"), "{stdout}");

    let file = fs::read_to_string(project.path("out/baselines.csv")).unwrap();
    let lines: Vec<Vec<&str>> = file.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(
        lines[0],
        ["method", "name", "estimate", "standard_error", "5%", "95%"]
    );
    let slope = lines
        .iter()
        .find(|line| line[..2] == ["mixture", "x"])
        .unwrap();
    let [estimate, error, low, high] = [2, 3, 4, 5].map(|k| slope[k].parse::<f64>().unwrap());
    // The columns are as wide as their widest number.
    let printed = format!("mixture {estimate:.4} [{low:.4}, {high:.4}]");
    let words: Vec<&str> = table[9].split_whitespace().collect();
    assert_eq!(words.join(" "), printed);
    assert!((high - low - 3.28970725 * error).abs() < 1e-6);
    assert!(lines[7][..2] == ["mixture", "mismatch_rate"]);
    assert!(lines.last().unwrap()[..2] == ["known_rate", "x"]);
    assert_eq!(lines.len(), 1 + 4 * 2 + 1);

    // Saved files know nothing of the truth; the rest is the same.
    let (summary, _) = project.run(&["summary", "out"], 0);
    let without_truth: Vec<&str> = table.into_iter().filter(|l| !l.contains("truth")).collect();
    assert_eq!(coefficients(&summary), without_truth);
    project.write("out/baselines.csv", "method\nhuber\n");
    let (_, stderr) = project.run(&["summary", "out"], 2);
    assert!(
        stderr.contains("baselines.csv") && stderr.contains("--compare"),
        "{stderr}"
    );
}

#[test]
fn without_compare_there_is_least_squares_alone() {
    let project = mislinked();
    project.run(&["fit", "config.json", "--compare", "--quiet"], 0);
    let saved = || fs::read_to_string(project.path("out/baselines.csv")).unwrap();
    assert!(saved().contains("mixture,"));
    let (stdout, _) = project.run(&["fit", "config.json", "--force"], 0);
    let saved = saved();
    let mut methods = saved.lines().skip(1).map(|line| line.split(',').next());
    assert!(
        methods.all(|method| method == Some("least_squares")),
        "{saved}"
    );
    let table = coefficients(&stdout);
    // Too few rows to tell wrong links from tails: what is recommended stands beside the joint posterior.
    let methods = [
        "as linked (least squares)",
        "joint (not recommended)",
        "recommended",
    ];
    assert_eq!(table.len(), 2 * methods.len(), "{stdout}");
    for (line, method) in table.iter().zip(methods.iter().cycle()) {
        assert!(line.contains(method), "{stdout}");
    }
    let (summary, _) = project.run(&["summary", "out"], 0);
    assert_eq!(coefficients(&summary), table);
}

#[test]
fn a_fit_of_a_quantile_is_set_beside_that_quantile() {
    let project = Project::new(&[
        ("model.stan", json!("quantile")),
        (
            "model.family",
            json!({"name": "asymmetric_laplace", "tau": 0.25}),
        ),
    ]);
    let (stdout, _) = project.run(&["fit", "config.json", "--compare"], 0);
    let table = coefficients(&stdout);
    assert_eq!(
        table
            .iter()
            .filter(|line| line.contains("quantile regression"))
            .count(),
        2
    );
    // A quarter of the 20 rows lies below the line of tau = 0.25, and two are on it.
    let file = fs::read_to_string(project.path("out/baselines.csv")).unwrap();
    let beta: Vec<f64> = file
        .lines()
        .filter(|line| line.starts_with("quantile,"))
        .map(|line| line.split(',').nth(2).unwrap().parse().unwrap())
        .collect();
    let below = rows()
        .iter()
        .filter(|(x, y)| y - beta[0] - beta[1] * x < -1e-9)
        .count();
    assert!((3..=5).contains(&below), "{below} below {beta:?}");
}

#[test]
fn a_program_without_beta_has_nothing_to_compare() {
    let project = Project::new(&[
        ("model.stan", json!("reject.stan")),
        ("model.data", json!({"limit": 1e300})),
    ]);
    project.write("reject.stan", &program("reject.stan").text);
    let (stdout, stderr) = project.run(&["fit", "config.json", "--compare"], 0);
    let expected = "reject.stan has no `vector[D] beta` with one entry for each of the 2 columns";
    assert!(
        stderr.contains("--compare finds nothing to compare"),
        "{stderr}"
    );
    assert!(stderr.contains(expected), "{stderr}");
    assert!(
        stdout.contains("slopes.2") && coefficients(&stdout).is_empty(),
        "{stdout}"
    );
    assert!(!project.path("out/baselines.csv").exists());
}

/// Every fit of a mean has the coefficients by the rate of wrong links; of counts there is nothing else to compare with.
#[test]
fn counts_are_set_beside_a_known_rate() {
    let project = Project::new(&[
        ("model.stan", json!("poisson")),
        ("permutation.update.name", json!("active_set")),
        (
            "permutation.prior",
            json!({"name": "beta_binomial", "audit": {"checked": 200, "wrong": 20}}),
        ),
    ]);
    let counts = rows().into_iter().map(|(x, y)| (x, y.abs().round()));
    project.write("data.csv", &csv_of(&counts.collect::<Vec<_>>()));
    let (stdout, stderr) = project.run(&["fit", "config.json", "--compare"], 0);
    assert!(!stderr.contains("nothing to compare"), "{stderr}");
    let methods = ["known rate", "joint (not recommended)", "recommended"];
    for (line, method) in coefficients(&stdout).iter().zip(methods) {
        assert!(line.contains(method), "{stdout}");
    }
    let curve = fs::read_to_string(project.path("out/known_rate.csv")).unwrap();
    assert_eq!(
        curve.lines().next(),
        Some("name,rate,estimate,standard_error")
    );
    assert_eq!(curve.lines().count(), 1 + 2 * 26);
    let report = fs::read_to_string(project.path("out/report.html")).unwrap();
    assert!(report.contains("By the rate of wrong links"));
    assert!(!report.contains("least squares with the links as given"));
}
