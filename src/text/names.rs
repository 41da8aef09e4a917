//! Words for error sentences: the nearest known name, and lists of names.

/// The known name that `typed` most likely meant, if any is close enough to be a slip of the keyboard.
pub(crate) fn nearest<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    known
        .into_iter()
        .map(|name| {
            let distance = strsim::damerau_levenshtein(&typed, &name.to_lowercase());
            (distance, name)
        })
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, name)| {
            let length = typed.chars().count().max(name.chars().count());
            distance <= 2.max(length / 3) && distance < length
        })
        .map(|(_, name)| name)
}

/// `` `a`, `b` and `c` ``.
pub(crate) fn quoted_list<S: AsRef<str>>(names: &[S]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    list(&quoted)
}

/// `a, b and c`.
pub fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_slips_and_refuses_strangers() {
        let known = ["chains", "draws", "max_depth"];
        assert_eq!(nearest("chians", known), Some("chains"));
        assert_eq!(nearest("Draws", known), Some("draws"));
        assert_eq!(nearest("maxdepth", known), Some("max_depth"));
        assert_eq!(nearest("iterations", known), None);
        assert_eq!(nearest("x", ["y"]), None);
    }

    #[test]
    fn lists_read_as_prose() {
        assert_eq!(quoted_list(&["a"]), "`a`");
        assert_eq!(quoted_list(&["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
