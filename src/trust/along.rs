//! P(moved) along each predictor, as the report draws it: the picture of the check `wrong_by_predictors`.

use crate::data::{Dataset, INTERCEPT};
use crate::numerics::{Weighted, bin_means};
use crate::posterior::WrongAlong;

/// Predictors that are kept, the first of the file.
const MOST_PREDICTORS: usize = 8;
/// Bins of fewer rows would tell of single ones.
const LEAST_ROWS: usize = 10;

pub(super) fn wrong_along(data: &Dataset, p_moved: &[f64]) -> Vec<WrongAlong> {
    let names = data.predictor_names.iter().enumerate();
    let predictors = names.filter(|(_, name)| *name != INTERCEPT);
    let along = predictors.take(MOST_PREDICTORS).map(|(k, name)| {
        let column = data.x.column(k);
        let rows = column.iter().zip(p_moved).map(|(&at, &value)| Weighted {
            at,
            value,
            weight: 1.0,
        });
        let mut bins = bin_means(&rows.collect::<Vec<_>>());
        bins.retain(|bin| bin.num_rows >= LEAST_ROWS);
        WrongAlong {
            name: name.clone(),
            bins,
        }
    });
    along.filter(|along| !along.bins.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    fn data(num_rows: usize, num_predictors: usize) -> Dataset {
        let names = (1..=num_predictors).map(|k| format!("x{k}"));
        let x = Array2::from_shape_fn((num_rows, num_predictors + 1), |(row, column)| {
            if column == 0 { 1.0 } else { row as f64 }
        });
        let names = [INTERCEPT.to_string()].into_iter().chain(names).collect();
        Dataset::new(names, x, vec![0.0; num_rows])
    }

    #[test]
    fn means_follow_the_predictor_and_no_bin_tells_of_few_rows() {
        let p_moved: Vec<f64> = (0..600).map(|k| f64::from(k) / 600.0).collect();
        let found = wrong_along(&data(600, 2), &p_moved);
        assert_eq!(found.len(), 2);
        let bins = &found[0].bins;
        assert!(bins.len() >= 10 && bins.iter().all(|bin| bin.num_rows >= LEAST_ROWS));
        for bin in bins {
            assert!((bin.mean - bin.at / 600.0).abs() < 1e-12);
        }
        assert!(wrong_along(&data(8, 2), &[0.1; 8]).is_empty());
        assert_eq!(
            wrong_along(&data(100, 20), &[0.1; 100]).len(),
            MOST_PREDICTORS
        );
    }
}
