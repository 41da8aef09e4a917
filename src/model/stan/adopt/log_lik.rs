//! The likelihood written twice more: multiplied by alpha, and row by row as `log_lik`.

use std::collections::HashSet;

use super::edit::{Edit, apply, indent_at, indented};
use super::likelihood::{Likelihood, Names};
use super::program::{Program, Shape, Statement, split};
use super::token::{Kind, Token};
use crate::model::stan::StanError;

/// Whether stanc takes a program, which is how types are asked for.
pub(super) type Accepts<'a> = dyn Fn(&str) -> Result<bool, StanError> + 'a;

/// An argument of a likelihood of all rows at once.
#[derive(Debug)]
struct Argument {
    text: String,
    /// A name for it, should it need one.
    name: &'static str,
    kind: ArgumentKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ArgumentKind {
    /// The same for all rows.
    Scalar,
    Vector,
    /// An array or a row vector.
    List,
}

/// The statement that takes the likelihood's place, and the lines that declare and fill `log_lik`.
pub(super) struct Rewritten {
    pub tempered: String,
    pub log_lik: String,
}

pub(super) fn rewrite(
    program: &Program,
    statements: &[Statement],
    likelihood: &Likelihood,
    names: Names,
    accepts: &Accepts,
) -> Result<Rewritten, StanError> {
    let y = names.response;
    let as_written = likelihood.arguments.join(", ");
    let function = match likelihood.row {
        Some(row) => row.function(),
        None => format!("{}_lpdf", likelihood.name),
    };
    let (tempered, row_by_row, has_locals) = match likelihood.index {
        Some(n) => {
            let call = format!("{function}({y}[{n}] | {as_written})");
            let row = format!("log_lik[{n}] = {call};");
            (call, row, false)
        }
        None => {
            let arguments = arguments(program, likelihood, accepts)?;
            let is_integer = likelihood.row.is_some_and(|row| row.is_integer());
            let call = if is_integer {
                let vectors: Vec<String> = arguments
                    .iter()
                    .map(|a| a.as_vector(names.length))
                    .collect();
                format!("{function}({y} | {})", vectors.join(", "))
            } else {
                format!("{}_lpdf({y} | {as_written})", likelihood.name)
            };
            let (locals, loop_over_rows) = by_row(program, &arguments, &function, names);
            (
                call,
                format!("{locals}{loop_over_rows}"),
                !locals.is_empty(),
            )
        }
    };
    let outer = &statements[likelihood.outer];
    let mut lines: Vec<String> = needed(program, statements, likelihood.outer)
        .into_iter()
        .map(|statement| copied(program, statement, None))
        .collect();
    let scoped = has_locals || !lines.is_empty();
    lines.push(copied(
        program,
        outer,
        Some((likelihood.tokens, &row_by_row)),
    ));
    let lines = lines.join("\n");
    let filled = if scoped {
        format!("{{\n{}\n}}", indented(&lines, "  "))
    } else {
        lines
    };
    Ok(Rewritten {
        tempered: format!("target += alpha * {tempered};"),
        log_lik: format!(
            "vector[{}] log_lik;  // of each row, without alpha: what the links are sampled with\n{filled}",
            names.length
        ),
    })
}

/// Local variables for arguments that are computed, and the loop that fills `log_lik`.
fn by_row(
    program: &Program,
    arguments: &[Argument],
    function: &str,
    names: Names,
) -> (String, String) {
    let usual = ["n", "i", "row"]
        .into_iter()
        .find(|name| !program.uses(name));
    let n = program.free_name(usual.unwrap_or("n"));
    let mut locals = String::new();
    let mut of_row = Vec::new();
    for argument in arguments {
        let text = &argument.text;
        let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if argument.kind == ArgumentKind::Scalar {
            of_row.push(text.clone());
        } else if is_name {
            of_row.push(format!("{text}[{n}]"));
        } else {
            let local = program.free_name(argument.name);
            let value = argument.as_vector(names.length);
            locals.push_str(&format!("vector[{}] {local} = {value};\n", names.length));
            of_row.push(format!("{local}[{n}]"));
        }
    }
    let of_row = of_row.join(", ");
    let filled = format!(
        "for ({n} in 1:{}) {{\n  log_lik[{n}] = {function}({}[{n}] | {of_row});\n}}",
        names.length, names.response
    );
    (locals, filled)
}

impl Argument {
    fn as_vector(&self, length: &str) -> String {
        match self.kind {
            ArgumentKind::Scalar => format!("rep_vector({}, {length})", self.text),
            ArgumentKind::Vector => self.text.clone(),
            ArgumentKind::List => format!("to_vector({})", self.text),
        }
    }
}

/// The arguments of one row's distribution; a regression in one call has its linear predictor written out.
fn arguments(
    program: &Program,
    likelihood: &Likelihood,
    accepts: &Accepts,
) -> Result<Vec<Argument>, StanError> {
    let names = likelihood.row.map_or(&[][..], |row| row.arguments);
    let mut given = likelihood.arguments.as_slice();
    let mut found = Vec::new();
    if let ([x, intercept, slopes, rest @ ..], true) = (given, likelihood.is_glm) {
        let product = format!("{} * {}", in_brackets(x), in_brackets(slopes));
        let text = match *intercept {
            "0" | "0.0" => product,
            some => format!("{} + {product}", in_brackets(some)),
        };
        found.push(Argument {
            text,
            name: names[0],
            kind: ArgumentKind::Vector,
        });
        given = rest;
    }
    for (text, name) in given.iter().zip(&names[found.len()..]) {
        // stanc looks at types, not at sizes.
        let tried = |kind: &str| accepts(&probe(program, likelihood, kind, text));
        let kind = if tried("real")? {
            ArgumentKind::Scalar
        } else if tried("vector[1]")? {
            ArgumentKind::Vector
        } else {
            ArgumentKind::List
        };
        found.push(Argument {
            text: text.to_string(),
            name,
            kind,
        });
    }
    Ok(found)
}

/// Brackets around whatever is more than a name or a number.
fn in_brackets(text: &str) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if text.chars().all(simple) {
        text.to_string()
    } else {
        format!("({text})")
    }
}

