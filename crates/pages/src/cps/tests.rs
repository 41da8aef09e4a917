//! docs/examples/cps.md and its picture are what `cargo run -p pages -- cps` makes of the results beside them.

use std::fs;
use std::path::PathBuf;

use super::page;
use crate::support::committed::{self, assert_same};

fn docs() -> PathBuf {
    committed::docs().join("examples")
}

#[test]
fn the_page_on_wages_is_that_of_its_results() {
    let folder = tempfile::tempdir().unwrap();
    let table = page::write(&docs(), folder.path()).unwrap();
    assert!(table.lines().count() > 10 && page::HEADER.len() == 8);
    for name in ["cps.md", "cps.svg"] {
        assert_same(&folder.path().join(name), &docs().join(name), "cps");
    }
}

#[test]
fn other_results_make_another_page() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("cps")).unwrap();
    fs::copy(docs().join("cps.md"), folder.path().join("cps.md")).unwrap();
    let results = fs::read_to_string(docs().join("cps/results.csv")).unwrap();
    let (header, first) = results.split_once('\n').unwrap();
    let changed = format!("{header}\n{}", first.replacen(",0.", ",7.", 1));
    fs::write(folder.path().join("cps/results.csv"), changed).unwrap();
    let table = page::write(folder.path(), folder.path()).unwrap();
    let committed = fs::read_to_string(docs().join("cps.md")).unwrap();
    assert!(!committed.contains(&table));
}
