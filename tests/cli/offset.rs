//! Offsets and audits of blocks on the command line: what they change, and what is said where they cannot be.

use serde_json::{Value, json};

use crate::common::Project;

const ROWS: &str = "visits,x,months,zero,region\n14,0.1,12,0,n\n9,1.2,6,0,n\n5,0.2,12,0,s\n13,2.8,3,0,s\n20,1.1,12,0,n\n\
                    1,0.3,1,0,s\n29,2.2,9,0,n\n7,0.2,6,0,s\n50,3.9,3,0,n\n31,4.2,2,0,s\n";

fn project(model: &str, data: Value, permutation: Value) -> Project {
    let project = Project::new(&[
        ("model", json!({"stan": model})),
        ("data", data),
        ("permutation", permutation),
        ("sampler.chains", json!(2)),
        ("sampler.warmup", json!(100)),
        ("sampler.draws", json!(200)),
    ]);
    project.write("rows.csv", ROWS);
    project
}

fn of_formula(formula: &str) -> Value {
    json!({"file": "rows.csv", "formula": formula})
}

/// The means of predictions, row by row.
fn means(project: &Project, new: &str) -> Vec<f64> {
    project.write("new.csv", new);
    project.run(
        &["predict", "out", "new.csv", "--output", "p.csv", "--force"],
        0,
    );
    let text = std::fs::read_to_string(project.path("p.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let lower = header.len() - 2;
    lines
        .map(|line| line.split(',').nth(lower).unwrap().parse().unwrap())
        .collect()
}

/// The interval of the expected count is proportional to the exposure, and an offset of 0 is the model without one.
#[test]
fn an_exposure_multiplies_the_expected_count() {
    let with = project(
        "poisson",
        of_formula("visits ~ x + offset(log(months))"),
        json!({}),
    );
    with.run(&["fit", "config.json", "--quiet"], 0);
    let found = means(&with, "x,months\n1,3\n1,6\n");
    assert!((found[1] / found[0] - 2.0).abs() < 1e-6, "{found:?}");
    let expected = project("poisson", of_formula("visits ~ x"), json!({}));
    expected.run(&["fit", "config.json", "--quiet"], 0);
    assert_ne!(with.draws("out"), expected.draws("out"));
}

#[test]
fn what_cannot_have_an_offset_is_one_sentence() {
    let shifted = json!({"update": {"name": "none"}});
    let data = json!({"file": "rows.csv", "formula": "visits ~ x", "offset": "zero"});
    let project = project("mean_shift", data.clone(), shifted);
    let k = ["check", "config.json", "--set", "model.data={\"k\":2}"];
    let (_, said) = project.run(&k, 2);
    assert!(said.contains("takes no offset"), "{said}");
    for (setting, sentence) in [
        (
            "data.offset=monhts",
            "no column `monhts` (data.offset); did you mean `months`?",
        ),
        ("data.offset=log(zero)", "log(0)"),
        ("data.offset=visits", "visits"),
        ("data.offset=", "`data.offset` is empty"),
    ] {
        let poisson = [
            "check",
            "config.json",
            "--set",
            "model.stan=poisson",
            "--set",
            setting,
        ];
        let (_, said) = project.run(&poisson, 2);
        assert!(said.contains(sentence), "{setting}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    }
}

/// Each block's rate is among the draws, under the block's label.
#[test]
fn rates_of_blocks_are_reported_by_their_labels() {
    let data = json!({"file": "rows.csv", "formula": "visits ~ x", "block": "region"});
    let audits = json!({"n": {"checked": 1000, "wrong": 10}, "s": {"checked": 1000, "wrong": 300}});
    let project = project("linear", data, json!({"audit_by_block": audits}));
    project.run(&["fit", "config.json", "--quiet"], 0);
    let summary = std::fs::read_to_string(project.path("out/summary.csv")).unwrap();
    let mean = |quantity: &str, label: &str| -> f64 {
        let line = summary
            .lines()
            .find(|line| line.starts_with(&format!("{quantity},")));
        let line = line.unwrap_or_else(|| panic!("{summary}"));
        assert!(line.contains(label), "{line}");
        line.split(',').nth(1).unwrap().parse().unwrap()
    };
    let (north, south) = (mean("rate.1", "in n"), mean("rate.2", "in s"));
    assert!((north - 0.01).abs() < 0.005, "{north}");
    assert!((south - 0.3).abs() < 0.03, "{south}");
    let all = mean("mismatch_rate", "");
    assert!((all - 0.5 * (north + south)).abs() < 1e-6, "{all}");
}
