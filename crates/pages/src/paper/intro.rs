//! What the page is, how it was made, and what the paper leaves open.

use unshuffle::internals::config::Sampler;

use super::Section;
use super::format::{duration, plural, range, table};
use super::paper_numbers::{best, linear};
use super::results::{About, Inputs};

pub fn section(inputs: &Inputs) -> Section {
    let mut section = super::new_section();
    section.add("# The paper's experiments, run again");
    section.add(
        "This page repeats the experiments of Chakraborty and Datta, \"Learning with sparsely permuted data: a robust Bayesian approach\", \
         puts our numbers beside theirs, and says what did not reproduce. No number of ours on it was typed: a program wrote the page from the results \
         of the studies below, and sentences that depend on a result were chosen by that result. What the paper's tables say was copied from them.",
    );
    section.add("## How it was made");
    section.add(
        "Each study is a grid of cells (a method with one setting) and repeats (data sets). A task is one cell on one data set. All methods of a \
         repeat see the same data.",
    );
    let studies = [
        ("Linear regression", &inputs.linear.about),
        ("Quantile regression", &inputs.quantile.about),
        ("Time per iteration", &inputs.timing.about),
        ("Contraction", &inputs.contraction.about),
        ("When it pays", &inputs.when_it_pays.about),
    ];
    let rows: Vec<Vec<String>> = studies
        .iter()
        .map(|(name, about)| row(name, about))
        .collect();
    section.add(table(
        &[
            "study",
            "command",
            "seed",
            "repeats",
            "cells",
            "tasks",
            "time",
            "time of all tasks",
        ],
        &rows,
    ));
    let total: f64 = studies.iter().map(|(_, about)| about.task_seconds).sum();
    section.add(format!(
        "*time* is what the study took by the clock, with so many tasks at once; *time of all tasks* is their sum ({} over all studies). The version of \
         `unshuffle` was {}. `make paper` runs everything and copies the results into `docs/paper/`; \
         `cargo run -p pages -- paper` writes this page and its figures from them.",
        duration(total),
        inputs.linear.about.version
    ));
    section.add("## What the paper leaves open, and what we assumed");
    section.add(assumptions(inputs));
    section
}

fn row(name: &str, about: &About) -> Vec<String> {
    let seconds: f64 = about.runs.iter().map(|run| run.seconds).sum();
    let jobs = about.runs.iter().map(|run| run.jobs);
    let (fewest, most) = (jobs.clone().min().unwrap_or(1), jobs.max().unwrap_or(1));
    let at_once = if fewest == most {
        format!("{most} at once")
    } else {
        format!("{fewest} to {most} at once")
    };
    let mut tasks = about.tasks.done.to_string();
    for (count, what) in [
        (about.tasks.failed, "failed"),
        (about.tasks.missing, "missing"),
    ] {
        if count > 0 {
            tasks += &format!(", {count} {what}");
        }
    }
    vec![
        name.to_string(),
        format!("`{}`", about.command),
        about.seed.to_string(),
        about.repeats.to_string(),
        about.cells.to_string(),
        tasks,
        format!("{}, {at_once}", duration(seconds)),
        duration(about.task_seconds),
    ]
}

fn assumptions(inputs: &Inputs) -> String {
    let sampler = Sampler::default();
    let iterations = format!(
        "{} of {} warm-up and {} kept iterations each",
        plural(sampler.chains, "chain"),
        sampler.warmup,
        sampler.draws
    );
    let repeats = inputs.linear.about.repeats;
    let items = [
        law_of_x(inputs),
        "**k**, the most rows that may be moved, is not given. 6 rows are moved in the design, 7 count as moved when the copied row moves too. Where we need a k we take 10.".to_string(),
        format!("**The number of repeats** is not given. We have {repeats} in the linear study; the table above has the others."),
        format!(
            "**Draws and T**, the number of proposed swaps in an iteration, are not given. We run {iterations} (2 chains of 500 and 1000 in the contraction study), and T = 10 n."
        ),
        "**d_H** is a sum over entries in the paper's text. But sums as small as its tables have, in units of 1e-4, would need the two copied rows to be split \
         evenly to within 1e-4, for which no feasible number of draws is enough. We take the mean over entries, Σ|Π̂ − Π0| / n², which has the scale of its tables."
            .to_string(),
        "**Starting points** are not given. Chains start within two standard errors of least squares on the data as linked; variants called *from the truth* \
         start at the true β and σ. The links start as given in chains 1 and 4, at the best assignment in chain 2, and with a tenth of the rows moved at random in chain 3; Step 1 comes first.".to_string(),
        "**τ and σ of the quantile study** are not given. We take τ = 0.5 and σ = 0.1; whether that has the paper's scale is said there.".to_string(),
        "**The tables** of the paper give the largest error over repeats, in units of 1e-4. Ours give the largest and, in parentheses, the mean over repeats, in the same units. \
         A largest error grows with the number of repeats, so the mean is the fairer number.".to_string(),
    ];
    items.map(|item| format!("- {item}")).join("\n")
}

fn law_of_x(inputs: &Inputs) -> String {
    let results = &inputs.linear.results;
    let sizes = results.distinct("n");
    let of_oracle: Vec<f64> = sizes
        .iter()
        .filter_map(|n| {
            results
                .select(&[("method", "oracle"), ("n", n)])
                .mean("beta_error")
        })
        .map(|error| 1e4 * error)
        .collect();
    let of_paper: Vec<f64> = sizes
        .iter()
        .filter_map(|n| best(linear, "beta_error", n))
        .map(|(_, error)| 1e4 * error)
        .collect();
    format!(
        "**The law of X** is not given. We draw every entry from N(0, 10²). At that scale least squares with the true links has mean errors of {} (in 1e-4, over n), \
         and the paper's smallest errors are {}; with N(0, 1) the errors of least squares would be ten times as large.",
        range(&of_oracle, 3),
        range(&of_paper, 3)
    )
}
