//! The pages of docs/examples have the tables and pictures that their programs make of the results beside them.

#[path = "../examples/cps/page.rs"]
mod cps;

use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples")
}

#[test]
fn the_page_on_wages_is_that_of_its_results() {
    let folder = tempfile::tempdir().unwrap();
    let table = cps::write(&docs(), folder.path()).unwrap();
    assert!(table.lines().count() > 10 && cps::HEADER.len() == 8);
    for name in ["cps.md", "cps.svg"] {
        let committed = fs::read_to_string(docs().join(name)).unwrap_or_default();
        assert!(
            fs::read_to_string(folder.path().join(name)).unwrap() == committed,
            "docs/examples/{name} is stale: run `cargo run --example cps`"
        );
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
    let table = cps::write(folder.path(), folder.path()).unwrap();
    let committed = fs::read_to_string(docs().join("cps.md")).unwrap();
    assert!(!committed.contains(&table));
}
