//! `unshuffle adopt` on ordinary Stan regressions: the adopted ones pass `check` and fit, the hopeless are told why.

use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::page::try_page;
use crate::common::{Project, column, compiler, rows};
use bridgestan::{Model, open_library};
use serde_json::{Value, json};
use unshuffle::internals::model::stan::StanSource;

fn original(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/adopt");
    folder.join(format!("{name}.stan"))
}

/// One file for all programs: a predictor, a positive one, and a response of every kind.
fn data() -> String {
    let mut csv = "x,z,y,income,count,yes\n".to_string();
    for (k, (x, y)) in rows().into_iter().enumerate() {
        let (z, income) = (0.5 + (k % 4) as f64, (0.3 * y).exp());
        let count = (0.5 + 0.8 * x).exp().round() + ((k * 7) % 3) as f64;
        let yes = u8::from(y + if k % 5 == 0 { -2.0 } else { 0.5 } > 0.0);
        csv += &format!("{x},{z},{y},{income},{count},{yes}\n");
    }
    csv
}

/// Copies a program into a project and adopts it there; the config is completed with `changes` at JSON pointers.
fn adopted(name: &str, response: &str, changes: &[(&str, Value)]) -> (Project, String) {
    let project = Project::new(&[]);
    project.write("data.csv", &data());
    let text = fs::read(original(name)).unwrap();
    fs::write(project.path("model.stan"), &text).unwrap();
    let args = [
        "adopt",
        "model.stan",
        "--response",
        response,
        "--config",
        "adopted.json",
    ];
    let (stdout, _) = project.run(&args, 0);
    assert_eq!(fs::read(project.path("model.stan")).unwrap(), text);
    let config = fs::read_to_string(project.path("adopted.json")).unwrap();
    let mut config: Value = serde_json::from_str(&config).unwrap();
    for (pointer, value) in [("/data/file", json!("data.csv"))].iter().chain(changes) {
        *config.pointer_mut(pointer).unwrap() = value.clone();
    }
    config["sampler"] = json!({"chains": 1, "warmup": 300, "draws": 300, "seed": 3});
    config["output"] = json!("out");
    project.write("adopted.json", &config.to_string());
    (project, stdout)
}

/// Adopts and checks, which compares the program with its log_lik; returns what `adopt` said.
fn checked(name: &str, response: &str, changes: &[(&str, Value)]) -> (Project, String) {
    let (project, said) = adopted(name, response, changes);
    let (stdout, _) = project.run(&["check", "adopted.json"], 0);
    assert!(
        stdout.ends_with("Everything is ready to fit.\n"),
        "{stdout}"
    );
    (project, said)
}

