//! What was done, to which files.

use unshuffle::internals::text::list;

use super::Section;
use super::format::{duration, fixed, plural, table};
use super::results::{Inputs, percent_of};

pub fn section(inputs: &Inputs) -> Section {
    let mut section = super::new_section();
    let count = inputs.file_names.len();
    let about = &inputs.about;
    section.add("# Real files with planted linkage errors");
    section.add(format!(
        "Simulated data follow the model; real files do not. This page takes {} from textbooks, whose links are right, and exchanges the responses of a \
         random share of the rows. Every method then estimates the regression from the mismatched file. No number on this page was typed: \
         `cargo run -p pages -- real` writes it from the results in `docs/real/`.",
        plural(count, "regression")
    ));
    section.add("## How it was measured");
    let rates: Vec<String> = inputs.rates.iter().map(|rate| percent_of(rate)).collect();
    let seconds: f64 = about.runs.iter().map(|run| run.seconds).sum();
    let mut lines = vec![
        format!(
            "**Linkage errors**: {} of the rows, a uniform derangement of their responses, {} a file and rate (seed {}). All methods see the same mismatched files.",
            list(&rates),
            plural(about.repeats, "repeat"),
            about.seed
        ),
        "**Error**: the mean over the slopes, without the intercept, of |estimate − unharmed estimate| / unharmed standard error. *Unharmed* is least squares \
         on the file as given."
            .into(),
        "**Coverage**: the share of the slopes whose 90 % interval contains the unharmed estimate. A method that returned the unharmed fit would have 100 %.".into(),
        format!(
            "**Command**: these results are those of `{}`; {} took {} by the clock (`unshuffle` {}). `make real` fetches the data with pip, runs `configs/real.json`, and writes this page.",
            about.command,
            plural(about.tasks.done, "task"),
            duration(seconds),
            about.version
        ),
    ];
    for (count, what) in [
        (about.tasks.failed, "failed"),
        (about.tasks.missing, "missing"),
    ] {
        if count > 0 {
            lines.push(format!("**Incomplete**: {} {what}.", plural(count, "task")));
        }
    }
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
    section.add(lines.join("\n"));
    section.add(files(inputs));
    section
}

fn files(inputs: &Inputs) -> String {
    let rows: Vec<Vec<String>> = inputs
        .file_names
        .iter()
        .map(|name| {
            let file = inputs.files.select(&[("file", name)]);
            let text = |column: &str| file.distinct(column).concat();
            vec![
                name.clone(),
                text("package"),
                format!(
                    "{} ~ {}",
                    text("response"),
                    text("predictors").replace(' ', " + ")
                ),
                text("rows"),
                fixed(file.mean("r2"), 2),
            ]
        })
        .collect();
    table(
        &["file", "Python package", "regression", "rows", "R²"],
        &rows,
    )
}