/// The program with a declaration in the likelihood's place, where every name means the same.
fn probe(program: &Program, likelihood: &Likelihood, kind: &str, value: &str) -> String {
    let name = program.free_name("adopted");
    let edit = Edit {
        range: range(likelihood.tokens),
        text: format!("{{ {kind} {name} = {value}; }}"),
    };
    apply(program.text, vec![edit])
}

fn range(tokens: &[Token]) -> std::ops::Range<usize> {
    tokens[0].start..tokens[tokens.len() - 1].end()
}

/// The statements before the likelihood that compute local variables it needs, directly or through others.
fn needed<'s, 'p, 't>(
    program: &Program<'t>,
    statements: &'s [Statement<'p, 't>],
    likelihood: usize,
) -> Vec<&'s Statement<'p, 't>> {
    let words = |statement: &Statement<'p, 't>| -> Vec<&'t str> {
        let words = statement
            .tokens
            .iter()
            .filter(|token| token.kind == Kind::Word);
        words.map(|token| token.text).collect()
    };
    let mut wanted: HashSet<&str> = words(&statements[likelihood]).into_iter().collect();
    let mut kept = Vec::new();
    for statement in statements[..likelihood].iter().rev() {
        let mut set = Vec::new();
        collect_set(program, statement, &mut set);
        if set.iter().any(|name| wanted.contains(name)) {
            wanted.extend(words(statement));
            kept.push(statement);
        }
    }
    kept.reverse();
    kept
}

/// The names that a statement declares or assigns to.
fn collect_set<'t>(program: &Program<'t>, statement: &Statement<'_, 't>, set: &mut Vec<&'t str>) {
    match &statement.shape {
        Shape::Simple => {
            let tokens = statement.tokens;
            let assigns = |token: &Token| {
                let compared = ["==", "<=", ">=", "!="].contains(&token.text);
                token.kind == Kind::Sign && token.text.ends_with('=') && !compared
            };
            if let Some(declaration) = program.declaration(tokens) {
                set.push(declaration.name);
                // Of `real a, b = 2;` also the names behind the commas.
                let others = split(tokens, ",").into_iter().skip(1);
                set.extend(
                    others
                        .filter_map(|part| part.first())
                        .map(|token| token.text),
                );
            } else if !adds_to_target(tokens) && tokens.iter().any(assigns) {
                set.push(tokens[0].text);
            }
        }
        Shape::Group(inside) | Shape::Branch(inside) => {
            for statement in inside {
                collect_set(program, statement, set);
            }
        }
        Shape::For { body, .. } => collect_set(program, body, set),
    }
}

fn adds_to_target(tokens: &[Token]) -> bool {
    tokens[0].is("target") || split(tokens, "~").len() > 1
}

/// A statement's text for generated quantities: what adds to target is left out, and the likelihood replaced.
fn copied(
    program: &Program,
    statement: &Statement,
    likelihood: Option<(&[Token], &str)>,
) -> String {
    let whole = range(statement.tokens);
    let indent = indent_at(program.text, whole.start);
    let mut edits = Vec::new();
    collect_edits(program, statement, likelihood, &mut edits);
    for edit in &mut edits {
        edit.range = edit.range.start - whole.start..edit.range.end - whole.start;
    }
    let text = apply(&program.text[whole], edits);
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.strip_prefix(indent).unwrap_or(line))
        .collect();
    lines.join("\n")
}

fn collect_edits(
    program: &Program,
    statement: &Statement,
    likelihood: Option<(&[Token], &str)>,
    edits: &mut Vec<Edit>,
) {
    match &statement.shape {
        Shape::Simple => {
            let place = range(statement.tokens);
            let replaced = likelihood.filter(|(tokens, _)| range(tokens) == place);
            let text = match replaced {
                Some((_, text)) => {
                    let newline = format!("\n{}", indent_at(program.text, place.start));
                    text.replace('\n', &newline)
                }
                None if adds_to_target(statement.tokens) => ";".to_string(),
                None => return,
            };
            edits.push(Edit { range: place, text });
        }
        Shape::Group(inside) | Shape::Branch(inside) => {
            for statement in inside {
                collect_edits(program, statement, likelihood, edits);
            }
        }
        Shape::For { body, .. } => collect_edits(program, body, likelihood, edits),
    }
}
