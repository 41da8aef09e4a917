//! What did not reproduce in the linear study, and why.

use super::Section;
use super::format::{e4, fixed, of_all, percent, range, table};
use super::linear::{VARIANTS, cell};
use super::paper_numbers::{KAPPAS, linear};
use super::results::{Rows, Study};

const NUM_COEFFICIENTS: f64 = 20.0;
const TRUE_SIGMA: f64 = 0.1;
/// Variance of the normal prior of sigma^2 before it is cut at zero.
const PRIOR_VARIANCE: f64 = 1000.0;
/// Chains that agree have an R-hat below this.
const AGREEING: f64 = 1.05;

pub fn section(study: &Study) -> Section {
    let mut section = super::new_section();
    section.add("## What did not reproduce, and why");
    section.add(
        "The table pools the repeats of all n. *σ* is the posterior mean (true value 0.1), *moved* the posterior mean of the share of moved rows, both as the range over n of the mean over \
         repeats. *R-hat* is the worst of the parameters, its median and largest over all fits. *agree* is the share of fits whose R-hat is below 1.05.",
    );
    section.add(state_table(study));
    for paragraph in [
        literal_tempering(study),
        explanation(study),
        flat_prior(study),
        claim(study),
    ] {
        section.add(paragraph);
    }
    section
}

fn pooled<'a>(study: &'a Study, method: &str, kappa: Option<&str>) -> Rows<'a> {
    let mut wanted = vec![("method", method)];
    wanted.extend(kappa.map(|kappa| ("temperature", kappa)));
    study.results.select(&wanted)
}

/// The means over repeats, one an n.
fn by_size(study: &Study, method: &str, kappa: Option<&str>, metric: &str) -> Vec<f64> {
    let sizes = study.results.distinct("n");
    let means = sizes
        .iter()
        .filter_map(|n| cell(study, method, n, kappa).mean(metric));
    means.collect()
}

fn state_table(study: &Study) -> String {
    let mut rows = Vec::new();
    let mut push = |name: &str, method: &str, kappa: Option<&str>| {
        let mut r_hats = pooled(study, method, kappa).values("r_hat");
        r_hats.sort_by(f64::total_cmp);
        let agreeing = r_hats.iter().filter(|r| **r < AGREEING).count();
        let share = agreeing as f64 / r_hats.len().max(1) as f64;
        rows.push(vec![
            name.to_string(),
            kappa.unwrap_or("1, always").to_string(),
            range(&by_size(study, method, kappa, "sigma"), 3),
            range(&moved_shares(study, method, kappa), 2),
            format!(
                "{} ({})",
                fixed(r_hats.get(r_hats.len() / 2).copied(), 2),
                fixed(r_hats.last().copied(), 2)
            ),
            percent((!r_hats.is_empty()).then_some(share)),
        ]);
    };
    for (method, name) in VARIANTS {
        for kappa in KAPPAS {
            push(name, method, Some(kappa));
        }
    }
    push("ours", "ours", None);
    table(&["method", "κ", "σ", "moved", "R-hat", "agree"], &rows)
}

fn moved_shares(study: &Study, method: &str, kappa: Option<&str>) -> Vec<f64> {
    let sizes = study.results.distinct("n");
    let share = |n: &String| {
        let moved = cell(study, method, n, kappa).mean("num_moved")?;
        Some(moved / n.parse::<f64>().ok()?)
    };
    sizes.iter().filter_map(share).collect()
}

fn literal_tempering(study: &Study) -> String {
    let of = |method: &str, metric: &str| by_size(study, method, Some("1/n"), metric);
    let errors = |method: &str| {
        let errors: Vec<f64> = of(method, "beta_error").iter().map(|e| 1e4 * e).collect();
        range(&errors, 3)
    };
    let paper: Vec<f64> = study
        .results
        .distinct("n")
        .iter()
        .filter_map(|n| linear("1/n", n))
        .map(|cell| 1e4 * cell.beta_error)
        .collect();
    let exact_sigma = of("uniform_k10", "sigma");
    let cause = if exact_sigma.iter().all(|sigma| *sigma > 10.0 * TRUE_SIGMA) {
        "So the cause is not the sampler but the tempered posterior itself."
    } else {
        "So the tempered posterior alone does not explain it."
    };
    format!(
        "**κ = 1/n.** As written, with the likelihood raised to 1/n in both steps, the literal sampler finds σ of {} instead of {TRUE_SIGMA}, and mean errors of the coefficients of {} (1e-4) where \
         the paper has {}. Starting at the truth changes little: σ of {}, errors of {}. The exact sampler with at most 10 moved rows finds σ of {} and errors of {}. {cause}",
        range(&of("literal", "sigma"), 3),
        errors("literal"),
        range(&paper, 3),
        range(&of("literal_from_truth", "sigma"), 3),
        errors("literal_from_truth"),
        range(&exact_sigma, 3),
        errors("uniform_k10"),
    )
}

