//! Counts, 0/1 responses and amounts: whole fits against the exact joint posterior at n = 5, native families against the
//! program's own `log_lik`, starts at n = 250, and responses that a family cannot have.
//!
//! Draws are compared by z-tests with MCSEs. The error rate of the right runs is declared as 1e-3 and shared by at most 35
//! tests of each of the eight (Bonferroni): 3.6e-6 a test, two-sided. Planted errors must fail.

use std::fs;
use std::path::Path;

use crate::quadrature::{Law, Posterior};
use crate::study::{Draws, sampled};
use crate::study::{Study, pooled};
use serde_json::{Value, json};
use unshuffle::FitError;
use unshuffle::internals::config::{self, Config};
use unshuffle::internals::fit::{prepare, read_data};
use unshuffle::internals::model::Family;
use unshuffle::internals::numerics::mean;
use unshuffle::internals::posterior::{ChainDraws, mcse_mean};
use unshuffle::internals::study::simulate::{DesignName, Settings, simulate};

/// The 1 - 1.8e-6 quantile of the normal distribution.
const LIMIT: f64 = 4.64;
const MOST_TESTS: usize = 35;
/// All positive: with an x on either side of zero and no intercept, beta has a second mode at reversed links, which chains
/// find too rarely for MCSEs to be true.
pub const X: [f64; 5] = [0.1, 0.5, 0.8, 1.2, 1.7];

/// Responses in which rows 2 and 4 look exchanged.
pub fn response(law: Law) -> [f64; 5] {
    match law {
        Law::Poisson | Law::NegativeBinomial => [1.0, 5.0, 2.0, 1.0, 7.0],
        Law::Logistic => [0.0, 1.0, 0.0, 0.0, 1.0],
        Law::Gamma | Law::LogNormal => [0.9, 3.1, 2.2, 1.4, 5.0],
    }
}

fn name(law: Law) -> &'static str {
    match law {
        Law::Poisson => "poisson",
        Law::Logistic => "logistic",
        Law::NegativeBinomial => "negative_binomial",
        Law::Gamma => "gamma",
        Law::LogNormal => "log_normal",
    }
}

fn parsed(folder: &Path, settings: &Value) -> Config {
    let file = folder.join("fit.json");
    let config = config::parse(&settings.to_string(), &file, &[]);
    config.unwrap_or_else(|error| panic!("{error}"))
}

/// A config and its data in `folder`.
fn project(folder: &Path, y: &[f64], model: Value, others: &Value) -> Config {
    let offset = &others["offset"];
    let rows = X.iter().zip(y).enumerate();
    let rows = rows.map(|(row, (x, y))| format!("{x},{y},{}\n", offset[row]));
    fs::write(
        folder.join("data.csv"),
        format!("x,y,o\n{}", rows.collect::<String>()),
    )
    .unwrap();
    let mut model = model;
    model["priors"] = json!("paper");
    let mut settings = json!({
        "model": model,
        "data": {"file": "data.csv", "response": "y", "predictors": ["x"], "intercept": false},
        "permutation": {"prior": crate::study::flat_rate(), "feedback": "full"},
        "sampler": {"chains": 4, "warmup": 1000, "draws": 12000, "seed": 1, "target_accept": 0.9},
        "output": "out"
    });
    for (key, value) in others.as_object().unwrap() {
        match key.as_str() {
            "offset" => settings["data"]["offset"] = json!("o"),
            _ => settings[key] = value.clone(),
        }
    }
    parsed(folder, &settings)
}

/// The largest |z| of a fit, and what it is of.
fn worst(law: Law, model: Value, others: Value, exact: &Posterior) -> (f64, String) {
    tests(law, model, others).worst(exact)
}

/// The draws of a fit, to be compared with posteriors.
pub fn tests(law: Law, model: Value, others: Value) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let config = project(folder.path(), &response(law), model, &others);
    let prepared =
        prepare(config, &crate::study::compiler()).unwrap_or_else(|error| panic!("{error}"));
    Found {
        law,
        draws: sampled(&prepared),
    }
}

/// The draws of a fit of a law.
pub struct Found {
    law: Law,
    draws: Draws,
}

