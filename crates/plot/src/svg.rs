//! Numbers and text as they stand in an SVG file.

/// A coordinate with at most one decimal: a tenth of a pixel is below what anyone sees, and the same bytes come out everywhere.
pub(super) fn num(value: f64) -> String {
    debug_assert!(value.is_finite(), "a coordinate is finite");
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Text for element content and for quoted attributes alike. Characters that XML cannot hold become U+FFFD.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\r' | '\t' => escaped.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push('\u{fffd}')
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

/// A `<title>` element: what browsers show when the pointer rests on its parent.
pub(super) fn title(text: &str) -> String {
    format!("<title>{}</title>", escape(text))
}

/// A `<text>` element at a place; `attributes` come as they are, the text is escaped.
pub(super) fn text_element(x: f64, y: f64, attributes: &str, text: &str) -> String {
    format!(
        "<text x=\"{}\" y=\"{}\" {attributes}>{}</text>\n",
        num(x),
        num(y),
        escape(text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_minus_zero() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (-0.04, "0"),
            (-0.06, "-0.1"),
            (12.0, "12"),
            (12.34, "12.3"),
            (-3.96, "-4"),
        ] {
            assert_eq!(num(value), text);
        }
    }

    #[test]
    fn markup_in_text_is_escaped() {
        assert_eq!(
            escape("a<b & \"c\">'d'"),
            "a&lt;b &amp; &quot;c&quot;&gt;&#39;d&#39;"
        );
        assert_eq!(escape("bell\u{7}, line\nbreak"), "bell\u{fffd}, line break");
    }
}
