//! Fits without feedback against the row mixture, enumerated at n = 6: moved sets, parameters, and where moved rows belong.
//!
//! Means of the draws are compared by z-tests with MCSEs from `unshuffle::posterior::diagnostics`. The error rate of the whole file
//! is declared as 1e-3 and shared by the tests of 5 right runs, at most 60 each (Bonferroni): 3.3e-6 a test, two-sided.

use std::fs;
use std::path::Path;

use crate::row_mixture::{Law, Posterior, Sees};
use crate::study::{Draws, sampled};
use serde_json::{Value, json};
use unshuffle::hmc::LogDensity;
use unshuffle::internals::config::{self, Config};
use unshuffle::internals::fit::{Prepared, prepare};
use unshuffle::internals::model::ThetaGivenPi;
use unshuffle::internals::model::stan::shipped_names;
use unshuffle::internals::numerics::mean;
use unshuffle::internals::posterior::mcse_mean;

/// The 1 - 1.65e-6 quantile of the normal distribution.
const LIMIT: f64 = 4.652;
const MOST_TESTS: usize = 60;
/// Rows 2, 3 and 5 look like a cycle of three.
const X: [f64; 6] = [-1.3, -0.6, 0.2, 0.7, 1.1, 1.9];
const Y: [f64; 6] = [-1.6, 1.8, 2.7, 1.9, -0.9, 3.9];
const ZERO_ONE: [f64; 6] = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0];

fn flat_prior() -> Value {
    json!({"name": "beta_binomial", "a": 1, "b": 1, "no_error": 0})
}

fn program(name: &str) -> String {
    format!("{}/tests/stan/{name}.stan", env!("CARGO_MANIFEST_DIR"))
}

fn parsed(folder: &Path, y: &[f64], settings: &Value) -> Config {
    // z is a second response, for the programs that take several; `event` goes with a time.
    let rows = X.iter().zip(y).map(|(x, y)| {
        let (group, event) = (x.abs() > 1.0, u8::from(*x > 0.0));
        format!("{x},{y},{},{group},{event}\n", (3.0 * x).sin())
    });
    fs::write(
        folder.join("data.csv"),
        format!("x,y,z,group,event\n{}", rows.collect::<String>()),
    )
    .unwrap();
    let mut config = json!({
        "data": {"file": "data.csv", "response": "y", "predictors": ["x"], "intercept": false},
        // The prior that tests/support/row_mixture.rs enumerates.
        "permutation": {"feedback": "none", "prior": flat_prior()},
        "sampler": {"chains": 4, "warmup": 1000, "draws": 15000, "seed": 1, "target_accept": 0.95},
        "output": "out"
    });
    for (key, value) in settings.as_object().unwrap() {
        config[key] = value.clone();
    }
    let file = folder.join("fit.json");
    config::parse(&config.to_string(), &file, &[]).unwrap()
}

fn prepared(folder: &Path, y: &[f64], settings: &Value) -> Prepared {
    let config = parsed(folder, y, settings);
    prepare(config, &crate::study::compiler()).unwrap_or_else(|error| panic!("{error}"))
}

fn fit(y: &[f64], settings: Value) -> Draws {
    let folder = tempfile::tempdir().unwrap();
    sampled(&prepared(folder.path(), y, &settings))
}

fn moved_set(pi: &[usize]) -> usize {
    let moved = pi.iter().enumerate().filter(|(i, j)| i != *j);
    moved.map(|(i, _)| 1 << i).sum()
}

