//! Which character separates the columns, judged from the header line.

/// The most frequent of comma, semicolon and tab outside quotes; a comma when there is none.
pub(super) fn detect(text: &str) -> u8 {
    let mut counts = [(b',', 0usize), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in text.trim_start().bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if !quoted => {
                if let Some((_, count)) = counts.iter_mut().find(|(mark, _)| *mark == byte) {
                    *count += 1;
                }
            }
            _ => {}
        }
    }
    let best = counts.iter().map(|(_, count)| *count).max();
    counts
        .into_iter()
        .find(|(_, count)| Some(*count) == best)
        .map_or(b',', |(mark, _)| mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_line_decides() {
        assert_eq!(detect("a,b\n1;2;3;4\n"), b',');
        assert_eq!(detect("a;b\r\n1,5;2,5\r\n"), b';');
        assert_eq!(detect("a\tb\n"), b'\t');
        assert_eq!(detect("\"a;b;c\",d\n"), b',');
        assert_eq!(detect("\"a,\n;b\";d\n"), b';');
        assert_eq!(detect("single\n"), b',');
    }
}
