//! `unshuffle export` and `unshuffle pool` on a real fit: multiple imputation of the links agrees with the posterior.

use std::fs;
use std::path::Path;

use crate::common::{Project, column};
use unshuffle::internals::baseline::least_squares;
use unshuffle::internals::config::Data;
use unshuffle::internals::data;

const NUM_SETS: usize = 20;

/// 80 rows of which 16 are mislinked, fitted and exported.
fn exported(more: &[&str]) -> Project {
    let project = Project::new(&[]);
    let simulate = [
        "simulate",
        "--design",
        "general",
        "--n",
        "80",
        "--predictors",
        "1",
        "--intercept",
        "1",
    ];
    let how = [
        "--r2",
        "0.9",
        "--mislinked",
        "0.2",
        "--seed",
        "3",
        "--output",
        "sim",
    ];
    project.run(&[&simulate[..], &how].concat(), 0);
    project.run(
        &[
            "fit",
            "sim/config.json",
            "--quiet",
            "--set",
            "output=../fit",
            "--set",
            "sampler.chains=2",
        ],
        0,
    );
    let (shown, _) = project.run(&[&["export", "fit"], more].concat(), 0);
    assert!(shown.contains("relinked_best.csv"), "{shown}");
    assert_eq!(shown.lines().count(), 4 + NUM_SETS);
    project
}

fn read(path: &Path) -> data::Dataset {
    data::read(&Data::new(path, "y", vec!["x1".into()])).unwrap()
}

/// Mean and standard deviation of the slope in all chains.
fn posterior(project: &Project) -> (f64, f64) {
    let chains = project.draws("fit");
    let slopes: Vec<f64> = chains
        .iter()
        .flat_map(|chain| column(chain, "beta.2"))
        .collect();
    let mean = slopes.iter().sum::<f64>() / slopes.len() as f64;
    let squares: f64 = slopes.iter().map(|slope| (slope - mean).powi(2)).sum();
    (mean, (squares / slopes.len() as f64).sqrt())
}

#[test]
fn pooled_estimates_of_completed_sets_are_those_of_the_posterior() {
    let project = exported(&[]);
    let mut estimates = "set,name,estimate,standard_error,df_complete\n".to_string();
    for set in 1..=NUM_SETS {
        let data = read(&project.path(&format!("fit/export/completed_{set}.csv")));
        let fit = least_squares(data.x.view(), &data.response);
        estimates += &format!("{set},slope,{},{},78\n", fit.beta[1], fit.standard_error[1]);
    }
    project.write("estimates.csv", &estimates);
    let (shown, _) = project.run(&["pool", "estimates.csv", "--output", "pooled.csv"], 0);
    assert!(shown.contains("slope"), "{shown}");
    let pooled = fs::read_to_string(project.path("pooled.csv")).unwrap();
    let cells: Vec<&str> = pooled.lines().nth(1).unwrap().split(',').collect();
    let [estimate, error]: [f64; 2] = [1, 2].map(|k| cells[k].parse().unwrap());
    let (mean, sd) = posterior(&project);
    // Twenty sets of a fixed seed agree with the posterior to a third of its standard deviation: a bound by choice, not by theory.
    assert!((estimate - mean).abs() < sd / 3.0, "{estimate} {mean} {sd}");
    assert!((error / sd - 1.0).abs() < 1.0 / 3.0, "{error} {sd}");
    // The slope as linked fails the same check.
    let linked = read(&project.path("sim/data.csv"));
    let linked = least_squares(linked.x.view(), &linked.response).beta[1];
    assert!((linked - mean).abs() > sd / 3.0, "{linked} {mean} {sd}");
    // A new fit leaves no relinked data of the old one.
    let fit = [
        "fit",
        "sim/config.json",
        "--quiet",
        "--force",
        "--set",
        "output=../fit",
    ];
    project.run(&[&fit[..], &["--set", "sampler.draws=10"]].concat(), 0);
    assert_eq!(fs::read_dir(project.path("fit/export")).unwrap().count(), 0);
}

#[test]
fn mistakes_are_told_in_one_sentence() {
    let project = Project::new(&[]);
    project.run(
        &["fit", "config.json", "--quiet", "--set", "sampler.draws=10"],
        0,
    );
    let (_, said) = project.run(&["export", "out"], 2);
    assert!(said.contains("kept every link"), "{said}");
    let (_, said) = project.run(&["export", "nowhere"], 2);
    assert!(said.contains("cannot read nowhere"), "{said}");
    let (_, said) = project.run(&["pool", "none.csv"], 2);
    assert!(
        said.contains("cannot find none.csv; give a CSV file with columns set"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// pyarrow reads what the CSV files say. `make environments` makes its environment.
#[cfg(feature = "parquet")]
#[test]
fn parquet_files_say_what_the_csv_files_say() {
    let project = exported(&["--parquet"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("target/parquet_python/bin/python");
    assert!(
        python.exists(),
        "{} is missing: `make environments` makes it",
        python.display()
    );
    let output = std::process::Command::new(python)
        .arg(root.join("tests/python/read_parquet.py"))
        .arg(project.path("fit"))
        .output()
        .unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success() && text.contains("agreed"), "{text}");
}

/// A band of the response stays with the predictors unless `--also` names it; another column is left alone.
#[test]
fn another_form_of_the_response_is_warned_of() {
    let project = Project::new(&[(
        "permutation.update",
        serde_json::json!({"name": "active_set"}),
    )]);
    let rows = crate::common::rows().into_iter().enumerate();
    let lines = rows.map(|(k, (x, y))| {
        let band = if y < 1.0 { "low" } else { "high" };
        format!("{x},{y},{band},{}\n", k * 7 % 5)
    });
    project.write(
        "data.csv",
        &format!("x,y,band,other\n{}", lines.collect::<String>()),
    );
    project.run(&["fit", "config.json", "--quiet"], 0);
    let (_, said) = project.run(&["export", "out", "--sets", "2"], 0);
    assert!(
        said.contains("warning: `band` goes with the response in every row")
            && said.contains("--also band --force"),
        "{said}"
    );
    assert!(!said.contains("`other`"), "{said}");
    let (_, said) = project.run(
        &["export", "out", "--sets", "2", "--also", "band", "--force"],
        0,
    );
    assert!(!said.contains("warning"), "{said}");
}
