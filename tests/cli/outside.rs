//! Responses from outside the file, and rates of wrong links that depend on covariates, by the binary.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::Project;
use serde_json::json;

fn summary(folder: &Path) -> BTreeMap<String, (f64, String)> {
    let mut reader = csv::Reader::from_path(folder.join("summary.csv")).unwrap();
    let records = reader.records().map(Result::unwrap);
    records
        .map(|record| {
            let label = record[record.len() - 1].to_string();
            (record[0].to_string(), (record[1].parse().unwrap(), label))
        })
        .collect()
}

#[test]
fn responses_from_outside_are_found() {
    let project = Project::new(&[]);
    let simulate = "simulate --design general --n 120 --predictors 1 --sigma 0.01 --mislinked 0.25 --outside 0.8 --output data";
    let (said, _) = project.run(&simulate.split(' ').collect::<Vec<_>>(), 0);
    assert!(
        said.contains("30 of them mislinked, 24 of these to responses from outside"),
        "{said}"
    );
    let settings = [
        "--set",
        "sampler.warmup=300",
        "--set",
        "sampler.draws=200",
        "--set",
        "sampler.chains=2",
    ];
    let fit = [&["fit", "data/config.json", "--quiet"], &settings[..]].concat();
    project.run(&fit, 0);
    let folder = project.path("data/fit");
    let found = summary(&folder);
    assert!((found["n_outside"].0 - 24.0).abs() < 8.0, "{found:?}");
    assert!((found["n_moved"].0 - 30.0).abs() < 6.0, "{found:?}");
    assert!((found["beta.1"].0 - 1.0).abs() < 0.02, "{found:?}");
    assert!(found["outside_share"].0 > 0.5, "{found:?}");
    let truth = fs::read_to_string(project.path("data/truth.json")).unwrap();
    let truth: serde_json::Value = serde_json::from_str(&truth).unwrap();
    let mut reader = csv::Reader::from_path(folder.join("rows.csv")).unwrap();
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let probable = |row: &&BTreeMap<String, String>| row["p_outside"].parse::<f64>().unwrap() > 0.5;
    let is_outside = |row: &&BTreeMap<String, String>| {
        let number: usize = row["row"].parse().unwrap();
        truth["linked_to"][number - 1] == 0
    };
    let probable: Vec<_> = rows.iter().filter(probable).collect();
    assert!(probable.len() >= 12, "{}", probable.len());
    let right = probable.iter().copied().filter(is_outside).count();
    assert!(
        right * 10 >= probable.len() * 7,
        "{right} of {}",
        probable.len()
    );
    let links = fs::read_to_string(folder.join("links_1.csv")).unwrap();
    assert!(links.lines().any(|line| line.ends_with(",0")));
    let report = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(report.contains("P(outside)") && report.contains("belong to no row of the file"));
    let (_, refused) = project.run(&["export", "data/fit"], 2);
    assert!(
        refused.contains("responses may come from outside the file"),
        "{refused}"
    );
    // The saved files alone give the same report and the same draws.
    project.run(&["report", "data/fit"], 0);
    let again = [
        &[
            "fit",
            "data/fit/config.json",
            "--quiet",
            "--set",
            "output=again",
        ],
        &settings[..],
    ]
    .concat();
    project.run(&again, 0);
    let written =
        |folder: &str| fs::read_to_string(project.path(folder).join("links_2.csv")).unwrap();
    assert_eq!(written("data/fit"), written("data/fit/again"));
}

