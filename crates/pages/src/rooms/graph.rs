//! The graph of `use`: which room of src/ uses which other. Also compiled into tests/house/rooms.rs of the root package.

use std::fs;
use std::path::{Path, PathBuf};

use super::tokens::{Placed, Token, tokens, without_tests};

/// The rooms in the order of their storeys: a room may use only rooms before it. `sampler` and `model` stand for what is
/// in these folders outside the rooms named before.
pub const ROOMS: [&str; 21] = [
    "numerics",
    "text",
    "plot",
    "sampler::hmc",
    "sampler::links",
    "sampler::chain",
    "sampler",
    "model::family",
    "model::stan",
    "model",
    "config",
    "data",
    "priors",
    "baseline",
    "posterior",
    "trust",
    "report",
    "fit",
    "after",
    "study",
    "cli",
];

/// One place where a room uses another; rooms by their index in `ROOMS`. It points up where `to` is larger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    pub from: usize,
    pub to: usize,
    /// File and line.
    pub place: String,
}

/// The arrows between rooms, and paths that lead to no room.
#[derive(Debug, Default)]
pub struct Graph {
    pub arrows: Vec<Arrow>,
    pub unknown: Vec<String>,
}

impl Graph {
    /// Reads every file of `src` but lib.rs, internals.rs and main.rs, without test code.
    pub fn read(src: &Path) -> Graph {
        let mut files = Vec::new();
        collect(src, &mut files);
        files.sort();
        let mut texts = Vec::new();
        let mut tests = Vec::new();
        for file in files {
            let text = fs::read_to_string(&file).expect("a source file is text");
            let inside = file.strip_prefix(src).expect("a file of src").to_path_buf();
            let (tokens, test_modules) = without_tests(tokens(&text));
            let folder = children(&inside);
            tests.extend(test_modules.iter().map(|name| folder.join(name)));
            texts.push((inside, tokens));
        }
        let mut graph = Graph::default();
        for (file, tokens) in texts {
            let is_test = tests
                .iter()
                .any(|test| file.starts_with(test) || file == test.with_extension("rs"));
            if !is_test {
                graph.add(&file, &tokens);
            }
        }
        graph.arrows.sort();
        graph.arrows.dedup();
        graph
    }

    /// The arrows of one file, by its path inside src.
    pub fn add(&mut self, file: &Path, tokens: &[Placed]) {
        let module = module_of(file);
        if module.is_empty() || module == ["internals"] {
            return; // lib.rs, internals.rs and main.rs stand outside the house.
        }
        let place = |line: usize| format!("src/{}:{line}", file.display());
        let Some(from) = room_of(&module) else {
            self.unknown.push(place(1));
            return;
        };
        for k in 0..tokens.len() {
            let starts = k == 0 || !matches!(tokens[k - 1].1, Token::Colons);
            let Some((start, rest)) = base(&tokens[k..], &module).filter(|_| starts) else {
                continue;
            };
            for path in paths(start, rest) {
                match room_of(&path) {
                    Some(to) if to == from => {}
                    Some(to) => self.arrows.push(Arrow {
                        from,
                        to,
                        place: place(tokens[k].0),
                    }),
                    None => self.unknown.push(place(tokens[k].0)),
                }
            }
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// The folder in which the modules that a file declares are.
fn children(file: &Path) -> PathBuf {
    match file.file_name().and_then(|name| name.to_str()) {
        Some("mod.rs" | "lib.rs" | "main.rs") => file.parent().unwrap_or(file).to_path_buf(),
        _ => file.with_extension(""),
    }
}

/// sampler/hmc/nuts.rs is [sampler, hmc, nuts]; a room's mod.rs is the room; lib.rs is [].
fn module_of(file: &Path) -> Vec<String> {
    let folder = children(file);
    let names = folder
        .iter()
        .map(|name| name.to_string_lossy().into_owned());
    names.collect()
}

/// The room with the longest name that `path` begins with.
fn room_of(path: &[String]) -> Option<usize> {
    let two = (path.len() >= 2).then(|| format!("{}::{}", path[0], path[1]));
    let index = |name: &str| ROOMS.iter().position(|room| *room == name);
    two.and_then(|two| index(&two))
        .or_else(|| path.first().and_then(|one| index(one)))
}

/// Where a path that begins here starts from (`crate::`, `super::` once or more, `unshuffle_plot::`), and the tokens behind.
fn base<'t>(tokens: &'t [Placed], module: &[String]) -> Option<(Vec<String>, &'t [Placed])> {
    let named = |k: usize, name: &str| {
        let is_name = matches!(tokens.get(k), Some((_, Token::Name(found))) if found == name);
        is_name && matches!(tokens.get(k + 1), Some((_, Token::Colons)))
    };
    if named(0, "crate") {
        return Some((Vec::new(), &tokens[2..]));
    }
    if named(0, "unshuffle_plot") {
        return Some((vec!["plot".into()], &tokens[2..]));
    }
    let mut supers = 0;
    while named(2 * supers, "super") {
        supers += 1;
    }
    let depth = module.len().checked_sub(supers).filter(|_| supers > 0)?;
    Some((module[..depth].to_vec(), &tokens[2 * supers..]))
}

/// The paths of a use tree, or the one path of an expression, as names from the crate's root.
fn paths(start: Vec<String>, tokens: &[Placed]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    tree(start, tokens, &mut found);
    found
}

/// Reads one tree; returns how many tokens it has.
fn tree(mut path: Vec<String>, tokens: &[Placed], found: &mut Vec<Vec<String>>) -> usize {
    let mut k = 0;
    loop {
        match tokens.get(k).map(|(_, token)| token) {
            Some(Token::Name(name)) => {
                if name != "self" {
                    path.push(name.clone());
                }
                k += 1;
                if !matches!(tokens.get(k), Some((_, Token::Colons))) {
                    break;
                }
                k += 1;
            }
            Some(Token::Mark('{')) => {
                k += 1;
                while k < tokens.len() && tokens[k].1 != Token::Mark('}') {
                    k += tree(path.clone(), &tokens[k..], found).max(1);
                    // `as name` and the comma.
                    while k < tokens.len() && !matches!(tokens[k].1, Token::Mark(',' | '}')) {
                        k += 1;
                    }
                    k += usize::from(matches!(tokens.get(k), Some((_, Token::Mark(',')))));
                }
                return k + 1;
            }
            // A glob, generics, or the end.
            _ => break,
        }
    }
    found.push(path);
    k
}
