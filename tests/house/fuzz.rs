//! Damaged inputs end in one sentence or are read, never in a panic: configs, data, formulas, Stan programs, saved fits.
//!
//! Inputs of tests/corpus and of the shipped files are changed at random, with fixed seeds. `UNSHUFFLE_FUZZ` is the number
//! of inputs of each kind. An input that once made a panic belongs in tests/corpus.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use unshuffle::Posterior;
use unshuffle::internals::config;
use unshuffle::internals::model::stan::adopt;
use unshuffle::internals::posterior::{read_links, read_output};

const DEFAULT_COUNT: usize = 1000;
/// What programs of many kinds trip over.
const PIECES: [&str; 32] = [
    "",
    "0",
    "-1",
    "1e999",
    "-0.0",
    "NaN",
    "inf",
    "NA",
    "null",
    "true",
    "[]",
    "{}",
    "\"",
    "\"\"",
    ",",
    ";",
    "\n",
    "\r\n",
    "\t",
    "\u{feff}",
    "\u{1b}[31m",
    "é",
    "𝛽",
    "(",
    ")",
    "~",
    "^",
    "#include <",
    "18446744073709551616",
    "{",
    "}",
    "`",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn changed(corpus: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut input = corpus.choose(rng).unwrap().clone();
    for _ in 0..rng.random_range(1..=4) {
        let at = rng.random_range(0..=input.len());
        let end = (at + rng.random_range(0..=12)).min(input.len());
        match rng.random_range(0..7) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => drop(input.splice(at..at, PIECES.choose(rng).unwrap().bytes())),
            3 => drop(input.splice(at..end, PIECES.choose(rng).unwrap().bytes())),
            4 => input[at..end]
                .iter_mut()
                .for_each(|byte| *byte ^= 1 << (at % 8)),
            5 => {
                let piece = input[at..end].repeat(rng.random_range(2..40));
                input.splice(at..end, piece);
            }
            _ => {
                let other = corpus.choose(rng).unwrap();
                let from = rng.random_range(0..=other.len());
                let to = (from + rng.random_range(0..=80)).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
        }
    }
    input
}

fn count() -> usize {
    let count = std::env::var("UNSHUFFLE_FUZZ").ok();
    count.map_or(DEFAULT_COUNT, |count| {
        count.parse().expect("a number of inputs")
    })
}

/// `read` says what is wrong with an input, or that nothing is.
fn fuzz(what: &str, corpus: &[Vec<u8>], read: impl Fn(&[u8]) -> Result<(), String>) {
    let (num_read, num_refused) = fuzz_by(changed, what, corpus, read);
    assert!(
        num_read > 0 && num_refused > 0,
        "{what} is not tried on both sides"
    );
}

fn fuzz_by(
    changed: impl Fn(&[Vec<u8>], &mut ChaCha8Rng) -> Vec<u8>,
    what: &str,
    corpus: &[Vec<u8>],
    read: impl Fn(&[u8]) -> Result<(), String>,
) -> (usize, usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut num_read, mut num_refused) = (0, 0);
    let input = |k: usize| match corpus.get(k) {
        Some(input) => input.clone(),
        None => changed(corpus, &mut rng),
    };
    for input in (0..corpus.len() + count()).map(input) {
        let text = String::from_utf8_lossy(&input);
        match catch_unwind(AssertUnwindSafe(|| read(&input))) {
            Ok(Ok(())) => num_read += 1,
            Ok(Err(sentence)) => {
                num_refused += 1;
                assert!(
                    !sentence.trim().is_empty(),
                    "no sentence for {what}:\n{text}"
                );
            }
            Err(_) => panic!("a panic for {what}:\n{text}"),
        }
    }
    println!("{what}: {num_read} read, {num_refused} refused, no panic");
    (num_read, num_refused)
}

#[test]
fn configs() {
    let mut corpus = files("configs", "json");
    corpus.extend(files("configs/paper", "json"));
    fuzz("a config", &corpus, |input| {
        let text = String::from_utf8_lossy(input);
        let parsed = config::parse(&text, Path::new("/fits/config.json"), &[]);
        parsed.map(|_| ()).map_err(|error| error.to_string())
    });
}

