//! q: which rows are proposed. Rows that fit badly where they stand are proposed more often.

use super::alias::AliasTable;
use super::pair::PairLogLik;
use rand::Rng;

/// Share of the draws that are uniform over all rows, so that every row is proposed at times.
const UNIFORM_SHARE: f64 = 0.2;
/// Rows whose probability of being mislinked exceeds this make up the suspicious set.
const SUSPICIOUS: f64 = 0.02;
/// The mixture's share of mislinked rows: where it starts and how often it is re-estimated.
const START_SHARE: f64 = 0.05;
const EM_STEPS: usize = 4;

/// q_i = (1 - eta) r_i / sum r + eta / n, with r_i = 0 outside the suspicious set.
///
/// r_i is the probability that row i is mislinked under a two-part mixture, its fit at its own link
/// against the marginal density of y. It depends on theta and the data, never on the permutation:
/// that is what keeps the proposal ratios exact within a sweep.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowProposal {
    odds: Vec<f64>,
    probability: Vec<f64>,
    suspicious: Vec<usize>,
    alias: AliasTable,
    base: f64,
    uniform_share: f64,
    expected_mislinked: f64,
}

impl RowProposal {
    /// Recomputes q at the current theta.
    pub fn update<L: PairLogLik + ?Sized>(&mut self, pair: &L) {
        let num_rows = pair.len();
        if self.odds.len() != num_rows {
            self.resize(num_rows);
        }
        for (row, odds) in self.odds.iter_mut().enumerate() {
            let log_ratio = pair.log_mislink_ratio(row);
            // Beyond these bounds r_i is 0 or 1 to double precision; NaN is no evidence.
            *odds = if log_ratio.is_nan() {
                1.0
            } else {
                log_ratio.clamp(-50.0, 300.0).exp()
            };
        }
        let share = self.mixture_share();
        let mislinked = |odds: f64| share * odds / (share * odds + 1.0 - share);
        self.suspicious.clear();
        let (mut sum, mut suspicious_sum) = (0.0, 0.0);
        for (row, (&odds, probability)) in self.odds.iter().zip(&mut self.probability).enumerate() {
            let r = mislinked(odds);
            sum += r;
            *probability = 0.0;
            if r > SUSPICIOUS {
                self.suspicious.push(row);
                suspicious_sum += r;
                *probability = r;
            }
        }
        self.expected_mislinked = sum;
        self.uniform_share = if self.suspicious.is_empty() {
            1.0
        } else {
            UNIFORM_SHARE
        };
        self.base = self.uniform_share / num_rows as f64;
        if !self.suspicious.is_empty() {
            let probability = &self.probability;
            self.alias
                .rebuild(self.suspicious.iter().map(|&row| probability[row]));
        }
        let scale = (1.0 - self.uniform_share) / suspicious_sum.max(f64::MIN_POSITIVE);
        for probability in &mut self.probability {
            *probability = *probability * scale + self.base;
        }
    }

    fn resize(&mut self, num_rows: usize) {
        self.odds.resize(num_rows, 0.0);
        self.probability.resize(num_rows, 0.0);
        self.suspicious.clear();
        self.suspicious.reserve(num_rows);
        self.alias.reserve(num_rows);
    }

    /// A few EM steps for the share of mislinked rows, kept inside (0, 1).
    fn mixture_share(&self) -> f64 {
        let num_rows = self.odds.len() as f64;
        let mut share = START_SHARE;
        for _ in 0..EM_STEPS {
            let sum: f64 = self
                .odds
                .iter()
                .map(|odds| share * odds / (share * odds + 1.0 - share))
                .sum();
            share = (sum / num_rows).clamp(1.0 / (num_rows + 1.0), 0.9);
        }
        share
    }

    #[inline]
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> usize {
        if self.suspicious.is_empty() || rng.random::<f64>() < self.uniform_share {
            rng.random_range(0..self.probability.len())
        } else {
            self.suspicious[self.alias.draw(rng)]
        }
    }

    /// q_row.
    #[inline]
    pub fn probability(&self, row: usize) -> f64 {
        self.probability[row]
    }

    #[inline]
    pub fn is_suspicious(&self, row: usize) -> bool {
        self.probability[row] > self.base
    }

    /// The sum of r_i.
    pub fn expected_mislinked(&self) -> f64 {
        self.expected_mislinked
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::{Family, FamilyLogLik};
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn probabilities_sum_to_one_and_are_what_is_drawn() {
        let mut pair =
            FamilyLogLik::new(Family::Gaussian, vec![0.0, 3.0, -2.0, 1.0, 0.5, 5.0], 1.0);
        pair.update(0.02, |eta| {
            eta.copy_from_slice(&[0.01, -2.0, 3.0, 1.01, 0.49, 5.0])
        });
        let mut rows = RowProposal::default();
        rows.update(&pair);
        assert!(rows.is_suspicious(1) && rows.is_suspicious(2) && !rows.is_suspicious(0));
        let sum: f64 = (0..6).map(|row| rows.probability(row)).sum();
        assert!((sum - 1.0).abs() < 1e-14);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let draws = 100_000;
        let mut counts = [0.0; 6];
        for _ in 0..draws {
            counts[rows.draw(&mut rng)] += 1.0;
        }
        for (row, count) in counts.iter().enumerate() {
            let expected = f64::from(draws) * rows.probability(row);
            // Five standard deviations for each of six rows: error rate below 1e-5.
            assert!(
                (count - expected).abs() < 5.0 * expected.sqrt(),
                "row {row}"
            );
        }
    }

    #[test]
    fn no_suspicion_means_uniform() {
        let mut pair = FamilyLogLik::new(Family::Gaussian, vec![-9.0, 0.0, 9.0], 1.0);
        pair.update(0.1, |eta| eta.copy_from_slice(&[-9.0, 0.0, 9.0]));
        let mut rows = RowProposal::default();
        rows.update(&pair);
        assert!((0..3).all(|row| !rows.is_suspicious(row)));
        assert!((0..3).all(|row| (rows.probability(row) - 1.0 / 3.0).abs() < 1e-15));
    }
}
