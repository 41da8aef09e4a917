//! Survey weights on the command line: what they change, what they do not, and what is said of them.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Project, column};

const ROWS: &str = "y,x,w,one,three,stratum\n1.1,0.1,2,1,3,n\n2.1,1.2,0.5,1,3,n\n0.4,0.2,1,1,3,s\n3.9,2.8,1.5,1,3,s\n\
                    2.0,1.1,1,1,3,n\n1.2,0.3,3,1,3,s\n2.9,2.2,1,1,3,n\n0.7,0.2,0.2,1,3,s\n5.0,3.9,1,1,3,n\n3.1,4.2,1,1,3,s\n";

fn project(weights: Value) -> Project {
    let project = Project::new(&[
        (
            "data",
            json!({"file": "rows.csv", "formula": "y ~ x", "weights": weights, "strata": "stratum"}),
        ),
        ("permutation.update", json!({"name": "active_set"})),
        ("sampler.chains", json!(2)),
        ("sampler.warmup", json!(100)),
        ("sampler.draws", json!(200)),
    ]);
    project.write("rows.csv", ROWS);
    project
}

fn draws(weights: Value) -> Vec<String> {
    let project = project(weights);
    project.run(&["fit", "config.json", "--quiet"], 0);
    project.draws("out")
}

/// Weights of 1 are none, and so are equal weights of mean one.
#[test]
fn weights_of_one_give_the_same_draws_as_none() {
    let none = draws(Value::Null);
    assert_eq!(none, draws(json!("one")));
    let mean_one = json!({"column": "three", "scale": "mean_one", "with": "response"});
    assert_eq!(none, draws(mean_one));
    assert_ne!(none, draws(json!("w")));
}

#[test]
fn a_weighted_fit_says_what_its_weights_do() {
    let project = project(json!({"column": "w", "with": "response"}));
    let (said, _) = project.run(&["check", "config.json"], 0);
    assert!(
        said.contains("weights  w (move with the response); the 10 rows count as 12.2"),
        "{said}"
    );
    let (_, noted) = project.run(&["fit", "config.json", "--quiet", "--compare"], 0);
    assert!(
        noted.contains("take no survey weights (data.weights)"),
        "{noted}"
    );
    let baselines = fs::read_to_string(project.path("out/baselines.csv")).unwrap();
    assert!(baselines.contains("least_squares,x,"), "{baselines}");
    for method in ["huber", "mixture", "known_rate"] {
        assert!(!baselines.contains(method), "{baselines}");
    }
    let report = fs::read_to_string(project.path("out/report.html")).unwrap();
    let words = "its survey weight in w; when a link changes, the weights move with the response. The weights of the 10 rows sum to \
                 12.20, with an effective sample size of 7.25. Intervals do not know the design of the survey";
    assert!(report.contains(words), "{report}");
    let (_, noted) = project.run(&["export", "out", "--sets", "2"], 0);
    assert!(
        noted.contains("The columns of the survey (w, stratum) moved with the response."),
        "{noted}"
    );
    let completed = fs::read_to_string(project.path("out/export/completed_1.csv")).unwrap();
    let (of_y, rows) = (column(&completed, "y"), column(&completed, "row"));
    let weights = column(&completed, "w");
    let given = column(ROWS, "w");
    for ((y, row), weight) in of_y.iter().zip(&rows).zip(&weights) {
        let row = *row as usize - 1;
        assert_eq!(column(ROWS, "y")[row], *y);
        assert_eq!(given[row], *weight);
    }
}

#[test]
fn a_program_without_weights_is_refused() {
    let project = project(json!("w"));
    let (_, said) = project.run(
        &[
            "check",
            "config.json",
            "--set",
            "model.stan=mean_shift",
            "--set",
            "permutation.update.name=none",
            "--set",
            "model.data={\"k\":2}",
        ],
        2,
    );
    assert!(
        said.contains(
            "which permutation.feedback \"none\", permutation.outside and data.weights need"
        ),
        "{said}"
    );
}
