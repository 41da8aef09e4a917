//! The storeys of src/: a room uses only rooms before it in the order of `ROOMS`, so no cycle between rooms is possible.

#[path = "../../crates/pages/src/rooms/graph.rs"]
mod graph;
#[path = "../../crates/pages/src/rooms/tokens.rs"]
mod tokens;

use std::path::Path;

use graph::{Arrow, Graph, ROOMS};

fn points_up(arrow: &Arrow) -> bool {
    arrow.to > arrow.from
}

fn words(arrow: &Arrow) -> String {
    let Arrow { from, to, place } = arrow;
    format!("{} -> {} at {place}", ROOMS[*from], ROOMS[*to])
}

#[test]
fn no_arrow_points_up() {
    let graph = Graph::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(
        graph.arrows.len() > 100,
        "only {} arrows",
        graph.arrows.len()
    );
    assert_eq!(
        graph.unknown,
        Vec::<String>::new(),
        "paths that lead to no room of ROOMS in crates/pages/src/rooms/graph.rs"
    );
    let up: Vec<String> = (graph.arrows.iter())
        .filter(|arrow| points_up(arrow))
        .map(words)
        .collect();
    assert!(
        up.is_empty(),
        "a room uses one above it:\n{}",
        up.join("\n")
    );
}

fn found(file: &str, text: &str) -> Vec<String> {
    let mut graph = Graph::default();
    let (tokens, _) = tokens::without_tests(tokens::tokens(text));
    graph.add(Path::new(file), &tokens);
    assert!(graph.unknown.is_empty(), "{:?}", graph.unknown);
    graph.arrows.iter().map(words).collect()
}

#[test]
fn every_way_to_use_a_room_is_found() {
    let text = r##"
//! `crate::cli` in a comment
use crate::{config::{self, Config as C}, data::*, model::stan::{Cache, Compiler}};
use std::{fmt, io};
pub(crate) use super::super::super::study::{
    plan,
};
/* crate::cli /* nested */ crate::cli */
fn f<'a>(c: char) -> crate::trust::Trust<'a> {
    let text = "crate::cli \" crate::cli";
    let raw = r#"crate::cli"#;
    if c == '"' || c == '\'' { crate::report::write::<u8>(text) }
    super::sibling::call();
}
#[cfg(test)]
pub(crate) fn helper() { crate::cli::run() }
#[cfg(test)]
#[allow(unused)]
mod tests { use crate::cli::run; }
fn last() { crate::after::pool() }
"##;
    assert_eq!(
        found("fit/deep/file.rs", text),
        [
            "fit -> config at src/fit/deep/file.rs:3",
            "fit -> config at src/fit/deep/file.rs:3",
            "fit -> data at src/fit/deep/file.rs:3",
            "fit -> model::stan at src/fit/deep/file.rs:3",
            "fit -> model::stan at src/fit/deep/file.rs:3",
            "fit -> study at src/fit/deep/file.rs:5",
            "fit -> trust at src/fit/deep/file.rs:9",
            "fit -> report at src/fit/deep/file.rs:12",
            "fit -> after at src/fit/deep/file.rs:20",
        ]
        .map(String::from)
        .to_vec()
    );
}

#[test]
fn rooms_inside_a_folder_have_their_own_order() {
    let up = |file: &str, text: &str| {
        let mut graph = Graph::default();
        graph.add(Path::new(file), &tokens::tokens(text));
        graph.arrows.iter().any(points_up)
    };
    assert!(up("sampler/hmc/nuts.rs", "use super::super::links::Prior;"));
    assert!(!up(
        "sampler/chain/mod.rs",
        "use crate::sampler::{hmc, links};"
    ));
    assert!(up("model/stan/cache.rs", "use crate::model::StanModel;"));
    assert!(!up("model/pairs.rs", "use super::stan::Cache;"));
    assert!(!up("report/page.rs", "use unshuffle_plot::Figure;"));
    let mut graph = Graph::default();
    graph.add(
        Path::new("fit/mod.rs"),
        &tokens::tokens("use crate::attic::Box;"),
    );
    assert_eq!(graph.unknown, ["src/fit/mod.rs:1"]);
}