impl Found {
    /// The largest |z|, and what it is of.
    pub fn worst(&self, exact: &Posterior) -> (f64, String) {
        let law = self.law;
        let Draws { chains, links } = &self.draws;
        let mut tests = Vec::new();
        let mut test = |what: String, exact: f64, found: Vec<Vec<f64>>| {
            let views: Vec<&[f64]> = found.iter().map(Vec::as_slice).collect();
            // Draws that never vary have no MCSE: z is then infinite.
            let z = (mean(&found.concat()).unwrap() - exact) / mcse_mean(&views).unwrap_or(0.0);
            tests.push((z.abs(), format!("{what}: exact {exact:.4}, z = {z:.2}")));
        };
        let column = |name: &str| -> Vec<Vec<f64>> {
            let column = |chain: &ChainDraws| chain.column(name).unwrap().to_vec();
            chains.iter().map(column).collect()
        };
        test("E beta".into(), exact.beta, column("beta.1"));
        if let Some((name, value)) = exact.other {
            test(format!("E {name}"), value, column(name));
        }
        let mut probability = |what: String, event: &dyn Fn(&[usize]) -> bool| {
            let p = exact.probability_of(event);
            // Rarer events are too few among the draws for a normal approximation.
            if p > 0.002 && p < 0.998 {
                let holds = |pi: &Vec<usize>| f64::from(u8::from(event(pi)));
                let of_chain = |pis: &Vec<Vec<usize>>| pis.iter().map(holds).collect();
                test(what, p, links.iter().map(of_chain).collect());
            }
        };
        for i in 0..X.len() {
            for j in 0..X.len() {
                probability(format!("P({} to {})", i + 1, j + 1), &|pi| pi[i] == j);
            }
        }
        for d in 0..=X.len() {
            probability(format!("P(d = {d})"), &|pi| {
                crate::quadrature::num_moved(pi) == d
            });
        }
        assert!((5..=MOST_TESTS).contains(&tests.len()));
        let worst = tests
            .into_iter()
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap();
        println!("{}: {}", name(law), worst.1);
        worst
    }
}

fn accepts(law: Law, model: Value, others: Value) {
    let alpha = others["temperature"].as_f64().unwrap_or(1.0);
    let exact = Posterior::new(law, &X, &response(law), alpha);
    let (z, what) = worst(law, model, others, &exact);
    assert!(z < LIMIT, "{what}");
}

#[test]
fn native_poisson() {
    accepts(Law::Poisson, json!({"stan": "poisson"}), json!({}));
    let tempered = json!({"temperature": 0.5});
    accepts(Law::Poisson, json!({"stan": "poisson"}), tempered);
}

#[test]
fn native_logistic() {
    accepts(Law::Logistic, json!({"stan": "logistic"}), json!({}));
}

/// The same exact posterior as the native families have: the two agree to Monte Carlo error.
#[test]
fn poisson_and_logistic_by_their_log_lik() {
    for law in [Law::Poisson, Law::Logistic] {
        let model = json!({"stan": name(law), "family": {"name": "stan"}});
        accepts(law, model, json!({}));
    }
}

#[test]
fn negative_binomial() {
    accepts(
        Law::NegativeBinomial,
        json!({"stan": "negative_binomial"}),
        json!({}),
    );
}

#[test]
fn gamma() {
    accepts(Law::Gamma, json!({"stan": "gamma"}), json!({}));
}

#[test]
fn native_log_normal() {
    accepts(Law::LogNormal, json!({"stan": "log_normal"}), json!({}));
}

#[test]
fn planted_errors_are_found() {
    let exact = |law: Law| Posterior::new(law, &X, &response(law), 1.0);
    let hotter = json!({"temperature": {"stan": 1, "permutation": 0.7}});
    for law in [Law::Poisson, Law::Gamma, Law::LogNormal] {
        let (z, what) = worst(law, json!({"stan": name(law)}), hotter.clone(), &exact(law));
        assert!(z > LIMIT, "the planted temperature was not found: {what}");
    }
    let prior =
        json!({"permutation": {"prior": {"name": "hamming", "theta": 1}, "feedback": "full"}});
    for law in [Law::Logistic, Law::NegativeBinomial] {
        let (z, what) = worst(law, json!({"stan": name(law)}), prior.clone(), &exact(law));
        assert!(z > LIMIT, "the planted prior was not found: {what}");
    }
}

