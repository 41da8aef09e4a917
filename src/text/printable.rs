//! Text without control characters.

use std::borrow::Cow;

/// `text` with a visible sign in the place of each control character but newline and tab, so that the name of a column
/// cannot steer a terminal (ANSI escapes) or turn the direction of the text around it.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| visible(c) == c) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(visible).collect())
}

fn visible(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        // Unicode has a picture of each of them.
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).expect("a picture of each"),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_signs_and_everything_else_stays() {
        let plain = "a\tb\n\u{e9} \u{3b2} \u{4e2d} \u{1f600}";
        assert!(matches!(printable(plain), Cow::Borrowed(text) if text == plain));
        assert_eq!(
            printable("\u{1b}[31mx\r\u{7}"),
            "\u{241b}[31mx\u{240d}\u{2407}"
        );
        assert_eq!(
            printable("\u{9b}2J\u{202e}\u{7f}"),
            "\u{fffd}2J\u{fffd}\u{2421}"
        );
    }
}
