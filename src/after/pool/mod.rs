//! Rubin's rules: one estimate from those of several completed data sets.
//!
//! Rubin (1987), Multiple Imputation for Nonresponse in Surveys, section 3.1; degrees of freedom for small samples by Barnard and
//! Rubin (1999), Biometrika 86, 948-955.

mod estimates;

use std::path::Path;

use thiserror::Error;

use crate::data::DataError;
use crate::numerics::student_t_quantile;

pub use estimates::pooled_csv;
use estimates::read_estimates;

#[derive(Debug, Error)]
pub enum PoolError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(
        "cannot find {file}; give a CSV file with columns set, name, estimate and standard_error"
    )]
    NotFound { file: String },
    #[error(
        "{file}: `{name}` stands in one set only; pool estimates of at least two completed data sets"
    )]
    OneSet { file: String, name: String },
    #[error("{file}: `{name}` stands twice in set {set}; remove one of the two")]
    Twice {
        file: String,
        name: String,
        set: String,
    },
    #[error(
        "{file}: `{name}` stands in {num_sets} sets, but `{other}` in {num_other}; give an estimate of each in every set"
    )]
    Uneven {
        file: String,
        name: String,
        num_sets: usize,
        other: String,
        num_other: usize,
    },
    #[error(
        "{file}: `df_complete` of `{name}` is {first} and {second}; it must be the same in every set"
    )]
    Degrees {
        file: String,
        name: String,
        first: f64,
        second: f64,
    },
    #[error(
        "{file}: the pooled variance or interval of `{name}` is too large for a number; write its estimates in another unit"
    )]
    TooLarge { file: String, name: String },
    #[error(
        "{file}: the variances of `{name}` are 0 or almost 0 but its estimates differ, so `df_complete` leaves no degrees of freedom; correct the variances, or remove `df_complete`"
    )]
    NoDegrees { file: String, name: String },
}

/// Pools the estimates in a file; `level` is the probability of the intervals.
pub fn pool_file(path: &Path, level: f64) -> Result<Vec<Pooled>, PoolError> {
    let pool = |estimates: Estimates| {
        let pooled = estimates.pool(level);
        let (file, name) = (path.display().to_string(), pooled.name.clone());
        match pooled.has_numbers() {
            true => Ok(pooled),
            // An interval without an end, though the variance is a number.
            false if pooled.standard_error.is_finite() && pooled.df < 0.01 => {
                Err(PoolError::NoDegrees { file, name })
            }
            false => Err(PoolError::TooLarge { file, name }),
        }
    };
    read_estimates(path)?.into_iter().map(pool).collect()
}

/// Degrees of freedom below this have no interval.
const LEAST_DF: f64 = 1e-3;

/// One coefficient in every completed data set.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimates {
    pub name: String,
    /// Estimate and its variance, set by set; at least two.
    pub sets: Vec<(f64, f64)>,
    /// Degrees of freedom if the links were known; None stands for a large sample.
    pub df_complete: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pooled {
    pub name: String,
    pub estimate: f64,
    pub standard_error: f64,
    /// Infinite where the sets agree exactly and the sample is large.
    pub df: f64,
    /// Of the level that was asked for.
    pub interval: [f64; 2],
    /// Rubin's, from the degrees of freedom of a large sample.
    pub fraction_missing: f64,
    /// Infinite where the estimates differ though each is said to be exact.
    pub relative_increase: f64,
    pub within: f64,
    pub between: f64,
    pub num_sets: usize,
}

