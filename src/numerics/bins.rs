//! Weighted means of a value in bins of another, with 90 % intervals.

use serde::{Deserialize, Serialize};

use super::Z_90;

const MOST_BINS: usize = 12;
/// Rows in a bin, where the file is large enough for two bins.
const LEAST_ROWS: usize = 15;
/// So many distinct values have a bin each.
const FEW_VALUES: usize = 6;

/// One row: where it is, the value to be averaged, and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weighted {
    pub at: f64,
    pub value: f64,
    pub weight: f64,
}

/// The mean of a bin of rows, with its 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The mean place of its rows.
    pub at: f64,
    pub mean: f64,
    pub low: f64,
    pub high: f64,
    pub num_rows: usize,
}

impl Bin {
    /// Whether the interval holds `value`.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// The mean of each bin at the mean place of its rows; bins have equally many rows, and rows at one place share a bin.
pub fn bin_means(rows: &[Weighted]) -> Vec<Bin> {
    let is_finite = |row: &&Weighted| {
        [row.at, row.value, row.weight]
            .iter()
            .all(|v| v.is_finite())
    };
    let mut sorted: Vec<Weighted> = rows.iter().filter(is_finite).copied().collect();
    sorted.sort_by(|a, b| a.at.total_cmp(&b.at));
    bins(&sorted).into_iter().filter_map(mean).collect()
}

/// The rows by bin; `sorted` is in the order of the places.
fn bins(sorted: &[Weighted]) -> Vec<&[Weighted]> {
    let by_place: Vec<&[Weighted]> = sorted.chunk_by(|a, b| a.at == b.at).collect();
    if by_place.len() <= FEW_VALUES {
        return by_place;
    }
    let num_bins = (sorted.len() / LEAST_ROWS).clamp(2, MOST_BINS);
    let mut bins = Vec::new();
    let (mut from, mut to) = (0, 0);
    for group in by_place {
        to += group.len();
        // The end of the bin that the rows so far should fill.
        if to * num_bins >= (bins.len() + 1) * sorted.len() {
            bins.push(&sorted[from..to]);
            from = to;
        }
    }
    bins
}

/// None for a bin without weight.
fn mean(bin: &[Weighted]) -> Option<Bin> {
    let total: f64 = bin.iter().map(|row| row.weight).sum();
    (total > 0.0).then_some(())?;
    let average = |of: &dyn Fn(&Weighted) -> f64| {
        bin.iter().map(|row| row.weight * of(row)).sum::<f64>() / total
    };
    let (at, mid) = (average(&|row| row.at), average(&|row| row.value));
    let deviations = bin.iter().map(|row| row.weight * (row.value - mid));
    let half = Z_90 * deviations.map(|d| d * d).sum::<f64>().sqrt() / total;
    Some(Bin {
        at,
        mean: mid,
        low: mid - half,
        high: mid + half,
        num_rows: bin.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at: f64, value: f64, weight: f64) -> Weighted {
        Weighted { at, value, weight }
    }

    #[test]
    fn a_bin_has_the_weighted_mean_and_its_standard_error() {
        let rows = [row(0.0, 1.0, 1.0), row(0.0, 4.0, 0.5)];
        let found = bin_means(&rows);
        assert_eq!(found.len(), 1);
        assert!((found[0].mean - 2.0).abs() < 1e-15);
        // Deviations -1 and 0.5 * 2, over 1.5.
        let expected = Z_90 * 2f64.sqrt() / 1.5;
        assert!((found[0].high - 2.0 - expected).abs() < 1e-12);
    }

    #[test]
    fn bins_have_equally_many_rows_and_leave_none_out() {
        let rows: Vec<Weighted> = (0..1000).map(|k| row(f64::from(k), 1.0, 1.0)).collect();
        let sizes: Vec<usize> = bins(&rows).iter().map(|bin| bin.len()).collect();
        assert_eq!(sizes.len(), MOST_BINS);
        assert_eq!(sizes.iter().sum::<usize>(), 1000);
        assert!(sizes.iter().all(|size| (83..=84).contains(size)));
        let few: Vec<Weighted> = (0..20).map(|k| row(f64::from(k), 1.0, 1.0)).collect();
        assert_eq!(bins(&few).len(), 2);
    }

    #[test]
    fn rows_at_one_place_share_a_bin() {
        let rows: Vec<Weighted> = (0..90).map(|k| row(f64::from(k % 3), 1.0, 1.0)).collect();
        assert_eq!(bin_means(&rows).len(), 3);
        // Half of the rows at one place of many.
        let heaped = (0..200).map(|k| row(f64::from((k - 100).max(0)), 1.0, 1.0));
        let mut heaped: Vec<Weighted> = heaped.collect();
        heaped.sort_by(|a, b| a.at.total_cmp(&b.at));
        let sizes: Vec<usize> = bins(&heaped).iter().map(|bin| bin.len()).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 200);
        assert!(sizes[0] >= 101);
    }

    #[test]
    fn what_has_no_weight_or_no_number_is_left_out() {
        let rows = [
            row(0.0, 1.0, 0.0),
            row(1.0, f64::NAN, 1.0),
            row(2.0, 3.0, 1.0),
        ];
        let found = bin_means(&rows);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].at, found[0].mean), (2.0, 3.0));
    }
}
