//! docs/examples/engel.md and its picture are what `cargo run -p pages -- engel` makes of the results beside them.

use std::fs;
use std::path::PathBuf;

use super::page;
use crate::support::committed::{self, assert_same};

fn docs() -> PathBuf {
    committed::docs().join("examples")
}

#[test]
fn the_committed_page_is_that_of_the_committed_results() {
    let folder = tempfile::tempdir().unwrap();
    let table = page::write(&docs(), folder.path()).unwrap();
    assert_eq!(table.lines().count(), 6);
    for name in ["engel.md", "engel.svg"] {
        assert_same(&folder.path().join(name), &docs().join(name), "engel");
    }
}

#[test]
fn a_changed_result_changes_table_and_picture() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path();
    fs::create_dir(from.join("engel")).unwrap();
    for name in ["engel.md", "engel/results.csv", "engel/links.csv"] {
        fs::copy(docs().join(name), from.join(name)).unwrap();
    }
    let read = |name: &str| fs::read_to_string(from.join(name)).unwrap();
    let before = page::write(from, from).unwrap();
    let picture = read("engel.svg");
    let results = read("engel/results.csv");
    let line = results
        .lines()
        .find(|line| line.starts_with("mean,unshuffle,"))
        .unwrap();
    let mut cells: Vec<&str> = line.split(',').collect();
    cells[5] = "0.123456";
    fs::write(
        from.join("engel/results.csv"),
        results.replace(line, &cells.join(",")),
    )
    .unwrap();
    let after = page::write(from, from).unwrap();
    assert!(after.contains("0.123 [") && !before.contains("0.123 ["));
    assert!(read("engel.md").contains("0.123 ["));
    assert_ne!(read("engel.svg"), picture);
}