impl Estimates {
    /// `level` is the probability of the interval.
    pub fn pool(&self, level: f64) -> Pooled {
        let m = self.sets.len() as f64;
        let estimate = mean(self.sets.iter().map(|(estimate, _)| *estimate));
        let within = mean(self.sets.iter().map(|(_, variance)| *variance));
        let squares = self.sets.iter().map(|(q, _)| (q - estimate).powi(2));
        let between = squares.sum::<f64>() / (m - 1.0);
        let added = (1.0 + 1.0 / m) * between;
        let total = within + added;
        // The share of the variance that comes from the links; nothing varies where the total is 0.
        let share = if total > 0.0 { added / total } else { 0.0 };
        let df_large = (m - 1.0) / (share * share);
        let df = match self.df_complete {
            None => df_large,
            Some(complete) => {
                let observed = (1.0 - share) * complete * ((complete + 1.0) / (complete + 3.0));
                1.0 / (1.0 / df_large + 1.0 / observed)
            }
        };
        // Sets that agree increase nothing, also where each is exact.
        let relative_increase = if added > 0.0 { added / within } else { 0.0 };
        let standard_error = total.sqrt();
        let half = match total > 0.0 {
            // With fewer the quantile is too large for a number.
            true if df.is_nan() || df < LEAST_DF => f64::INFINITY,
            true => student_t_quantile(0.5 * (1.0 + level), df) * standard_error,
            false => 0.0,
        };
        Pooled {
            name: self.name.clone(),
            estimate,
            standard_error,
            df,
            interval: [estimate - half, estimate + half],
            // (r + 2 / (df + 3)) / (r + 1), written so that a variance within of 0 does no harm.
            fraction_missing: share + (1.0 - share) * 2.0 / (df_large + 3.0),
            relative_increase,
            within,
            between,
            num_sets: self.sets.len(),
        }
    }
}

impl Pooled {
    /// Whether all that is reported is a number; degrees of freedom and the relative increase may be infinite.
    fn has_numbers(&self) -> bool {
        let finite = [
            self.estimate,
            self.standard_error,
            self.interval[0],
            self.interval[1],
            self.fraction_missing,
            self.within,
            self.between,
        ];
        let is_number = !self.df.is_nan() && !self.relative_increase.is_nan();
        is_number && finite.iter().all(|value| value.is_finite())
    }
}

