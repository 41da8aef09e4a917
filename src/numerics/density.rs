//! Kernel density estimates.

use super::stats::{quantile_of_sorted, sd, sorted};

/// More draws than these do not change a picture.
const MOST_DRAWS: usize = 4000;

/// Gaussian kernel density at each point of `grid`, with the bandwidth of Silverman (1986, equation 3.31); None where the draws
/// have no spread.
pub fn density(draws: &[f64], grid: &[f64]) -> Option<Vec<f64>> {
    let sorted = sorted(draws)?;
    let spread = spread(&sorted)?;
    let every = sorted.len().div_ceil(MOST_DRAWS);
    let kernel = Kernel::new(sorted.into_iter().step_by(every).collect(), spread);
    let scale = kernel.height() / kernel.sorted.len() as f64;
    Some(grid.iter().map(|x| scale * kernel.sum(*x)).collect())
}

/// The same density at each of the values, estimated from the other ones; None where they have no spread.
pub fn density_without_own(values: &[f64]) -> Option<Vec<f64>> {
    let sorted = sorted(values)?;
    let spread = spread(&sorted)?;
    let kernel = Kernel::new(sorted, spread);
    let scale = kernel.height() / (values.len() - 1) as f64;
    let others = |x: f64| (kernel.sum(x) - 1.0).max(0.0);
    Some(values.iter().map(|x| scale * others(*x)).collect())
}

/// The standard deviation, or that of a normal law with the same quartiles where it is smaller; None without any.
fn spread(sorted: &[f64]) -> Option<f64> {
    let quartile = |probability| quantile_of_sorted(sorted, probability);
    let spread = sd(sorted)?;
    let iqr = (quartile(0.75)? - quartile(0.25)?) / 1.34;
    let spread = if iqr > 0.0 { spread.min(iqr) } else { spread };
    (spread > 0.0).then_some(spread)
}

struct Kernel {
    sorted: Vec<f64>,
    bandwidth: f64,
}

impl Kernel {
    fn new(sorted: Vec<f64>, spread: f64) -> Kernel {
        Kernel {
            bandwidth: 0.9 * spread * (sorted.len() as f64).powf(-0.2),
            sorted,
        }
    }

    /// Of the density of one kernel.
    fn height(&self) -> f64 {
        1.0 / (self.bandwidth * (2.0 * std::f64::consts::PI).sqrt())
    }

    /// Over all values, in units of the height. Values are sorted: only those within five bandwidths matter.
    fn sum(&self, x: f64) -> f64 {
        let reach = 5.0 * self.bandwidth;
        let from = self.sorted.partition_point(|value| *value < x - reach);
        let near = self.sorted[from..].iter();
        near.take_while(|value| **value <= x + reach)
            .map(|value| (-0.5 * ((x - value) / self.bandwidth).powi(2)).exp())
            .sum()
    }
}

/// `count` equally spaced points from `low` to `high`.
pub fn grid(low: f64, high: f64, count: usize) -> Vec<f64> {
    let step = (high - low) / (count.max(2) - 1) as f64;
    (0..count).map(|k| low + step * k as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_density_integrates_to_one_and_peaks_where_the_draws_are() {
        let draws: Vec<f64> = (0..999)
            .map(|k| ((k * 7919 % 999) as f64 / 999.0 - 0.5).powi(3))
            .collect();
        let grid = grid(-0.5, 0.5, 2001);
        let density = density(&draws, &grid).unwrap();
        let area: f64 = density.iter().sum::<f64>() * (grid[1] - grid[0]);
        assert!((area - 1.0).abs() < 1e-3, "{area}");
        let highest = (0..grid.len())
            .max_by(|a, b| density[*a].total_cmp(&density[*b]))
            .unwrap();
        assert!(grid[highest].abs() < 0.01, "{}", grid[highest]);
    }

    #[test]
    fn many_draws_give_the_same_picture_as_some_of_them() {
        let draws: Vec<f64> = (0..20_000)
            .map(|k| (f64::from(k) + 0.5) / 20_000.0)
            .collect();
        let middle = density(&draws, &[0.5]).unwrap()[0];
        assert!((middle - 1.0).abs() < 1e-3, "{middle}");
    }

    #[test]
    fn an_outlier_is_unlikely_among_the_others() {
        let mut values: Vec<f64> = (0..99).map(f64::from).collect();
        values.push(1e4);
        let with_own = density(&values, &values).unwrap();
        let of_others = density_without_own(&values).unwrap();
        assert!(with_own[99] > 1e-4 && of_others[99] == 0.0);
        assert!((of_others[50] / with_own[50] - 1.0).abs() < 0.05);
    }

    #[test]
    fn draws_without_spread_have_none() {
        assert_eq!(density(&[1.0; 50], &[1.0]), None);
        assert_eq!(density(&[], &[1.0]), None);
    }
}
