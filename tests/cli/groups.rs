//! Groups: columns of the file in the program's data block, and `(1 + x | g)` in formulas.

use std::fs;

use crate::common::{Project, column};
use serde_json::{Value, json};

const ROWS: &str = "y,x,where,err,when\n1.0,0.1,south,0.5,2001\n2.1,1.2,north,0.6,2002\n0.4,,north,0.5,1990\n3.9,2.8,west,0.7,2003\n\
                    2.0,1.1,,0.5,1991\n1.2,0.3,south,0.5,2004\n2.9,2.2,west,0.4,2005\n0.7,0.2,north,0.5,2006\n";

fn project(model: Value) -> Project {
    let project = Project::new(&[
        ("model", model),
        (
            "data",
            json!({"file": "rows.csv", "formula": "y ~ x - 1", "missing": "drop"}),
        ),
        ("permutation.update", json!({"name": "active_set"})),
    ]);
    project.write("rows.csv", ROWS);
    project
}

fn by_region(entries: Value) -> Value {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stan/by_region.stan");
    json!({"stan": program, "family": {"name": "stan"}, "data": entries})
}

/// Codes count the levels of the rows that are fitted; a missing value drops the row.
#[test]
fn columns_of_the_file_are_entries_of_the_data_block() {
    let entries = json!({"region": {"column": "where"}, "error": {"column": "err"}, "year": {"column": "when"}});
    let project = project(by_region(entries));
    let (said, _) = project.run(&["check", "config.json"], 0);
    assert!(
        said.contains("codes    region: 3 levels, 1 = north, 2 = south, 3 = west"),
        "{said}"
    );
    assert!(
        said.contains("dropped  2 rows with missing values: x (1), where (1)"),
        "{said}"
    );
    project.run(&["fit", "config.json", "--quiet"], 0);
    let draws = project.draws("out");
    assert!(draws[0].lines().next().unwrap().contains("level.3,"));
    // The years of the dropped rows, 1990 and 1991, did not reach the program.
    assert!(
        column(&draws[0], "first_year")
            .iter()
            .all(|year| *year == 2001.0)
    );
    let saved = fs::read_to_string(project.path("out/config.json")).unwrap();
    let saved: Value = serde_json::from_str(&saved).unwrap();
    assert_eq!(saved["model"]["data"]["region"]["column"], "where");
    // Numbers as categories.
    let years = r#"model.data.region={"column":"C(when)"}"#;
    let (said, _) = project.run(&["check", "config.json", "--set", years], 0);
    assert!(
        said.contains("codes    region: 7 levels, 1 = 1991, 2 = 2001"),
        "{said}"
    );
    for (setting, sentence) in [
        (
            r#"model.data.region={"column":"were"}"#,
            "no column `were` (model.data); did you mean `where`?",
        ),
        (
            r#"model.data.region={"column":3}"#,
            r#"`model.data.region` is {"column":3}; write {"column": "region"} with a column of the data, or C(region) for one whose numbers are categories"#,
        ),
    ] {
        let (_, said) = project.run(&["check", "config.json", "--set", setting], 2);
        assert!(said.contains(sentence), "{said}");
    }
}

#[test]
fn groups_and_the_program_must_fit() {
    let project = project(json!({"stan": "linear"}));
    let by_group = "data.formula=y~x+(1|where)";
    let (_, said) = project.run(&["check", "config.json", "--set", by_group], 2);
    assert!(
        said.contains("the formula has terms by group of `where`, which linear.stan does not have: choose \"stan\": \"hierarchical\""),
        "{said}"
    );
    let hierarchical = ["--set", "model.stan=hierarchical"];
    let (_, said) = project.run(&[&["check", "config.json"], &hierarchical[..]].concat(), 2);
    assert!(
        said.contains(
            "hierarchical.stan needs a term by group in data.formula, such as (1 | region)"
        ),
        "{said}"
    );
    let (said, _) = project.run(
        &[
            &["check", "config.json", "--set", by_group],
            &hierarchical[..],
        ]
        .concat(),
        0,
    );
    assert!(
        said.contains("codes    group: 3 levels, 1 = north, 2 = south, 3 = west"),
        "{said}"
    );
    assert!(
        said.contains("standard deviation of (Intercept) between groups of where: half-normal(0, "),
        "{said}"
    );
    let (_, said) = project.run(
        &[
            &["check", "config.json", "--set", "data.formula=y~x+(1|when)"],
            &hierarchical[..],
        ]
        .concat(),
        2,
    );
    assert!(
        said.contains("`when` has 7 groups in 7 rows; terms by group need at least two groups"),
        "{said}"
    );
}

