//! What is known of the rate of wrong links, as pairs of a rate and its weight.

/// A rate that is known exactly.
pub fn one_rate(rate: f64) -> Vec<(f64, f64)> {
    vec![(rate, 1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::links::RatePrior;

    fn moments(rates: &[(f64, f64)]) -> (f64, f64) {
        let mean: f64 = rates.iter().map(|(rate, weight)| rate * weight).sum();
        let squares = rates
            .iter()
            .map(|(rate, weight)| weight * (rate - mean).powi(2));
        (mean, squares.sum::<f64>().sqrt())
    }

    #[test]
    fn points_have_the_moments_of_the_distribution() {
        for (a, b) in [(1.0, 1.0), (1.0, 9.0), (8.0, 94.0), (1.0, 101.0)] {
            let (mean, sd) = moments(&RatePrior::beta(a, b).grid());
            let expected = a / (a + b);
            let expected_sd = (expected * (1.0 - expected) / (a + b + 1.0)).sqrt();
            // What lies beyond the outermost points is moved to them.
            assert!((mean / expected - 1.0).abs() < 0.02, "{a} {b}: {mean}");
            assert!((sd / expected_sd - 1.0).abs() < 0.06, "{a} {b}: {sd}");
        }
        assert_eq!(moments(&one_rate(0.2)), (0.2, 0.0));
    }
}
