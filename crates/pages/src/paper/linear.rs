//! Linear regression: the paper's two tables, the baselines, and how ours compares.

use super::Section;
use super::format::{NONE, e4, e4_max_mean, fixed, of_all, percent, ratio, sig, table};
use super::linear_figures;
use super::paper_numbers::{KAPPAS, best, linear};
use super::results::{Rows, Study};

/// (method, heading) of the columns beside the paper's own; those after `ours` do not depend on kappa.
pub const VARIANTS: [(&str, &str); 5] = [
    ("literal", "literal"),
    ("literal_from_truth", "literal from the truth"),
    ("mcem", "MC-EM"),
    ("mcem_from_truth", "MC-EM from the truth"),
    ("uniform_k10", "exact, k = 10"),
];

/// Ours counts as good as the oracle when its error is larger by no more than this.
const CLOSE: f64 = 0.03;

/// One method at one n, at one temperature where it has one.
pub fn cell<'a>(study: &'a Study, method: &str, n: &str, kappa: Option<&str>) -> Rows<'a> {
    let mut wanted = vec![("method", method), ("n", n)];
    wanted.extend(kappa.map(|kappa| ("temperature", kappa)));
    study.results.select(&wanted)
}

pub fn section(study: &Study) -> Section {
    let mut section = super::new_section();
    section.add("## Linear regression");
    section.add(
        "The design: y = Xβ + ε with 20 coefficients, all 1, and σ = 0.1. The first 6 rows of X are reversed, and row 7 is a copy of what row 1 was, x and y. \
         n is the number of rows, κ the temperature: the likelihood is raised to the power κ. The columns of the tables:",
    );
    section.add(variants());
    section.add("### Error of the coefficients");
    section.add("Mean of |β̂ − β| over the 20 coefficients, in 1e-4: largest over repeats (mean over repeats). The paper gives the largest.");
    section.add(error_table(study, "beta_error", true));
    section.show(
        "beta_error.svg",
        linear_figures::by_kappa(
            study,
            "beta_error",
            "Error of the coefficients by temperature",
        ),
    );
    section.add("### Error of the permutation");
    section.add("d_H per entry, Σ|Π̂ − Π0| / n², in 1e-4: largest over repeats (mean over repeats). The oracle knows the links.");
    section.add(error_table(study, "pi_error", false));
    section.show(
        "pi_error.svg",
        linear_figures::by_kappa(study, "pi_error", "Error of the permutation by temperature"),
    );
    section.add("### Beside other estimators");
    section.add(
        "Means over repeats. *error* is the mean of |β̂ − β| in 1e-4, *ratio* is to the oracle's. *coverage* is the share of the coefficients inside their 90 % intervals, *width* the \
         intervals' mean width. *precision* is the share of moved rows among those with P(moved) > 0.5, *recall* the share of the moved rows that are found so. \
         *R-hat* is the worst of the parameters, mean and largest over repeats. *naive* is least squares on the data as linked; *huber* is Huber's estimator on \
         them; *mixture* is a two-part mixture, fitted by EM, in which a mislinked response is independent of its predictors.",
    );
    section.add(baselines(study));
    section.add("### What came of it");
    for paragraph in verdicts(study) {
        section.add(paragraph);
    }
    section.add("### The two pictures of the paper");
    section.show("beta_posterior.svg", linear_figures::beta_posterior(study));
    section.add("Intervals hold 90 % of the posterior, the thick part 50 %; the mark is the median. The y axes differ: each panel has its own range.");
    section.show("pi_mean.svg", linear_figures::pi_mean(study));
    section.add(
        "Row i shows with which probability its response belongs to each place. A row whose colour is spread over many places looks white: with n places each has 1/n.",
    );
    section
}

