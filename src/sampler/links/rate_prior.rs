//! The prior of the mismatch rate: a probability that the linkage made no error, and a Beta distribution otherwise.

use crate::numerics::beta_quantile;
use crate::numerics::gamma::log_beta;
use std::fmt;

/// Points of the Beta distribution in `RatePrior::grid`.
const NUM_QUANTILES: usize = 41;

/// The mismatch rate is 0 with probability `no_error`, and otherwise Beta(a, b).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatePrior {
    /// First parameter of the Beta distribution.
    pub a: f64,
    /// Second parameter of the Beta distribution.
    pub b: f64,
    /// The prior probability that the linkage made no error: at least 0 and below 1.
    pub no_error: f64,
}

impl RatePrior {
    /// Beta(a, b) alone.
    pub fn beta(a: f64, b: f64) -> Self {
        Self {
            a,
            b,
            no_error: 0.0,
        }
    }

    /// The posterior after an audit of `checked` links of the same kind, of which `wrong` were wrong; the likelihood of
    /// the audit is raised to the power `weight`.
    ///
    /// Where no error was made, an audit finds none: its likelihood is 1 for `wrong` = 0 and otherwise 0, at any power.
    /// Where rate ~ Beta(a, b), the audit has the marginal likelihood B(a, b + weight * checked) / B(a, b) for `wrong` = 0.
    pub fn after_audit(self, checked: usize, wrong: usize, weight: f64) -> Self {
        assert!(wrong <= checked, "{wrong} wrong links of {checked}");
        let a = self.a + weight * wrong as f64;
        let b = self.b + weight * (checked - wrong) as f64;
        let no_error = match wrong {
            0 => {
                let some_error = (log_beta(a, b) - log_beta(self.a, self.b)).exp();
                self.no_error / (self.no_error + (1.0 - self.no_error) * some_error)
            }
            _ => 0.0,
        };
        Self { a, b, no_error }
    }

    /// The mean of the rate.
    pub fn mean(self) -> f64 {
        (1.0 - self.no_error) * self.a / (self.a + self.b)
    }

    /// The distribution as (rate, probability), rates increasing: 0 where an error may not have been made, and the
    /// middles of 41 parts of the Beta distribution that are equally probable.
    pub fn grid(self) -> Vec<(f64, f64)> {
        let no_error = (self.no_error > 0.0).then_some((0.0, self.no_error));
        let each = (1.0 - self.no_error) / NUM_QUANTILES as f64;
        let middle = |k: usize| (k as f64 + 0.5) / NUM_QUANTILES as f64;
        let quantiles =
            (0..NUM_QUANTILES).map(|k| (beta_quantile(middle(k), self.a, self.b), each));
        no_error.into_iter().chain(quantiles).collect()
    }

    pub(super) fn check(self) {
        let Self { a, b, no_error } = self;
        assert!(
            a > 0.0 && b > 0.0 && a.is_finite() && b.is_finite(),
            "a and b must be positive and finite, got {a} and {b}"
        );
        assert!(
            (0.0..1.0).contains(&no_error),
            "the probability of no error must be at least 0 and below 1, got {no_error}"
        );
    }
}

impl fmt::Display for RatePrior {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let shown = |value: f64| (1e4 * value).round() / 1e4;
        let (a, b) = (shown(self.a), shown(self.b));
        if self.no_error > 0.0 {
            let no_error = shown(self.no_error);
            write!(
                f,
                "no link is wrong with probability {no_error}, otherwise "
            )?;
        }
        write!(f, "the mismatch rate is Beta({a}, {b})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prior_reads_as_words() {
        let rate = RatePrior {
            a: 1.0,
            b: 9.0,
            no_error: 0.5,
        };
        assert_eq!(
            rate.to_string(),
            "no link is wrong with probability 0.5, otherwise the mismatch rate is Beta(1, 9)"
        );
        let audited = rate.after_audit(20, 3, 0.3).to_string();
        assert_eq!(audited, "the mismatch rate is Beta(1.9, 14.1)");
    }

    /// Bayes' rule by sums over a fine grid of rates, the point 0 among them.
    #[test]
    fn audits_update_by_bayes() {
        let prior = RatePrior {
            a: 1.5,
            b: 7.0,
            no_error: 0.4,
        };
        for (checked, wrong, weight) in [(30, 0, 1.0), (30, 0, 0.3), (30, 4, 1.0), (30, 4, 0.5)] {
            let posterior = prior.after_audit(checked, wrong, weight);
            let steps = 200_000;
            let (mut total, mut mean) = (0.0, 0.0);
            for k in 0..steps {
                let rate = (f64::from(k) + 0.5) / f64::from(steps);
                let likelihood =
                    rate.powi(wrong as i32) * (1.0 - rate).powi((checked - wrong) as i32);
                let density = rate.powf(0.5) * (1.0 - rate).powi(6) / log_beta(1.5, 7.0).exp();
                let mass = 0.6 * density * likelihood.powf(weight) / f64::from(steps);
                total += mass;
                mean += rate * mass;
            }
            total += if wrong == 0 { 0.4 } else { 0.0 };
            let no_error = if wrong == 0 { 0.4 / total } else { 0.0 };
            assert!(
                (posterior.no_error - no_error).abs() < 1e-6,
                "{posterior:?}"
            );
            assert!(
                (posterior.mean() - mean / total).abs() < 1e-6,
                "{posterior:?}"
            );
        }
        // A weak audit that found a wrong link still shows that links can be wrong.
        assert_eq!(prior.after_audit(1000, 1, 0.01).no_error, 0.0);
        assert_eq!(
            RatePrior::beta(1.0, 1.0).after_audit(10, 0, 1.0).no_error,
            0.0
        );
    }

    #[test]
    fn grids_have_the_moments_of_the_distribution() {
        for (a, b, no_error) in [
            (1.0, 9.0, 0.5),
            (1.0, 1.0, 0.0),
            (8.0, 94.0, 0.0),
            (0.5, 3.0, 0.2),
        ] {
            let prior = RatePrior { a, b, no_error };
            let grid = prior.grid();
            assert_eq!(grid.len(), 41 + usize::from(no_error > 0.0));
            assert!(grid.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let total: f64 = grid.iter().map(|(_, weight)| weight).sum();
            let mean: f64 = grid.iter().map(|(rate, weight)| rate * weight).sum();
            assert!((total - 1.0).abs() < 1e-12);
            // Middles of equally probable parts, not their means: a little is lost in the tail.
            assert!((mean / prior.mean() - 1.0).abs() < 0.01, "{a} {b}: {mean}");
        }
        assert_eq!(RatePrior::beta(1.0, 9.0).grid()[0].1, 1.0 / 41.0);
    }
}