fn mean_of(project: &Project, name: &str) -> f64 {
    let values = column(&project.draws("out")[0], name);
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_vectorised_normal_is_adopted_under_the_names_that_unshuffle_passes_and_fits() {
    let changes = [
        ("/data/response", json!("y")),
        ("/data/predictors", json!(["x"])),
    ];
    let (project, said) = checked("normal", "wage", &changes);
    for line in [
        "model.stan, line by line:",
        "  line 5: x is called X throughout: unshuffle passes the predictors as X",
        "  line 6: vector[N] wage moved from data to parameters",
        "  line 9: alpha is called alpha0 throughout: unshuffle passes the temperature as alpha",
        "  line 17: wage ~ normal(alpha0 + X * beta, sigma); became target += alpha * normal_lpdf(wage | alpha0 + X * beta, sigma);",
    ] {
        assert!(said.lines().any(|found| found == line), "{line}\n{said}");
    }
    project.run(&["fit", "adopted.json", "--quiet"], 0);
    // The data lie on 1 + 2 x, and none is mislinked.
    assert!((mean_of(&project, "beta.1") - 2.0).abs() < 0.4);
    assert!((mean_of(&project, "alpha0") - 1.0).abs() < 0.6);
}

#[test]
fn a_poisson_regression_is_adopted_in_real_arithmetic_and_fits() {
    let changes = [("/data/response", json!("count"))];
    let (project, _) = checked("poisson", "y", &changes);
    project.run(&["fit", "adopted.json", "--quiet"], 0);
    let slope = mean_of(&project, "b");
    assert!((0.2..1.2).contains(&slope), "{slope}");
}

#[test]
fn a_loop_with_a_local_variable_is_adopted() {
    checked("loop", "y", &[("/model/data/prior_scale", json!(5))]);
}

#[test]
fn a_regression_in_one_call_is_adopted_and_the_native_family_it_names_agrees() {
    let changes = [("/data/predictors", json!(["x", "z"]))];
    let (project, said) = checked("glm", "y", &changes);
    assert!(
        said.contains("model.family may be {\"name\": \"gaussian\"}"),
        "{said}"
    );
    let args = [
        "check",
        "adopted.json",
        "--set",
        "model.family.name=gaussian",
    ];
    project.run(&args, 0);
}

#[test]
fn heavy_tails_around_a_transformed_parameter_are_adopted() {
    checked("student_t", "y", &[("/data/predictors", json!(["x"]))]);
}

#[test]
fn a_positive_response_with_local_variables_and_groups_is_adopted() {
    let region: Vec<usize> = (0..20).map(|k| 1 + k % 3).collect();
    let changes = [
        ("/model/data/J", json!(3)),
        ("/model/data/region", json!(region)),
    ];
    let (_, said) = checked("lognormal", "income", &changes);
    assert!(said.contains("without its bounds"), "{said}");
}

#[test]
fn a_logistic_regression_in_one_call_is_adopted() {
    let changes = [
        ("/data/response", json!("yes")),
        ("/data/predictors", json!(["x", "z"])),
    ];
    checked("logistic", "y", &changes);
}

#[test]
fn the_hopeless_are_refused_in_one_sentence_and_nothing_is_written() {
    let project = Project::new(&[]);
    for (name, sentence) in [
        (
            "autoregressive",
            "line 15: `y` is used 2 times in the model block, but adopt takes one statement for all rows, such as `y ~ normal(mu, sigma);`",
        ),
        (
            "censored",
            "line 15: `normal_lccdf` censors the response, so which formula a row has depends on the response that moves; unshuffle cannot relink censored responses",
        ),
        (
            "mixture",
            "line 14: `log_mix` makes a mixture of the likelihood, which adopt does not take apart; put the likelihood of one row into a function of your own, as docs/models.md shows",
        ),
    ] {
        let file = format!("{name}.stan");
        fs::copy(original(name), project.path(&file)).unwrap();
        let (stdout, stderr) = project.run(&["adopt", &file, "--response", "y"], 2);
        assert_eq!(stdout, "");
        assert_eq!(stderr, format!("error: {file}, {sentence}\n"));
        assert!(!project.path(&format!("{name}_unshuffle.stan")).exists());
    }
}

#[test]
fn a_broken_program_is_told_in_the_words_of_stanc() {
    let project = Project::new(&[]);
    let old = "data { int N; real y[N]; }\nparameters { real a; }\nmodel { y ~ normal(a, 1); }\n";
    project.write("old.stan", old);
    let (_, stderr) = project.run(&["adopt", "old.stan", "--response", "y"], 2);
    assert!(
        stderr.contains("error: old.stan is not a valid Stan program as it is: Syntax error in 'old.stan', line 1"),
        "{stderr}"
    );
    assert!(stderr.contains("array[N] real y;"), "{stderr}");
    // A use of the response that only an integer can have is found in the new program.
    let counts = "data { int N; array[N] int y; }\nparameters { real a; }\nmodel { y ~ poisson(a); }\n\
                  generated quantities { array[N] int z = y; }\n";
    project.write("counts.stan", counts);
    let (_, stderr) = project.run(&["adopt", "counts.stan", "--response", "y"], 2);
    let words = "error: counts_unshuffle.stan would not be valid Stan, so it was not written: Semantic error";
    assert!(stderr.starts_with(words), "{stderr}");
    assert!(!project.path("counts_unshuffle.stan").exists());
}

#[test]
fn files_that_are_there_are_kept_unless_forced_and_the_original_always() {
    let project = Project::new(&[]);
    fs::copy(original("glm"), project.path("glm.stan")).unwrap();
    project.write("glm_unshuffle.stan", "mine");
    let (_, stderr) = project.run(&["adopt", "glm.stan", "--response", "y"], 2);
    let sentence = "error: glm_unshuffle.stan is already there: choose another file, or overwrite it with --force\n";
    assert_eq!(stderr, sentence);
    let args = [
        "adopt",
        "glm.stan",
        "--response",
        "y",
        "--force",
        "--output",
        "./glm.stan",
    ];
    let (_, stderr) = project.run(&args, 2);
    let sentence =
        "error: ./glm.stan is the program to adopt, which stays as it is: choose another file\n";
    assert_eq!(stderr, sentence);
    project.run(&["adopt", "glm.stan", "--response", "y", "--force"], 0);
    assert_ne!(
        fs::read_to_string(project.path("glm_unshuffle.stan")).unwrap(),
        "mine"
    );
}

/// The log densities at a few points of theta, without constants of the response dropped.
fn log_densities(source: &StanSource, data: &Value, behind: &[f64]) -> Vec<f64> {
    let library = open_library(compiler().compile(source).unwrap().library).unwrap();
    let data = CString::new(data.to_string()).unwrap();
    let model = Model::new(&library, Some(data), 1).unwrap();
    let points = [[0.2, -0.4], [1.0, 0.7], [-0.8, 0.3]];
    let density = |theta: &[f64; 2]| {
        let point = [theta.as_slice(), behind].concat();
        model.log_density(&point, false, true).unwrap()
    };
    points.iter().map(density).collect()
}

#[test]
fn at_alpha_one_the_adopted_density_is_the_originals() {
    let (project, _) = adopted("poisson", "y", &[]);
    let x = [0.1, -1.2, 0.7, 2.0, 0.4];
    let y = [1.0, 0.0, 3.0, 7.0, 2.0];
    let counts = y.map(|y: f64| y as i64);
    let before = StanSource::from_file(&original("poisson")).unwrap();
    let before = log_densities(&before, &json!({"N": 5, "x": x, "y": counts}), &[]);
    let after = StanSource::from_file(&project.path("model_unshuffle.stan")).unwrap();
    let columns = x.map(|x| [x]);
    let at = |alpha: f64| {
        let data = json!({"N": 5, "D": 1, "X": columns, "alpha": alpha});
        log_densities(&after, &data, &y)
    };
    for (before, after) in before.iter().zip(at(1.0)) {
        assert!((before - after).abs() < 1e-9, "{before} and {after}");
    }
    let largest = before
        .iter()
        .zip(at(0.5))
        .map(|(before, after)| (before - after).abs());
    assert!(largest.fold(0.0, f64::max) > 1.0, "alpha changes nothing");
}

#[test]
fn the_page_on_models_shows_what_happens() {
    let num_run = try_page("models.md");
    assert!(num_run >= 7, "{num_run} commands");
}
