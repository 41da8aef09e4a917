//! Time per iteration, by n and temperature.

use unshuffle_plot::{Axis, Figure, Mark, Panel, Series};

use super::Section;
use super::format::{fixed, significant, table};
use super::paper_numbers::RSTAN_SECONDS;
use super::results::{Rows, Study};

const METHODS: [(&str, &str); 3] = [("ours", "ours"), ("literal", "literal"), ("mcem", "MC-EM")];
/// Where the table splits the time.
const SPLIT_N: &str = "250";

pub fn section(study: &Study) -> Section {
    let mut section = super::new_section();
    section.add("## Time per iteration");
    section.add(
        "One iteration is Step 1 (the parameters, one transition of HMC) and Step 2 (the links). Times are of one chain on one core, warm-up included, means over repeats. The paper has a picture of the same \
         kind, for its own program, from which we cannot read numbers.",
    );
    section.show("iteration_time.svg", figure(study));
    section.add(format!(
        "At n = {SPLIT_N}, in milliseconds. *rest* is what is neither step, such as writing draws. *times faster* is against {:.0} ms, which is what a re-implementation of the paper's scheme in R with rstan took at \
         n = {SPLIT_N} on a machine like ours ({:.0} ms at n = 100). It is not the paper's own program, which we do not have.",
        1000.0 * rstan(SPLIT_N).unwrap_or(f64::NAN),
        1000.0 * rstan("100").unwrap_or(f64::NAN)
    ));
    section.add(split(study));
    section.add(comparisons(study));
    section
}

fn rstan(n: &str) -> Option<f64> {
    let found = RSTAN_SECONDS.iter().find(|(size, _)| size.to_string() == n);
    found.map(|(_, seconds)| *seconds)
}

fn cell<'a>(study: &'a Study, method: &str, n: &str, kappa: &str) -> Rows<'a> {
    let wanted = [("method", method), ("n", n), ("temperature", kappa)];
    study.timing.select(&wanted)
}

fn kappas(study: &Study, method: &str) -> Vec<String> {
    study
        .timing
        .select(&[("method", method)])
        .distinct("temperature")
}

fn figure(study: &Study) -> Figure {
    let sizes = study.timing.distinct("n");
    let kappas = study.timing.distinct("temperature");
    let times = |method: &str, kappa: &str| -> Vec<(f64, f64)> {
        let point = |n: &String| {
            let time = cell(study, method, n, kappa).mean("iteration_ms")?;
            Some((n.parse().ok()?, time))
        };
        sizes.iter().filter_map(point).collect()
    };
    let longest = study
        .timing
        .distinct("method")
        .iter()
        .fold(0.0, |longest, method| {
            let all = kappas.iter().flat_map(|kappa| times(method, kappa));
            all.fold(longest, |longest, (_, time)| f64::max(longest, time))
        });
    let mut figure = Figure::new(
        "Time per iteration by n and temperature",
        format!(
            "Milliseconds per iteration against n, one panel for each temperature; the longest is {} ms.",
            significant(longest, 2)
        ),
    )
    .columns(2);
    for kappa in &kappas {
        let mut panel = Panel::new(format!("κ = {}", shown(kappa)))
            .x(Axis::linear("n"))
            .y(Axis::linear("ms per iteration").range(0.0, 1.05 * longest));
        for (k, (method, _)) in METHODS.iter().enumerate() {
            let line = times(method, kappa);
            if !line.is_empty() {
                panel = panel
                    .mark(Mark::line(Series(k), line.clone()))
                    .mark(Mark::points(Series(k), line));
            }
        }
        figure = figure.panel(panel);
    }
    METHODS
        .iter()
        .enumerate()
        .fold(figure, |figure, (k, (_, name))| {
            figure.legend(Series(k), *name)
        })
}

fn shown(kappa: &str) -> &str {
    kappa.strip_suffix(".0").unwrap_or(kappa)
}

fn split(study: &Study) -> String {
    let mut rows = Vec::new();
    for (method, name) in METHODS {
        for kappa in kappas(study, method) {
            let own = cell(study, method, SPLIT_N, &kappa);
            let steps = (own.mean("step_one_ms"), own.mean("step_two_ms"));
            let total = own.mean("iteration_ms");
            let rest = match (total, steps) {
                (Some(total), (Some(one), Some(two))) => Some(total - one - two),
                _ => None,
            };
            let faster = total.and_then(|ms| Some(1000.0 * rstan(SPLIT_N)? / ms));
            rows.push(vec![
                name.to_string(),
                shown(&kappa).to_string(),
                fixed(steps.0, 3),
                fixed(steps.1, 3),
                fixed(rest, 3),
                fixed(total, 3),
                fixed(faster, 0),
            ]);
        }
    }
    let headings = [
        "method",
        "κ",
        "Step 1",
        "Step 2",
        "rest",
        "total",
        "times faster",
    ];
    table(&headings, &rows)
}

/// How much the temperature and the number of rows matter.
fn comparisons(study: &Study) -> String {
    let sizes = study.timing.distinct("n");
    let sentences = METHODS.map(|(method, name)| {
        let kappas = kappas(study, method);
        let time = |n: &str, kappa: &str| cell(study, method, n, kappa).mean("iteration_ms");
        let spread = sizes.iter().filter_map(|n| {
            let times: Vec<f64> = kappas.iter().filter_map(|kappa| time(n, kappa)).collect();
            let (low, high) = (
                times.iter().copied().reduce(f64::min)?,
                times.iter().copied().reduce(f64::max)?,
            );
            Some(high / low)
        });
        let growth = || {
            let (first, last) = (sizes.first()?, sizes.last()?);
            let ends = |n: &str| -> f64 { kappas.iter().filter_map(|kappa| time(n, kappa)).sum() };
            Some((first, last, ends(last) / ends(first)))
        };
        let (first, last, growth) = growth().expect("at least one n");
        format!(
            "{name}: at the same n the slowest temperature takes at most {:.1} times as long as the fastest; from n = {first} to {last} the time grows by a factor of {growth:.1}",
            spread.fold(1.0, f64::max)
        )
    });
    format!(
        "The paper says that its times hardly depend on κ and grow favourably with n. For our programs:\n\n- {}.",
        sentences.join(";\n- ")
    )
}
