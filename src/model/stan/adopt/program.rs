//! A Stan program as blocks of statements, each with its place: just enough of the grammar to edit it safely.

use super::token::{Kind, Token, line_of, tokens};

/// The blocks of a program, with the tokens between their braces.
#[derive(Debug)]
pub(super) struct Program<'t> {
    pub text: &'t str,
    blocks: Vec<Block<'t>>,
}

#[derive(Debug)]
pub(super) struct Block<'t> {
    pub name: String,
    pub tokens: Vec<Token<'t>>,
    /// Where its name starts, and the byte offsets of its braces.
    pub start: usize,
    pub open: usize,
    pub close: usize,
}

/// One statement; `tokens` includes the closing `;` or `}`.
#[derive(Debug)]
pub(super) struct Statement<'p, 't> {
    pub tokens: &'p [Token<'t>],
    pub shape: Shape<'p, 't>,
}

#[derive(Debug)]
pub(super) enum Shape<'p, 't> {
    /// A declaration, an assignment, a `~`, a `target +=`, a call.
    Simple,
    Group(Vec<Statement<'p, 't>>),
    For {
        head: &'p [Token<'t>],
        body: Box<Statement<'p, 't>>,
    },
    /// `if`, `else` or `while`: the statements that may or may not be run.
    Branch(Vec<Statement<'p, 't>>),
}

/// A declaration taken apart: `vector<lower=0>[N] y;`.
#[derive(Debug, Clone)]
pub(super) struct Declaration<'t> {
    pub name: &'t str,
    /// As written, from `array` or the type's name to the last bracket.
    pub type_text: &'t str,
    /// `real`, `int`, `vector`, `matrix`, ...
    pub element: &'t str,
    /// What stands between the brackets, those of `array` first.
    pub sizes: Vec<&'t str>,
    pub constrained: bool,
    /// False where `vector[N] a, b;` declares more than one name.
    pub alone: bool,
    pub start: usize,
    pub end: usize,
}

const TYPES: [&str; 21] = [
    "array",
    "int",
    "real",
    "complex",
    "vector",
    "row_vector",
    "matrix",
    "complex_vector",
    "complex_row_vector",
    "complex_matrix",
    "tuple",
    "simplex",
    "ordered",
    "positive_ordered",
    "unit_vector",
    "sum_to_zero_vector",
    "cov_matrix",
    "corr_matrix",
    "cholesky_factor_cov",
    "cholesky_factor_corr",
    "void",
];

impl<'t> Program<'t> {
    pub fn new(text: &'t str) -> Program<'t> {
        let all = tokens(text);
        let mut blocks = Vec::new();
        let mut at = 0;
        while at < all.len() {
            let name_end = at + all[at..].iter().take_while(|token| !token.is("{")).count();
            let end = closing(&all, name_end);
            if end >= all.len() {
                break;
            }
            let name: Vec<&str> = all[at..name_end].iter().map(|token| token.text).collect();
            blocks.push(Block {
                name: name.join(" "),
                tokens: all[name_end + 1..end].to_vec(),
                start: all[at].start,
                open: all[name_end].start,
                close: all[end].start,
            });
            at = end + 1;
        }
        Program { text, blocks }
    }

    pub fn block(&self, name: &str) -> Option<&Block<'t>> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// Every token that is not in the functions block, whose names are a world of their own.
    pub fn tokens(&self) -> impl Iterator<Item = &Token<'t>> {
        let blocks = self.blocks.iter().filter(|block| block.name != "functions");
        blocks.flat_map(|block| &block.tokens)
    }

    pub fn uses(&self, name: &str) -> bool {
        self.tokens().any(|token| token.is(name))
    }

    /// `name`, or `name` with the first number behind it that makes it new.
    pub fn free_name(&self, name: &str) -> String {
        let numbered = (0..).map(|k| format!("{name}{k}"));
        let mut names = std::iter::once(name.to_string()).chain(numbered);
        names
            .find(|name| !self.uses(name))
            .expect("there are infinitely many names")
    }

    pub fn line(&self, offset: usize) -> usize {
        line_of(self.text, offset)
    }

    /// The text that `tokens` span.
    pub fn span(&self, tokens: &[Token]) -> &'t str {
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => &self.text[first.start..last.end()],
            _ => "",
        }
    }

    /// The declarations at the top of a block.
    pub fn declarations(&self, block: &str) -> Vec<Declaration<'t>> {
        let Some(block) = self.block(block) else {
            return Vec::new();
        };
        let statements = block.statements();
        let found = statements.iter();
        found
            .filter_map(|statement| self.declaration(statement.tokens))
            .collect()
    }

    pub fn declaration(&self, tokens: &[Token<'t>]) -> Option<Declaration<'t>> {
        if !TYPES.contains(&tokens.first()?.text) {
            return None;
        }
        let mut at = 0;
        let mut sizes = Vec::new();
        let mut element = "";
        let mut constrained = false;
        loop {
            let token = tokens.get(at)?;
            if token.is("[") || token.is("(") {
                let end = closing(tokens, at);
                if token.is("[") {
                    sizes.push(self.span(&tokens[at + 1..end]));
                }
                at = end + 1;
            } else if token.is("<") {
                constrained = true;
                at = closing_angle(tokens, at) + 1;
            } else if TYPES.contains(&token.text) {
                element = token.text;
                at += 1;
            } else {
                break;
            }
        }
        let last = tokens.last()?;
        Some(Declaration {
            name: tokens.get(at)?.text,
            type_text: self.span(&tokens[..at]),
            element,
            sizes,
            constrained,
            alone: tokens.get(at + 1)?.is(";"),
            start: tokens[0].start,
            end: last.end(),
        })
    }
}

impl<'t> Block<'t> {
    pub fn statements(&self) -> Vec<Statement<'_, 't>> {
        statements(&self.tokens)
    }
}

fn statements<'p, 't>(tokens: &'p [Token<'t>]) -> Vec<Statement<'p, 't>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let statement = statement(&tokens[at..]);
        at += statement.tokens.len();
        found.push(statement);
    }
    found
}

