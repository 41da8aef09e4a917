//! Errors as sentences.

use std::error::Error;

/// An error as one sentence, with the causes behind it that the sentence does not tell itself.
pub(crate) fn full_sentence(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let words = source.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = source.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{words}")]
    struct Layer {
        words: &'static str,
        #[source]
        cause: Option<Box<Layer>>,
    }

    #[test]
    fn causes_follow_unless_the_sentence_tells_them() {
        let layer = |words, cause: Option<Layer>| Layer {
            words,
            cause: cause.map(Box::new),
        };
        let inner = layer("no such file", None);
        let middle = layer("cannot read a.csv", Some(inner));
        let outer = layer("cannot read a.csv, sorry", Some(middle));
        assert_eq!(
            full_sentence(&outer),
            "cannot read a.csv, sorry: no such file"
        );
    }
}
