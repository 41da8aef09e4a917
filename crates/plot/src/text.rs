//! How wide text is at most, without a font: shortening and wrapping go by it.

/// Width of `text` in pixels at a font size, guessed from the widest of the usual sans-serif fonts (DejaVu Sans, Verdana).
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.36,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | '"' => 0.45,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        '0'..='9' | 'a'..='z' => 0.64,
        'A'..='Z' => 0.76,
        '\u{300}'..='\u{36f}' => 0.0,
        '\u{1100}'.. => 1.05,
        _ => 0.84,
    }
}

/// `text`, with its end replaced by an ellipsis where it is wider than `max`.
pub(super) fn shorten(text: &str, size: f64, max: f64) -> String {
    if width(text, size) <= max {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = em('…') * size;
    for c in text.chars() {
        used += em(c) * size;
        if used > max {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

/// As [`shorten`], but with the ellipsis within: names of categories often differ only at their ends.
pub(super) fn shorten_middle(text: &str, size: f64, max: f64) -> String {
    if width(text, size) <= max {
        return text.to_owned();
    }
    let room = (max / size - em('…')).max(0.0);
    let fitting = |chars: &mut dyn Iterator<Item = char>, room: f64| {
        let mut used = 0.0;
        chars
            .take_while(|&c| {
                used += em(c);
                used <= room
            })
            .collect::<Vec<char>>()
    };
    let head = fitting(&mut text.chars(), 0.6 * room);
    let mut tail = fitting(&mut text.chars().rev(), 0.4 * room);
    tail.reverse();
    let (head, tail) = (String::from_iter(head), String::from_iter(tail));
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// `text` in at most `max_lines` lines no wider than `max`, broken between words; what does not fit is shortened.
pub(super) fn wrap(text: &str, size: f64, max: f64, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = lines.len() == max_lines;
        match lines.last_mut() {
            Some(line)
                if full || width(line, size) + width(" ", size) + width(word, size) <= max =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| shorten(line, size, max)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_shortened_to_what_fits() {
        assert_eq!(shorten("beta", 10.0, 100.0), "beta");
        let short = shorten("a name that goes on and on", 10.0, 80.0);
        assert!(
            short.ends_with('…') && width(&short, 10.0) <= 80.0,
            "{short}"
        );
        assert!(short.starts_with("a name"), "{short}");
    }

    #[test]
    fn names_keep_both_ends() {
        assert_eq!(shorten_middle("beta", 10.0, 100.0), "beta");
        let names = [
            "a household with a long name 1",
            "a household with a long name 2",
        ];
        let short = names.map(|name| shorten_middle(name, 10.0, 90.0));
        assert_ne!(short[0], short[1]);
        assert!(short.iter().all(|name| width(name, 10.0) <= 90.0));
        assert!(
            short[0].starts_with("a hou") && short[0].ends_with("e 1"),
            "{short:?}"
        );
    }

    #[test]
    fn words_wrap_and_the_last_line_is_shortened() {
        let lines = wrap("one two three four five six seven", 10.0, 70.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width(line, 10.0) <= 70.0));
        assert!(lines[1].ends_with('…'));
        assert_eq!(wrap("one two", 10.0, 500.0, 2), ["one two"]);
        assert!(wrap("  ", 10.0, 50.0, 2).is_empty());
    }
}