/// The mean of values whose sum may be too large for a number.
fn mean(mut values: impl ExactSizeIterator<Item = f64> + Clone) -> f64 {
    let m = values.len() as f64;
    let sum: f64 = values.clone().sum();
    if sum.is_finite() {
        return sum / m;
    }
    let first = values.next().unwrap_or(0.0);
    first + values.map(|value| (value - first) / m).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimates(values: &[(f64, f64)], df_complete: Option<f64>) -> Estimates {
        let square = |(estimate, se): &(f64, f64)| (*estimate, se * se);
        Estimates {
            name: "x".into(),
            sets: values.iter().map(square).collect(),
            df_complete,
        }
    }

    /// SAS/STAT User's Guide, The MIANALYZE Procedure, "Reading Means and Standard Errors from a DATA= Data Set": means of the fitness
    /// data in five imputed sets with their standard errors, pooled with EDF=30.
    const FITNESS: [[(f64, f64); 5]; 3] = [
        [
            (47.0120, 0.95984),
            (47.2407, 0.93540),
            (47.4995, 1.00766),
            (47.1485, 0.95439),
            (47.0042, 0.96528),
        ],
        [
            (10.4441, 0.28520),
            (10.5040, 0.26661),
            (10.5922, 0.26302),
            (10.5279, 0.26405),
            (10.4913, 0.27275),
        ],
        [
            (171.216, 1.59910),
            (171.244, 1.75638),
            (171.909, 1.85795),
            (171.146, 1.75011),
            (172.072, 1.84807),
        ],
    ];

    const EXPECTED: [[f64; 9]; 3] = [
        [
            47.18098,
            0.041470457,
            0.93085408234,
            0.990261900075,
            26.2986793749,
            0.0534611700632,
            0.0519680979902,
            45.1465920566,
            49.2153679434,
        ],
        [
            10.5119,
            0.002946925,
            0.0731428835,
            0.276910081976,
            26.5032881658,
            0.048347970859,
            0.0471310337013,
            9.94322877716,
            11.0805712228,
        ],
        [
            171.5174,
            0.1911148,
            3.11444349078,
            1.82860089981,
            25.4629074814,
            0.0736368345353,
            0.0707693765555,
            167.754794524,
            175.280005476,
        ],
    ];

    /// Expected: estimate, between, within, standard error, df, relative increase, fraction missing, and the interval; computed in
    /// Python from the printed inputs, by the formulas and scipy.stats.t.ppf(0.975, df):
    ///   B = numpy.var(q, ddof=1); W = mean(se^2); T = W + 1.2 B; r = 1.2 B / W; v = 4 (1 + 1/r)^2;
    ///   obs = (W / T) 30 31 / 33; df = 1 / (1/v + 1/obs); fraction = (r + 2 / (v + 3)) / (r + 1).
    #[test]
    fn a_published_example() {
        for (values, expected) in FITNESS.iter().zip(EXPECTED) {
            let p = estimates(values, Some(30.0)).pool(0.95);
            let found = [
                p.estimate,
                p.between,
                p.within,
                p.standard_error,
                p.df,
                p.relative_increase,
                p.fraction_missing,
                p.interval[0],
                p.interval[1],
            ];
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found / expected - 1.0).abs() < 1e-9,
                    "{found} where {expected}"
                );
            }
        }
    }

    #[test]
    fn without_complete_degrees_of_freedom_the_sample_is_large() {
        let p = estimates(&FITNESS[0], None).pool(0.95);
        assert!((p.df - 4.0 * (1.0 + 1.0 / p.relative_increase).powi(2)).abs() < 1e-8);
        assert!(p.df > 1500.0);
        // Many degrees of freedom for the complete data come to the same.
        let many = estimates(&FITNESS[0], Some(1e12)).pool(0.95);
        assert!((many.df / p.df - 1.0).abs() < 1e-6);
    }

    #[test]
    fn sets_that_agree_pool_to_themselves() {
        let p = estimates(&[(2.0, 0.5), (2.0, 0.5)], None).pool(0.95);
        assert_eq!((p.estimate, p.standard_error), (2.0, 0.5));
        assert_eq!((p.relative_increase, p.fraction_missing), (0.0, 0.0));
        assert!(p.df.is_infinite());
        assert!((p.interval[1] - 2.0 - 0.5 * 1.959_963_984_540_054).abs() < 1e-12);
        let wider = estimates(&[(2.0, 0.5), (2.0, 0.5)], None).pool(0.99);
        assert!((wider.interval[1] - 2.0 - 0.5 * 2.575_829_303_548_901).abs() < 1e-12);
        let p = estimates(&[(2.0, 0.5), (2.0, 0.5)], Some(10.0)).pool(0.95);
        assert!((p.df - 110.0 / 13.0).abs() < 1e-12);
        let p = estimates(&[(2.0, 0.0), (2.0, 0.0)], Some(10.0)).pool(0.95);
        assert_eq!(p.interval, [2.0, 2.0]);
    }

    /// With W = 0 Rubin's rules give T = (1 + 1/m) B and v = m - 1, by hand: estimates 1 and 3 have B = 2 and T = 3, and
    /// the 97.5 % quantile of Student's t with 1 degree of freedom is 12.706.
    #[test]
    fn variances_of_zero_are_variances() {
        let same = estimates(&[(2.0, 0.0), (2.0, 0.0)], None).pool(0.95);
        assert_eq!((same.standard_error, same.interval), (0.0, [2.0, 2.0]));
        assert_eq!((same.relative_increase, same.fraction_missing), (0.0, 0.0));
        let differ = estimates(&[(1.0, 0.0), (3.0, 0.0)], None).pool(0.95);
        assert_eq!((differ.standard_error, differ.df), (3f64.sqrt(), 1.0));
        let half = 12.706_204_736_174_694 * 3f64.sqrt();
        assert!((differ.interval[1] - 2.0 - half).abs() < 1e-8);
        assert_eq!(
            (differ.relative_increase, differ.fraction_missing),
            (f64::INFINITY, 1.0)
        );
        assert!(same.has_numbers() && differ.has_numbers());
        // The degrees of freedom of Barnard and Rubin tend to 0, and the interval has no end.
        assert!(
            !estimates(&[(1.0, 0.0), (3.0, 0.0)], Some(10.0))
                .pool(0.95)
                .has_numbers()
        );
    }

    #[test]
    fn numbers_near_the_largest_are_pooled_where_the_answer_is_a_number() {
        let large = estimates(&[(1.5e308, 2.0), (1.5e308, 2.0), (1.5e308, 2.0)], None).pool(0.95);
        assert_eq!((large.estimate, large.standard_error), (1.5e308, 2.0));
        assert!(large.has_numbers());
        let apart = estimates(&[(1.5e308, 2.0), (-1.5e308, 2.0)], None).pool(0.95);
        assert!(!apart.has_numbers());
        let many = estimates(&[(1.0, 2.0), (2.0, 2.0)], Some(1e308)).pool(0.95);
        let large = estimates(&[(1.0, 2.0), (2.0, 2.0)], None).pool(0.95);
        assert!((many.df / large.df - 1.0).abs() < 1e-12);
    }
}
