//! The checks of a fit and the recommended answer, by the binary: data that follow the model, data that do not, any unit.

use std::fs;

use crate::common::Project;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, Poisson, StandardNormal};
use serde_json::{Value, json};
use unshuffle::{Coefficient, Method, Posterior, Trust};

const NUM_ROWS: usize = 300;

/// How the errors of the made-up files behave.
#[derive(Clone, Copy)]
enum Errors {
    /// Normal with one spread, as the model says.
    OneSpread,
    /// Normal, with a log spread that grows with x.
    GrowingSpread,
}

/// y = 1 + x + error, the responses of the first `num_wrong` rows moved on by one row.
fn csv(errors: Errors, num_wrong: usize, unit: f64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let rows: Vec<(f64, f64)> = (0..NUM_ROWS)
        .map(|_| {
            let x = normal();
            let spread = match errors {
                Errors::OneSpread => 0.5,
                Errors::GrowingSpread => (0.8 * x).exp(),
            };
            (x, 1.0 + x + spread * normal())
        })
        .collect();
    let mut text = String::from("x,y\n");
    for (k, (x, _)) in rows.iter().enumerate() {
        let source = match k < num_wrong {
            true => (k + 1) % num_wrong,
            false => k,
        };
        text += &format!("{x},{}\n", unit * rows[source].1);
    }
    text
}

fn fit(model: &str, csv: &str) -> (Project, String) {
    fit_with(&[("model.stan", json!(model))], csv)
}

/// A short fit of `csv` with the default links, but for these entries of the config.
fn fit_with(entries: &[(&str, Value)], csv: &str) -> (Project, String) {
    let short = json!({"chains": 2, "warmup": 500, "draws": 500, "seed": 3});
    let mut all = vec![("permutation", json!({})), ("sampler", short)];
    all.extend_from_slice(entries);
    let project = Project::new(&all);
    project.write("data.csv", csv);
    let (said, _) = project.run(&["fit", "config.json"], 0);
    (project, said)
}

fn judged(project: &Project) -> (Trust, Vec<Coefficient>) {
    let fit = Posterior::read(&project.path("out")).unwrap();
    (fit.trust.expect("trust.json"), fit.coefficients)
}

fn slope(coefficients: &[Coefficient], method: Method) -> &Coefficient {
    let own = |c: &&Coefficient| c.method == method && c.name == "x";
    coefficients.iter().find(own).expect("a slope")
}

#[test]
fn data_that_follow_the_model_keep_the_joint_posterior() {
    let (project, said) = fit("linear", &csv(Errors::OneSpread, 60, 1.0));
    let (trust, coefficients) = judged(&project);
    assert!(trust.trusted, "{trust:?}");
    assert_eq!((trust.source, trust.weight), (Method::Joint, 1.0));
    let [recommended, joint, given] =
        [Method::Recommended, Method::Joint, Method::AsLinked].map(|m| slope(&coefficients, m));
    assert_eq!(recommended.estimate, joint.estimate);
    assert!((joint.estimate - 1.0).abs() < 0.15, "{joint:?}");
    // A fifth of the links is wrong, which takes about a fifth off the slope.
    assert!((given.estimate - 0.8).abs() < 0.15, "{given:?}");
    let said = said.replace('\n', " ");
    assert!(
        said.contains("If errors are normal with one spread"),
        "{said}"
    );
}

#[test]
fn a_file_that_contradicts_the_model_gets_a_sentence_and_no_number() {
    let (project, said) = fit("linear", &csv(Errors::GrowingSpread, 0, 1.0));
    let (trust, coefficients) = judged(&project);
    assert!(!trust.trusted, "{trust:?}");
    assert_eq!((trust.source, trust.weight), (Method::RobustMixture, 0.0));
    let [recommended, joint, given] =
        [Method::Recommended, Method::Joint, Method::AsLinked].map(|m| slope(&coefficients, m));
    let off = |c: &Coefficient| (c.estimate - given.estimate).abs() / given.sd;
    assert!(off(recommended) < off(joint), "{recommended:?} {joint:?}");
    assert!(recommended.q5 <= given.q5 && given.q95 <= recommended.q95);
    let said = said.replace('\n', " ");
    assert!(said.contains("no number of wrong links is given"), "{said}");
    assert!(!said.contains("are linked wrongly (90 %"), "{said}");
    assert!(!said.contains("No problems found"), "{said}");
    // The same for whoever looks later.
    let (_, message) = project.run(&["diagnose", "--strict", "out"], 1);
    assert!(
        message.is_empty() || !message.contains("panicked"),
        "{message}"
    );
    let page = fs::read_to_string(project.path("out/report.html")).unwrap();
    assert!(page.contains("contradicted"));
}

