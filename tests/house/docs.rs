//! Documents name what is there: paths that exist, every shipped model, every page.

use std::fs;
use std::path::{Path, PathBuf};

use unshuffle::internals::config;
use unshuffle::internals::model::stan::shipped_names;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// What stands between backticks, and the targets of links.
fn named(text: &str) -> Vec<&str> {
    let code = text.split('`').skip(1).step_by(2);
    let links = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    code.chain(links).collect()
}

/// Paths of the repository that a document names, without patterns and what a build makes.
fn paths(text: &str) -> Vec<&str> {
    const FOLDERS: [&str; 10] = [
        ".ci/",
        "benches/",
        "configs/",
        "crates/",
        "docs/",
        "examples/",
        "scripts/",
        "src/",
        "stan/",
        "tests/",
    ];
    let is_plain = |path: &str| !path.contains([' ', '*', '<', '{']) && !path.contains("NAME");
    let all = named(text).into_iter();
    all.filter(|path| FOLDERS.iter().any(|folder| path.starts_with(folder)) && is_plain(path))
        .collect()
}

#[test]
fn paths_in_documents_exist() {
    let mut num_found = 0;
    let mut missing = Vec::new();
    for name in [
        "CONTRIBUTING.md",
        "README.md",
        "docs/method.md",
        "docs/toolchain.md",
    ] {
        let text = read(name);
        for path in paths(&text) {
            num_found += 1;
            if !root().join(path).exists() {
                missing.push(format!("{name} names {path}"));
            }
        }
    }
    assert!(num_found > 60, "only {num_found} paths");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    // A path that is not there would be seen.
    assert_eq!(
        paths("as in `src/fit.rs`, `stan/NAME.stan` and [here](docs/a.md)"),
        ["src/fit.rs", "docs/a.md"]
    );
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/examples"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        pages.extend(entries.map(|entry| entry.unwrap().path()));
    }
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = link.split('#').next().unwrap_or_default();
            let there = page.parent().unwrap_or(Path::new("")).join(file);
            let leads = link.starts_with("http") || there.exists();
            assert!(leads, "{} links to {link}", page.display());
        }
    }
}

#[test]
fn the_index_has_every_page() {
    let index = read("docs/README.md");
    for folder in ["", "examples/"] {
        for entry in fs::read_dir(root().join("docs").join(folder)).unwrap() {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            if name.ends_with(".md") && name != "README.md" {
                assert!(index.contains(&format!("({folder}{name})")), "{name}");
            }
        }
    }
}

#[test]
fn every_shipped_model_is_named() {
    let schema = config::schema();
    let (page, schema_text) = (read("docs/models.md"), schema.as_str());
    for model in shipped_names() {
        assert!(
            page.contains(&format!("| `{model}` |")),
            "docs/models.md: {model}"
        );
        let listed = [format!("{model},"), format!("{model})")];
        assert!(
            listed.iter().any(|word| schema_text.contains(word)),
            "`unshuffle schema`: {model}"
        );
    }
}

#[test]
fn the_readme_is_one_page_with_the_terms_people_search_for() {
    let readme = read("README.md");
    assert!(readme.len() <= 6000, "{} bytes", readme.len());
    let words = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    for term in [
        "record linkage",
        "linkage error",
        "post-linkage analysis",
        "shuffled regression",
        "unlabeled sensing",
    ] {
        assert!(words.contains(term), "{term}");
    }
}

/// Each line of a table of `page` that begins with a method stands in docs/real.md too.
fn stale_errors(page: &str) -> Vec<&str> {
    let measured = read("docs/real.md");
    let is_error = |line: &&str| {
        let mut cells = line.split('|').skip(2).map(str::trim);
        cells.next().is_some_and(|cell| cell.parse::<f64>().is_ok())
    };
    let lines = page.lines().filter(is_error);
    lines.filter(|line| !measured.contains(line)).collect()
}

#[test]
fn errors_beside_other_programs_are_the_measured_ones() {
    let page = read("docs/peers.md");
    assert!(page.contains("| recommended |"));
    assert_eq!(stale_errors(&page), Vec::<&str>::new());
    let stale = page.replacen("| recommended | 0.", "| recommended | 1.", 1);
    assert_eq!(stale_errors(&stale).len(), 1);
}