#[test]
fn a_family_that_the_program_is_not_of_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (stan, family, y) in [
        ("negative_binomial", "poisson", response(Law::Poisson)),
        ("poisson", "logistic", response(Law::Logistic)),
    ] {
        let model = json!({"stan": stan, "family": {"name": family}});
        let config = project(folder.path(), &y, model, &json!({}));
        match prepare(config, &crate::study::compiler()) {
            Err(FitError::Agreement(error)) => println!("{error}"),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("{family} passed for {stan}"),
        }
    }
}

#[test]
fn responses_that_a_model_cannot_have_are_sentences() {
    let folder = tempfile::tempdir().unwrap();
    let own = json!({"stan": "own.stan", "family": {"name": "logistic"}});
    fs::write(folder.path().join("own.stan"), "").unwrap();
    for (model, y, value, rule) in [
        (
            json!({"stan": "poisson"}),
            [1.0, 2.0, 3.0, -1.0, 0.5],
            "-1",
            "a count (0, 1, 2, ...)",
        ),
        (
            json!({"stan": "negative_binomial"}),
            [1.0, 2.0, 3.0, 2.5, 0.5],
            "2.5",
            "a count (0, 1, 2, ...)",
        ),
        (
            json!({"stan": "logistic"}),
            [1.0, 0.0, 1.0, 2.0, 0.5],
            "2",
            "0 or 1",
        ),
        (
            json!({"stan": "gamma"}),
            [1.0, 2.0, 3.0, 0.0, 0.5],
            "0",
            "above 0",
        ),
        (
            json!({"stan": "log_normal"}),
            [1.0, 2.0, 3.0, -2.0, 0.5],
            "-2",
            "above 0",
        ),
        (own, [1.0, 0.0, 1.0, 0.5, 0.0], "0.5", "0 or 1"),
    ] {
        let model_name = match model["stan"].as_str().unwrap() {
            "own.stan" => folder.path().join("own.stan").display().to_string(),
            shipped => shipped.to_string(),
        };
        let config = project(folder.path(), &y, model, &json!({}));
        let sentence = read_data(&config).unwrap_err().to_string();
        let file = folder.path().join("data.csv");
        assert_eq!(
            sentence,
            format!(
                "{}, row 4: `y` is {value}, but for the model {model_name} it must be {rule}; correct it, or choose another model.stan",
                file.display()
            )
        );
    }
}

/// Also where a predictor is large and far from zero, so that Stan's own start would overflow.
#[test]
fn chains_start_well_and_find_the_coefficients() {
    for (errors, intercept) in [
        (Family::Poisson, 2.0),
        (Family::Logistic, 0.0),
        (Family::NegativeBinomial { phi: 5.0 }, 2.0),
        (Family::Gamma { shape: 5.0 }, 1.0),
        (Family::LogNormal, 1.0),
    ] {
        let settings = Settings {
            predictors: Some(2),
            intercept: Some(intercept),
            errors: Some(errors),
            mislinked: Some(0.1),
            ..Settings::new(DesignName::General, 250)
        };
        let design = settings.design().unwrap();
        let mut data = simulate(&design, 11).unwrap().dataset();
        // x2 in other units: its coefficient becomes 0.001 and the intercept 3 less.
        data.x.column_mut(2).mapv_inplace(|x| 1000.0 * x + 3000.0);
        let study = Study::new(json!({
            "model": {"stan": design.model().0},
            "sampler": {"chains": 2, "warmup": 600, "draws": 300, "standardise": true}
        }));
        let fit = study.fit(&data, 3);
        for (name, scale) in [("beta.2", 1.0), ("beta.3", 1000.0)] {
            let found = scale * mean(&pooled(&fit, name)).unwrap();
            println!("{errors:?}: {name} {found:.3}, should be 1");
            assert!((found - 1.0).abs() < 0.35, "{errors:?}: {name} {found}");
        }
    }
}
