//! docs/paper.md and its figures are what `cargo run -p pages -- paper` makes of the results beside them.

use std::fs;

use crate::support::committed::{Page, change_error};

const PAGE: Page = Page {
    name: "paper",
    write: super::write,
};
const STUDIES: [&str; 5] = [
    "linear",
    "quantile",
    "timing",
    "contraction",
    "when_it_pays",
];

#[test]
fn the_committed_page_is_that_of_the_committed_results() {
    PAGE.assert_is_committed();
    assert!(PAGE.made(&PAGE.results()).1.len() > 5);
}

#[test]
fn a_changed_result_changes_the_page() {
    let inputs = tempfile::tempdir().unwrap();
    for study in STUDIES {
        let (from, to) = (PAGE.results().join(study), inputs.path().join(study));
        fs::create_dir(&to).unwrap();
        for entry in fs::read_dir(&from).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    let before = PAGE.text(inputs.path());
    for (study, method) in [
        ("linear", "ours"),
        ("quantile", "oracle"),
        ("when_it_pays", "mixture"),
    ] {
        let path = inputs.path().join(study).join("results.csv");
        let original = fs::read(&path).unwrap();
        change_error(&path, Some(method));
        assert_ne!(before, PAGE.text(inputs.path()), "{study}");
        fs::write(&path, original).unwrap();
    }
    fs::remove_file(inputs.path().join("timing/study.json")).unwrap();
    let error = super::write(inputs.path(), inputs.path()).unwrap_err();
    assert!(format!("{error:#}").contains("study.json cannot be read: run `make paper`"));
}

#[test]
fn no_number_is_missing() {
    PAGE.assert_lacks_no_number();
}
