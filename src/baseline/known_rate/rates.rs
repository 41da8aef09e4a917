//! What is known of the rate of wrong links, as pairs of a rate and its weight.

use crate::numerics::quantile;

/// Points of equal weight that stand for a distribution: its quantiles in the middle of as many equal parts.
const NUM_POINTS: usize = 41;

/// A rate that is known exactly.
pub fn one_rate(rate: f64) -> Vec<(f64, f64)> {
    vec![(rate, 1.0)]
}

/// A rate with the distribution of these draws, at least one of them finite.
pub fn rates_of_draws(draws: &[f64]) -> Vec<(f64, f64)> {
    let weight = 1.0 / NUM_POINTS as f64;
    let middles = (0..NUM_POINTS).map(|k| (k as f64 + 0.5) * weight);
    let rate = |p: f64| quantile(draws, p).expect("at least one draw");
    middles.map(|p| (rate(p).clamp(0.0, 1.0), weight)).collect()
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

    #[test]
    fn draws_give_their_own_quantiles() {
        let draws: Vec<f64> = (0..1000)
            .map(|k| f64::from(k * 7 % 1000) / 2000.0)
            .collect();
        let (mean, sd) = moments(&rates_of_draws(&draws));
        assert!((mean - 0.25).abs() < 1e-3 && (sd - 0.1443).abs() < 1e-3);
    }
}
