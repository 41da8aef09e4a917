//! Stan's words, numbers, strings and signs with their places in the text; comments and `#include` lines are left out.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Text,
    Sign,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// Byte offset in the program.
    pub start: usize,
}

impl Token<'_> {
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != Kind::Text
    }
}

/// Longer signs first, so that `+=` is never read as `+` and `=`.
const SIGNS: [&str; 19] = [
    ".*=", "./=", "%/%", "+=", "-=", "*=", "/=", "==", "!=", "<=", ">=", "&&", "||", ".*", "./",
    ".^", ".'", "->", "<-",
];

/// `text` must have passed stanc: an unclosed comment or string simply ends with the text.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let first = rest.chars().next().expect("the text has not ended");
        if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if rest.starts_with("//") || first == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if first.is_whitespace() {
            at += first.len_utf8();
        } else {
            let (kind, length) = token_at(rest, first);
            found.push(Token {
                kind,
                text: &rest[..length],
                start: at,
            });
            at += length;
        }
    }
    found
}

fn token_at(rest: &str, first: char) -> (Kind, usize) {
    let run = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
    let followed_by_digit = rest[first.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
    if first.is_ascii_alphabetic() {
        (Kind::Word, run(|c| c.is_ascii_alphanumeric() || c == '_'))
    } else if first.is_ascii_digit() || (first == '.' && followed_by_digit) {
        (Kind::Number, number_length(rest))
    } else if first == '"' {
        (
            Kind::Text,
            rest[1..].find('"').map_or(rest.len(), |end| end + 2),
        )
    } else {
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        (Kind::Sign, sign.map_or(first.len_utf8(), |sign| sign.len()))
    }
}

/// Digits, a point that is not an elementwise sign (`2.*x` is `2 .* x`), and an exponent with its own sign.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let next = bytes.get(at + 1);
        let belongs = match bytes[at] {
            b'0'..=b'9' | b'_' | b'e' | b'E' => true,
            b'.' => !matches!(next, Some(b'*' | b'/' | b'^' | b'\'')),
            b'+' | b'-' => matches!(bytes[at - 1], b'e' | b'E'),
            _ => false,
        };
        if !belongs {
            break;
        }
        at += 1;
    }
    at
}

/// The line of a byte offset, counted from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    1 + text[..offset].matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_and_includes_hold_no_tokens_and_strings_hold_one() {
        let text = "a // y ~ b\n#include y.stan\n/* y\n * y */ print(\"y // \", c); // end";
        assert_eq!(
            words(text),
            ["a", "print", "(", "\"y // \"", ",", "c", ")", ";"]
        );
    }

    #[test]
    fn numbers_and_signs_are_told_apart() {
        assert_eq!(
            words("1e-3+2.5.*x.^2-.5 x'*y +=1:N"),
            [
                "1e-3", "+", "2.5", ".*", "x", ".^", "2", "-", ".5", "x", "'", "*", "y", "+=", "1",
                ":", "N"
            ]
        );
    }

    #[test]
    fn places_and_lines_are_those_of_the_text() {
        let text = "é\n  x_1;";
        let token = tokens(text)[1];
        assert_eq!(
            (token.text, &text[token.start..token.end()]),
            ("x_1", "x_1")
        );
        assert_eq!(line_of(text, token.start), 2);
    }
}
