//! The verdict's words, for fits of every kind.

use super::verdict::Verdict;
use super::verdict_example::Example;

/// Nine fits and what is said of them, each under its name.
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

#[test]
fn verdicts_read_as_they_should() {
    let mut text = String::new();
    for (name, example) in examples() {
        let verdict = Verdict::new(&example.saved()).text();
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
    let mut saved = Example::default().saved();
    saved.links = None;
    let text = Verdict::new(&saved).text();
    assert!(text.starts_with("Every link was kept as it is"), "{text}");
    assert!(!text.contains("more likely linked wrongly"), "{text}");
}

#[test]
fn an_interrupted_fit_says_so_first() {
    let mut saved = Example::default().saved();
    saved.diagnostics["interrupted"] = true.into();
    let text = Verdict::new(&saved).text();
    assert!(
        text.starts_with("Problem: The fit was interrupted after 2000 draws"),
        "{text}"
    );
}
