//! Files without linkage errors: how many wrong links are found, and whether the checks object.

use super::Section;
use super::format::{NONE, of_all, percent, table};
use super::results::{Inputs, Method};

/// A file without wrong links should not be told of more than this.
const MOST_FOUND: f64 = 0.05;

pub fn section(inputs: &Inputs) -> Section {
    let mut section = super::new_section();
    let Some(clean) = inputs.rates.iter().find(|rate| rate.parse() == Ok(0.0)) else {
        return section;
    };
    section.add("## Wrong links found where there are none");
    let methods: Vec<&Method> = inputs.fits().into_iter().chain(baselines(inputs)).collect();
    section.add(
        "The mean estimate of the mismatch rate on the files as given, whose links are right:",
    );
    section.add(found(inputs, clean, &methods));
    let lines: Vec<String> = methods
        .iter()
        .map(|method| sentence(inputs, clean, method))
        .collect();
    section.add(lines.join("\n"));
    section
}

/// Methods without draws that estimate a rate.
fn baselines(inputs: &Inputs) -> impl Iterator<Item = &Method> {
    inputs.methods.iter().filter(|method| {
        let own = inputs.results.select(&[("method", &method.key)]);
        own.values("r_hat").is_empty() && !own.values("mismatch_rate").is_empty()
    })
}

/// (fits with a failed check, fits with checks).
fn failed(inputs: &Inputs, method: &Method, file: &str, rate: &str) -> (usize, usize) {
    let own = [
        ("method", method.fit()),
        ("file", file),
        ("mislinked", rate),
    ];
    let checked = inputs.checks.select(&own).distinct("repeat").len();
    let failures = [own[0], own[1], own[2], ("passed", "false")];
    let failed = inputs.checks.select(&failures).distinct("repeat").len();
    (failed, checked)
}

fn found(inputs: &Inputs, clean: &str, methods: &[&Method]) -> String {
    let has_checks = |method: &Method| {
        let files = inputs.file_names.iter();
        files
            .map(|file| failed(inputs, method, file, clean).1)
            .sum::<usize>()
            > 0
    };
    let mut headings = vec!["file".to_string()];
    for method in methods {
        headings.push(method.name.clone());
        if has_checks(method) {
            headings.push(format!("a check failed, {}", method.name));
        }
    }
    let rows: Vec<Vec<String>> = inputs
        .file_names
        .iter()
        .map(|file| {
            let mut row = vec![file.clone()];
            for method in methods {
                row.push(percent(
                    inputs.cell(method, file, clean).mean("mismatch_rate"),
                ));
                if has_checks(method) {
                    let (failed, checked) = failed(inputs, method, file, clean);
                    row.push(match checked {
                        0 => NONE.into(),
                        _ => format!("{failed} of {checked}"),
                    });
                }
            }
            row
        })
        .collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    table(&headings, &rows)
}

/// How many files are told of too many wrong links, and how many of them without a failed check.
fn sentence(inputs: &Inputs, clean: &str, method: &Method) -> String {
    let mut told = 0;
    let mut without_a_check = 0;
    let mut any_checks = false;
    for file in &inputs.file_names {
        let rate = inputs.cell(method, file, clean).mean("mismatch_rate");
        let (failed, checked) = failed(inputs, method, file, clean);
        any_checks |= checked > 0;
        if rate.is_some_and(|rate| rate > MOST_FOUND) {
            told += 1;
            without_a_check += usize::from(failed < checked);
        }
    }
    let mut text = format!(
        "- {}: more than {} wrong links are found in {}",
        method.name,
        percent(Some(MOST_FOUND)),
        of_all(told, inputs.file_names.len(), "files"),
    );
    if any_checks && told > 0 {
        text += &format!("; in {without_a_check} of these, some fit passed all checks");
    }
    text + "."
}