/// Counts with mean exp(1 + x) that vary more than Poisson ones, those of the first `num_wrong` rows moved on by one row.
fn overdispersed_counts(num_wrong: usize) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let frailty = Gamma::new(2.0, 0.5).unwrap();
    let rows: Vec<(f64, f64)> = (0..NUM_ROWS)
        .map(|_| {
            let x: f64 = StandardNormal.sample(&mut rng);
            let mean = (1.0 + x).exp() * frailty.sample(&mut rng);
            (x, Poisson::new(mean.max(1e-9)).unwrap().sample(&mut rng))
        })
        .collect();
    let mut text = String::from("x,y\n");
    for (k, (x, _)) in rows.iter().enumerate() {
        let source = if k < num_wrong {
            (k + 1) % num_wrong
        } else {
            k
        };
        text += &format!("{x},{}\n", rows[source].1);
    }
    text
}

/// The model takes what it does not expect of the counts for wrong links; the recommended answer does not.
#[test]
fn counts_that_vary_more_than_the_model_says_are_not_corrected_for_it() {
    let (project, _) = fit("poisson", &overdispersed_counts(0));
    let (trust, coefficients) = judged(&project);
    let rates = trust.rates.unwrap();
    assert!(!trust.trusted && rates.joint > 0.1, "{trust:?}");
    assert!(rates.believed < 0.05, "{rates:?}");
    let [recommended, joint, given] =
        [Method::Recommended, Method::Joint, Method::AsLinked].map(|m| slope(&coefficients, m));
    let off = |c: &Coefficient| (c.estimate - given.estimate).abs() / given.sd;
    assert!(off(recommended) < 1.0, "{recommended:?} {given:?}");
    assert!(off(joint) > 2.0, "{joint:?} {given:?}");

    let (project, _) = fit("poisson", &overdispersed_counts(75));
    let (trust, coefficients) = judged(&project);
    let believed = trust.rates.unwrap().believed;
    assert!((0.1..0.4).contains(&believed), "{believed}");
    let [recommended, given] =
        [Method::Recommended, Method::AsLinked].map(|m| slope(&coefficients, m));
    assert!(
        (recommended.estimate - 1.0).abs() < (given.estimate - 1.0).abs(),
        "{recommended:?} {given:?}"
    );
}

/// Student t errors are another law than least squares has, and the recommended answer is that of the same program. A spread
/// that grows with x contradicts it.
#[test]
fn a_program_with_its_own_error_law_is_recommended_with_weighted_rows() {
    let (project, said) = fit("student_t", &csv(Errors::GrowingSpread, 60, 1.0));
    let (trust, coefficients) = judged(&project);
    assert!(!trust.trusted, "{trust:?}");
    assert_eq!(trust.source, Method::Weighted);
    let methods = [
        Method::Recommended,
        Method::Weighted,
        Method::AsLinked,
        Method::RobustMixture,
    ];
    let [recommended, weighted, given, mixture] = methods.map(|m| slope(&coefficients, m));
    assert_eq!(recommended.estimate, weighted.estimate);
    assert!(recommended.q5 <= weighted.q5 && weighted.q95 <= recommended.q95);
    // Against the same program with every link right: least squares has another slope in this file.
    let right = fit("student_t", &csv(Errors::GrowingSpread, 0, 1.0)).0;
    let right = slope(&judged(&right).1, Method::AsLinked).clone();
    let off = |c: &Coefficient| (c.estimate - right.estimate).abs() / right.sd;
    assert!(off(recommended) < off(given), "{recommended:?} {given:?}");
    assert!(
        off(recommended) < off(mixture),
        "{recommended:?} {mixture:?}"
    );
    let said = said.replace('\n', " ");
    assert!(
        said.contains("each row weighted by the probability"),
        "{said}"
    );
}

/// Links that move have weights of their own without feedback, and where responses may come from outside.
#[test]
fn rows_are_weighted_whatever_else_has_weights() {
    for permutation in [json!({"feedback": "none"}), json!({"outside": true})] {
        let entries = [
            ("model.stan", json!("student_t")),
            ("permutation", permutation),
        ];
        let (project, _) = fit_with(&entries, &csv(Errors::GrowingSpread, 60, 1.0));
        let (trust, coefficients) = judged(&project);
        assert!(!trust.trusted, "{trust:?}");
        let [recommended, weighted] =
            [Method::Recommended, Method::Weighted].map(|m| slope(&coefficients, m));
        assert_eq!(recommended.estimate, weighted.estimate);
    }
}

