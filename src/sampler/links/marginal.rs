//! The law of a response of which nothing is known but the file: fixed, estimated once by the method of moments.

use super::family::Normal;
use crate::numerics::gamma::log_gamma;

/// Which values the responses can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marginal {
    /// A normal law; several responses have a multivariate one.
    Real,
    /// 0, 1, 2, ...: negative binomial, or Poisson where the variance does not exceed the mean.
    Count,
    /// 0 or 1, with their frequencies.
    ZeroOne,
    /// Above 0: a gamma law.
    Positive,
}

impl Marginal {
    /// The log density of each row's responses, which stand one behind the other, each with `num_rows` values. Several
    /// responses are `Real`.
    pub fn log_density(self, responses: &[f64], num_rows: usize) -> Vec<f64> {
        if self == Self::Real {
            return log_normal(responses, num_rows);
        }
        assert_eq!(responses.len(), num_rows, "one response");
        self.log_density_given(responses, moments(responses))
    }

    /// The log density of each response under the law with this mean and variance; the variance of zeros and ones is not used.
    pub fn log_density_given(self, responses: &[f64], (mean, variance): (f64, f64)) -> Vec<f64> {
        let density = |&value: &f64| match self {
            Self::Count if variance > mean => log_negative_binomial(value, mean, variance),
            Self::Count => {
                let log_mean = mean.max(f64::MIN_POSITIVE).ln();
                -log_gamma(value + 1.0) + (value * log_mean - log_mean.exp())
            }
            Self::ZeroOne if value == 1.0 => mean.ln(),
            Self::ZeroOne => (1.0 - mean).ln(),
            Self::Real => Normal.log_density(value - mean, positive(variance).sqrt()),
            Self::Positive => log_gamma_law(value, mean, positive(variance)),
        };
        responses.iter().map(density).collect()
    }
}

fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / count)
}

/// A constant response has no spread; any positive one keeps densities finite.
fn positive(variance: f64) -> f64 {
    if variance > 0.0 { variance } else { 1.0 }
}

/// A normal law with the mean and the covariance of the responses, one conditional on those before it at a time.
fn log_normal(responses: &[f64], num_rows: usize) -> Vec<f64> {
    let mut sum = vec![0.0; num_rows];
    let mut earlier: Vec<Vec<f64>> = Vec::new();
    for response in responses.chunks_exact(num_rows.max(1)) {
        let (mean, variance) = moments(response);
        let mut residual: Vec<f64> = response.iter().map(|value| value - mean).collect();
        // Gram-Schmidt: what the responses before it say of this one.
        for direction in &earlier {
            let square: f64 = direction.iter().map(|v| v * v).sum();
            let along: f64 = residual.iter().zip(direction).map(|(a, b)| a * b).sum();
            let slope = if square > 0.0 { along / square } else { 0.0 };
            for (value, direction) in residual.iter_mut().zip(direction) {
                *value -= slope * direction;
            }
        }
        let left = residual.iter().map(|u| u * u).sum::<f64>() / num_rows as f64;
        // A response that the others determine has no density of its own: it counts as if it were one of them.
        let sd = left.max(1e-8 * positive(variance)).sqrt();
        for (sum, residual) in sum.iter_mut().zip(&residual) {
            *sum += Normal.log_density(*residual, sd);
        }
        earlier.push(residual);
    }
    sum
}

/// The log mass of a count, by the method of moments.
fn log_negative_binomial(count: f64, mean: f64, variance: f64) -> f64 {
    let size = mean * mean / (variance - mean);
    log_gamma(count + size) - log_gamma(size) - log_gamma(count + 1.0)
        + size * (size / (size + mean)).ln()
        + count * (mean / (size + mean)).ln()
}

fn log_gamma_law(value: f64, mean: f64, variance: f64) -> f64 {
    let (shape, rate) = (mean * mean / variance, mean / variance);
    shape * rate.ln() - log_gamma(shape) + (shape - 1.0) * value.ln() - rate * value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_and_densities_sum_to_one() {
        let spread: f64 = (0..3000)
            .map(|y| log_negative_binomial(f64::from(y), 3.0, 12.0).exp())
            .sum();
        assert!((spread - 1.0).abs() < 1e-10, "{spread}");
        let steps = 200_000;
        let gamma: f64 = (0..steps)
            .map(|k| log_gamma_law((f64::from(k) + 0.5) * 1e-3, 3.0, 4.0).exp() * 1e-3)
            .sum();
        assert!((gamma - 1.0).abs() < 1e-4, "{gamma}");
    }

    #[test]
    fn a_law_that_is_given_needs_no_responses() {
        let at = |law: Marginal, y: f64, given| law.log_density_given(&[y], given)[0];
        let normal =
            -0.5 * (1.5f64 / 2.0).powi(2) - (2.0 * (2.0 * std::f64::consts::PI).sqrt()).ln();
        assert!((at(Marginal::Real, 2.5, (1.0, 4.0)) - normal).abs() < 1e-12);
        assert_eq!(at(Marginal::ZeroOne, 1.0, (0.2, 0.0)), 0.2f64.ln());
        let poisson = 2.0 * 3.0f64.ln() - 3.0 - 2.0f64.ln();
        assert!((at(Marginal::Count, 2.0, (3.0, 1.0)) - poisson).abs() < 1e-12);
        assert_eq!(
            at(Marginal::Positive, 2.0, (3.0, 4.0)),
            log_gamma_law(2.0, 3.0, 4.0)
        );
        // The moments of the responses give the law of the file.
        let file = [0.5, 1.5, 4.0];
        for law in [Marginal::Real, Marginal::Positive] {
            let found = law.log_density_given(&file, moments(&file));
            let own = law.log_density(&file, 3);
            assert!(found.iter().zip(&own).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn zeros_and_ones_have_their_frequencies() {
        let found = Marginal::ZeroOne.log_density(&[0.0, 1.0, 1.0, 1.0], 4);
        let expected = [0.25f64, 0.75, 0.75, 0.75].map(f64::ln);
        assert_eq!(found, expected);
        // All of one kind: certain.
        assert_eq!(Marginal::ZeroOne.log_density(&[1.0, 1.0], 2), [0.0, 0.0]);
    }

    #[test]
    fn two_responses_have_the_bivariate_normal_density() {
        let (a, b) = ([0.3, -1.2, 2.0, 0.7, 1.1], [1.0, -0.4, 1.9, 0.2, 3.0]);
        let found = Marginal::Real.log_density(&[a, b].concat(), 5);
        let ((mean_a, var_a), (mean_b, var_b)) = (moments(&a), moments(&b));
        let product = |i: usize| (a[i] - mean_a) * (b[i] - mean_b);
        let r = (0..5).map(product).sum::<f64>() / 5.0 / (var_a * var_b).sqrt();
        for i in 0..5 {
            let (u, v) = (
                (a[i] - mean_a) / var_a.sqrt(),
                (b[i] - mean_b) / var_b.sqrt(),
            );
            let square = (u * u - 2.0 * r * u * v + v * v) / (1.0 - r * r);
            let log_two_pi = (2.0 * std::f64::consts::PI).ln();
            let expected = -log_two_pi - 0.5 * (var_a * var_b * (1.0 - r * r)).ln() - 0.5 * square;
            assert!((found[i] - expected).abs() < 1e-12, "{i}: {expected}");
        }
        // A response that stands there twice leaves finite densities.
        let twice = Marginal::Real.log_density(&[a, a].concat(), 5);
        assert!(twice.iter().all(|value| value.is_finite()));
    }
}
