//! docs/paper.md and its figures are what `cargo run --example paper_page` makes of the results beside them.

#[path = "../examples/paper_page/page.rs"]
mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const STUDIES: [&str; 5] = [
    "linear",
    "quantile",
    "timing",
    "contraction",
    "when_it_pays",
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn generated(from: &Path) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = page::write(from, folder.path()).unwrap();
    (folder, paths)
}

#[test]
fn the_committed_page_is_that_of_the_committed_results() {
    let (folder, paths) = generated(&docs().join("paper"));
    assert!(paths.len() > 5);
    for path in &paths {
        let name = path.strip_prefix(folder.path()).unwrap();
        let committed = fs::read_to_string(docs().join(name)).unwrap_or_default();
        assert!(
            fs::read_to_string(path).unwrap() == committed,
            "docs/{} is stale: run `cargo run --example paper_page`",
            name.display()
        );
    }
    let figures = |folder: &Path| -> BTreeSet<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| {
            let name = entry.unwrap().file_name();
            name.to_string_lossy().into_owned()
        });
        names.filter(|name| name.ends_with(".svg")).collect()
    };
    assert_eq!(
        figures(&docs().join("paper")),
        figures(&folder.path().join("paper")),
        "a figure in docs/paper that nothing draws"
    );
}

/// The first error of `method` in a study becomes ten times as large.
fn change(study: &Path, method: &str) {
    let path = study.join("results.csv");
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let (methods, errors) = (column("method"), column("beta_error"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&headers).unwrap();
    let mut changed = false;
    for record in reader.records() {
        let mut fields: Vec<String> = record.unwrap().iter().map(str::to_string).collect();
        if !changed && fields[methods] == method {
            let error: f64 = fields[errors].parse().unwrap();
            fields[errors] = (10.0 * error).to_string();
            changed = true;
        }
        writer.write_record(&fields).unwrap();
    }
    assert!(changed, "no row of {method}");
    fs::write(path, writer.into_inner().unwrap()).unwrap();
}

#[test]
fn a_changed_result_changes_the_page() {
    let inputs = tempfile::tempdir().unwrap();
    for study in STUDIES {
        let (from, to) = (docs().join("paper").join(study), inputs.path().join(study));
        fs::create_dir(&to).unwrap();
        for entry in fs::read_dir(&from).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
    let page = |folder: &tempfile::TempDir| fs::read_to_string(folder.path().join("paper.md"));
    let before = generated(inputs.path()).0;
    for (study, method) in [
        ("linear", "ours"),
        ("quantile", "oracle"),
        ("when_it_pays", "mixture"),
    ] {
        let path = inputs.path().join(study).join("results.csv");
        let original = fs::read(&path).unwrap();
        change(&inputs.path().join(study), method);
        let after = generated(inputs.path()).0;
        assert_ne!(page(&before).unwrap(), page(&after).unwrap(), "{study}");
        fs::write(&path, original).unwrap();
    }
    fs::remove_file(inputs.path().join("timing/study.json")).unwrap();
    let error = page::write(inputs.path(), inputs.path()).unwrap_err();
    assert!(format!("{error:#}").contains("study.json cannot be read: run `make paper`"));
}

#[test]
fn no_number_is_missing() {
    let (_folder, paths) = generated(&docs().join("paper"));
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let bad = words.find(|word| ["NaN", "nan", "NA", "inf", "None"].contains(word));
        assert_eq!(bad, None, "in {}", path.display());
    }
}
