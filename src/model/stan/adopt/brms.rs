//! What is particular to programs that brms writes: the switch `prior_only`, and a design matrix with its own intercept.
//!
//! Edits stay on their lines, so that the lines of everything after them are those of the original.

use super::Change;
use super::edit::{Edit, apply};
use super::program::{Declaration, Program};
use super::token::Token;

/// A program in which the likelihood stands under no condition, and every count that follows from X is computed.
pub(super) struct Plain {
    pub text: String,
    pub changes: Vec<Change>,
    /// Whether X has a column of ones that the program centres away, beside an intercept of its own.
    pub takes_ones: bool,
}

pub(super) fn plain(text: &str) -> Plain {
    let program = Program::new(text);
    let data = program.declarations("data");
    let mut edits = Vec::new();
    let mut changes = Vec::new();
    if let Some(switch) = scalar(&data, "prior_only") {
        edits.extend(without_switch(&program, switch, &mut changes));
    }
    let centred = scalar(&data, "K").zip(scalar(&data, "Kc"));
    let takes_ones = drops_first_column(&program);
    if let (Some((_, count)), Some(block), true) =
        (centred, program.block("transformed data"), takes_ones)
    {
        edits.push(blanked(&program, count));
        edits.push(Edit {
            range: block.open + 1..block.open + 1,
            text: " int Kc = K - 1;".into(),
        });
        changes.push(Change {
            line: program.line(count.start),
            what: "Kc moved to transformed data: it is the number of columns of X without the intercept".into(),
        });
    }
    Plain {
        text: apply(text, edits),
        changes,
        takes_ones,
    }
}

fn scalar<'d, 't>(data: &'d [Declaration<'t>], name: &str) -> Option<&'d Declaration<'t>> {
    let is_it = |entry: &&Declaration| {
        entry.name == name && entry.element == "int" && entry.sizes.is_empty() && entry.alone
    };
    data.iter().find(is_it)
}

/// `if (!prior_only) { ... }` becomes `{ ... }`, where that is all that the switch is used for.
fn without_switch(program: &Program, switch: &Declaration, changes: &mut Vec<Change>) -> Vec<Edit> {
    let uses = program
        .tokens()
        .filter(|token| token.is("prior_only"))
        .count();
    let Some(model) = program.block("model") else {
        return Vec::new();
    };
    let heads = conditions(&model.tokens);
    // One use is the declaration.
    if heads.is_empty() || heads.len() + 1 != uses {
        return Vec::new();
    }
    let mut edits = vec![blanked(program, switch)];
    for head in heads {
        changes.push(Change {
            line: program.line(head[0].start),
            what: "if (!prior_only) is gone: unshuffle always has a likelihood".into(),
        });
        let end = head[head.len() - 1].end();
        // With the space behind it.
        let space = program.text[end..].starts_with(' ') as usize;
        edits.push(Edit {
            range: head[0].start..end + space,
            text: String::new(),
        });
    }
    edits
}

/// Where `if (!prior_only)` stands before a group without an `else`.
fn conditions<'p, 't>(tokens: &'p [Token<'t>]) -> Vec<&'p [Token<'t>]> {
    let words = ["if", "(", "!", "prior_only", ")"];
    let starts = (0..tokens.len()).filter(|&at| {
        let head = tokens.get(at..at + words.len());
        head.is_some_and(|head| head.iter().zip(words).all(|(token, word)| token.is(word)))
    });
    let alone = starts.filter(|&at| {
        let body = at + words.len();
        let end = super::program::closing(tokens, body);
        tokens.get(body).is_some_and(|token| token.is("{"))
            && !tokens.get(end + 1).is_some_and(|token| token.is("else"))
    });
    alone.map(|at| &tokens[at..at + words.len()]).collect()
}

/// Takes a declaration out with the comment behind it, but not its line.
fn blanked(program: &Program, declaration: &Declaration) -> Edit {
    let rest = &program.text[declaration.end..];
    let line = rest.find('\n').unwrap_or(rest.len());
    let is_comment = rest[..line].trim_start().starts_with("//");
    let end = declaration.end + if is_comment { line } else { 0 };
    Edit {
        range: declaration.start..end,
        text: String::new(),
    }
}

/// Whether transformed data takes columns of X from the second on, around their means, as brms does.
fn drops_first_column(program: &Program) -> bool {
    let declared = program.declarations("transformed data");
    let has = |name: &str| declared.iter().any(|entry| entry.name == name);
    has("Xc") && has("means_X")
}