#[test]
fn rates_follow_their_covariates() {
    let project = Project::new(&[]);
    // Rows of the source "b" are linked to the next one of them.
    let mut text = String::from("x,distance,source,y\n");
    let value = |k: usize| ((k * 37) % 101) as f64 / 10.0;
    for k in 0..120 {
        let (source, of) = match k % 3 {
            0 => ("b", (k + 3) % 120),
            _ => ("a", k),
        };
        let error = 0.1 * ((k * 53) % 17) as f64 / 17.0;
        let distance = ((k * 29) % 13) as f64;
        writeln!(
            text,
            "{},{distance},{source},{}",
            value(k),
            1.0 + 2.0 * value(of) + error
        )
        .unwrap();
    }
    project.write("data.csv", &text);
    let permutation = json!({"rate_formula": "~ distance + source"});
    project.configure(&[("permutation", permutation)]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let found = summary(&project.path("out"));
    assert_eq!(found["rate.2"].1, "log odds of a wrong link ~ distance");
    assert_eq!(found["rate.3"].1, "log odds of a wrong link ~ source[b]");
    assert!(found["rate.3"].0 > 2.0, "{found:?}");
    assert!(found["rate.2"].0.abs() < 0.5, "{found:?}");
    assert!((found["mismatch_rate"].0 - 0.33).abs() < 0.1, "{found:?}");
    let (said, _) = project.run(&["check", "config.json"], 0);
    assert!(
        said.contains("rates    of wrong links depend on distance, source[b]"),
        "{said}"
    );
    for (formula, says) in [
        ("~ distanc", "did you mean `distance`?"),
        (
            "~ distance + I(2 * distance + 1)",
            "data.csv: `I(2 * distance + 1)` is a linear combination of `distance` and `(Intercept)`, so their coefficients cannot be told apart; remove one of these columns from permutation.rate_formula",
        ),
        (
            "~ source + y",
            "permutation.rate_formula has `y`, which is the response: it moves when a link changes, so remove it from one of them",
        ),
        (
            "~ I(0 * distance)",
            "`I(0 * distance)` (permutation.rate_formula) is 0 in every row; remove it",
        ),
        (
            "~ I(1e200 * distance)",
            "the largest value of `I(1e200 * distance)` (permutation.rate_formula) is 1.2e201; choose a unit",
        ),
    ] {
        let set = format!("permutation.rate_formula={formula}");
        let (_, refused) = project.run(&["check", "config.json", "--set", &set], 2);
        assert!(
            refused.contains("permutation.rate_formula") && refused.contains(says),
            "{refused}"
        );
        assert_eq!(refused.lines().count(), 1, "{refused}");
    }
}

/// A survey of 60 people whose every third link is wrong: these belong to register rows that nobody is linked to.
fn two_files(project: &Project) {
    let x = |k: usize| ((k * 37) % 101) as f64 / 10.0;
    let mut survey = String::from("person,y\n");
    for k in 0..60 {
        let of = if k % 3 == 0 { 60 + k / 3 } else { k };
        let error = 0.1 * ((k * 53) % 17) as f64 / 17.0;
        writeln!(survey, "p{k},{}", 1.0 + 2.0 * x(of) + error).unwrap();
    }
    let register = (0..100).map(|k| format!("p{k},{}\n", x(k)));
    let register: String = register.collect();
    project.write("survey.csv", &survey);
    project.write("register.csv", &format!("person,x\n{register}"));
    let data = json!({"left": "survey.csv", "right": "register.csv", "links": "person", "response": "y",
                      "predictors": ["x"], "id": "person", "unlinked": "places"});
    let sampler = json!({"chains": 2, "warmup": 300, "draws": 200, "seed": 1});
    project.configure(&[
        ("data", data),
        ("sampler", sampler),
        ("permutation", json!({})),
    ]);
}

#[test]
fn unlinked_rows_are_found_as_places() {
    let project = Project::new(&[]);
    two_files(&project);
    let (said, _) = project.run(&["check", "config.json"], 0);
    assert!(
        said.contains("places   40 unlinked rows are places where a response may belong"),
        "{said}"
    );
    project.run(&["fit", "config.json", "--quiet", "--compare"], 0);
    let folder = project.path("out");
    let found = summary(&folder);
    assert!((found["beta.2"].0 - 2.0).abs() < 0.02, "{found:?}");
    assert!((found["n_moved"].0 - 20.0).abs() < 2.0, "{found:?}");
    assert!(found["n_outside"].0 < 6.0, "{found:?}");
    let mut reader = csv::Reader::from_path(folder.join("rows.csv")).unwrap();
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 60);
    let is_placed = |k: &usize| {
        let (row, of) = (&rows[*k], 60 + k / 3);
        // Places are numbered behind the 60 rows of the survey by their row of the register.
        row["best_link"] == (60 + of + 1).to_string() && row["best_link_id"] == format!("p{of}")
    };
    let placed = (0..60).step_by(3).filter(is_placed).count();
    assert!(placed >= 15, "{placed} of 20");
    let fitted: f64 = rows[0]["fitted_best"].parse().unwrap();
    let response: f64 = rows[0]["response"].parse().unwrap();
    assert!((fitted - response).abs() < 0.3, "{fitted} and {response}");
    let report = fs::read_to_string(folder.join("report.html")).unwrap();
    for part in [
        "40 unlinked rows of the right file were places",
        "(unlinked, p60)",
        "other rows and unlinked ones",
    ] {
        assert!(report.contains(part), "{part}");
    }
    // From the saved files alone.
    project.run(&["report", "out"], 0);
    project.run(&["summary", "out"], 0);
    let (_, refused) = project.run(&["export", "out"], 2);
    assert!(refused.contains("may come from outside"), "{refused}");
    project.write("new.csv", "x\n3\n");
    let (predicted, _) = project.run(&["predict", "out", "new.csv"], 0);
    assert!(predicted.contains("7.0"), "{predicted}");
    project.run(
        &["fit", "out/config.json", "--quiet", "--set", "output=again"],
        0,
    );
    let links =
        |folder: &str| fs::read_to_string(project.path(folder).join("links_2.csv")).unwrap();
    assert_eq!(links("out"), links("out/again"));
}

#[test]
fn a_given_law_of_responses_from_outside_is_used() {
    let project = Project::new(&[]);
    two_files(&project);
    // Were responses from outside spread so widely, none would come from there; so narrowly and far away, neither.
    let outside = |response: &str| {
        let set = format!("permutation.outside={{\"response\":{response}}}");
        let fit = [
            "fit",
            "config.json",
            "--quiet",
            "--force",
            "--set",
            "data.unlinked=leave_out",
            "--set",
            &set,
        ];
        project.run(&fit, 0);
        summary(&project.path("out"))["n_outside"].0
    };
    let near = outside(r#"{"mean": 11, "sd": 6}"#);
    let far = outside(r#"{"mean": 1e6, "sd": 1}"#);
    assert!(near > 10.0, "{near}");
    assert!(far < 0.5, "{far}");
    let set = r#"permutation.outside={"response":{"mean":1}}"#;
    let (_, refused) = project.run(&["check", "config.json", "--set", set], 2);
    assert!(
        refused.contains("permutation.outside.response.sd"),
        "{refused}"
    );
}
