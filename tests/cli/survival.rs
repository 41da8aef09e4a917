//! Models of times that may be censored.

use std::fs;

use crate::common::page::try_page;
use crate::common::{Project, column};
use serde_json::json;

#[test]
fn the_page_on_times_is_true() {
    let num_run = try_page("examples/times.md");
    assert!(num_run >= 5, "{num_run}");
}

/// Forty of 200 patients have another one's time and event. The coefficients come closer to those of the right file than the links as
/// they are, with either program.
#[test]
fn times_and_events_move_together() {
    let project = Project::new(&[]);
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/configs/data");
    for model in ["weibull_survival", "log_normal_survival"] {
        let fit = |file: &str, update: &str| {
            let output = format!("{model}_{file}_{update}");
            let config = json!({
                "model": {"stan": model},
                "data": {"file": format!("{data}/{file}.csv"), "formula": "Surv(months, died) ~ age + treated", "id": "patient"},
                "permutation": {"update": {"name": update}},
                "sampler": {"chains": 2, "warmup": 500, "draws": 500, "seed": 3},
                "output": output,
            });
            project.write("fit.json", &config.to_string());
            project.run(&["fit", "fit.json", "--quiet"], 0);
            let draws = project.draws(&output);
            let mean = |name: &str| {
                let values: Vec<f64> = draws.iter().flat_map(|chain| column(chain, name)).collect();
                values.iter().sum::<f64>() / values.len() as f64
            };
            [mean("beta.2"), mean("beta.3")]
        };
        let right = fit("patients", "none");
        let as_linked = fit("patients_mislinked", "none");
        let relinked = fit("patients_mislinked", "active_set");
        for k in 0..2 {
            let (far, near) = (
                (as_linked[k] - right[k]).abs(),
                (relinked[k] - right[k]).abs(),
            );
            assert!(
                near < 0.7 * far,
                "{model}: {right:?} {as_linked:?} {relinked:?}"
            );
        }
        let links = fs::read_to_string(project.path(&format!(
            "{model}_patients_mislinked_active_set/links_1.csv"
        )));
        assert!(links.unwrap().lines().count() > 100);
    }
}

#[test]
fn mistakes_are_one_sentence() {
    let project = Project::new(&[
        ("model", json!({"stan": "weibull_survival"})),
        (
            "data",
            json!({"file": "t.csv", "formula": "Surv(months, died) ~ x"}),
        ),
    ]);
    project.write(
        "t.csv",
        "months,died,x\n3,1,0.5\n4,0,0.7\n2,2,0.1\n5,1,0.4\n",
    );
    for (formula, sentence) in [
        (
            "Surv(months,died)~x",
            "t.csv, row 3: `died` is 2; write 1 where the event was seen at the time, and 0 where the time is censored",
        ),
        (
            "months~x",
            "data.formula has the response `months`, but a model of times needs two: the time, and 1 where the event was seen then or 0",
        ),
        (
            "Surv(died,months)~x",
            "t.csv, row 1: `months` is 3; write 1 where the event was seen at the time, and 0 where the time is censored",
        ),
    ] {
        let (_, said) = project.run(
            &[
                "check",
                "config.json",
                "--set",
                &format!("data.formula={formula}"),
            ],
            2,
        );
        assert!(said.contains(sentence), "{formula}: {said}");
    }
    // Times of which none is censored are a file like any other; without any event there is nothing to fit.
    let file = |died| {
        let lines = [(3, 5), (4, 7), (2, 1), (5, 4), (9, 2)];
        let lines = lines.map(|(months, x)| format!("{months},{died},{x}\n"));
        project.write("t.csv", &format!("months,died,x\n{}", lines.concat()));
    };
    file(1);
    project.run(&["check", "config.json"], 0);
    file(0);
    let (_, said) = project.run(&["check", "config.json"], 2);
    let sentence = "`died` (data.formula) is 0 in every row; choose a column that is 1 where the event was seen";
    assert!(said.contains(sentence), "{said}");
}

/// Simulated times are fitted by the config beside them, and new times are predicted with the interval of their mean.
#[test]
fn simulated_times_are_fitted_and_predicted() {
    let project = Project::new(&[]);
    let simulate = "simulate --design general --n 60 --predictors 1 --intercept 1 --times weibull --shape 2 --censored 0.25 \
                    --mislinked 0.1 --seed 5 --output sim";
    let words: Vec<&str> = simulate.split_whitespace().collect();
    project.run(&words, 0);
    let data = fs::read_to_string(project.path("sim/data.csv")).unwrap();
    let censored = column(&data, "event");
    assert_eq!(censored.iter().filter(|event| **event == 0.0).count(), 15);
    let truth = fs::read_to_string(project.path("sim/truth.json")).unwrap();
    assert!(truth.contains("\"shape\": 2.0"), "{truth}");
    let fit = "fit sim/config.json --quiet --set sampler.chains=1 --set sampler.warmup=200 --set sampler.draws=200 --set output=../fit";
    let words: Vec<&str> = fit.split_whitespace().collect();
    project.run(&words, 0);
    project.write("new.csv", "x1\n0\n1.5\n");
    project.run(
        &[
            "predict", "fit", "new.csv", "--level", "0.8", "--output", "p.csv",
        ],
        0,
    );
    let predicted = fs::read_to_string(project.path("p.csv")).unwrap();
    let header = "row,mean,sd,10%,50%,90%,mean_10%,mean_90%";
    assert_eq!(predicted.lines().next(), Some(header));
    let [low, high] = ["mean_10%", "mean_90%"].map(|name| column(&predicted, name));
    let all = column(&predicted, "10%");
    for row in 0..2 {
        assert!(
            0.0 < all[row] && all[row] < low[row] && low[row] < high[row],
            "{predicted}"
        );
    }
    // A later time at a larger predictor, whose coefficient is 1.
    assert!(low[1] > high[0], "{predicted}");
}
