//! The error of every method on every file.

use super::Section;
use super::format::{fixed, table};
use super::results::{Inputs, percent_of};

pub fn section(inputs: &Inputs) -> Section {
    let mut section = super::new_section();
    section.add("## Errors by file");
    section.add("Mean error over repeats, in unharmed standard errors.");
    let mut headings = vec!["file"];
    headings.extend(inputs.methods.iter().map(|method| method.name.as_str()));
    for rate in &inputs.rates {
        section.add(format!("### {} of the rows mismatched", percent_of(rate)));
        let rows: Vec<Vec<String>> = inputs
            .file_names
            .iter()
            .map(|file| {
                let errors = inputs.methods.iter().map(|method| {
                    let error = inputs.cell(method, file, rate).mean("beta_error");
                    fixed(error, 2)
                });
                [file.clone()].into_iter().chain(errors).collect()
            })
            .collect();
        section.add(table(&headings, &rows));
    }
    section
}
