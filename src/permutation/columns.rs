//! s(column | row): which link is proposed for a row. Fitted values near its response come first.

use super::pair::Locations;
use super::rows::RowProposal;
use rand::Rng;

/// Shares of the three parts of s: the row's own column, near columns among the suspicious rows,
/// near columns among all rows.
const HOME: f64 = 0.15;
const NEAR_SUSPICIOUS: f64 = 0.5;

/// How far a proposed column is from the response, in ranks of the fitted values: m = 1 is the next
/// one on either side, with probability ln(1 + 1/m) / (2 ln(K + 1)) among K columns.
///
/// This law is uniform on the log scale, so no width has to be tuned to sigma or n. Ranks depend on
/// theta and the data only, so s(column | row) is the same before and after a move.
#[derive(Clone, Debug, Default)]
struct Ranking {
    /// Columns in increasing order of their fitted value.
    order: Vec<usize>,
    /// Place of each column in `order`, or `ABSENT`.
    rank: Vec<usize>,
    /// For each row, how many of `order` have a fitted value below its response.
    start: Vec<usize>,
    /// ln(K + 1).
    log_span: f64,
}

const ABSENT: usize = usize::MAX;

impl Ranking {
    fn resize(&mut self, num_rows: usize) {
        self.order.clear();
        self.order.reserve(num_rows);
        self.rank.resize(num_rows, ABSENT);
        self.start.resize(num_rows, 0);
    }

    fn set_span(&mut self) {
        self.log_span = (self.order.len() as f64 + 1.0).ln();
    }

    #[inline]
    fn draw<R: Rng + ?Sized>(&self, row: usize, rng: &mut R) -> Option<usize> {
        // u in [0, 1) sends exp(u ln(K + 1)) to [1, K + 1).
        let step = (rng.random::<f64>() * self.log_span).exp() as usize;
        let start = self.start[row];
        let place = if rng.random::<bool>() {
            start + step - 1
        } else {
            start.checked_sub(step)?
        };
        self.order.get(place).copied()
    }

    #[inline]
    fn probability(&self, row: usize, column: usize, log_step: &[f64]) -> f64 {
        let rank = self.rank[column];
        if rank == ABSENT {
            return 0.0;
        }
        let start = self.start[row];
        let step = if rank >= start {
            rank - start + 1
        } else {
            start - rank
        };
        0.5 * log_step[step] / self.log_span
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnProposal {
    sorted: Vec<(f64, usize)>,
    all: Ranking,
    suspicious: Ranking,
    /// ln(1 + 1/m).
    log_step: Vec<f64>,
    near_suspicious: f64,
}

impl ColumnProposal {
    /// Recomputes the ranks at the current theta.
    pub fn update(&mut self, locations: &Locations<'_>, rows: &RowProposal) {
        let num_rows = locations.fitted.len();
        if self.log_step.len() != num_rows + 1 {
            self.resize(num_rows);
        }
        self.sorted.clear();
        let fitted = locations.fitted.iter().copied();
        self.sorted.extend(fitted.zip(0..num_rows));
        self.sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        self.all.order.clear();
        self.suspicious.order.clear();
        // One merge of sorted responses and sorted fitted values gives every row its start.
        let mut columns = self.sorted.iter().peekable();
        for &row in locations.response_order {
            while let Some(&&(_, column)) = columns
                .peek()
                .filter(|(value, _)| *value < locations.response[row])
            {
                place(&mut self.all, &mut self.suspicious, rows, column);
                columns.next();
            }
            self.all.start[row] = self.all.order.len();
            self.suspicious.start[row] = self.suspicious.order.len();
        }
        for &(_, column) in columns {
            place(&mut self.all, &mut self.suspicious, rows, column);
        }
        self.all.set_span();
        self.suspicious.set_span();
        self.near_suspicious = if self.suspicious.order.is_empty() {
            0.0
        } else {
            NEAR_SUSPICIOUS
        };
    }

    fn resize(&mut self, num_rows: usize) {
        self.sorted.clear();
        self.sorted.reserve(num_rows);
        self.all.resize(num_rows);
        self.suspicious.resize(num_rows);
        self.log_step.clear();
        self.log_step
            .extend((0..=num_rows).map(|m| (1.0 / m as f64).ln_1p()));
    }

    /// A column for `row`, or none where the draw falls off the end of the ranks.
    #[inline]
    pub fn draw<R: Rng + ?Sized>(&self, row: usize, rng: &mut R) -> Option<usize> {
        let part = rng.random::<f64>();
        if part < HOME {
            Some(row)
        } else if part < HOME + self.near_suspicious {
            self.suspicious.draw(row, rng)
        } else {
            self.all.draw(row, rng)
        }
    }

    /// s(column | row).
    #[inline]
    pub fn probability(&self, row: usize, column: usize) -> f64 {
        let home = if row == column { HOME } else { 0.0 };
        let near_all = 1.0 - HOME - self.near_suspicious;
        let mut sum = home + near_all * self.all.probability(row, column, &self.log_step);
        if self.near_suspicious > 0.0 {
            sum += self.near_suspicious * self.suspicious.probability(row, column, &self.log_step);
        }
        sum
    }
}

#[inline]
fn place(all: &mut Ranking, suspicious: &mut Ranking, rows: &RowProposal, column: usize) {
    all.rank[column] = all.order.len();
    all.order.push(column);
    if rows.is_suspicious(column) {
        suspicious.rank[column] = suspicious.order.len();
        suspicious.order.push(column);
    } else {
        suspicious.rank[column] = ABSENT;
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::{Family, FamilyLogLik};
    use super::super::pair::PairLogLik;
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn columns_are_drawn_as_often_as_their_probability_says() {
        let mut pair =
            FamilyLogLik::new(Family::Gaussian, vec![0.0, 3.0, -2.0, 1.0, 0.5, 5.0], 1.0);
        pair.update(0.5, |eta| {
            eta.copy_from_slice(&[0.1, -2.0, 3.0, 1.2, 0.4, 5.1])
        });
        let mut rows = RowProposal::default();
        rows.update(&pair);
        let mut columns = ColumnProposal::default();
        columns.update(&pair.locations().unwrap(), &rows);
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let draws = 50_000;
        for row in 0..6 {
            let mut counts = [0.0; 6];
            for _ in 0..draws {
                if let Some(column) = columns.draw(row, &mut rng) {
                    counts[column] += 1.0;
                }
            }
            let sum: f64 = (0..6).map(|column| columns.probability(row, column)).sum();
            assert!(sum > 0.5 && sum <= 1.0 + 1e-12);
            for (column, count) in counts.iter().enumerate() {
                let expected = f64::from(draws) * columns.probability(row, column);
                // 36 comparisons at 5.5 standard deviations: error rate below 1e-5.
                assert!(
                    (count - expected).abs() < 5.5 * expected.sqrt(),
                    "{row} {column}: {count} {expected}"
                );
            }
        }
    }
}
