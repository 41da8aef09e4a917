//! The verdict's words, for fits of every kind.

use super::card::numbers;
use super::verdict::Verdict;
use super::verdict_example::Example;
use crate::posterior::{DataSummary, Posterior};
use crate::trust::{Aspect, Check, Coefficient, Method, Trust};

/// Fits of every kind and what is said of them, each under its name.
const GOLDEN: &str = include_str!("golden/verdicts.txt");

fn examples() -> Vec<(&'static str, Example)> {
    let example = Example::default;
    vec![
        ("a clean fit", example()),
        (
            "divergences",
            Example {
                num_divergences: 30,
                ..example()
            },
        ),
        (
            "chains that disagree on the links",
            Example {
                swaps_of_first_chain: vec![(4, 5), (8, 9)],
                ..example()
            },
        ),
        (
            "one chain only",
            Example {
                num_chains: 1,
                ..example()
            },
        ),
        (
            "nothing mislinked",
            Example {
                swaps: vec![(2, 7, 0.01)],
                naive_shift: 0.3,
                num_rows: 400,
                ..example()
            },
        ),
        (
            "ten rows",
            Example {
                num_rows: 10,
                swaps: vec![(2, 7, 0.8)],
                ..example()
            },
        ),
        (
            "200 parameters",
            Example {
                predictors: (1..200).map(|k| format!("x{k}")).collect(),
                ..example()
            },
        ),
        (
            "names with markup and quotes",
            Example {
                predictors: vec!["<script>alert(\"x\")</script>".into()],
                ..example()
            },
        ),
        (
            "20 000 rows, chains too short",
            Example {
                num_rows: 20_000,
                swaps: (0..500).map(|k| (2 * k, 2 * k + 1, 0.9)).collect(),
                num_draws: 100,
                ..example()
            },
        ),
    ]
}

/// A fit whose checks ended so, and its coefficients with every link kept and as recommended.
fn judged(checks: Vec<Check>, source: Method) -> Posterior {
    let mut fit = Example::default().fit();
    let first = checks
        .iter()
        .find(|check| check.decides && check.has_failed());
    fit.trust = Some(Trust {
        trusted: first.is_none(),
        source,
        weight: f64::from(u8::from(first.is_none())),
        sentence: first.map_or(String::new(), |check| check.sentence.clone()),
        rates: None,
        wrong_along: Vec::new(),
        checks,
    });
    let coefficient = |name: &str, method, estimate: f64| Coefficient {
        name: name.into(),
        method,
        estimate,
        sd: 0.1,
        q5: estimate - 0.17,
        q95: estimate + 0.17,
    };
    fit.coefficients = vec![
        coefficient("(Intercept)", Method::Recommended, 0.6),
        coefficient("income", Method::Recommended, 1.61),
        coefficient("(Intercept)", Method::AsLinked, 0.5),
        coefficient("income", Method::AsLinked, 1.55),
    ];
    fit
}

fn check(name: Aspect, decides: bool, sentence: &str) -> Check {
    Check {
        name,
        p_value: Some(0.001),
        passed: Some(false),
        decides,
        sentence: sentence.into(),
    }
}

fn judged_examples() -> Vec<(&'static str, Posterior)> {
    let spread =
        "Rows whose links stay do not have one spread: it changes with the predictors (p = 0.001).";
    let curve = "Rows whose links stay follow a curve; consider a further term such as I(x^2) in the formula (p = 0.001).";
    vec![
        ("checks hold", judged(vec![], Method::Joint)),
        (
            "a check fails, and the rate corrects the links as given",
            judged(vec![check(Aspect::Spread, true, spread)], Method::KnownRate),
        ),
        (
            "a check fails, and every link is kept",
            judged(vec![check(Aspect::Spread, true, spread)], Method::AsLinked),
        ),
        ("the file cannot tell whether links are wrong", {
            let tails = "Heavy tails, skewness, a changing spread or a curve would explain the responses as well as wrong links do.";
            judged(
                vec![check(Aspect::Evidence, true, tails)],
                Method::RobustMixture,
            )
        }),
        ("a check fails, but the coefficients agree", {
            let mut fit = judged(vec![check(Aspect::Spread, true, spread)], Method::Joint);
            let trust = fit.trust.as_mut().unwrap();
            (trust.trusted, trust.weight) = (true, 1.0);
            trust.sentence = "The coefficients agree with an estimate that does not rely on the error law, so the joint posterior is recommended all the same.".into();
            fit
        }),
        (
            "a curve, which does not speak against the links",
            judged(vec![check(Aspect::Curvature, false, curve)], Method::Joint),
        ),
    ]
}

#[test]
fn a_fit_that_failed_a_check_has_no_headline_number() {
    for (name, fit) in judged_examples() {
        let text = Verdict::new(&fit).text();
        let failed = !fit.trust.as_ref().unwrap().trusted;
        assert_eq!(
            text.contains("no number of wrong links is given"),
            failed,
            "{name}"
        );
        assert_eq!(text.contains("are linked wrongly"), !failed, "{name}");
        assert_eq!(
            text.contains("more likely linked wrongly"),
            !failed,
            "{name}"
        );
    }
}

#[test]
fn verdicts_read_as_they_should() {
    let mut text = String::new();
    let plain = examples().into_iter().map(|(name, e)| (name, e.fit()));
    for (name, fit) in plain.chain(judged_examples()) {
        let verdict = Verdict::new(&fit).text();
        text += &format!("--- {name}\n{verdict}\n");
    }
    let written = std::env::temp_dir().join("verdicts.txt");
    if text != GOLDEN {
        std::fs::write(&written, &text).unwrap();
    }
    assert!(
        text == GOLDEN,
        "the words changed; compare src/report/golden/verdicts.txt with {}",
        written.display()
    );
}

#[test]
fn a_fit_that_kept_every_link_says_so() {
    let mut fit = Example::default().fit();
    fit.links = None;
    let text = Verdict::new(&fit).text();
    assert!(text.starts_with("Every link was kept as it is"), "{text}");
    assert!(!text.contains("more likely linked wrongly"), "{text}");
}

/// Rows that are all safe, or alone in their blocks, are no sign of right links.
#[test]
fn a_fit_whose_rows_cannot_move_says_nothing_of_wrong_links() {
    let movable = |num_movable| {
        let example = Example::default();
        let mut fit = example.fit();
        let known = Posterior::example(&[4], 4).with_links(10).with_known();
        let names = std::iter::once("(Intercept)".to_string()).chain(example.predictors);
        fit.data = known.data.map(|data| DataSummary {
            predictor_names: names.collect(),
            num_movable,
            ..data
        });
        (Verdict::new(&fit).text(), numbers(&fit).len())
    };
    let (text, num_numbers) = movable(0);
    assert!(text.starts_with("Every link was kept as it is"), "{text}");
    assert!(!text.contains("more likely"), "{text}");
    assert_eq!(num_numbers, 0);
    let (text, num_numbers) = movable(7);
    assert!(text.contains("are linked wrongly"), "{text}");
    assert_eq!(num_numbers, 3);
}

#[test]
fn an_interrupted_fit_says_so_first() {
    let mut fit = Example::default().fit();
    let diagnostics = fit.diagnostics.as_mut().unwrap();
    diagnostics.interrupted = true;
    let text = Verdict::new(&fit).text();
    assert!(
        text.starts_with("Problem: The fit was interrupted after 2000 draws"),
        "{text}"
    );
}