/// Why: what remains of sigma's posterior once beta is integrated out.
fn explanation(study: &Study) -> String {
    let power = (NUM_COEFFICIENTS - 1.0) / 2.0;
    let sigma = (power * PRIOR_VARIANCE).sqrt().sqrt();
    let too_weak: Vec<String> = KAPPAS
        .iter()
        .filter_map(|kappa| {
            let alpha: f64 = kappa.parse().ok()?;
            let sizes = study.results.distinct("n");
            let weak: Vec<String> = sizes
                .into_iter()
                .filter(|n| {
                    n.parse::<f64>()
                        .is_ok_and(|n| alpha * n <= NUM_COEFFICIENTS)
                })
                .collect();
            (!weak.is_empty()).then(|| format!("κ = {kappa} at n = {}", weak.join(", ")))
        })
        .collect();
    let others = if too_weak.is_empty() {
        String::new()
    } else {
        format!(
            " For the same reason κ n must exceed 20 for the data to say anything about σ, which fails also for {}.",
            too_weak.join("; ")
        )
    };
    format!(
        "Raised to 1/n, the likelihood of n rows counts as that of one. One observation cannot hold 20 coefficients: given σ² their posterior has variances in proportion to σ², and integrating them out \
         leaves the factor (σ²)^((20 − 1)/2), which grows with σ². Nothing but the prior, σ² ~ N(0, 1000) above zero, stops it; the two together have their mode at \
         σ² = √({power} · 1000) = {:.0}, σ = {sigma:.1}. With so large a σ all links fit about equally well, so Π goes to its prior too.{others}",
        sigma * sigma
    )
}

fn flat_prior(study: &Study) -> String {
    let strongest = KAPPAS[KAPPAS.len() - 1];
    let share = |method: &str| range(&moved_shares(study, method, Some(strongest)), 2);
    let others = KAPPAS.iter().filter(|kappa| **kappa != "1/n");
    let r_hats: Vec<f64> = others
        .flat_map(|kappa| pooled(study, "literal", Some(kappa)).values("r_hat"))
        .collect();
    let disagreeing = r_hats.iter().filter(|r| **r >= AGREEING).count();
    let moved = by_size(study, "uniform_k10", Some(strongest), "num_moved");
    let error = |method: &str| e4(pooled(study, method, Some(strongest)).mean("beta_error"));
    format!(
        "**The flat prior.** Without a limit on the moved rows every assignment of responses to fitted values is open, and the best one pairs them in sorted order, whatever β is. The true share of moved rows \
         is 0.06 or less; at κ = {strongest} the literal sampler has a posterior mean of {} and, started at the truth, {}. The assignment then confirms the β that it came from, and chains end in different modes: R-hat is \
         {AGREEING} or more in {} of the literal sampler with κ of 0.1 or more. At κ = {strongest} its mean error, over all n, is {} (1e-4); started at the truth it is {}; with at most 10 moved rows and the exact sampler {}. That prior has its own cost: nearly all of the permutations that move 10 rows at most move exactly 10, \
         so the exact sampler moves {} rows on average where 6 or 7 are moved, which raises its d_H.",
        share("literal"),
        share("literal_from_truth"),
        of_all(disagreeing, r_hats.len(), "fits"),
        error("literal"),
        error("literal_from_truth"),
        error("uniform_k10"),
        range(&moved, 2),
    )
}

/// Whether 1/n is the best temperature in our runs, as it is said to be.
fn claim(study: &Study) -> String {
    let sizes = study.results.distinct("n");
    let rank = |method: &str, n: &str| {
        let errors: Vec<f64> = KAPPAS
            .iter()
            .filter_map(|kappa| cell(study, method, n, Some(kappa)).mean("beta_error"))
            .collect();
        let first = errors.first().copied()?;
        let best = errors.iter().all(|e| first <= *e);
        let worst = errors.iter().all(|e| first >= *e);
        Some((best, worst))
    };
    let (mut best, mut worst, mut total) = (0, 0, 0);
    for (method, _) in VARIANTS {
        for (is_best, is_worst) in sizes.iter().filter_map(|n| rank(method, n)) {
            best += usize::from(is_best);
            worst += usize::from(is_worst);
            total += 1;
        }
    }
    let conclusion = if best == 0 {
        "So the paper's finding that κ = 1/n recovers β and Π best cannot come from its equation as written, with any of these samplers. Something in its program must differ from its text, or we misread it; \
         we cannot say what."
    } else {
        "So these runs do not rule out the paper's finding that κ = 1/n is best, but do not confirm it in general."
    };
    format!(
        "**The claim.** Of the five temperatures 1/n has the smallest mean error of the coefficients in {}, and the largest in {}. {conclusion}",
        of_all(best, total, "cases (five variants, each n)"),
        of_all(worst, total, "cases")
    )
}
