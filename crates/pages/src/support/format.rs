//! Numbers, tables and counts in words.

use super::tables::Rows;

/// Stands where a method has no such number.
pub const NONE: &str = "–";

pub fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let line = |fields: Vec<&str>| format!("| {} |\n", fields.join(" | "));
    let mut text = line(headings.to_vec());
    text += &format!("|{}\n", "---|".repeat(headings.len()));
    for row in rows {
        assert_eq!(row.len(), headings.len(), "a field a column");
        text += &line(row.iter().map(String::as_str).collect());
    }
    text
}

pub fn fixed(value: Option<f64>, digits: usize) -> String {
    // Rounding leaves no minus before a zero.
    value.map_or(NONE.into(), |v| {
        let text = format!("{v:.digits$}");
        match text.strip_prefix('-') {
            Some(zero) if zero.chars().all(|c| c == '0' || c == '.') => zero.to_string(),
            _ => text,
        }
    })
}

/// In units of 1e-4, as the paper's tables.
pub fn e4(value: Option<f64>) -> String {
    let scaled = value.map(|v| 1e4 * v);
    let digits = match scaled.map_or(0.0, f64::abs) {
        size if size < 100.0 => 2,
        size if size < 1000.0 => 1,
        _ => 0,
    };
    fixed(scaled, digits)
}

/// The largest over repeats and, in parentheses, the mean; in units of 1e-4.
pub fn e4_max_mean(rows: &Rows, metric: &str) -> String {
    match (rows.max(metric), rows.mean(metric)) {
        (Some(max), Some(mean)) => format!("{} ({})", e4(Some(max)), e4(Some(mean))),
        _ => NONE.into(),
    }
}

/// So many significant digits, without an exponent unless the number is tiny or huge.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor() as i32;
    if (-4..7).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.*e}", digits - 1)
    }
}

pub fn sig(value: Option<f64>, digits: usize) -> String {
    value.map_or(NONE.into(), |v| significant(v, digits))
}

pub fn percent(value: Option<f64>) -> String {
    value.map_or(NONE.into(), |v| format!("{:.0} %", 100.0 * v))
}

/// From the smallest to the largest.
pub fn range(values: &[f64], digits: usize) -> String {
    let low = values.iter().copied().reduce(f64::min);
    let high = values.iter().copied().reduce(f64::max);
    let (low, high) = (sig(low, digits), sig(high, digits));
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

/// "all 4 sample sizes", "none of the 4 sample sizes", "3 of the 4 sample sizes".
pub fn of_all(count: usize, total: usize, things: &str) -> String {
    match count {
        _ if count == total => format!("all {total} {things}"),
        0 => format!("none of the {total} {things}"),
        _ => format!("{count} of the {total} {things}"),
    }
}

/// "1 cell", "3 cells".
pub fn plural(count: usize, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{ending}")
}

pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

pub fn ratio(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    Some(a? / b?).filter(|ratio| ratio.is_finite())
}