/// Ten schools whose slopes differ, and a fifth of the scores at wrong pupils. The slopes of the schools are those of the file with
/// its right links by more than those of the file as linked, and most wrong links are found.
#[test]
fn wrong_links_are_found_though_groups_differ() {
    let project = Project::new(&[]);
    let configs = concat!(env!("CARGO_MANIFEST_DIR"), "/configs");
    let slopes = |file: &str, update: &str| {
        let config = json!({
            "model": {"stan": "hierarchical"},
            "data": {
                "file": format!("{configs}/data/{file}.csv"), "id": "pupil",
                "formula": "score ~ hours + (1 + hours | school)",
            },
            "permutation": {"update": {"name": update}},
            "sampler": {"chains": 2, "warmup": 500, "draws": 500, "seed": 3},
            "output": format!("out_{file}_{update}"),
        });
        project.write("fit.json", &config.to_string());
        project.run(&["fit", "fit.json", "--quiet"], 0);
        let draws = project.draws(&format!("out_{file}_{update}"));
        let mean = |name: &str| {
            let values: Vec<f64> = draws.iter().flat_map(|chain| column(chain, name)).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        (1..=10)
            .map(|school| mean("beta.2") + mean(&format!("u.2.{school}")))
            .collect::<Vec<f64>>()
    };
    let right = slopes("schools", "none");
    let distance = |other: Vec<f64>| {
        let squares = right.iter().zip(other).map(|(a, b)| (a - b).powi(2));
        (squares.sum::<f64>() / 10.0).sqrt()
    };
    let as_linked = distance(slopes("schools_mislinked", "none"));
    let relinked = distance(slopes("schools_mislinked", "active_set"));
    assert!(relinked < 0.5 * as_linked, "{relinked} against {as_linked}");
    let truth = fs::read_to_string(format!("{configs}/data/schools_truth.json")).unwrap();
    let truth: Value = serde_json::from_str(&truth).unwrap();
    let rows =
        fs::read_to_string(project.path("out_schools_mislinked_active_set/rows.csv")).unwrap();
    let p_moved: Vec<f64> = column(&rows, "p_moved");
    let moved = (1..).zip(truth["linked_to"].as_array().unwrap());
    let moved: Vec<usize> = moved
        .filter(|(row, to)| json!(row) != **to)
        .map(|(row, _)| row)
        .collect();
    let found = moved.iter().filter(|row| p_moved[**row - 1] > 0.5).count();
    assert_eq!(moved.len(), 24);
    assert!(found >= 16, "{found}");
}

/// A school of the fit is predicted with its own coefficients; one that the fit did not have, less surely.
#[test]
fn groups_are_predicted() {
    let configs = concat!(env!("CARGO_MANIFEST_DIR"), "/configs");
    let project = Project::new(&[
        ("model", json!({"stan": "hierarchical"})),
        (
            "data",
            json!({"file": format!("{configs}/data/schools_mislinked.csv"), "formula": "score ~ hours + (1 + hours | school)"}),
        ),
        ("permutation.update", json!({"name": "none"})),
        ("sampler.chains", json!(1)),
        ("sampler.warmup", json!(300)),
        ("sampler.draws", json!(300)),
    ]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let data = fs::read_to_string(format!("{configs}/data/schools_mislinked.csv")).unwrap();
    let names: Vec<&str> = data.lines().next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let first: Vec<&str> = data.lines().nth(1).unwrap().split(',').collect();
    let (school, hours) = (first[place("school")], first[place("hours")]);
    project.write(
        "new.csv",
        &format!("hours,school\n{hours},{school}\n{hours},nowhere\n"),
    );
    project.run(&["predict", "out", "new.csv", "--output", "p.csv"], 0);
    let predicted = fs::read_to_string(project.path("p.csv")).unwrap();
    let width = |low: &str, high: &str| -> Vec<f64> {
        let (low, high) = (column(&predicted, low), column(&predicted, high));
        low.iter()
            .zip(&high)
            .map(|(low, high)| high - low)
            .collect()
    };
    let (mean, response) = (width("mean_5%", "mean_95%"), width("5%", "95%"));
    assert!(mean[1] > 1.5 * mean[0], "{predicted}");
    assert!(
        response[0] > mean[0] && response[1] > mean[1],
        "{predicted}"
    );
}