/// A program of whole statements, as stanc would pass: comments added, statements lost or exchanged, terms repeated.
fn changed_statements(corpus: &[Vec<u8>], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let text = String::from_utf8(corpus.choose(rng).unwrap().clone()).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let is_statement = |line: &str| {
        let [opened, closed] =
            [['(', '[', '{'], [')', ']', '}']].map(|all| line.matches(all).count());
        line.trim_end().ends_with(';') && opened == closed
    };
    for _ in 0..rng.random_range(1..=5) {
        let statements: Vec<usize> = (0..lines.len())
            .filter(|&k| is_statement(lines[k]))
            .collect();
        let Some(&at) = statements.choose(rng) else {
            break;
        };
        match rng.random_range(0..5) {
            0 => drop(lines.remove(at)),
            1 if lines[at].contains('~') => lines.insert(at, lines[at]),
            2 => lines.swap(at, *statements.choose(rng).unwrap()),
            3 => lines.insert(at, "/* y ~ normal(0, 1); } é */"),
            _ => lines.insert(at, "// { data { y"),
        }
    }
    lines.join("\n").into_bytes()
}

/// What a fit of this data section reads.
fn read_data(data: serde_json::Value) -> Result<(), String> {
    let text = json!({"model": {"stan": "linear"}, "data": data}).to_string();
    let config = config::parse(&text, Path::new("/fits/config.json"), &[]);
    let config = config.map_err(|error| error.to_string())?;
    let read = unshuffle::internals::data::read(&config.data);
    read.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn data() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.csv");
    fuzz("data", &files("tests/corpus/csv", "csv"), |input| {
        fs::write(&file, input).unwrap();
        let plain = read_data(json!({"file": file, "response": "y", "predictors": ["x1", "x2"]}));
        let known = json!({"file": file, "formula": "y ~ x1 + x2", "missing": "drop", "block": "block",
            "safe": "checked", "match_probability": "p", "id": "id"});
        plain.or(read_data(known))
    });
}

#[test]
fn formulas() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.csv");
    fs::copy(root().join("tests/corpus/csv/plain.csv"), &file).unwrap();
    let lines = fs::read_to_string(root().join("tests/corpus/formula/formulas.txt")).unwrap();
    let corpus: Vec<Vec<u8>> = lines.lines().map(|line| line.into()).collect();
    fuzz("a formula", &corpus, |input| {
        let formula = String::from_utf8_lossy(input);
        read_data(json!({"file": file, "formula": formula}))
    });
}

#[test]
fn programs() {
    let mut corpus = files("stan", "stan");
    corpus.extend(files("tests/adopt", "stan"));
    fuzz_by(changed_statements, "a program", &corpus, |input| {
        let text = String::from_utf8_lossy(input);
        let adopted = adopt(&text, "own.stan", "y", &|_| Ok(true));
        adopted.map(|_| ()).map_err(|error| error.to_string())
    });
}

/// The files of a small fit in a folder of their own.
fn saved_fit() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(root().join("tests/corpus/fit")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

fn damage_each(names: &[&str], read: impl Fn(&Path) -> Result<(), String>) {
    for name in names {
        let folder = saved_fit();
        let path = folder.path().join(name);
        let corpus = [fs::read(&path).unwrap()];
        fuzz(name, &corpus, |input| {
            fs::write(&path, input).unwrap();
            read(folder.path())
        });
    }
}

#[test]
fn draws_and_links() {
    damage_each(&["draws_1.csv"], |folder| {
        let read = read_output(folder);
        read.map(|_| ()).map_err(|error| error.to_string())
    });
    damage_each(&["links_2.csv"], |folder| {
        let read = read_links(&folder.join("links_2.csv"));
        read.map(|_| ()).map_err(|error| error.to_string())
    });
}

#[test]
fn saved_fits_and_their_reports() {
    let names = [
        "config.json",
        "data.json",
        "diagnostics.json",
        "rows.csv",
        "status.json",
        "trust.json",
    ];
    damage_each(&names, |folder| {
        let fit = Posterior::read(folder).map_err(|error| error.to_string())?;
        let report = unshuffle::internals::report::write(&fit);
        report.map(|_| ()).map_err(|error| error.to_string())
    });
}

#[test]
fn what_a_finished_fit_found_of_itself_cannot_be_lost() {
    for name in ["trust.json", "diagnostics.json"] {
        let folder = saved_fit();
        Posterior::read(folder.path()).unwrap();
        fs::remove_file(folder.path().join(name)).unwrap();
        let message = Posterior::read(folder.path()).err().unwrap().to_string();
        assert!(message.contains(&format!("{name} is gone")), "{message}");
    }
}
