//! Moves along candidate pairs: a row takes a new place, the row it displaces takes another, until the circle closes.

use super::acceptance::{Acceptance, Target};
use super::columns::HOME;
use super::pair::PairLogLik;
use super::rows::RowProposal;
use super::space::{Candidates, LinkSpace};
use rand::Rng;

/// The share of the draws, home excluded, that follows the prior's weights alone, so that no candidate is out of reach.
const PRIOR_SHARE: f64 = 0.1;

/// s(column | row) over a row's candidates and its own place: mostly by how well the response would fit there.
///
/// Exchanges of two rows are not enough here: candidates may allow a cycle of three and none of two. A walk of any
/// length reaches every permutation that the candidates allow. Starting at i ~ q, each row of the walk takes a place
/// from s, and the place that closes the circle is the one i left. The same change arises from every row of the circle
/// as a start, so ratio = product over its rows of s(old | row) / s(new | row).
#[derive(Clone, Debug, Default)]
pub(crate) struct CandidateWalk {
    /// For each candidate pair the probability of its column, of all but the home share.
    share: Vec<f64>,
    /// For each row the step at which its shares were computed; they hold for one theta.
    computed: Vec<u64>,
    step: u64,
    /// Rows of the walk with their new columns, and the number of the last walk that met each row.
    changes: Vec<(usize, usize)>,
    met: Vec<u64>,
    walk: u64,
}

impl CandidateWalk {
    /// Forgets what belongs to an earlier theta.
    pub fn update(&mut self, space: &LinkSpace, candidates: &Candidates) {
        if self.computed.len() != space.num_rows() || self.share.len() != candidates.len() {
            self.share = vec![0.0; candidates.len()];
            self.computed = vec![0; space.num_rows()];
            self.met = vec![0; space.num_rows()];
            self.changes = Vec::with_capacity(space.num_rows());
        }
        self.step += 1;
    }

    /// The shares of a row's candidates, computed when the row is first met at this theta.
    fn shares<L: PairLogLik + ?Sized>(
        &mut self,
        row: usize,
        candidates: &Candidates,
        pair: &L,
    ) -> &[f64] {
        let range = candidates.range(row);
        let shares = &mut self.share[range];
        if self.computed[row] == self.step {
            return shares;
        }
        self.computed[row] = self.step;
        let (columns, weights) = candidates.of(row);
        for ((share, &column), weight) in shares.iter_mut().zip(columns).zip(weights) {
            *share = pair.pair(row, column) + weight;
        }
        let largest = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut fit, mut prior) = (0.0, 0.0);
        for (share, weight) in shares.iter_mut().zip(weights) {
            // Where nothing fits at all, the prior's weights decide.
            *share = if largest.is_finite() {
                (*share - largest).exp()
            } else {
                0.0
            };
            fit += *share;
            prior += weight.exp();
        }
        let by_fit = if fit > 0.0 { 1.0 - PRIOR_SHARE } else { 0.0 };
        for (share, weight) in shares.iter_mut().zip(weights) {
            *share = by_fit * *share / fit.max(f64::MIN_POSITIVE)
                + (1.0 - by_fit) * weight.exp() / prior;
        }
        shares
    }

    pub(super) fn draw<L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        row: usize,
        candidates: &Candidates,
        pair: &L,
        rng: &mut R,
    ) -> usize {
        let mut left = rng.random::<f64>();
        if left < HOME {
            return row;
        }
        left = (left - HOME) / (1.0 - HOME);
        let shares = self.shares(row, candidates, pair);
        let within = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        let (columns, _) = candidates.of(row);
        columns[within.unwrap_or(columns.len() - 1)]
    }

    /// s(column | row).
    pub(super) fn probability<L: PairLogLik + ?Sized>(
        &mut self,
        row: usize,
        column: usize,
        candidates: &Candidates,
        pair: &L,
    ) -> f64 {
        if row == column {
            return HOME;
        }
        let place = candidates.of(row).0.binary_search(&column);
        let place = place.expect("a link of a possible permutation");
        (1.0 - HOME) * self.shares(row, candidates, pair)[place]
    }

    /// One walk. True when its circle closed and was accepted.
    pub fn propose<A: Acceptance, L: PairLogLik + ?Sized, R: Rng + ?Sized>(
        &mut self,
        rows: &RowProposal,
        candidates: &Candidates,
        target: &mut Target<'_, &L>,
        rng: &mut R,
    ) -> bool {
        let space = target.prior.space();
        self.walk += 1;
        self.changes.clear();
        let start = rows.draw(space, rng);
        let free = target.pi.column_of(start);
        let mut row = start;
        loop {
            self.met[row] = self.walk;
            let column = self.draw(row, candidates, target.pair, rng);
            self.changes.push((row, column));
            if column == free && row != start {
                break;
            }
            row = target.pi.row_of(column);
            if self.met[row] == self.walk {
                return false;
            }
        }
        let mut log_change = target.log_prior_change(
            (self.changes.iter()).map(|&(row, column)| (row, target.pi.column_of(row), column)),
        );
        for &(row, column) in &self.changes {
            log_change +=
                target.pair.pair(row, column) - target.pair.pair(row, target.pi.column_of(row));
        }
        let mut log_ratio = 0.0;
        for k in 0..self.changes.len() {
            let (row, column) = self.changes[k];
            let old = target.pi.column_of(row);
            log_ratio += self.probability(row, old, candidates, target.pair).ln()
                - self.probability(row, column, candidates, target.pair).ln();
        }
        // A long walk's ratio may exceed what the rule takes for hopeless: what is beyond e^20 joins the change.
        let within = log_ratio.clamp(-20.0, 20.0);
        let accepted = A::accept(log_change + (log_ratio - within), within.exp(), rng);
        if accepted {
            // Each exchange gives a row its new column and hands the free one on.
            for k in 1..self.changes.len() {
                target.exchange(self.changes[k - 1].0, self.changes[k].0);
            }
        }
        accepted
    }
}
