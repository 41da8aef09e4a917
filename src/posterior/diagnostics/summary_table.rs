//! A summary as an aligned table for terminals, with the digits that the Monte Carlo error leaves meaningful.

use super::summary::{COLUMNS, SummaryRow};
use crate::text::aligned;

/// Columns that a narrow terminal can do without, in the order in which they are left out; summary.csv has them all.
const DISPENSABLE: [&str; 6] = ["ESS_bulk/s", "MAD", "ESS_tail", "MCSE", "StdDev", "50%"];

/// The table, one line per row, each ending in a newline; names to the left, numbers to the right. Columns are left out until
/// its lines have at most `width` characters.
pub fn text_table(rows: &[SummaryRow], width: usize) -> String {
    let mut lines = vec![
        std::iter::once("")
            .chain(COLUMNS)
            .map(str::to_owned)
            .collect::<Vec<_>>(),
    ];
    lines.extend(rows.iter().map(cells));
    let mut table = aligned(&lines, 1);
    for name in DISPENSABLE {
        let widest = table.lines().map(|line| line.chars().count()).max();
        if widest.is_none_or(|widest| widest <= width) {
            break;
        }
        if let Some(place) = lines[0].iter().position(|column| column == name) {
            lines.iter_mut().for_each(|line| drop(line.remove(place)));
        }
        table = aligned(&lines, 1);
    }
    table
}

fn cells(row: &SummaryRow) -> Vec<String> {
    let estimate = |x: f64| match row.mcse {
        Some(mcse) if mcse > 0.0 => to_error(x, mcse),
        _ => to_digits(x, 6),
    };
    let count = |x: f64| format!("{x:.0}");
    let show = |x: Option<f64>, format: &dyn Fn(f64) -> String| x.map_or("NA".to_owned(), format);
    vec![
        row.name.clone(),
        show(row.mean, &estimate),
        show(row.mcse, &estimate),
        show(row.sd, &estimate),
        show(row.mad, &estimate),
        show(row.q5, &estimate),
        show(row.q50, &estimate),
        show(row.q95, &estimate),
        show(row.ess_bulk, &count),
        show(row.ess_tail, &count),
        show(row.ess_bulk_per_s, &|x| to_digits(x, 3)),
        // R-hat is compared with 1.01: three decimals tell on which side it lies.
        show(row.r_hat, &|x| format!("{x:.3}")),
    ]
}

/// A number down to the second significant digit of its error.
fn to_error(x: f64, error: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let last_place = exponent(error) - 1;
    if (-6..6).contains(&last_place) && x.abs() < 1e9 {
        fixed(x, -last_place)
    } else {
        let num_decimals = (exponent(x) - last_place).max(0) as usize;
        format!("{x:.num_decimals$e}")
    }
}

/// A number to so many significant digits, without zeros at its end.
fn to_digits(x: f64, num_digits: i32) -> String {
    let rounded: f64 = format!("{x:.*e}", num_digits as usize - 1)
        .parse()
        .unwrap_or(x);
    if rounded == 0.0 || (1e-4..1e9).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

/// So many decimals, at least none; what rounds to zero has no sign.
fn fixed(x: f64, num_decimals: i32) -> String {
    let text = format!("{x:.*}", num_decimals.max(0) as usize);
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        _ => text,
    }
}

fn exponent(x: f64) -> i32 {
    x.abs().log10().floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::diagnostics::summary::tests::example_rows;

    #[test]
    fn table_of_quantities_of_all_kinds() {
        let expected = r#"
                            Mean     MCSE    StdDev       MAD           5%          50%          95%  ESS_bulk  ESS_tail  ESS_bulk/s  R_hat
lp__                 -123455.975    0.033     1.579     1.638  -123458.609  -123455.975  -123453.340      2235      3018        1120  1.000
beta.1                     0.008    0.011     0.526     0.546       -0.870        0.008        0.887      2235      3018        1120  1.000
tiny, with "quotes"    2.0008e-8  1.1e-11  5.26e-10  5.46e-10    1.9130e-8    2.0008e-8    2.0887e-8      2235      3018        1120  1.000
large                  5.0008e10    1.1e7    5.26e8    5.46e8    4.9130e10    5.0008e10    5.0887e10      2235      3018        1120  1.000
fixed                       0.25       NA         0         0         0.25         0.25         0.25        NA        NA          NA     NA
stuck                       1.50     0.34      0.50      0.74         1.00         1.50         2.00         2         2        1.09    inf
broken                        NA       NA        NA        NA           NA           NA           NA        NA        NA          NA     NA
"#;
        let table = text_table(&example_rows(), usize::MAX);
        assert_eq!(table, expected.trim_start_matches('\n'), "\n{table}");
    }

    #[test]
    fn a_narrow_terminal_has_fewer_columns() {
        let table = text_table(&example_rows()[..2], 80);
        let header = table.lines().next().unwrap();
        assert!(header.chars().count() <= 80, "{table}");
        for kept in ["Mean", "5%", "95%", "ESS_bulk", "R_hat"] {
            assert!(header.contains(kept), "{table}");
        }
        assert!(!header.contains("MAD"), "{table}");
    }

    #[test]
    fn digits_follow_the_error() {
        assert_eq!(to_error(1.23456, 0.0123), "1.235");
        assert_eq!(to_error(-1234.56, 12.3), "-1235");
        assert_eq!(to_error(-0.0001, 0.0123), "0.000");
        assert_eq!(to_error(1.23456e-9, 1e-11), "1.235e-9");
        assert_eq!(to_error(1e-13, 1e-11), "1e-13");
        assert_eq!(to_error(0.0, 1e-11), "0");
    }

    #[test]
    fn digits_without_an_error_end_in_no_zeros() {
        assert_eq!(to_digits(0.25, 6), "0.25");
        assert_eq!(to_digits(-1234.5678, 6), "-1234.57");
        assert_eq!(to_digits(0.0, 6), "0");
        assert_eq!(to_digits(123456.0, 3), "123000");
        assert_eq!(to_digits(1.5e-7, 3), "1.5e-7");
        assert_eq!(to_digits(f64::INFINITY, 3), "inf");
    }
}
