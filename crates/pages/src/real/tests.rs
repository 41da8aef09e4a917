//! docs/real.md and its figures are what `cargo run -p pages -- real` makes of the results beside them.

use std::fs;

use crate::support::committed::{Page, change_error};

const PAGE: Page = Page {
    name: "real",
    write: super::write,
};

/// A copy of the committed results.
fn inputs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["results.csv", "checks.csv", "study.json", "files.csv"] {
        fs::copy(PAGE.results().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn the_committed_page_is_that_of_the_committed_results() {
    PAGE.assert_is_committed();
}

#[test]
fn a_changed_result_changes_the_page_and_a_missing_file_is_named() {
    let inputs = inputs();
    let before = PAGE.text(inputs.path());
    change_error(&inputs.path().join("results.csv"), None);
    assert_ne!(before, PAGE.text(inputs.path()));
    fs::remove_file(inputs.path().join("files.csv")).unwrap();
    let error = super::write(inputs.path(), inputs.path()).unwrap_err();
    assert!(format!("{error:#}").contains("files.csv cannot be read: run `make real`"));
}

/// The page shows every file and rate, and the data themselves are not among the results.
#[test]
fn no_number_is_missing_and_no_file_is_left_out() {
    PAGE.assert_lacks_no_number();
    let page = PAGE.text(&PAGE.results());
    let mut files = csv::Reader::from_path(PAGE.results().join("files.csv")).unwrap();
    let names: Vec<String> = files.records().map(|r| r.unwrap()[0].to_string()).collect();
    assert_eq!(names.len(), 13);
    for name in &names {
        assert!(page.contains(&format!("| {name} |")), "{name}");
        assert!(
            !PAGE.results().join(format!("{name}.csv")).exists(),
            "{name}"
        );
    }
}

/// Checks that fits made of themselves stand beside the rates that they found.
#[test]
fn failed_checks_are_counted_beside_the_rate_that_was_found() {
    let inputs = inputs();
    let header = "cell,method,file,mislinked,repeat,source,weight,check,p_value,passed\n";
    let results = fs::read_to_string(inputs.path().join("results.csv")).unwrap();
    let mut reader = csv::Reader::from_reader(results.as_bytes());
    let names = reader.headers().unwrap().clone();
    let column = |name: &str| names.iter().position(|known| known == name).unwrap();
    let mut rows = reader.records().map(Result::unwrap);
    let fit = rows.find(|row| &row[column("r_hat")] != "NA" && &row[column("mislinked")] == "0");
    let fit = fit.expect("a fit of an unharmed file");
    let method = fit[column("method")].split(':').next().unwrap();
    let (file, repeat) = (&fit[column("file")], &fit[column("repeat")]);
    let line = format!("1,{method},{file},0,{repeat},as_linked,0,spread,0.0001,false\n");
    fs::write(inputs.path().join("checks.csv"), format!("{header}{line}")).unwrap();
    let page = PAGE.text(inputs.path());
    let (_, clean) = page
        .split_once("## Wrong links found where there are none")
        .unwrap();
    let row = clean
        .lines()
        .find(|line| line.starts_with(&format!("| {file} |")));
    assert!(row.unwrap().contains("| 1 of 1 |"), "{row:?}");
}
