//! Columns that were probably measured with the response: another form of it, which must move with it.

use super::cell::{self, Number};
use super::linked::{Column, Linked};

/// In fewer rows an order is too often one by chance.
const FEWEST_ROWS: usize = 8;

/// Whether a column is another form of the response: in the order of the response its numbers never fall, or never rise,
/// or its words stand in one stretch each, as bands of a wage do.
pub(super) fn is_form_of(linked: &Linked, response: Column, column: Column) -> bool {
    let mut rows: Vec<(f64, &str)> = Vec::new();
    for row in 0..linked.num_rows() {
        let text = linked.cell(column, row);
        if let (Number::Value(y), false) = (
            cell::number(linked.cell(response, row)),
            cell::is_missing(text),
        ) {
            rows.push((y, text));
        }
    }
    if rows.len() < FEWEST_ROWS {
        return false;
    }
    let numbers = rows.iter().map(|(y, text)| match cell::number(text) {
        Number::Value(value) => Some((*y, value)),
        _ => None,
    });
    match numbers.collect::<Option<Vec<(f64, f64)>>>() {
        Some(pairs) => {
            let falling: Vec<(f64, f64)> = pairs.iter().map(|(y, value)| (*y, -value)).collect();
            never_falls(pairs) || never_falls(falling)
        }
        None => in_stretches(rows),
    }
}

/// Whether a row with a larger response never has a smaller value. Equal responses may have different values, as where the
/// response is a band of the column. A constant is no form of anything.
fn never_falls(mut pairs: Vec<(f64, f64)>) -> bool {
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let varies =
        |value: fn(&(f64, f64)) -> f64| pairs.iter().any(|pair| value(pair) != value(&pairs[0]));
    varies(|pair| pair.0)
        && varies(|pair| pair.1)
        && pairs.windows(2).all(|two| two[0].1 <= two[1].1)
}

/// Whether each word has the responses of one stretch to itself, and words repeat.
fn in_stretches(mut rows: Vec<(f64, &str)>) -> bool {
    rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
    let changes = rows.windows(2).filter(|two| two[0].1 != two[1].1);
    // A response that two words share is a change inside of it.
    let shared = changes.clone().any(|two| two[0].0 == two[1].0);
    let num_stretches = 1 + changes.count();
    let mut words: Vec<&str> = rows.iter().map(|(_, word)| *word).collect();
    words.sort_unstable();
    words.dedup();
    !shared && num_stretches == words.len() && words.len() > 1 && 2 * words.len() <= rows.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_response_and_other_columns() {
        let y = [3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0, 5.0];
        let with = |f: &dyn Fn(f64) -> f64| y.iter().map(|&y| (y, f(y))).collect::<Vec<_>>();
        assert!(never_falls(with(&f64::ln)));
        assert!(never_falls(with(&f64::floor)));
        assert!(!never_falls(with(&|y| (y - 3.0).powi(2))));
        assert!(!never_falls(with(&|_| 1.0)));
        // The response is a band of the column.
        let banded: Vec<(f64, f64)> = y.iter().map(|&y| (f64::from(y > 3.5), y)).collect();
        assert!(never_falls(banded));
        let words = |f: &dyn Fn(usize) -> &'static str| -> Vec<(f64, &str)> {
            (0..y.len()).map(|row| (y[row], f(row))).collect()
        };
        assert!(in_stretches(words(&|row| if y[row] < 3.5 {
            "low"
        } else {
            "high"
        })));
        assert!(!in_stretches(words(&|row| if row % 2 == 0 {
            "a"
        } else {
            "b"
        })));
        // Names of rows.
        assert!(!in_stretches(words(&|row| [
            "a", "b", "c", "d", "e", "f", "g", "h"
        ][row])));
    }
}
