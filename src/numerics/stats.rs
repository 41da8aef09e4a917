//! Plain statistics of pooled draws; `None` where they do not exist or a draw is not finite.

/// Makes the MAD of normal draws estimate their standard deviation; the digits are those of stansummary and R.
const MAD_SCALE: f64 = 1.4826;

pub fn mean(draws: &[f64]) -> Option<f64> {
    let &first = draws.first()?;
    // Summing differences keeps the mean of equal draws exact, so that a constant has sd 0 and not rounding noise.
    let shift = draws.iter().map(|x| x - first).sum::<f64>() / draws.len() as f64;
    finite(first + shift)
}

/// Sample variance, with denominator n - 1.
pub(crate) fn variance(draws: &[f64]) -> Option<f64> {
    if draws.len() < 2 {
        return None;
    }
    let mean = mean(draws)?;
    let sum_of_squares = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    finite(sum_of_squares / (draws.len() - 1) as f64)
}

/// Sample standard deviation, with denominator n - 1.
pub fn sd(draws: &[f64]) -> Option<f64> {
    variance(draws).map(f64::sqrt)
}

/// Quantile of type 7, the default of R and NumPy.
pub fn quantile(draws: &[f64], probability: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(draws)?, probability)
}

/// Median absolute deviation from the median, scaled to the standard deviation of a normal distribution.
pub fn mad(draws: &[f64]) -> Option<f64> {
    let median = quantile(draws, 0.5)?;
    let deviations: Vec<f64> = draws.iter().map(|x| (x - median).abs()).collect();
    quantile(&deviations, 0.5).map(|deviation| MAD_SCALE * deviation)
}

pub(crate) fn sorted(draws: &[f64]) -> Option<Vec<f64>> {
    if draws.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut sorted = draws.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

pub(crate) fn quantile_of_sorted(sorted: &[f64], probability: f64) -> Option<f64> {
    assert!(
        (0.0..=1.0).contains(&probability),
        "probability {probability} outside [0, 1]"
    );
    let position = probability * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (
        sorted[position.floor() as usize],
        sorted[position.ceil() as usize],
    );
    // This form is exact between ties; a weighted sum can fall below both and miscount `x <= quantile`.
    finite(below + position.fract() * (above - below))
}

pub(crate) fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_a_few_numbers_by_hand() {
        let draws = [3.0, 1.0, 2.0, 10.0];
        assert_eq!(mean(&draws), Some(4.0));
        assert_eq!(variance(&draws), Some(50.0 / 3.0));
        assert_eq!(quantile(&draws, 0.0), Some(1.0));
        assert_eq!(quantile(&draws, 0.5), Some(2.5));
        assert_eq!(quantile(&draws, 0.75), Some(4.75));
        assert_eq!(quantile(&draws, 1.0), Some(10.0));
        assert_eq!(mad(&draws), Some(1.4826));
    }

    #[test]
    fn a_constant_has_itself_as_mean_and_no_spread() {
        let draws = [0.1; 1001];
        assert_eq!(mean(&draws), Some(0.1));
        assert_eq!(sd(&draws), Some(0.0));
        assert_eq!(mad(&draws), Some(0.0));
        assert_eq!(quantile(&draws, 0.05), Some(0.1));
    }

    #[test]
    fn statistics_that_do_not_exist_are_none() {
        for draws in [&[][..], &[1.0, f64::NAN], &[1.0, f64::INFINITY]] {
            assert_eq!(mean(draws), None);
            assert_eq!(sd(draws), None);
            assert_eq!(mad(draws), None);
            assert_eq!(quantile(draws, 0.5), None);
        }
        assert_eq!(sd(&[1.0]), None);
        assert_eq!(quantile(&[1.0], 0.95), Some(1.0));
    }
}
