//! The linear assignment problem over the candidate rows, with a price on every moved row (LAPJV).

use super::super::pair::PairLogLik;
use super::super::permutation::Permutation;
use lapjv::lapjv;
use ndarray::Array2;

/// Stands for an impossible pair: LAPJV needs finite costs.
const IMPOSSIBLE: f64 = 1e12;

/// Costs -l(i, j) over candidate rows; every other row stays where it is at the identity.
pub(super) struct Lap {
    rows: Vec<usize>,
    cost: Array2<f64>,
    diagonal: Vec<f64>,
    num_rows: usize,
    log_lik_of_others: f64,
}

/// A solution in candidate numbering.
pub(super) struct Assignment {
    columns: Vec<usize>,
    /// sum l over all rows.
    pub log_lik: f64,
    pub num_moved: usize,
}

impl Lap {
    pub fn new<L: PairLogLik + ?Sized>(rows: Vec<usize>, pair: &L) -> Self {
        let size = rows.len();
        let cost = Array2::from_shape_fn((size, size), |(k, m)| {
            (-pair.pair(rows[k], rows[m])).min(IMPOSSIBLE)
        });
        let diagonal = cost.diag().to_vec();
        let mut is_candidate = vec![false; pair.len()];
        for &row in &rows {
            is_candidate[row] = true;
        }
        let log_lik_of_others = (0..pair.len())
            .filter(|&row| !is_candidate[row])
            .map(|row| pair.pair(row, row))
            .sum();
        Self {
            rows,
            cost,
            diagonal,
            num_rows: pair.len(),
            log_lik_of_others,
        }
    }

    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Maximises sum l - price * d.
    pub fn solve(&mut self, price: f64) -> Assignment {
        for (k, diagonal) in self.diagonal.iter().enumerate() {
            self.cost[(k, k)] = diagonal - price;
        }
        let (columns, _) = lapjv(&self.cost).expect("the cost matrix is square");
        self.evaluate(columns)
    }

    fn evaluate(&self, columns: Vec<usize>) -> Assignment {
        let mut cost = 0.0;
        let mut num_moved = 0;
        for (k, &m) in columns.iter().enumerate() {
            if k == m {
                cost += self.diagonal[k];
            } else {
                cost += self.cost[(k, m)];
                num_moved += 1;
            }
        }
        Assignment {
            columns,
            log_lik: self.log_lik_of_others - cost,
            num_moved,
        }
    }

    pub fn permutation(&self, assignment: &Assignment) -> Permutation {
        let mut forward: Vec<usize> = (0..self.num_rows).collect();
        for (k, &m) in assignment.columns.iter().enumerate() {
            forward[self.rows[k]] = self.rows[m];
        }
        Permutation::from_vec(forward).expect("an assignment is a permutation")
    }
}
