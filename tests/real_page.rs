//! docs/real.md and its figures are what `cargo run --example real_page` makes of the results beside them.

#[path = "../examples/real_page/page.rs"]
mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

fn generated(from: &Path) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = page::write(from, folder.path()).unwrap();
    (folder, paths)
}

/// A copy of the committed results.
fn inputs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["results.csv", "checks.csv", "study.json", "files.csv"] {
        fs::copy(docs().join("real").join(name), folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn the_committed_page_is_that_of_the_committed_results() {
    let (folder, paths) = generated(&docs().join("real"));
    for path in &paths {
        let name = path.strip_prefix(folder.path()).unwrap();
        let committed = fs::read_to_string(docs().join(name)).unwrap_or_default();
        assert!(
            fs::read_to_string(path).unwrap() == committed,
            "docs/{} is stale: run `cargo run --example real_page`",
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
        figures(&docs().join("real")),
        figures(&folder.path().join("real")),
        "a figure in docs/real that nothing draws"
    );
}

#[test]
fn a_changed_result_changes_the_page_and_a_missing_file_is_named() {
    let inputs = inputs();
    let text = |folder: &tempfile::TempDir| fs::read_to_string(folder.path().join("real.md"));
    let before = text(&generated(inputs.path()).0).unwrap();
    let results = inputs.path().join("results.csv");
    let original = fs::read_to_string(&results).unwrap();
    let mut reader = csv::Reader::from_reader(original.as_bytes());
    let error = reader.headers().unwrap();
    let error = error.iter().position(|name| name == "beta_error").unwrap();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(reader.headers().unwrap()).unwrap();
    for (index, record) in reader.records().enumerate() {
        let mut fields: Vec<String> = record.unwrap().iter().map(str::to_string).collect();
        if index == 0 {
            fields[error] = "77.7".into();
        }
        writer.write_record(&fields).unwrap();
    }
    fs::write(&results, writer.into_inner().unwrap()).unwrap();
    let after = text(&generated(inputs.path()).0).unwrap();
    assert_ne!(before, after);
    fs::remove_file(inputs.path().join("files.csv")).unwrap();
    let error = page::write(inputs.path(), inputs.path()).unwrap_err();
    assert!(format!("{error:#}").contains("files.csv cannot be read: run `make real`"));
}

/// The page shows every file and rate, and the data themselves are not among the results.
#[test]
fn no_number_is_missing_and_no_file_is_left_out() {
    let (_folder, paths) = generated(&docs().join("real"));
    for path in &paths {
        let text = fs::read_to_string(path).unwrap();
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let bad = words.find(|word| ["NaN", "nan", "NA", "inf", "None"].contains(word));
        assert_eq!(bad, None, "in {}", path.display());
    }
    let page = fs::read_to_string(&paths[0]).unwrap();
    let mut files = csv::Reader::from_path(docs().join("real/files.csv")).unwrap();
    let names: Vec<String> = files.records().map(|r| r.unwrap()[0].to_string()).collect();
    assert_eq!(names.len(), 13);
    for name in &names {
        assert!(page.contains(&format!("| {name} |")), "{name}");
        assert!(!docs().join(format!("real/{name}.csv")).exists(), "{name}");
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
    let (folder, _) = generated(inputs.path());
    let page = fs::read_to_string(folder.path().join("real.md")).unwrap();
    let (_, clean) = page
        .split_once("## Wrong links found where there are none")
        .unwrap();
    let row = clean
        .lines()
        .find(|line| line.starts_with(&format!("| {file} |")));
    assert!(row.unwrap().contains("| 1 of 1 |"), "{row:?}");
}
