//! Several responses at once: lists of one against the single response, what is refused, and what a second response finds.

use std::fs;
use std::path::{Path, PathBuf};

use rand_distr::{Distribution, StandardNormal};
use serde_json::{Value, json};
use unshuffle::internals::baseline::read_truth;
use unshuffle::internals::numerics::rng::stream;

use crate::common::Project;

/// configs/data/households.csv: logarithms of the income of 150 made-up households and of what they spend on food and rent.
fn households() -> String {
    let mut rng = stream(1895, 1);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let mut text = String::from("household,log_income,log_food,log_rent\n");
    for household in 1..=150 {
        let log_income = 7.0 + 0.5 * normal();
        // Errors with standard deviations 0.25 and 0.3, and a correlation of -0.4: who spends more here saves there.
        let (shared, own) = (normal(), normal());
        let log_food = 0.5 + 0.8 * log_income + 0.25 * shared;
        let log_rent = -1.8 + 1.1 * log_income + 0.3 * (-0.4 * shared + 0.84f64.sqrt() * own);
        text += &format!("{household},{log_income:.4},{log_food:.4},{log_rent:.4}\n");
    }
    text
}

fn configs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("configs")
        .join(name)
}

fn shipped_data(name: &str) -> String {
    fs::read_to_string(configs("data").join(name)).unwrap()
}

#[test]
fn the_households_are_as_made_here() {
    assert_eq!(shipped_data("households.csv"), households());
}

#[test]
fn the_mislinked_households_are_as_the_page_on_models_says() {
    let project = Project::new(&[]);
    let from = configs("data/households.csv").display().to_string();
    let formula = "cbind(log_food, log_rent) ~ log_income";
    let mut arguments = vec![
        "simulate",
        "--design",
        "file",
        "--from",
        &from,
        "--formula",
        formula,
    ];
    arguments.extend(["--id", "household", "--mislinked", "0.2", "--seed", "1895"]);
    arguments.extend(["--output", "sim"]);
    project.run(&arguments, 0);
    for (made, shipped) in [
        ("data.csv", "households_mislinked.csv"),
        ("truth.json", "households_truth.json"),
    ] {
        let text = fs::read_to_string(project.path("sim").join(made)).unwrap();
        assert_eq!(text, shipped_data(shipped), "{shipped}");
    }
    let config = fs::read_to_string(project.path("sim/config.json")).unwrap();
    let config: Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["model"]["stan"], "multivariate");
}

/// What `check` says of a project with these changes.
fn refused(changes: &[(&str, Value)]) -> String {
    let project = Project::new(changes);
    let rows = crate::common::rows();
    let rows = rows.iter().map(|(x, y)| format!("{x},{y},{}\n", x * x));
    let text: String = rows.collect();
    project.write("data.csv", &format!("x,y,z\n{text}"));
    let (_, stderr) = project.run(&["check", "config.json"], 2);
    stderr
}

#[test]
fn programs_that_do_not_fit_the_list_are_told_what_to_write() {
    assert_eq!(
        refused(&[("data.response", json!(["y", "z"]))]),
        "error: linear.stan declares `y` as a vector, but the config has a list of responses: declare it as \
         `matrix[N, K] y;` with `int<lower=1> K;` in `data`, or name one response that is no list\n"
    );
    assert_eq!(
        refused(&[("model.stan", json!("multivariate"))]),
        "error: multivariate.stan declares `y` as a matrix, but the config has one response that is no list: declare it as \
         `vector[N] y;`, or make data.response a list such as [\"food\", \"rent\"]\n"
    );
    assert_eq!(
        refused(&[
            ("model.stan", json!("multivariate")),
            ("model.family", json!({"name": "gaussian"})),
            ("data.response", json!(["y", "z"])),
            ("permutation.update.name", json!("active_set")),
        ]),
        "error: the family `gaussian` is of one response, and the config has 2: set model.family to {\"name\": \"stan\"}, \
         for which multivariate.stan needs `vector[N] log_lik` in `generated quantities`\n"
    );
    let empty = refused(&[("data.response", json!([]))]);
    assert_eq!(
        empty,
        "error: config.json: `data.response` is []; name one column or more\n"
    );
}

#[test]
fn init_gives_a_fit_of_several_responses() {
    let project = Project::new(&[]);
    project.run(&["init", "mine", "--model", "multivariate"], 0);
    let (stdout, _) = project.run(&["check", "mine/config.json"], 0);
    assert!(stdout.contains("150 rows, 2 columns of X"), "{stdout}");
    assert!(stdout.contains("Everything is ready to fit."), "{stdout}");
}

/// P(moved) of each row, of a fit with short chains.
fn p_moved(project: &Project, output: &str, settings: &[&str]) -> Vec<f64> {
    let config = configs("multivariate.json").display().to_string();
    let output = format!("output={}", project.path(output).display());
    let mut arguments = vec!["fit", &config, "--quiet", "--set", &output];
    arguments.extend(["--set", "sampler.warmup=500", "--set", "sampler.draws=500"]);
    settings
        .iter()
        .for_each(|setting| arguments.extend(["--set", setting]));
    project.run(&arguments, 0);
    let rows = fs::read_to_string(Path::new(&output["output=".len()..]).join("rows.csv")).unwrap();
    crate::common::column(&rows, "p_moved")
}

#[test]
fn a_second_response_finds_more_wrong_links() {
    let project = Project::new(&[]);
    let truth = read_truth(&configs("data/households_truth.json")).unwrap();
    let wrong: Vec<bool> = truth
        .pi
        .iter()
        .enumerate()
        .map(|(row, home)| row != *home)
        .collect();
    let single = ["model.stan=linear", "data.response=log_food"];
    let one = p_moved(&project, "one", &single);
    let two = p_moved(&project, "two", &[]);
    let found = |p: &[f64], of_wrong: bool| {
        let rows = p.iter().zip(&wrong);
        rows.filter(|(p, wrong)| **p > 0.5 && **wrong == of_wrong)
            .count()
    };
    println!("of 30 wrong links          found   right links suspected");
    for (name, p) in [("food alone", &one), ("food and rent", &two)] {
        println!("{name:<26} {:>5}   {:>5}", found(p, true), found(p, false));
    }
    assert!(found(&two, true) > found(&one, true));
    let report = fs::read_to_string(project.path("two/report.html")).unwrap();
    for name in ["log_food ~ (Intercept)", "log_rent ~ log_income"] {
        assert!(report.contains(name), "{name}");
    }
    // The links of both are those of the first response, and so is what is predicted of it.
    let rows = fs::read_to_string(project.path("two/rows.csv")).unwrap();
    assert!(
        rows.lines()
            .next()
            .unwrap()
            .ends_with(",response,fitted,fitted_best,best_link_id")
    );
}
