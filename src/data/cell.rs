//! One cell of the CSV: a number, a mark of a row known to be right, or missing.

/// What a cell of a numeric column holds.
#[derive(Debug, PartialEq)]
pub(super) enum Number {
    Value(f64),
    Missing,
    /// Meant as a number, but none that can be used; the text says what to write.
    Bad(&'static str),
    /// Anything else: perhaps a category; the text says what to write if it was meant as a number.
    Text(&'static str),
}

pub(super) fn number(cell: &str) -> Number {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Number::Value(value),
        Ok(value) if value.is_nan() => Number::Missing,
        Ok(_) => Number::Bad("write a finite number or remove the row"),
        Err(_) if is_missing(cell) => Number::Missing,
        Err(_) if cell.contains(',') && cell.replace(',', "").parse::<f64>().is_ok() => {
            Number::Bad("write decimals with a point (1.5, not 1,5) and no separator of thousands")
        }
        Err(_) if cell.bytes().any(|byte| byte.is_ascii_digit()) => {
            Number::Text("write a plain number such as 1.5, without units")
        }
        Err(_) => Number::Text("write a number"),
    }
}

pub(crate) fn is_missing(cell: &str) -> bool {
    cell.is_empty()
        || cell == "."
        || ["na", "n/a", "null"]
            .iter()
            .any(|word| cell.eq_ignore_ascii_case(word))
        || cell.parse().is_ok_and(f64::is_nan)
}

pub(super) fn yes_or_no(cell: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| cell.eq_ignore_ascii_case(word));
    if is_one_of(["true", "1", "yes"]) {
        Some(true)
    } else if is_one_of(["false", "0", "no"]) {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_every_notation() {
        for (cell, value) in [("1", 1.0), ("-2.5e3", -2500.0), (".5", 0.5), ("+7.", 7.0)] {
            assert_eq!(number(cell), Number::Value(value));
        }
    }

    #[test]
    fn missing_in_every_notation() {
        for cell in ["", "NA", "NaN", "nan", "null", "NULL", ".", "N/A"] {
            assert_eq!(number(cell), Number::Missing, "{cell}");
            assert!(is_missing(cell), "{cell}");
        }
    }

    #[test]
    fn other_text_comes_with_the_right_advice() {
        let advice = |cell| match number(cell) {
            Number::Bad(advice) | Number::Text(advice) => advice,
            other => panic!("{cell} read as {other:?}"),
        };
        assert!(advice("1,5").starts_with("write decimals with a point"));
        assert!(advice("1,234.5").starts_with("write decimals with a point"));
        assert!(advice("12 kg").starts_with("write a plain number"));
        assert_eq!(advice("female"), "write a number");
        assert!(matches!(number("18-24"), Number::Text(_)));
        assert!(matches!(number("1,5"), Number::Bad(_)));
        assert!(advice("-Inf").starts_with("write a finite number"));
        assert!(advice("1e999").starts_with("write a finite number"));
    }

    #[test]
    fn safe_marks() {
        for cell in ["true", "TRUE", "1", "Yes"] {
            assert_eq!(yes_or_no(cell), Some(true));
        }
        for cell in ["false", "False", "0", "no"] {
            assert_eq!(yes_or_no(cell), Some(false));
        }
        assert_eq!(yes_or_no("2"), None);
    }
}
