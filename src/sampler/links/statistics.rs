//! Sufficient statistics of linear regression with normal errors, for every permutation of the responses.

use ndarray::ArrayView2;

use super::permutation::Permutation;
use crate::numerics::{Qr, Upper};

/// Below this share of the squares that are subtracted from each other, the residual sum of squares is computed afresh.
const FEWEST_DIGITS: f64 = 1e-6;

/// X = QR, c = Q'y and RSS = |y - Qc|^2: the normal likelihood needs no more of the data.
///
/// The links as given are computed once. Another permutation costs what its moved rows cost: their responses differ by
/// delta, so c changes by Q'delta and RSS by 2 e'delta + |delta|^2 - |Q'delta|^2, with e the residuals of the links as
/// given. Nothing depends on the permutations before, so a chain that is resumed sees the same numbers.
#[derive(Clone, Debug)]
pub struct LinearStatistics {
    /// Rows of Q, one after the other.
    rows: Vec<f64>,
    r: Upper,
    /// The responses, in the order of the user's rows.
    response: Vec<f64>,
    /// c, e and RSS of the links as given.
    projection: Vec<f64>,
    residuals: Vec<f64>,
    rss: f64,
}

impl LinearStatistics {
    /// None where X lacks full column rank.
    pub fn new(x: ArrayView2<f64>, response: &[f64]) -> Option<Self> {
        assert_eq!(x.nrows(), response.len(), "one response for each row");
        let qr = Qr::new(x);
        let (projection, residuals) = qr.project(response);
        let (rows, r) = qr.into_rows();
        r.is_full_rank().then(|| Self {
            rss: residuals.iter().map(|e| e * e).sum(),
            rows,
            r,
            response: response.to_vec(),
            projection,
            residuals,
        })
    }

    /// The number of columns of X.
    pub fn dim(&self) -> usize {
        self.projection.len()
    }

    pub fn num_rows(&self) -> usize {
        self.response.len()
    }

    /// The responses, in the order of the user's rows.
    pub fn response(&self) -> &[f64] {
        &self.response
    }

    /// Q'y of the links as given.
    pub fn given_projection(&self) -> &[f64] {
        &self.projection
    }

    /// The residual sum of squares of the links as given.
    pub fn given_rss(&self) -> f64 {
        self.rss
    }

    pub(crate) fn r(&self) -> &Upper {
        &self.r
    }

    /// The row of Q at this row of X.
    #[inline]
    pub fn row(&self, column: usize) -> &[f64] {
        let dim = self.projection.len();
        &self.rows[column * dim..(column + 1) * dim]
    }

    /// Writes Q'delta, the change of Q'y from the links as given to `pi`, and returns the residual sum of squares.
    pub fn at(&self, pi: &Permutation, change: &mut [f64]) -> f64 {
        change.fill(0.0);
        let (mut sum, mut squares) = (0.0, 0.0);
        // A permutation maps its moved rows to one another, so they are the rows of X with another response as well.
        for &column in pi.moved() {
            let delta = self.response[pi.row_of(column)] - self.response[column];
            sum += delta * (2.0 * self.residuals[column] + delta);
            squares += delta * delta;
            for (change, q) in change.iter_mut().zip(self.row(column)) {
                *change += delta * q;
            }
        }
        let fitted: f64 = change.iter().map(|change| change * change).sum();
        let rss = self.rss + sum - fitted;
        match rss < FEWEST_DIGITS * (self.rss + squares) {
            true => self.rss_from_residuals(pi, change),
            false => rss,
        }
    }

    fn rss_from_residuals(&self, pi: &Permutation, change: &[f64]) -> f64 {
        let square = |column: usize| {
            let delta = self.response[pi.row_of(column)] - self.response[column];
            let fitted: f64 = self
                .row(column)
                .iter()
                .zip(change)
                .map(|(q, c)| q * c)
                .sum();
            (self.residuals[column] + delta - fitted).powi(2)
        };
        (0..self.num_rows()).map(square).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    /// Responses with this error scale around 900 + 3 x, of which `num_moved` belong elsewhere by `truth`.
    fn file(sigma: f64, num_moved: usize) -> (Array2<f64>, Vec<f64>, Permutation) {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let n = 60;
        let x = Array2::from_shape_fn((n, 3), |(_, j)| match j {
            0 => 1.0,
            _ => 40.0 + rng.sample::<f64, _>(StandardNormal),
        });
        let truth = Permutation::random_sparse(n, num_moved, &mut rng);
        let response = |i: usize| {
            let row = x.row(truth.column_of(i));
            900.0 + 3.0 * row[1] - row[2]
        };
        let response: Vec<f64> = (0..n)
            .map(|i| response(i) + sigma * rng.sample::<f64, _>(StandardNormal))
            .collect();
        (x, response, truth)
    }

    /// c and RSS from a least-squares fit of the aligned responses.
    fn afresh(x: &Array2<f64>, response: &[f64], pi: &Permutation) -> (Vec<f64>, f64) {
        let mut aligned = response.to_vec();
        pi.align(response, &mut aligned);
        let (projection, residuals) = Qr::new(x.view()).project(&aligned);
        (projection, residuals.iter().map(|e| e * e).sum())
    }

    #[test]
    fn every_permutation_has_the_statistics_of_its_aligned_responses() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        // At the last scale the relinked file fits to nine digits: differences of sums have none left.
        for sigma in [1.0, 1e-3, 1e-7] {
            let (x, response, truth) = file(sigma, 20);
            let statistics = LinearStatistics::new(x.view(), &response).unwrap();
            let others = [0, 2, 60].map(|d| Permutation::random_sparse(60, d, &mut rng));
            for pi in others.iter().chain([&truth]) {
                let mut change = vec![f64::NAN; 3];
                let rss = statistics.at(pi, &mut change);
                let (projection, expected) = afresh(&x, &response, pi);
                assert!((rss - expected).abs() < 1e-6 * expected, "{rss} {expected}");
                for k in 0..3 {
                    let found = statistics.given_projection()[k] + change[k];
                    assert!((found - projection[k]).abs() < 1e-9 * projection[0].abs());
                }
            }
        }
    }

    #[test]
    fn dependent_columns_have_no_statistics() {
        let (mut x, response, _) = file(1.0, 0);
        let twice = x.column(1).mapv(|value| 2.0 * value);
        x.column_mut(2).assign(&twice);
        assert!(LinearStatistics::new(x.view(), &response).is_none());
    }
}
