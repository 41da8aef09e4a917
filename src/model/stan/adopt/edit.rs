//! Changes of a program's text at given places; everything else stays byte for byte.

use std::ops::Range;

use super::program::{Block, Declaration};
use super::token::tokens;

#[derive(Debug)]
pub(super) struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

/// Applies edits that do not overlap; those at one place in the order given.
pub(super) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.range.start);
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        result.push_str(&text[at..edit.range.start]);
        result.push_str(&edit.text);
        at = edit.range.end;
    }
    result + &text[at..]
}

/// Gives words that are not in the functions block other names, all at once.
pub(super) fn rename(
    text: &str,
    functions: Option<Range<usize>>,
    names: &[(String, String)],
) -> String {
    let edits = tokens(text).into_iter().filter_map(|token| {
        let (_, new) = names.iter().find(|(old, _)| token.is(old))?;
        let inside = functions
            .as_ref()
            .is_some_and(|block| block.contains(&token.start));
        let range = token.start..token.end();
        let text = new.clone();
        (!inside).then_some(Edit { range, text })
    });
    apply(text, edits.collect())
}

/// Takes a declaration out, with its line where nothing else stands there; also gives the `//` comment behind it.
pub(super) fn take_out(text: &str, declaration: &Declaration) -> (Edit, Option<String>) {
    let (start, end) = (declaration.start, declaration.end);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let behind = text[end..line_end].trim();
    let comment = behind
        .strip_prefix("//")
        .map(|words| words.trim().to_string());
    let alone =
        text[line_start..start].trim().is_empty() && (behind.is_empty() || comment.is_some());
    let range = if alone {
        line_start..line_end
    } else {
        start..end
    };
    let edit = Edit {
        range,
        text: String::new(),
    };
    (edit, comment.filter(|_| alone))
}

/// Adds lines before the closing brace of a block.
pub(super) fn add_at_end(text: &str, block: &Block, lines: &str) -> Edit {
    let line_start = text[..block.close].rfind('\n').map_or(0, |at| at + 1);
    let own_line = line_start > block.open && text[line_start..block.close].trim().is_empty();
    let lines = indented(lines, indent(text, block));
    if own_line {
        Edit {
            range: line_start..line_start,
            text: format!("{lines}\n"),
        }
    } else {
        Edit {
            range: block.close..block.close,
            text: format!("\n{lines}\n"),
        }
    }
}

/// Adds lines behind the opening brace of a block, and behind a comment on that brace's line.
pub(super) fn add_at_start(text: &str, block: &Block, lines: &str) -> Edit {
    let lines = indented(lines, indent(text, block));
    let behind = block.open + 1;
    let line_end = text[behind..]
        .find('\n')
        .map_or(text.len(), |at| behind + at);
    let rest = text[behind..line_end].trim();
    if line_end < block.close && (rest.is_empty() || rest.starts_with("//")) {
        Edit {
            range: line_end..line_end,
            text: format!("\n{lines}"),
        }
    } else {
        Edit {
            range: behind..behind,
            text: format!("\n{lines}\n"),
        }
    }
}

/// Every line but empty ones moved to the right.
pub(super) fn indented(lines: &str, indent: &str) -> String {
    let moved: Vec<String> = lines
        .lines()
        .map(|line| {
            if line.is_empty() {
                String::new()
            } else {
                format!("{indent}{line}")
            }
        })
        .collect();
    moved.join("\n")
}

/// The blanks before a place, where nothing else stands there on its line.
pub(super) fn indent_at(text: &str, place: usize) -> &str {
    let line_start = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[line_start..place];
    if before.trim().is_empty() { before } else { "" }
}

/// The indentation of the block's first statement, where that begins a line.
fn indent<'t>(text: &'t str, block: &Block) -> &'t str {
    let first = block
        .tokens
        .first()
        .map(|token| indent_at(text, token.start));
    first.filter(|indent| !indent.is_empty()).unwrap_or("  ")
}

#[cfg(test)]
mod tests {
    use super::super::program::Program;
    use super::*;

    #[test]
    fn a_declaration_leaves_with_its_line_and_comment() {
        let text = "data {\n  int N;\n  vector[N] y;  // wages\n}\n";
        let program = Program::new(text);
        let (edit, comment) = take_out(text, &program.declarations("data")[1]);
        assert_eq!(comment.as_deref(), Some("wages"));
        assert_eq!(apply(text, vec![edit]), "data {\n  int N;\n}\n");
    }

    #[test]
    fn a_declaration_that_shares_its_line_leaves_alone() {
        let text = "data { int N; vector[N] y; } // all";
        let program = Program::new(text);
        let (edit, comment) = take_out(text, &program.declarations("data")[1]);
        assert_eq!(comment, None);
        assert_eq!(apply(text, vec![edit]), "data { int N;  } // all");
    }

    #[test]
    fn lines_are_added_inside_the_braces() {
        let text = "data { // all\n    int N; // rows\n}\nmodel { a ~ b(); }";
        let program = Program::new(text);
        let data = program.block("data").unwrap();
        let model = program.block("model").unwrap();
        let edits = vec![
            add_at_start(text, data, "int A;"),
            add_at_end(text, data, "int B;"),
            add_at_end(text, model, "c ~ d();"),
        ];
        assert_eq!(
            apply(text, edits),
            "data { // all\n    int A;\n    int N; // rows\n    int B;\n}\nmodel { a ~ b(); \n  c ~ d();\n}"
        );
    }

    #[test]
    fn names_change_in_code_only_and_not_in_functions() {
        let text = "functions { real f(real alpha) { return alpha; } }\nmodel { alpha ~ f(\"alpha\"); } // alpha";
        let names = [("alpha".to_string(), "alpha0".to_string())];
        let program = Program::new(text);
        let block = program.block("functions").unwrap();
        let renamed = rename(text, Some(block.start..block.close), &names);
        assert_eq!(renamed, text.replace("model { alpha", "model { alpha0"));
    }
}