impl Draws {
    /// The largest z of all comparisons, with what was compared.
    fn worst(&self, exact: &Posterior) -> (f64, String) {
        let mut tests = vec![score("E beta", exact.beta, self.column("beta.1"))];
        if let Some(variance) = exact.variance {
            tests.push(score("E sigma2", variance, self.column("sigma2")));
        }
        let mut probability = |what: String, p: f64, event: &dyn Fn(&[usize]) -> bool| {
            // Rarer events are too few among the draws for a normal approximation.
            if p > 0.002 {
                tests.push(score(&what, p, self.indicator(event)));
            }
        };
        for d in 0..=X.len() {
            let p = exact.set_probability(|set| set.count_ones() as usize == d);
            probability(format!("P(d = {d})"), p, &|pi| {
                moved_set(pi).count_ones() as usize == d
            });
        }
        for row in 0..X.len() {
            let p = exact.set_probability(|set| set >> row & 1 == 1);
            probability(format!("P(row {} moved)", row + 1), p, &|pi| pi[row] != row);
        }
        for set in exact.most_probable_sets(15) {
            let p = exact.set_probability(|other| other == set);
            probability(format!("P(set {set:b})"), p, &|pi| moved_set(pi) == set);
        }
        for (pi, p) in exact.most_probable_links(25) {
            probability(format!("P(links {pi:?})"), p, &|found| found == pi);
        }
        assert!((10..=MOST_TESTS).contains(&tests.len()), "{}", tests.len());
        assert_eq!(
            self.column("n_moved__"),
            self.links
                .iter()
                .map(|chain| chain
                    .iter()
                    .map(|pi| moved_set(pi).count_ones().into())
                    .collect())
                .collect::<Vec<Vec<f64>>>()
        );
        let worst = tests
            .into_iter()
            .max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        worst.unwrap()
    }

    fn accepted(&self, exact: &Posterior) {
        let (z, what) = self.worst(exact);
        println!("worst of the tests: {what}, z = {z:.2}");
        assert!(z.abs() < LIMIT, "{what}: z = {z:.2}");
    }

    fn rejected(&self, exact: &Posterior) {
        let (z, what) = self.worst(exact);
        println!("planted error found by: {what}, z = {z:.2}");
        assert!(z.abs() > LIMIT, "not found; worst {what}: z = {z:.2}");
    }
}

fn score(what: &str, exact: f64, draws: Vec<Vec<f64>>) -> (f64, String) {
    let chains: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
    let found = mean(&draws.concat()).unwrap();
    // Draws that never vary have no MCSE: then no event of an exact probability above 0.002 occurred.
    let mcse = mcse_mean(&chains).unwrap_or(0.0);
    let what = format!("{what}: exact {exact:.4}, found {found:.4}");
    ((found - exact) / mcse, what)
}

fn linear(alpha: f64, sees: Sees) -> Posterior {
    Posterior::new(Law::Linear, &X, &Y, alpha, sees)
}

fn linear_settings() -> Value {
    json!({"model": {"stan": program("linear_weighted")}})
}

#[test]
fn linear_without_feedback_is_the_row_mixture() {
    let draws = fit(&Y, linear_settings());
    draws.accepted(&linear(1.0, Sees::RowsThatStay));
    // What the chain would sample if the weights were forgotten, or moved rows were seen at their links.
    draws.rejected(&linear(1.0, Sees::EveryRow));
    draws.rejected(&linear(1.0, Sees::MovedRowsToo));
}

#[test]
fn a_tempered_program_with_its_own_log_lik_is_the_tempered_row_mixture() {
    let mut settings = linear_settings();
    settings["model"]["family"] = json!({"name": "stan"});
    settings["temperature"] = json!(0.5);
    settings["sampler"] = json!({"draws": 15000, "seed": 2, "standardise": true});
    let draws = fit(&Y, settings);
    draws.accepted(&linear(0.5, Sees::RowsThatStay));
    draws.rejected(&linear(1.0, Sees::RowsThatStay));
}

#[test]
fn logistic_without_feedback_is_the_row_mixture() {
    let model = json!({"stan": program("logistic_weighted"), "family": {"name": "logistic"}});
    let exact = |sees| Posterior::new(Law::Logistic, &X, &ZERO_ONE, 1.0, sees);
    let draws = fit(&ZERO_ONE, json!({"model": model}));
    draws.accepted(&exact(Sees::RowsThatStay));
    draws.rejected(&exact(Sees::EveryRow));
    draws.rejected(&exact(Sees::MovedRowsToo));
}

/// The same enumeration, of the other posterior: so its rejection above is no mistake of the enumeration.
#[test]
fn with_feedback_the_joint_posterior_is_sampled() {
    let mut settings = linear_settings();
    settings["permutation"] = json!({"feedback": "full", "prior": flat_prior()});
    let draws = fit(&Y, settings);
    draws.accepted(&linear(1.0, Sees::MovedRowsToo));
    draws.rejected(&linear(1.0, Sees::RowsThatStay));
}

