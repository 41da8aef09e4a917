//! A smooth density of draws, for pictures.

use super::stats::{quantile_of_sorted, sd, sorted};

/// More draws than these do not change a picture.
const MOST_DRAWS: usize = 4000;

/// Gaussian kernel density at each point of `grid`, with the bandwidth of Silverman (1986, equation 3.31); None where the draws
/// have no spread.
pub fn density(draws: &[f64], grid: &[f64]) -> Option<Vec<f64>> {
    let sorted = sorted(draws)?;
    let quartile = |probability| quantile_of_sorted(&sorted, probability);
    let spread = sd(draws)?;
    let iqr = (quartile(0.75)? - quartile(0.25)?) / 1.34;
    let spread = if iqr > 0.0 { spread.min(iqr) } else { spread };
    if spread <= 0.0 {
        return None;
    }
    let every = sorted.len().div_ceil(MOST_DRAWS);
    let used: Vec<f64> = sorted.iter().copied().step_by(every).collect();
    let bandwidth = 0.9 * spread * (used.len() as f64).powf(-0.2);
    let scale = 1.0 / (used.len() as f64 * bandwidth * (2.0 * std::f64::consts::PI).sqrt());
    let kernel = |z: f64| (-0.5 * z * z).exp();
    let at = |x: f64| {
        // Sorted draws: only those within five bandwidths matter.
        let from = used.partition_point(|draw| *draw < x - 5.0 * bandwidth);
        let near = used[from..]
            .iter()
            .take_while(|draw| **draw <= x + 5.0 * bandwidth);
        scale * near.map(|draw| kernel((x - draw) / bandwidth)).sum::<f64>()
    };
    Some(grid.iter().map(|x| at(*x)).collect())
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
    fn draws_without_spread_have_none() {
        assert_eq!(density(&[1.0; 50], &[1.0]), None);
        assert_eq!(density(&[], &[1.0]), None);
    }
}
