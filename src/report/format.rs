//! Numbers as a person wants to read them.

/// A number with an uncertainty: two digits of the uncertainty are shown, the rest is noise.
pub fn with_spread(value: f64, spread: f64) -> String {
    if !value.is_finite() {
        return "NA".into();
    }
    if !(spread > 0.0 && spread.is_finite()) {
        return significant(value, 3);
    }
    let decimals = 1 - spread.log10().floor() as i32;
    if (0..=9).contains(&decimals) {
        unsigned_zero(format!("{value:.*}", decimals as usize))
    } else if decimals < 0 && value.abs() < 1e7 {
        unsigned_zero(format!("{value:.0}"))
    } else {
        significant(value, 3)
    }
}

/// So many significant digits.
pub fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return "NA".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor() as i32;
    if (-4..7).contains(&exponent) {
        unsigned_zero(format!(
            "{value:.*}",
            (digits - 1 - exponent).max(0) as usize
        ))
    } else {
        format!("{value:.*e}", (digits - 1) as usize)
    }
}

/// A probability as a percentage, never 0 or 100 unless it is.
pub fn percent(probability: f64) -> String {
    let shown = 100.0 * probability;
    match shown {
        p if p > 0.0 && p < 0.1 => "below 0.1 %".into(),
        p if p < 100.0 && p > 99.9 => "above 99.9 %".into(),
        p if p == 0.0 || p == 100.0 || (10.0..=90.0).contains(&p) => format!("{p:.0} %"),
        p => format!("{p:.1} %"),
    }
}

/// `1 row`, `2 rows`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

fn unsigned_zero(text: String) -> String {
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| c == '0' || c == '.') => digits.into(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_uncertainty() {
        assert_eq!(with_spread(0.857_623, 0.020), "0.858");
        assert_eq!(with_spread(1234.567, 25.0), "1235");
        assert_eq!(with_spread(-0.000_01, 0.1), "0.00");
        assert_eq!(with_spread(2.0, 0.0), "2.00");
        assert_eq!(with_spread(f64::NAN, 1.0), "NA");
        assert_eq!(with_spread(1.5e-12, 1e-13), "1.50e-12");
    }

    #[test]
    fn percentages_do_not_pretend() {
        let shown = [0.0, 0.000_2, 0.0512, 0.2, 0.999_95, 1.0].map(percent);
        assert_eq!(
            shown,
            [
                "0 %",
                "below 0.1 %",
                "5.1 %",
                "20 %",
                "above 99.9 %",
                "100 %"
            ]
        );
    }
}