fn variants() -> String {
    let rows = [
        ("paper", "what the paper's tables say"),
        (
            "literal",
            "the paper's sampler as written: the temperature in both steps, and in each iteration T checkerboard swaps that start again at the best assignment. \
             Neither that assignment nor the swaps look at k, so the prior on permutations is flat over all of them",
        ),
        (
            "literal from the truth",
            "the same, started at the true β and σ: its best chance",
        ),
        (
            "MC-EM",
            "the paper's other scheme: the best assignment instead of a draw",
        ),
        (
            "MC-EM from the truth",
            "the same, started at the true β and σ",
        ),
        (
            "exact, k = 10",
            "the paper's tempered posterior with at most 10 moved rows, drawn by our active-set sampler, which is exact: it separates the paper's posterior from its sampler",
        ),
        (
            "ours",
            "`unshuffle` at temperature 1, with an unknown mismatch rate and a uniform prior on it (`beta_binomial` with a = b = 1 and `no_error` = 0), and the active-set sampler. It has no κ, so its figures repeat",
        ),
        ("oracle", "least squares with the true links"),
    ];
    let rows = rows.map(|(name, what)| vec![name.to_string(), what.to_string()]);
    table(&["column", "what it is"], &rows)
}

fn error_table(study: &Study, metric: &str, with_oracle: bool) -> String {
    let mut headings = vec!["κ", "n", "paper"];
    headings.extend(VARIANTS.map(|(_, heading)| heading));
    headings.push("ours");
    if with_oracle {
        headings.push("oracle");
    }
    let mut rows = Vec::new();
    for kappa in KAPPAS {
        for n in study.results.distinct("n") {
            let paper = linear(kappa, &n).map(|cell| cell.of(metric));
            let mut row = vec![kappa.to_string(), n.clone(), e4(paper)];
            for (method, _) in VARIANTS {
                row.push(e4_max_mean(&cell(study, method, &n, Some(kappa)), metric));
            }
            let free = ["ours", "oracle"].iter().take(1 + usize::from(with_oracle));
            row.extend(free.map(|method| e4_max_mean(&cell(study, method, &n, None), metric)));
            rows.push(row);
        }
    }
    table(&headings, &rows)
}

fn baselines(study: &Study) -> String {
    let methods = [
        ("ours", "ours", None),
        ("uniform_k10", "exact, k = 10, κ = 0.99", Some("0.99")),
        (
            "literal_from_truth",
            "literal from the truth, κ = 0.99",
            Some("0.99"),
        ),
        ("mixture", "mixture", None),
        ("huber", "huber", None),
        ("naive", "naive", None),
        ("oracle", "oracle", None),
    ];
    let mut rows = Vec::new();
    for n in study.results.distinct("n") {
        let oracle = cell(study, "oracle", &n, None).mean("beta_error");
        for (method, name, kappa) in methods {
            let own = cell(study, method, &n, kappa);
            let error = own.mean("beta_error");
            let r_hat = match (own.mean("r_hat"), own.max("r_hat")) {
                (Some(mean), Some(max)) => format!("{mean:.3} ({max:.3})"),
                _ => NONE.into(),
            };
            rows.push(vec![
                n.clone(),
                name.to_string(),
                e4(error),
                fixed(ratio(error, oracle), 2),
                percent(own.mean("coverage")),
                sig(own.mean("width"), 3),
                fixed(own.mean("precision"), 2),
                fixed(own.mean("recall"), 2),
                r_hat,
            ]);
        }
    }
    let headings = [
        "n",
        "method",
        "error",
        "ratio",
        "coverage",
        "width",
        "precision",
        "recall",
        "R-hat",
    ];
    table(&headings, &rows)
}

fn verdicts(study: &Study) -> Vec<String> {
    vec![
        against_the_paper(study),
        against_the_oracle(study),
        copied_rows(study),
    ]
}

