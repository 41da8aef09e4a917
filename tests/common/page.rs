//! Pages of docs/ as a reader would try them: files are written as shown, commands are run, what they say is compared.

use std::fs;
use std::path::Path;

use super::{Project, ended_with};

/// The fenced blocks of a page: the words behind the fence, and the lines between.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut parts = page.split("\n```");
    parts.next();
    parts
        .step_by(2)
        .map(|part| {
            let (words, text) = part.split_once('\n').unwrap();
            (words.to_string(), format!("{text}\n"))
        })
        .collect()
}

/// Tries everything on a page of docs/; returns the number of commands.
///
/// A block named `csv FILE`, `json FILE`, `stan FILE` or `python FILE` is written; `stan made FILE` must be there already and
/// be the same. A block named `console` is one command and lines that it says, in which `...` stands for anything. `python` is
/// the one that has splink.
pub fn try_page(name: &str) -> usize {
    let page = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name);
    let page = fs::read_to_string(page).unwrap();
    let project = Project::new(&[]);
    let mut num_run = 0;
    for (words, text) in blocks(&page) {
        match words.split(' ').collect::<Vec<_>>()[..] {
            ["csv" | "json" | "stan" | "python", name] => {
                project.write(name, &text);
            }
            ["stan", "made", name] => {
                assert_eq!(
                    fs::read_to_string(project.path(name)).unwrap(),
                    text,
                    "{name}"
                );
            }
            ["console"] => {
                run_as_shown(&project, &text);
                num_run += 1;
            }
            _ => panic!("a block of {words} shows nothing that is tried"),
        }
    }
    num_run
}

fn run_as_shown(project: &Project, text: &str) {
    let (command, shown) = text.split_once('\n').unwrap();
    let words = words(command);
    let args: Vec<&str> = words.iter().skip(2).map(String::as_str).collect();
    let mut process = match words[1].as_str() {
        "python" => with_splink(project, &args),
        _ => project.unshuffle(&args),
    };
    let code = if shown.starts_with("error: ") { 2 } else { 0 };
    let (stdout, stderr) = ended_with(&mut process, code);
    let folder = project.path("").display().to_string();
    let said = format!("{stdout}{stderr}").replace(&folder, "");
    for line in shown.lines() {
        let same = said.lines().any(|found| is_like(found, line));
        assert!(same, "{command} does not say\n{line}\nbut\n{said}");
    }
}

/// The words of a command; what stands in double quotes is one word, without them, unless it is inside of a word.
fn words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut quoted = false;
    for part in command.split(' ') {
        let starts = !quoted && part.starts_with('"');
        match (quoted, words.last_mut()) {
            (true, Some(last)) => *last += &format!(" {}", part.trim_end_matches('"')),
            _ if starts => words.push(part.trim_matches('"').to_string()),
            _ => words.push(part.to_string()),
        }
        if starts || quoted {
            quoted = !(part.ends_with('"') && part.len() > 1);
        }
    }
    words
}

fn with_splink(project: &Project, args: &[&str]) -> assert_cmd::Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("target/splink_python/bin/python");
    let missing = format!("{} is missing: `make test` makes it", python.display());
    assert!(python.exists(), "{missing}");
    let mut command = assert_cmd::Command::new(python);
    command.args(args).current_dir(project.path(""));
    command
}

/// Equal, but for what stands in the place of `...`.
fn is_like(found: &str, shown: &str) -> bool {
    let parts: Vec<&str> = shown.split("...").collect();
    let [first, middle @ .., last] = parts.as_slice() else {
        return found == shown;
    };
    let Some(mut rest) = found.strip_prefix(first) else {
        return false;
    };
    for part in middle {
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    rest.ends_with(last)
}