/// Six responses that every shipped model can have.
const ANY: [f64; 6] = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0];

#[test]
fn every_shipped_program_weighs_its_rows() {
    for name in shipped_names().into_iter().filter(|n| *n != "mean_shift") {
        let folder = tempfile::tempdir().unwrap();
        let y = match name {
            "gamma" | "log_normal" | "weibull_survival" | "log_normal_survival" => {
                ANY.map(|y| y + 0.5)
            }
            _ => ANY,
        };
        let mut settings = json!({"model": {"stan": name}});
        if name == "multivariate" {
            settings["data"] =
                json!({"file": "data.csv", "response": ["y", "z"], "predictors": ["x"]});
        }
        if name.ends_with("_survival") {
            settings["data"] =
                json!({"file": "data.csv", "response": ["y", "event"], "predictors": ["x"]});
        }
        if name == "hierarchical" {
            settings["data"] = json!({"file": "data.csv", "formula": "y ~ x + (1 | group)"});
        }
        // Compares each row's weighted likelihood with the family's own density.
        let weighted = prepared(folder.path(), &y, &settings);
        settings["permutation"] = json!({"feedback": "full", "prior": flat_prior()});
        let plain = prepared(folder.path(), &y, &settings);
        let responses = plain.data.responses();
        let value = |prepared: &Prepared| {
            let mut density = ThetaGivenPi::new(&prepared.model, &responses);
            let place = |k: usize| ((k as f64 + 0.3) * 0.618_033_988_749_895).fract() - 0.5;
            let position: Vec<f64> = (0..density.dim()).map(place).collect();
            let mut values = vec![0.0; density.dim()];
            let value = density.log_density_gradient(&position, &mut values);
            values.push(value.unwrap());
            (values, prepared.model.output_names().to_vec())
        };
        let ((weighted, names), (plain, plain_names)) = (value(&weighted), value(&plain));
        assert_eq!(names, plain_names);
        // stan drops constants of the plain glm functions, so the values themselves may differ by one.
        let gradients = weighted.iter().zip(&plain).take(plain.len() - 1);
        for (found, expected) in gradients {
            let close = (found - expected).abs() < 1e-9 * expected.abs().max(1.0);
            assert!(close, "{name}: {found} {expected}");
        }
    }
}

fn refused(name: &str, program: &str, data: Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), program).unwrap();
    let settings = json!({"model": {"stan": name, "data": data}});
    let config = parsed(folder.path(), &Y, &settings);
    let error = prepare(config, &crate::study::compiler()).err().unwrap();
    let folder = format!("{}/", folder.path().display());
    error.to_string().replace(&folder, "")
}

#[test]
fn programs_that_do_not_weigh_their_rows_are_refused_in_one_sentence() {
    let right = fs::read_to_string(program("linear_weighted")).unwrap();
    let needs = "which permutation.feedback \"none\", permutation.outside and data.weights need: declare `int<lower=0, upper=1> weighted;` in \
                 `data` and plain `vector[weighted * N] weight;` in `parameters`, and multiply the log likelihood of each \
                 row by its weight where `weighted` is 1 (`unshuffle init` writes programs that do); or set \
                 permutation.feedback to \"full\" and permutation.outside to false, and remove data.weights";
    let plain = fs::read_to_string(program("linear_log_lik")).unwrap();
    assert_eq!(
        refused("linear_log_lik.stan", &plain, json!({})),
        format!("linear_log_lik.stan has no weight for each row, {needs}")
    );
    let bounded = right.replace("vector[weighted * N]", "vector<lower=0>[weighted * N]");
    assert_eq!(
        refused("own.stan", &bounded, json!({})),
        format!("own.stan declares `weight` with a constraint, {needs}")
    );
    // The weight of another row, and no weight at all.
    let wrong = fs::read_to_string(program("linear_weighted_log_lik")).unwrap();
    for mistake in [2, 3] {
        let message = refused(
            "linear_weighted_log_lik.stan",
            &wrong,
            json!({ "mistake": mistake }),
        );
        assert!(
            message.starts_with(
                "linear_weighted_log_lik.stan does not multiply the log likelihood of each row by its weight: without "
            ),
            "{message}"
        );
    }
}
