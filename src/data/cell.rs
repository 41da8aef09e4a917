//! One cell of the CSV: a number, a mark of a row known to be right, or missing.

/// What a cell of a numeric column holds.
#[derive(Debug, PartialEq)]
pub(super) enum Number {
    Value(f64),
    Missing,
    /// Not a number that can be used; the text says what to write.
    Bad(&'static str),
}

pub(super) fn number(cell: &str) -> Number {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Number::Value(value),
        Ok(value) if value.is_nan() => Number::Missing,
        Ok(_) => Number::Bad("write a finite number or remove the row"),
        Err(_) if is_missing(cell) => Number::Missing,
        Err(_) => Number::Bad(fix(cell)),
    }
}

pub(super) fn is_missing(cell: &str) -> bool {
    cell.is_empty()
        || cell == "."
        || ["na", "n/a", "nan", "null"]
            .iter()
            .any(|word| cell.eq_ignore_ascii_case(word))
}

fn fix(cell: &str) -> &'static str {
    let without_commas = cell.replace(',', "");
    if cell.contains(',') && without_commas.parse::<f64>().is_ok() {
        "write decimals with a point (1.5, not 1,5) and no separator of thousands"
    } else if cell.bytes().any(|byte| byte.is_ascii_digit()) {
        "write a plain number such as 1.5, without units"
    } else {
        "write a number; a category needs a 0/1 column for each of its values but one"
    }
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
            Number::Bad(advice) => advice,
            other => panic!("{cell} read as {other:?}"),
        };
        assert!(advice("1,5").starts_with("write decimals with a point"));
        assert!(advice("1,234.5").starts_with("write decimals with a point"));
        assert!(advice("12 kg").starts_with("write a plain number"));
        assert!(advice("female").contains("0/1 column"));
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
