//! The words of a formula, each with its place.

use super::Problem;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name {
        name: String,
        /// Whether it stands in backticks: then it is a column, whatever it looks like.
        quoted: bool,
    },
    /// As typed.
    Number(String),
    /// An operator or parenthesis; `**` is read as `^`.
    Mark(char),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub(super) token: Token,
    /// Its first character, counted from 1.
    pub(super) at: usize,
}

pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, Problem> {
    let characters: Vec<char> = text.chars().collect();
    let run = |start: usize, belongs: &dyn Fn(char) -> bool| {
        let length = characters[start..].iter().take_while(|c| belongs(**c));
        start + length.count()
    };
    let mut found = Vec::new();
    let mut i = 0;
    while i < characters.len() {
        let (start, first) = (i, characters[i]);
        let followed_by = |c: char| characters.get(start + 1) == Some(&c);
        let digit_follows = characters.get(i + 1).is_some_and(char::is_ascii_digit);
        let token = if first.is_whitespace() {
            i += 1;
            continue;
        } else if first == '`' {
            let end = run(i + 1, &|c| c != '`');
            if end == characters.len() {
                return Err(Problem {
                    at: start + 1,
                    words: "the backtick is not closed".into(),
                });
            }
            i = end + 1;
            Token::Name {
                name: characters[start + 1..end].iter().collect(),
                quoted: true,
            }
        } else if first.is_ascii_digit() || (first == '.' && digit_follows) {
            i = number_end(&characters, start);
            Token::Number(characters[start..i].iter().collect())
        } else if first.is_alphabetic() || first == '_' || first == '.' {
            i = run(i, &|c| c.is_alphanumeric() || c == '_' || c == '.');
            Token::Name {
                name: characters[start..i].iter().collect(),
                quoted: false,
            }
        } else if first == '*' && followed_by('*') {
            i += 2;
            Token::Mark('^')
        } else if "+-*/^():~,|".contains(first) {
            i += 1;
            Token::Mark(first)
        } else {
            return Err(Problem {
                at: start + 1,
                words: format!(
                    "`{first}` has no meaning; put the name of a column that has such characters in backticks"
                ),
            });
        };
        found.push(Placed {
            token,
            at: start + 1,
        });
    }
    Ok(found)
}

/// Digits, a point and an exponent.
fn number_end(characters: &[char], start: usize) -> usize {
    let digits = |from: usize| {
        let rest = characters[from..].iter();
        from + rest.take_while(|c| c.is_ascii_digit()).count()
    };
    let mut end = digits(start);
    if characters.get(end) == Some(&'.') {
        end = digits(end + 1);
    }
    if matches!(characters.get(end), Some('e' | 'E')) {
        let sign = usize::from(matches!(characters.get(end + 1), Some('+' | '-')));
        let after = digits((end + 1 + sign).min(characters.len()));
        if after > end + 1 + sign {
            end = after;
        }
    }
    end
}

/// The tokens as text, with the same spaces however they were typed.
pub(super) fn rendered(tokens: &[Placed]) -> String {
    let mut text = String::new();
    // Whether a value stands before, so that a sign is an operator.
    let mut after_value = false;
    for Placed { token, .. } in tokens {
        match token {
            Token::Name { name, quoted } => text.push_str(&shown_name(name, *quoted)),
            Token::Number(number) => text.push_str(number),
            Token::Mark(mark @ ('+' | '-' | '*' | '/')) if after_value => {
                text.push_str(&format!(" {mark} "));
            }
            Token::Mark(mark) => text.push(*mark),
        }
        after_value = !matches!(token, Token::Mark(mark) if *mark != ')');
    }
    text
}

fn shown_name(name: &str, quoted: bool) -> String {
    if quoted {
        format!("`{name}`")
    } else {
        name.into()
    }
}

impl Token {
    /// A name without backticks.
    pub(super) fn plain(name: &str) -> Token {
        Token::Name {
            name: name.into(),
            quoted: false,
        }
    }
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Token::Name { name, .. } => write!(f, "`{name}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Mark(mark) => write!(f, "`{mark}`"),
        }
    }
}