/// Counts that hardly depend on x, under a prior by which either no link is wrong or any share of them.
#[test]
fn counts_that_cannot_tell_whether_links_are_wrong_get_no_number() {
    let prior = json!({"name": "beta_binomial", "a": 1, "b": 4, "no_error": 0.5});
    let entries = [
        ("model.stan", json!("poisson")),
        ("permutation", json!({"prior": prior})),
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut text = String::from("x,y\n");
    for _ in 0..100 {
        let x: f64 = StandardNormal.sample(&mut rng);
        let count: f64 = Poisson::new((1.0 + 0.1 * x).exp())
            .unwrap()
            .sample(&mut rng);
        text += &format!("{x},{count}\n");
    }
    let (project, said) = fit_with(&entries, &text);
    let (trust, _) = judged(&project);
    assert!(trust.rates.as_ref().unwrap().joint > 0.05, "{trust:?}");
    assert!(!trust.trusted, "{trust:?}");
    assert!(
        trust.sentence.contains("every link may be right"),
        "{trust:?}"
    );
    let said = said.replace('\n', " ");
    assert!(
        said.contains("This file cannot tell whether links are wrong"),
        "{said}"
    );
}

/// score = 2 hours + what the school adds + error, every link right.
fn schools(heavy_tails: bool) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let normal = |rng: &mut ChaCha8Rng| -> f64 { StandardNormal.sample(rng) };
    let own: Vec<f64> = (0..10).map(|_| 3.0 * normal(&mut rng)).collect();
    let mut text = String::from("hours,school,score\n");
    for k in 0..NUM_ROWS {
        let hours = normal(&mut rng);
        let error = match heavy_tails {
            true => normal(&mut rng) / (rng.random::<f64>()).sqrt().max(0.02),
            false => normal(&mut rng),
        };
        let score = 2.0 * hours + own[k % 10] + error;
        text += &format!("{hours},s{},{score}\n", k % 10);
    }
    text
}

/// What a school adds is no part of the errors whose tails are judged.
#[test]
fn errors_around_groups_are_checked_too() {
    for heavy_tails in [false, true] {
        let entries = [
            ("model", json!({"stan": "hierarchical"})),
            (
                "data",
                json!({"file": "data.csv", "formula": "score ~ hours + (1 | school)"}),
            ),
        ];
        let (project, _) = fit_with(&entries, &schools(heavy_tails));
        let (trust, _) = judged(&project);
        // Group terms mix slowly, which says nothing of the errors.
        let text = fs::read_to_string(project.path("out/trust.json")).unwrap();
        let saved: Value = serde_json::from_str(&text).unwrap();
        let failed = saved["checks"].as_array().unwrap().iter().filter(|check| {
            check["passed"] == json!(false) && check["name"] != json!("convergence")
        });
        assert_eq!(failed.count() > 0, heavy_tails, "{trust:?}");
        let sentences: Vec<&str> = trust.checks.iter().map(|c| c.sentence.as_str()).collect();
        assert!(
            sentences.iter().any(|s| s.contains("have one spread")),
            "{sentences:?}"
        );
    }
}

#[test]
fn checks_and_answers_do_not_depend_on_the_unit() {
    let [one, thousand] = [1.0, 1000.0].map(|unit| {
        let (project, _) = fit("linear", &csv(Errors::GrowingSpread, 30, unit));
        let (trust, coefficients) = judged(&project);
        let recommended = slope(&coefficients, Method::Recommended).clone();
        (trust, recommended.estimate / unit, recommended.sd / unit)
    });
    assert_eq!(one.0.trusted, thousand.0.trusted);
    assert_eq!(one.0.source, thousand.0.source);
    // Both come from draws with their own Monte Carlo error.
    assert!(
        (one.1 - thousand.1).abs() < 0.1 * one.2,
        "{one:?} {thousand:?}"
    );
}

#[test]
fn yes_or_no_responses_keep_their_links_and_say_why() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut text = String::from("x,y\n");
    for _ in 0..NUM_ROWS {
        let x: f64 = StandardNormal.sample(&mut rng);
        let p = 1.0 / (1.0 + (-x).exp());
        text += &format!("{x},{}\n", u8::from(rng.random::<f64>() < p));
    }
    let (project, _) = fit("logistic", &text);
    let (trust, coefficients) = judged(&project);
    assert!(!trust.trusted);
    assert_eq!(trust.source, Method::AsLinked);
    let [recommended, given] =
        [Method::Recommended, Method::AsLinked].map(|m| slope(&coefficients, m));
    assert!((recommended.estimate - given.estimate).abs() < 0.3 * given.sd);
    assert!(trust.sentence.contains("Yes-or-no"), "{}", trust.sentence);
}

#[test]
fn a_fit_that_keeps_every_link_recommends_itself() {
    let project = Project::new(&[("sampler.draws", json!(300))]);
    project.run(&["fit", "config.json", "--quiet"], 0);
    let (trust, coefficients) = judged(&project);
    assert_eq!(trust.source, Method::AsLinked);
    assert_eq!(
        slope(&coefficients, Method::Recommended).estimate,
        slope(&coefficients, Method::AsLinked).estimate
    );
    let saved: Value =
        serde_json::from_str(&fs::read_to_string(project.path("out/trust.json")).unwrap()).unwrap();
    assert_eq!(saved["source"], "as_linked");
}
