//! Numbers in tables.

/// `value` with so many decimals, or in scientific notation where numbers of this scale would have too few digits left or
/// too many before the point.
pub(crate) fn number_on_scale(value: f64, scale: f64, num_decimals: usize) -> String {
    if scale == 0.0 || (0.01..1e7).contains(&scale.abs()) || !scale.is_finite() {
        format!("{value:.num_decimals$}")
    } else {
        format!("{value:.3e}")
    }
}

/// A probability as a column of quantiles is called: 0.025 is `2.5%`.
pub(crate) fn percent(probability: f64) -> String {
    // Without the last digits, which are rounding: 100 (1 - 0.95) / 2 is not 2.5 in doubles.
    format!("{}%", (probability * 1e10).round() / 1e8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_no_rounding_in_them() {
        for (level, low, high) in [
            (0.95, "2.5%", "97.5%"),
            (0.9, "5%", "95%"),
            (0.999, "0.05%", "99.95%"),
        ] {
            let tail = 0.5 * (1.0 - level);
            assert_eq!([percent(tail), percent(1.0 - tail)], [low, high]);
        }
    }

    #[test]
    fn small_and_large_numbers_keep_their_digits() {
        assert_eq!(number_on_scale(0.0, 0.0, 4), "0.0000");
        assert_eq!(number_on_scale(-0.0001, 0.5, 4), "-0.0001");
        assert_eq!(number_on_scale(1.2344e-7, 2e-7, 4), "1.234e-7");
        assert_eq!(number_on_scale(0.0, 2e-7, 4), "0.000e0");
        assert_eq!(number_on_scale(-1.5e12, 1.5e12, 4), "-1.500e12");
    }
}