fn statement<'p, 't>(tokens: &'p [Token<'t>]) -> Statement<'p, 't> {
    let word = tokens[0].text;
    if word == "{" {
        let end = closing(tokens, 0);
        return Statement {
            tokens: &tokens[..=end],
            shape: Shape::Group(statements(&tokens[1..end])),
        };
    }
    let head_end = || closing(tokens, 1);
    match word {
        "profile" => {
            let end = head_end();
            let group = statement(&tokens[end + 1..]);
            Statement {
                tokens: &tokens[..end + 1 + group.tokens.len()],
                shape: group.shape,
            }
        }
        "for" => {
            let end = head_end();
            let body = statement(&tokens[end + 1..]);
            Statement {
                tokens: &tokens[..end + 1 + body.tokens.len()],
                shape: Shape::For {
                    head: &tokens[2..end],
                    body: Box::new(body),
                },
            }
        }
        "if" | "while" => {
            let end = head_end();
            let first = statement(&tokens[end + 1..]);
            let mut length = end + 1 + first.tokens.len();
            let mut bodies = vec![first];
            if word == "if" && tokens.get(length).is_some_and(|token| token.is("else")) {
                let second = statement(&tokens[length + 1..]);
                length += 1 + second.tokens.len();
                bodies.push(second);
            }
            Statement {
                tokens: &tokens[..length],
                shape: Shape::Branch(bodies),
            }
        }
        _ => {
            let mut at = 0;
            while at < tokens.len() && !tokens[at].is(";") {
                at = closing(tokens, at) + 1;
            }
            Statement {
                tokens: &tokens[..tokens.len().min(at + 1)],
                shape: Shape::Simple,
            }
        }
    }
}

/// The index of the bracket that closes the one at `at`; `at` itself where none opens there.
pub(super) fn closing(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0usize;
    for (k, token) in tokens.iter().enumerate().skip(at) {
        if token.kind == Kind::Sign {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth == 0 {
            return k;
        }
    }
    tokens.len()
}

/// As `closing` for `<lower=0, upper=max(a)>`, whose brackets inside do not count.
fn closing_angle(tokens: &[Token], at: usize) -> usize {
    let mut k = at + 1;
    while k < tokens.len() && !tokens[k].is(">") {
        k = closing(tokens, k) + 1;
    }
    k
}

/// `tokens` cut at every `sign` that stands in no bracket.
pub(super) fn split<'p, 't>(tokens: &'p [Token<'t>], sign: &str) -> Vec<&'p [Token<'t>]> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < tokens.len() {
        if tokens[at].is(sign) {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
        at = closing(tokens, at) + 1;
    }
    parts.push(&tokens[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_by_their_whole_name() {
        let program = Program::new("data { int N; }\ntransformed data { real y = 1; } model {}");
        assert_eq!(program.block("data").unwrap().tokens.len(), 3);
        assert_eq!(program.block("transformed data").unwrap().tokens.len(), 5);
        assert!(program.block("model").unwrap().tokens.is_empty());
        assert!(program.block("parameters").is_none());
    }

    #[test]
    fn declarations_are_taken_apart() {
        let text = "data { array[N] int<lower=0, upper=max({1, 2})> y; vector<lower=0>[N] x, z; matrix[N, K] X; }";
        let program = Program::new(text);
        let found = program.declarations("data");
        let of = |k: usize| {
            let d = &found[k];
            (d.name, d.element, d.sizes.clone(), d.constrained, d.alone)
        };
        assert_eq!(of(0), ("y", "int", vec!["N"], true, true));
        assert_eq!(of(1), ("x", "vector", vec!["N"], true, false));
        assert_eq!(of(2), ("X", "matrix", vec!["N, K"], false, true));
        assert_eq!(found[1].type_text, "vector<lower=0>[N]");
    }

    #[test]
    fn loops_and_branches_hold_their_statements() {
        let text =
            "model { for (n in 1:N) if (a[n] > 0) { b ~ f(1); } else c ~ g({1, 2}); real d; }";
        let program = Program::new(text);
        let statements = program.block("model").unwrap().statements();
        assert_eq!(statements.len(), 2);
        let Shape::For { head, body } = &statements[0].shape else {
            panic!("{statements:?}");
        };
        assert_eq!(program.span(head), "n in 1:N");
        let Shape::Branch(bodies) = &body.shape else {
            panic!("{body:?}");
        };
        assert_eq!(program.span(bodies[1].tokens), "c ~ g({1, 2});");
    }

    #[test]
    fn a_free_name_is_new_to_the_program() {
        let program = Program::new(
            "functions { real free(real f) { return f; } } model { alpha ~ g(alpha0); }",
        );
        assert_eq!(program.free_name("alpha"), "alpha1");
        assert_eq!(program.free_name("f"), "f");
    }
}
