//! cmdstanpy and arviz load what a fit leaves, and find the numbers of summary.csv.

use crate::common::{Endless, Project, column, python};
use serde_json::{Value, json};

/// Runs tests/python/read_fit.py, which finds the files that `export` writes for Python too; returns its output and whether it
/// ended well.
fn read(project: &Project, expected: Value) -> (bool, String) {
    for format in ["--cmdstan", "--arviz"] {
        project.run(&["export", "out", format, "--force"], 0);
    }
    let output = python("read_fit.py")
        .arg(project.path("out"))
        .arg(expected.to_string())
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

fn assert_agreed((success, text): (bool, String)) {
    assert!(success && text.contains("agreed"), "{text}");
}

#[test]
fn a_dense_fit_is_read() {
    let project = Project::new(&[("sampler.chains", json!(4)), ("sampler.draws", json!(500))]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let expected = json!({"draws": [500, 500, 500, 500], "thin": 1, "metric": "dense_e", "dim": 3});
    assert_agreed(read(&project, expected));
}

#[test]
fn a_fit_of_links_is_read_with_its_rate() {
    let project = Project::new(&[("permutation.update", json!({"name": "active_set"}))]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let expected =
        json!({"draws": [200, 200], "thin": 1, "metric": "dense_e", "dim": 3, "links": true});
    assert_agreed(read(&project, expected));
}

#[test]
fn a_thinned_diagonal_static_fit_is_read() {
    let project = Project::new(&[
        ("sampler.draws", json!(501)),
        ("sampler.thin", json!(2)),
        ("sampler.metric", json!("diagonal")),
        ("sampler.trajectory", json!("static")),
        ("sampler.standardise", json!(true)),
    ]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let expected = json!({"draws": [251, 251], "thin": 2, "metric": "diag_e", "dim": 3});
    assert_agreed(read(&project, expected));
}

#[test]
fn an_interrupted_fit_is_read() {
    let project = Project::new(&[]);
    let fit = Endless::start(&project, 2);
    // A chain with less than half the draws of the other one would be left out.
    fit.wait_for(1, 2000);
    fit.wait_for(2, 2000);
    fit.wait_until_level();
    let (code, stderr) = fit.interrupt();
    assert_eq!(code, Some(130), "{stderr}");
    let draws = project.draws("out");
    let draws: Vec<usize> = draws
        .iter()
        .map(|chain| column(chain, "lp__").len())
        .collect();
    assert!(draws.len() == 2 && draws[0] == draws[1], "{draws:?}");
    let expected = json!({"draws": draws, "thin": 2, "metric": "dense_e", "dim": 3});
    assert_agreed(read(&project, expected));
}

#[test]
fn a_wrong_summary_is_noticed() {
    let project = Project::new(&[]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let path = project.path("out/summary.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("sigma2,"))
        .unwrap();
    let mean: f64 = line.split(',').nth(1).unwrap().parse().unwrap();
    let changed = line.replace(&format!("{mean:?}"), &format!("{:?}", mean * 1.00001));
    assert_ne!(changed, line);
    std::fs::write(&path, text.replace(line, &changed)).unwrap();
    let expected = json!({"draws": [200, 200], "thin": 1, "metric": "dense_e", "dim": 3});
    let (success, text) = read(&project, expected);
    assert!(!success, "{text}");
    assert!(text.contains("sigma2 mean is"), "{text}");
}

#[test]
fn the_folder_for_cmdstanpy_has_the_chains_of_one_fit() {
    let project = Project::new(&[]);
    let chains = || {
        let entries = std::fs::read_dir(project.path("draws/cmdstan")).unwrap();
        entries.count()
    };
    project.run(&["fit", "config.json", "--quiet"], 0);
    let export = ["export", "out", "--cmdstan", "--output", "draws"];
    project.run(&export, 0);
    assert_eq!(chains(), 2);
    let (_, stderr) = project.run(&export, 2);
    assert!(stderr.contains("draws_1.csv already exists"), "{stderr}");
    let one = ["--set", "sampler.chains=1", "--force", "--quiet"];
    project.run(&[&["fit", "config.json"][..], &one].concat(), 0);
    project.run(&[&export[..], &["--force"]].concat(), 0);
    assert_eq!(chains(), 1);
    let copied = std::fs::read(project.path("draws/cmdstan/draws_1.csv")).unwrap();
    assert_eq!(
        copied,
        std::fs::read(project.path("out/draws_1.csv")).unwrap()
    );
}
