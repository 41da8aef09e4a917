//! `unshuffle predict` through the binary, and through a program that draws the responses itself.

use std::fs;

use crate::common::{Project, compiler};
use serde_json::json;
use unshuffle::internals::after::predict::Prediction;

const NEW: &str = "x\n-1\n0.5\n3\n";

/// Numbers of the lines of a summary.
fn numbers(csv: &str) -> Vec<Vec<f64>> {
    let lines = csv.lines().skip(1);
    lines
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect()
}

#[test]
fn new_rows_are_predicted() {
    let project = Project::new(&[]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    project.write("new.csv", NEW);
    let (shown, _) = project.run(&["predict", "out", "new.csv"], 0);
    assert!(
        shown.starts_with("row,mean,sd,5%,50%,95%,mean_5%,mean_95%\n1,"),
        "{shown}"
    );
    project.run(&["predict", "out", "new.csv", "--output", "p.csv"], 0);
    assert_eq!(fs::read_to_string(project.path("p.csv")).unwrap(), shown);
    let (long, _) = project.run(&["predict", "out", "new.csv", "--all", "--draws", "7"], 0);
    assert_eq!(long.lines().count(), 1 + 3 * 7);
    assert!(long.starts_with("row,chain,draw,y,mean\n1,1,1,"), "{long}");

    let (_, said) = project.run(&["predict", "out", "new.csv", "--draws", "401"], 2);
    assert!(
        said.contains("--draws is 401, but the fit has 400 draws"),
        "{said}"
    );
    let (_, said) = project.run(&["predict", "out", "none.csv"], 2);
    assert!(said.contains("cannot find none.csv"), "{said}");
    project.write("bad.csv", "z\n1\n");
    let (_, said) = project.run(&["predict", "out", "bad.csv"], 2);
    assert!(
        said.contains("bad.csv: no column `x` (data.predictors)"),
        "{said}"
    );
    project.write("data.csv", "x,y\n1,2\n");
    let (_, said) = project.run(&["predict", "out", "new.csv"], 2);
    assert!(
        said.contains("data.csv changed since the fit in out"),
        "{said}"
    );
}

/// The same fit, predicted by the program and by the family: means and quantiles differ by five standard errors at most, of which
/// the quantiles' is near twice that of the mean.
#[test]
fn a_program_that_draws_new_responses_is_asked() {
    let program = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/stan/linear_predict.stan"
    );
    let project = Project::new(&[
        ("model", json!({"stan": program})),
        ("permutation.update", json!({"name": "active_set"})),
        ("sampler.draws", json!(2000)),
    ]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let draws = project.draws("out");
    assert!(!draws[0].lines().next().unwrap().contains("y_new"));
    let file = project.write("new.csv", NEW);
    let prediction = Prediction::read(&project.path("out"), &file, None).unwrap();
    assert!(prediction.needs_compiler());
    let by_program = prediction
        .from_program(&compiler(), 1)
        .unwrap()
        .summary_csv(0.9);
    let by_family = prediction.from_family(1).unwrap().summary_csv(0.9);
    assert_ne!(by_program, by_family);
    for (ours, theirs) in numbers(&by_family).iter().zip(numbers(&by_program)) {
        let error = 5.0 * ours[2] * (2.0 / 4000f64).sqrt();
        assert!((ours[1] - theirs[1]).abs() < error, "{ours:?} {theirs:?}");
        for k in 3..6 {
            assert!(
                (ours[k] - theirs[k]).abs() < 2.2 * error,
                "{ours:?} {theirs:?}"
            );
        }
    }
    let (shown, _) = project.run(&["predict", "out", "new.csv"], 0);
    assert_eq!(shown, by_program);
}

/// The errors of y = x double for each unit of x. Predictions at -1 and 3 lie four doublings apart; with 200 rows the slope of
/// the log spread is known to 0.05 or so, and a prediction that forgot the spread would have a ratio of 1.
#[test]
fn a_spread_that_depends_on_the_predictors_is_predicted() {
    let project = Project::new(&[("model", json!({"stan": "robust"}))]);
    let line = |k: u32| {
        let x = -1.0 + 4.0 * f64::from(k) / 199.0;
        let error = 0.1 * 2f64.powf(x) * 1.4 * f64::from(k * 7919 % 199 + 1).mul_add(0.01, -1.0);
        format!("{x},{}\n", x + error)
    };
    let lines: String = (0..200).map(line).collect();
    project.write("data.csv", &format!("x,y\n{lines}"));
    project.run(&["fit", "config.json", "--quiet"], 0);
    project.write("new.csv", NEW);
    let (shown, _) = project.run(&["predict", "out", "new.csv"], 0);
    let predicted = numbers(&shown);
    // Quantiles: the tails of Student t errors make standard deviations vary.
    let width = |row: usize| predicted[row][5] - predicted[row][3];
    let ratio = width(2) / width(0);
    assert!((8.0..32.0).contains(&ratio), "{shown}");
}

#[test]
fn a_family_whose_parameter_is_in_the_program_is_predicted() {
    let project = Project::new(&[("model", json!({"stan": "negative_binomial"}))]);
    let line = |k: u32| format!("{},{}\n", f64::from(k % 5) - 2.0, (k * 31) % 7 + k % 5);
    let lines: String = (0..100).map(line).collect();
    project.write("data.csv", &format!("x,y\n{lines}"));
    project.run(&["fit", "config.json", "--quiet"], 0);
    project.write("new.csv", NEW);
    let (shown, _) = project.run(&["predict", "out", "new.csv", "--all"], 0);
    let counts = shown
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(3).unwrap());
    let counts: Vec<f64> = counts.map(|count| count.parse().unwrap()).collect();
    assert!(
        counts
            .iter()
            .all(|count| *count >= 0.0 && count.fract() == 0.0)
    );
    // Around the mean of the file, 5.
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    assert!((3.0..8.0).contains(&mean), "{mean}");
}
