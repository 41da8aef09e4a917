//! The assignment problem where rows move in several groups: one problem each, that share the price of a moved row.

use super::super::pair::{DenseLogLik, PairLogLik};
use super::super::permutation::Permutation;
use super::super::prior::Prior;
use super::{ModeSearch, Solved, Solver};
use ndarray::Array2;

/// Each group maximises sum l + links - log D(d_group) - price * d_group by a search of its own.
pub(super) struct Groups<'a> {
    rows: Vec<Vec<usize>>,
    pairs: Vec<DenseLogLik>,
    prior: &'a Prior,
    num_rows: usize,
    value_of_others: f64,
}

impl<'a> Groups<'a> {
    pub fn new<L: PairLogLik + ?Sized>(rows: Vec<Vec<usize>>, pair: &L, prior: &'a Prior) -> Self {
        let space = prior.space();
        let dense = |rows: &Vec<usize>| {
            DenseLogLik::new(Array2::from_shape_fn((rows.len(), rows.len()), |(k, m)| {
                let (row, column) = (rows[k], rows[m]);
                pair.pair(row, column) + space.log_link(row, column)
            }))
        };
        let pairs = rows.iter().map(dense).collect();
        let mut value_of_others: f64 = (0..pair.len()).map(|row| pair.pair(row, row)).sum();
        value_of_others -= rows
            .iter()
            .flatten()
            .map(|&row| pair.pair(row, row))
            .sum::<f64>();
        Self {
            rows,
            pairs,
            prior,
            num_rows: pair.len(),
            value_of_others,
        }
    }
}

impl Solver for Groups<'_> {
    fn solve(&mut self, price: f64) -> Solved {
        let mut forward: Vec<usize> = (0..self.num_rows).collect();
        let (mut value, mut bound) = (self.value_of_others, self.value_of_others);
        for (rows, pairs) in self.rows.iter().zip(&self.pairs) {
            let group = self.prior.space().group_of_movable(rows[0]);
            let weight = |k: usize| -price * k as f64 - self.prior.log_group(group, k);
            let table =
                Prior::from_table(self.prior.kind(), (0..=rows.len()).map(weight).collect());
            let home = Permutation::identity(rows.len());
            let mode = ModeSearch::new(rows.len()).find(&home, pairs, &table);
            for (k, &row) in rows.iter().enumerate() {
                forward[row] = rows[mode.permutation.column_of(k)];
            }
            value += mode.objective + price * mode.permutation.num_moved() as f64;
            bound += mode.objective + mode.gap_bound;
        }
        Solved {
            permutation: Permutation::from_vec(forward).expect("assignments inside groups"),
            value,
            bound,
        }
    }

    fn groups(&self) -> &[Vec<usize>] {
        &self.rows
    }
}
