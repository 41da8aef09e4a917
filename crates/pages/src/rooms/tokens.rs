//! As much of Rust's grammar as paths need: names, `::` and single marks, without comments, texts and test code.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    Name(String),
    Colons,
    Mark(char),
}

/// A token with its line.
pub type Placed = (usize, Token);

/// The tokens of a source file.
pub fn tokens(text: &str) -> Vec<Placed> {
    let bytes: Vec<char> = text.chars().collect();
    let (mut found, mut line, mut k) = (Vec::new(), 1, 0);
    while k < bytes.len() {
        let end = token_end(&bytes, k);
        let here = bytes[k];
        if here.is_alphabetic() || here == '_' {
            if !is_text(&bytes[k..end]) {
                found.push((line, Token::Name(bytes[k..end].iter().collect())));
            }
        } else if here == ':' && end == k + 2 {
            found.push((line, Token::Colons));
        } else if end == k + 1 && !here.is_whitespace() {
            found.push((line, Token::Mark(here)));
        }
        line += bytes[k..end].iter().filter(|c| **c == '\n').count();
        k = end;
    }
    found
}

fn is_text(token: &[char]) -> bool {
    token.contains(&'"')
}

/// Where the token that begins at `k` ends: a name, a number, a comment, a text, a character, a lifetime or one mark.
fn token_end(text: &[char], k: usize) -> usize {
    let at = |k: usize| text.get(k).copied().unwrap_or(' ');
    let while_from = |from: usize, holds: &dyn Fn(char) -> bool| {
        let behind = text[from..].iter().position(|c| !holds(*c));
        behind.map_or(text.len(), |behind| from + behind)
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match (at(k), at(k + 1)) {
        ('/', '/') => while_from(k, &|c| c != '\n'),
        ('/', '*') => comment_end(text, k + 2),
        ('"', _) => text_end(text, k + 1),
        (':', ':') => k + 2,
        ('\'', '\\') => 1 + while_from(k + 3, &|c| c != '\''),
        ('\'', _) if at(k + 2) == '\'' => k + 3,
        ('\'', _) => while_from(k + 1, &is_word),
        (c, _) if is_word(c) => {
            let end = while_from(k, &is_word);
            let prefix: String = text[k..end].iter().collect();
            match (prefix.as_str(), at(end)) {
                ("b" | "c", '"') => text_end(text, end + 1),
                ("r" | "br" | "cr", '"' | '#') => raw_text_end(text, end).unwrap_or(end),
                _ => end,
            }
        }
        _ => k + 1,
    }
}

/// Comments nest.
fn comment_end(text: &[char], mut k: usize) -> usize {
    let mut depth = 1;
    while k < text.len() && depth > 0 {
        match (text[k], text.get(k + 1)) {
            ('*', Some('/')) => (depth, k) = (depth - 1, k + 2),
            ('/', Some('*')) => (depth, k) = (depth + 1, k + 2),
            _ => k += 1,
        }
    }
    k
}

fn text_end(text: &[char], mut k: usize) -> usize {
    while k < text.len() && text[k] != '"' {
        k += if text[k] == '\\' { 2 } else { 1 };
    }
    k + 1
}

/// From the first `#` or quote; None where it is no raw text (`r#name`).
fn raw_text_end(text: &[char], from: usize) -> Option<usize> {
    let hashes = text[from..].iter().take_while(|c| **c == '#').count();
    if text.get(from + hashes) != Some(&'"') {
        return None;
    }
    let mut k = from + hashes + 1;
    while k < text.len() {
        let behind = text[k + 1..].iter().take_while(|c| **c == '#').count();
        if text[k] == '"' && behind >= hashes {
            return Some(k + 1 + hashes);
        }
        k += 1;
    }
    Some(k)
}

/// The tokens without items under `#[cfg(test)]`, and the names of the modules in other files among these items.
pub fn without_tests(tokens: Vec<Placed>) -> (Vec<Placed>, Vec<String>) {
    let only: Vec<&Token> = tokens.iter().map(|(_, token)| token).collect();
    let name = |text: &str| Token::Name(text.into());
    let attribute = [
        Token::Mark('#'),
        Token::Mark('['),
        name("cfg"),
        Token::Mark('('),
        name("test"),
        Token::Mark(')'),
        Token::Mark(']'),
    ];
    let (mut kept, mut modules, mut k) = (Vec::new(), Vec::new(), 0);
    while k < tokens.len() {
        let is_test = only[k..].len() >= attribute.len()
            && attribute.iter().zip(&only[k..]).all(|(a, b)| a == *b);
        if !is_test {
            kept.push(tokens[k].clone());
            k += 1;
            continue;
        }
        let item = &only[k + attribute.len()..];
        let length = item_length(item);
        if let Some(at) = item[..length]
            .iter()
            .position(|token| **token == name("mod"))
            && item.get(at + 2) == Some(&&Token::Mark(';'))
            && let Token::Name(module) = item[at + 1]
        {
            modules.push(module.clone());
        }
        k += attribute.len() + length;
    }
    (kept, modules)
}

/// Up to the `;` or the closing brace of an item, its further attributes included.
fn item_length(tokens: &[&Token]) -> usize {
    let mut depth = 0;
    for (k, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('{' | '(' | '[') => depth += 1,
            Token::Mark(')' | ']') => depth -= 1,
            Token::Mark('}') => {
                depth -= 1;
                if depth == 0 {
                    return k + 1;
                }
            }
            Token::Mark(';') if depth == 0 => return k + 1,
            _ => {}
        }
    }
    tokens.len()
}
