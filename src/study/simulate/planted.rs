//! Wrong links planted into a data set whose links count as right, and what checks by hand would say about them.

use rand::seq::index;
use rand_distr::{Binomial, Distribution};

use super::file::wrong_links;
use super::{STREAM, SimulateError};
use crate::config::Audit;
use crate::data::Dataset;

/// How many links to break, and how many to check.
#[derive(Debug, Clone, PartialEq)]
pub struct Planting {
    /// The share of the rows that are mislinked, inside blocks only; safe rows of the data set are never mislinked.
    pub fraction: f64,
    /// The share of the rows that are checked afterwards.
    pub checked_share: f64,
    /// The number of links outside the data set that are audited.
    pub num_audited: Option<usize>,
}

/// A data set with planted wrong links.
#[derive(Debug, Clone)]
pub struct Planted {
    /// Row i holds the response of row `pi[i]`. Checked rows are marked as safe.
    pub data: Dataset,
    pub pi: Vec<usize>,
    /// What the audit found.
    pub audit: Option<Audit>,
}

impl Planting {
    /// Random numbers come from one stream of the seed, in this order: the wrong links, the checked rows, the audit.
    ///
    /// A check puts a wrong link right: the row gets its own response back, and the row that held it gets the other one in
    /// exchange. All checked rows are then safe. The audit looks at links of the same kind outside the data set, each wrong
    /// with the share of wrong links before the checks.
    pub fn plant(&self, unharmed: &Dataset, seed: u64) -> Result<Planted, SimulateError> {
        if !(0.0..=1.0).contains(&self.checked_share) {
            return Err(SimulateError::OutOfRange {
                option: "--safe".into(),
                value: self.checked_share,
                rule: "it is a share of the rows, from 0 to 1",
            });
        }
        let mut rng = crate::numerics::rng::stream(seed, STREAM);
        let num_rows = unharmed.num_rows();
        let mut pi = wrong_links(unharmed, self.fraction, &mut rng)?;
        let num_wrong = (0..num_rows).filter(|&row| pi[row] != row).count();
        let mut data = unharmed.clone();
        let num_checked = (self.checked_share * num_rows as f64).round() as usize;
        if num_checked > 0 {
            let mut safe = unharmed.safe.clone().unwrap_or(vec![false; num_rows]);
            for row in index::sample(&mut rng, num_rows, num_checked) {
                put_right(&mut pi, row);
                safe[row] = true;
            }
            data.safe = Some(safe);
        }
        let audit = self.num_audited.map(|checked| {
            let rate = num_wrong as f64 / num_rows as f64;
            let law = Binomial::new(checked as u64, rate).expect("a share is a probability");
            let wrong = law.sample(&mut rng) as usize;
            Audit {
                checked,
                wrong,
                weight: 1.0,
            }
        });
        let moved = |responses: &[f64]| pi.iter().map(|&home| responses[home]).collect();
        data.response = moved(&unharmed.response);
        data.further_responses = unharmed
            .further_responses
            .iter()
            .map(|r| moved(r))
            .collect();
        let weights = unharmed.weights.as_ref();
        data.weights = weights.map(|weights| weights.with_responses_of(&pi));
        Ok(Planted { data, pi, audit })
    }
}

/// The response of `row` and the one that stands in its place are exchanged.
fn put_right(pi: &mut [usize], row: usize) {
    let holder = pi.iter().position(|&home| home == row);
    pi.swap(row, holder.expect("a permutation has every row"));
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::data::Blocks;

    fn unharmed(num_rows: usize) -> Dataset {
        let x = Array2::from_shape_fn((num_rows, 1), |(row, _)| row as f64);
        let y = (0..num_rows).map(|row| 10.0 + row as f64).collect();
        Dataset::new(vec!["x".into()], x, y)
    }

    fn planting(fraction: f64, checked_share: f64) -> Planting {
        Planting {
            fraction,
            checked_share,
            num_audited: Some(100),
        }
    }

    #[test]
    fn every_response_is_the_one_that_pi_names() {
        let data = unharmed(50);
        let planted = planting(0.2, 0.0).plant(&data, 1).unwrap();
        let wrong = (0..50).filter(|&row| planted.pi[row] != row);
        assert_eq!(wrong.count(), 10);
        for (row, &home) in planted.pi.iter().enumerate() {
            assert_eq!(planted.data.response[row], data.response[home]);
        }
        assert_eq!(planted.data.x, data.x);
        assert_eq!(planted.data.safe, None);
        let again = planting(0.2, 0.0).plant(&data, 1).unwrap();
        assert_eq!(again.data, planted.data);
        let other = planting(0.2, 0.0).plant(&data, 2).unwrap();
        assert_ne!(other.data, planted.data);
    }

    #[test]
    fn checked_rows_are_right_and_safe_and_the_others_keep_a_permutation() {
        let data = unharmed(60);
        let plain = planting(0.5, 0.0).plant(&data, 3).unwrap();
        let checked = planting(0.5, 0.25).plant(&data, 3).unwrap();
        let safe = checked.data.safe.as_ref().unwrap();
        assert_eq!(safe.iter().filter(|safe| **safe).count(), 15);
        assert!((0..60).all(|row| !safe[row] || checked.pi[row] == row));
        let mut sorted = checked.pi.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..60).collect::<Vec<_>>());
        let wrong = |pi: &[usize]| (0..60).filter(|&row| pi[row] != row).count();
        assert!(wrong(&checked.pi) < wrong(&plain.pi) && wrong(&checked.pi) > 0);
        // All rows checked: the file is as it was.
        let all = planting(0.5, 1.0).plant(&data, 3).unwrap();
        assert_eq!(all.data.response, data.response);
    }

    #[test]
    fn blocks_and_safe_rows_of_the_file_are_kept() {
        let mut data = unharmed(40);
        let of_row: Vec<usize> = (0..40).map(|row| row / 10).collect();
        let labels = (0..4).map(|block| block.to_string()).collect();
        data.blocks = Some(Blocks { of_row, labels });
        data.safe = Some((0..40).map(|row| row % 10 < 3).collect());
        let planted = planting(0.5, 0.1).plant(&data, 4).unwrap();
        let safe = data.safe.as_ref().unwrap();
        for (row, &home) in planted.pi.iter().enumerate() {
            assert_eq!(row / 10, home / 10);
            assert!(!safe[row] || home == row);
        }
        assert!(planted.data.safe.unwrap().iter().filter(|s| **s).count() > 12);
    }

    /// 2000 audits of 100 links at a rate of 0.2: the mean of `wrong` has a standard error of 0.09.
    #[test]
    fn the_audit_has_the_rate_before_the_checks() {
        let data = unharmed(50);
        let wrong = (0..2000).map(|seed| {
            let planted = planting(0.2, 0.5).plant(&data, seed).unwrap();
            planted.audit.unwrap().wrong as f64
        });
        let mean = wrong.sum::<f64>() / 2000.0;
        assert!((mean - 20.0).abs() < 0.45, "{mean}");
    }

    #[test]
    fn a_share_beyond_one_is_refused() {
        let refused = planting(0.2, 1.5).plant(&unharmed(10), 1).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "--safe is 1.5; it is a share of the rows, from 0 to 1"
        );
    }
}
