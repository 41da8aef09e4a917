//! The linear assignment problem over the candidate rows of one group, with a price on every moved row (LAPJV).

use super::super::pair::PairLogLik;
use super::super::permutation::Permutation;
use super::super::space::LinkSpace;
use super::{Solved, Solver};
use lapjv::lapjv;
use ndarray::Array2;

/// Stands for an impossible pair: LAPJV needs finite costs.
const IMPOSSIBLE: f64 = 1e12;

/// Costs -l(i, j) - log link(i, j) over candidate rows; every other row stays where it is at the identity.
pub(super) struct Lap {
    /// One group.
    rows: [Vec<usize>; 1],
    cost: Array2<f64>,
    diagonal: Vec<f64>,
    num_rows: usize,
    value_of_others: f64,
}

impl Lap {
    pub fn new<L: PairLogLik + ?Sized>(rows: Vec<usize>, pair: &L, space: &LinkSpace) -> Self {
        let size = rows.len();
        let cost = Array2::from_shape_fn((size, size), |(k, m)| {
            let (row, column) = (rows[k], rows[m]);
            (-pair.pair(row, column) - space.log_link(row, column)).min(IMPOSSIBLE)
        });
        let diagonal = cost.diag().to_vec();
        let mut is_candidate = vec![false; pair.len()];
        for &row in &rows {
            is_candidate[row] = true;
        }
        let value_of_others = (0..pair.len())
            .filter(|&row| !is_candidate[row])
            .map(|row| pair.pair(row, row))
            .sum();
        Self {
            rows: [rows],
            cost,
            diagonal,
            num_rows: pair.len(),
            value_of_others,
        }
    }
}

impl Solver for Lap {
    fn solve(&mut self, price: f64) -> Solved {
        for (k, diagonal) in self.diagonal.iter().enumerate() {
            self.cost[(k, k)] = diagonal - price;
        }
        let (columns, _) = lapjv(&self.cost).expect("the cost matrix is square");
        let rows = &self.rows[0];
        let mut forward: Vec<usize> = (0..self.num_rows).collect();
        let mut cost = 0.0;
        for (k, &m) in columns.iter().enumerate() {
            forward[rows[k]] = rows[m];
            cost += if k == m {
                self.diagonal[k]
            } else {
                self.cost[(k, m)]
            };
        }
        let permutation = Permutation::from_vec(forward).expect("an assignment is a permutation");
        let value = self.value_of_others - cost;
        Solved {
            bound: value - price * permutation.num_moved() as f64,
            value,
            permutation,
        }
    }

    fn groups(&self) -> &[Vec<usize>] {
        &self.rows
    }
}
