//! A mixture of normal distributions over the rates: mean, covariance, quantiles.

use super::{AtRate, RateAveraged};

pub(in crate::baseline) struct Average {
    rate: f64,
    mean: Vec<f64>,
    covariance: Vec<f64>,
    q5: Vec<f64>,
    q95: Vec<f64>,
}

impl Average {
    pub fn new(by_rate: &[AtRate]) -> Average {
        let dim = by_rate[0].beta.len();
        let over_rates = |value: &dyn Fn(&AtRate) -> f64| -> f64 {
            by_rate.iter().map(|at| at.weight * value(at)).sum()
        };
        let mean: Vec<f64> = (0..dim).map(|k| over_rates(&|at| at.beta[k])).collect();
        let covariance = (0..dim * dim).map(|place| {
            let (i, j) = (place / dim, place % dim);
            over_rates(&|at| at.covariance[place] + (at.beta[i] - mean[i]) * (at.beta[j] - mean[j]))
        });
        let quantile = |k: usize, probability: f64| {
            let parts = by_rate.iter();
            let parts: Vec<[f64; 3]> = parts
                .map(|at| [at.weight, at.beta[k], at.standard_error[k]])
                .collect();
            mixture_quantile(&parts, probability)
        };
        Average {
            covariance: covariance.collect(),
            rate: over_rates(&|at| at.rate),
            q5: (0..dim).map(|k| quantile(k, 0.05)).collect(),
            q95: (0..dim).map(|k| quantile(k, 0.95)).collect(),
            mean,
        }
    }

    pub fn into_fit(self, by_rate: Vec<AtRate>) -> RateAveraged {
        let dim = self.mean.len();
        let sd = (0..dim).map(|k| self.covariance[k * dim + k].sqrt());
        RateAveraged {
            sd: sd.collect(),
            mean: self.mean,
            q5: self.q5,
            q95: self.q95,
            covariance: self.covariance,
            rate: self.rate,
            by_rate,
        }
    }
}

/// A quantile of a mixture of normal distributions, each with weight, mean and standard deviation, by bisection.
fn mixture_quantile(parts: &[[f64; 3]], probability: f64) -> f64 {
    const FAR: f64 = 10.0;
    let ends = parts
        .iter()
        .map(|[_, mean, sd]| (mean - FAR * sd, mean + FAR * sd));
    let (mut low, mut high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |all, own| {
        (all.0.min(own.0), all.1.max(own.1))
    });
    let below = |value: f64| -> f64 {
        let parts = parts.iter();
        parts
            .map(|&[weight, mean, sd]| match sd > 0.0 {
                true => weight * normal_cdf((value - mean) / sd),
                // A point.
                false => weight * f64::from(u8::from(value >= mean)),
            })
            .sum()
    };
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if below(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Marsaglia (2004), "Evaluating the normal distribution": a series that converges quickly wherever the result is not 0 or 1.
fn normal_cdf(x: f64) -> f64 {
    if x.abs() > 7.0 {
        return f64::from(u8::from(x > 0.0));
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while sum + term != sum {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::normal_quantile;

    #[test]
    fn the_normal_distribution_inverts_its_quantiles() {
        assert_eq!(normal_cdf(0.0), 0.5);
        for probability in [1e-9, 0.001, 0.05, 0.3, 0.7, 0.95, 0.9999] {
            let found = normal_cdf(normal_quantile(probability));
            assert!((found - probability).abs() < 1e-13, "{probability} {found}");
        }
    }

    #[test]
    fn quantiles_of_one_normal_of_points_and_of_a_mixture() {
        let one = [[1.0, 2.0, 3.0]];
        let expected = 2.0 + 3.0 * normal_quantile(0.95);
        assert!((mixture_quantile(&one, 0.95) - expected).abs() < 1e-9);
        let points = [[0.5, 1.0, 0.0], [0.5, 4.0, 0.0]];
        assert!((mixture_quantile(&points, 0.3) - 1.0).abs() < 1e-9);
        assert!((mixture_quantile(&points, 0.7) - 4.0).abs() < 1e-9);
        // Far apart, the lower tenth of the whole is the lower fifth of the lower half.
        let apart = [[0.5, 0.0, 1.0], [0.5, 50.0, 1.0]];
        let found = mixture_quantile(&apart, 0.1);
        assert!((found - normal_quantile(0.2)).abs() < 1e-9);
    }
}