/// Ours beside the paper's best d_H at each n.
fn against_the_paper(study: &Study) -> String {
    let sizes = study.results.distinct("n");
    let (mut rows, mut by_mean, mut by_max, mut compared) = (Vec::new(), 0, 0, 0);
    for n in &sizes {
        let own = cell(study, "ours", n, None);
        let Some((kappa, paper)) = best(linear, "pi_error", n) else {
            continue;
        };
        let at_most = |value: Option<f64>| value.is_some_and(|v| v <= paper);
        compared += 1;
        by_mean += usize::from(at_most(own.mean("pi_error")));
        by_max += usize::from(at_most(own.max("pi_error")));
        rows.push(vec![
            n.clone(),
            format!("{} (κ = {kappa})", e4(Some(paper))),
            e4(own.mean("pi_error")),
            e4(own.max("pi_error")),
        ]);
    }
    let text = format!(
        "**d_H against the paper's best.** For each n we take the smallest d_H in the paper's tables, over all κ. Our mean over repeats is at or below it at {}, our largest at {}. \
         The paper's figures are largest errors too, over a number of repeats that we do not know.",
        of_all(by_mean, compared, "sample sizes"),
        of_all(by_max, compared, "sample sizes")
    );
    let headings = [
        "n",
        "paper's best d_H (1e-4)",
        "ours, mean",
        "ours, largest",
    ];
    format!("{text}\n\n{}", table(&headings, &rows))
}

fn against_the_oracle(study: &Study) -> String {
    let sizes = study.results.distinct("n");
    let mean = |method: &str, n: &str| cell(study, method, n, None).mean("beta_error");
    let ratios: Vec<(String, f64)> = sizes
        .iter()
        .filter_map(|n| Some((n.clone(), ratio(mean("ours", n), mean("oracle", n))?)))
        .collect();
    let pooled = |method: &str| {
        study
            .results
            .select(&[("method", method)])
            .mean("beta_error")
    };
    let overall = ratio(pooled("ours"), pooled("oracle"));
    let close = |ratio: f64| ratio <= 1.0 + CLOSE;
    let num_close = ratios.iter().filter(|(_, r)| close(*r)).count();
    let each: Vec<String> = ratios
        .iter()
        .map(|(n, r)| format!("{r:.3} at n = {n}"))
        .collect();
    let verdict = match overall {
        Some(r) if close(r) => "within",
        _ => "not within",
    };
    format!(
        "**Coefficients against the oracle.** The mean error of ours over that of least squares with the true links is {}; over all n together it is {}, which is {verdict} 3 % of the oracle. \
         Taken one by one it is within 3 % at {}.",
        each.join(", "),
        fixed(overall, 3),
        of_all(num_close, ratios.len(), "sample sizes")
    )
}

/// Raw errors with and without the copied rows, and why they differ.
fn copied_rows(study: &Study) -> String {
    let rows: Vec<Vec<String>> = study
        .results
        .distinct("n")
        .iter()
        .map(|n| {
            let own = cell(study, "ours", n, None);
            let entries = n.parse::<f64>().map_or(f64::NAN, |n| n * n);
            let distinct = own.mean("pi_error_distinct");
            vec![
                n.clone(),
                fixed(own.mean("pi_error_raw"), 2),
                fixed(distinct.map(|d| d * entries), 2),
                e4(distinct),
                fixed(own.mean("num_moved"), 2),
            ]
        })
        .collect();
    let text = "**How much of d_H is a convention.** Rows 1 and 7 are copies of each other, so the paper's Π0 gives each of them 0.5 for either of the two places. That is the posterior mean when \
                moving 6 rows and moving 7 are equally probable beforehand. Under a prior that prefers few moved rows the copied row 7 stays at home and row 1 takes the other place. Each of the \
                two rows then differs from Π0 by 0.5 in two entries, which makes a raw error Σ|Π̂ − Π0| of 2 although every row has a right partner. The table has the raw error of ours, mean \
                over repeats, the same without the two copied rows, that over n² in 1e-4, and the posterior mean of the number of moved rows.";
    let headings = [
        "n",
        "raw error",
        "without copied rows",
        "per entry (1e-4)",
        "moved rows",
    ];
    format!("{text}\n\n{}", table(&headings, &rows))
}
