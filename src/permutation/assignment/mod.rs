//! The mode of p(pi | theta, y): the best assignment of responses to predictors under the prior.

mod candidates;
mod lap;
mod sorted;

use super::acceptance::Target;
use super::pair::PairLogLik;
use super::permutation::Permutation;
use super::prior::Prior;
use lap::Lap;

/// Largest number of rows in one assignment problem.
const DEFAULT_MAX_ROWS: usize = 500;
/// Solves of one search at most; about five are usual.
const MAX_SOLVES: usize = 30;
/// Gaps below this are not worth another solve.
const TOLERANCE: f64 = 0.01;

/// The best permutation found.
#[derive(Clone, Debug)]
pub struct Mode {
    pub permutation: Permutation,
    /// sum l + g at `permutation`.
    pub objective: f64,
    /// No permutation of the candidate rows has an objective above `objective + gap_bound`.
    pub gap_bound: f64,
}

/// Finds argmax of sum l(i, pi(i)) + g(d).
#[derive(Clone, Debug)]
pub struct ModeSearch {
    max_rows: usize,
}

impl Default for ModeSearch {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_ROWS)
    }
}

impl ModeSearch {
    /// With more than `max_rows` rows, only those that could move enter the assignment problem.
    pub fn new(max_rows: usize) -> Self {
        Self { max_rows }
    }

    /// The mode, or the best seen: never worse than `current` where the prior allows that.
    pub fn find<L: PairLogLik + ?Sized>(
        &self,
        current: &Permutation,
        pair: &L,
        prior: &Prior,
    ) -> Mode {
        assert_eq!(current.len(), pair.len(), "permutation and pair likelihood");
        assert_eq!(current.len(), prior.num_rows(), "permutation and prior");
        if prior.is_flat()
            && let Some(locations) = pair.locations().filter(|at| at.is_convex)
        {
            let permutation = sorted::assign(&locations);
            return Mode {
                objective: objective(&permutation, pair, prior),
                permutation,
                gap_bound: 0.0,
            };
        }
        let rows = candidates::select(current, pair, self.max_rows);
        let mut search = Search::new(Lap::new(rows, pair), current, pair, prior);
        if pair.len() >= 2 {
            search.fixed_point(current.num_moved());
            search.cut();
        }
        search.finish()
    }
}

fn objective<L: PairLogLik + ?Sized>(pi: &Permutation, pair: &L, prior: &Prior) -> f64 {
    pair.total(pi) + prior.log_weight(pi.num_moved())
}

/// What one solve says of all others: sum l of any permutation is at most `value + price * d`.
struct Cut {
    price: f64,
    value: f64,
}

/// The state of one search: the best permutation so far and the bounds on all of them.
///
/// v(d), the largest sum l over permutations that move d rows, lies under its concave hull. Each
/// solve with a price on moved rows touches that hull in a point and bounds v by a line.
struct Search<'a, L: ?Sized> {
    lap: Lap,
    pair: &'a L,
    prior: &'a Prior,
    best: Permutation,
    best_objective: f64,
    identity_log_lik: f64,
    /// (d, v(d)) where the hull was touched.
    points: Vec<(usize, f64)>,
    cuts: Vec<Cut>,
}

impl<'a, L: PairLogLik + ?Sized> Search<'a, L> {
    fn new(lap: Lap, current: &Permutation, pair: &'a L, prior: &'a Prior) -> Self {
        let identity = Permutation::identity(pair.len());
        let identity_log_lik = pair.total(&identity);
        let mut search = Self {
            lap,
            pair,
            prior,
            best_objective: objective(&identity, pair, prior),
            best: identity,
            identity_log_lik,
            points: vec![(0, identity_log_lik)],
            cuts: Vec::new(),
        };
        search.consider(current);
        search
    }

    fn consider(&mut self, permutation: &Permutation) {
        let value = objective(permutation, self.pair, self.prior);
        if value > self.best_objective {
            self.best = permutation.clone();
            self.best_objective = value;
        }
    }

    /// Maximises sum l - price * d; returns the number of rows moved.
    fn solve(&mut self, price: f64) -> usize {
        let assignment = self.lap.solve(price);
        self.consider(&self.lap.permutation(&assignment));
        self.points.push((assignment.num_moved, assignment.log_lik));
        self.cuts.push(Cut {
            price,
            value: assignment.log_lik - price * assignment.num_moved as f64,
        });
        assignment.num_moved
    }

    /// Linearises g at the number of moved rows, solves, and repeats until that number stays.
    fn fixed_point(&mut self, start: usize) {
        let mut d = start;
        while let Some(price) = slope(self.prior, d) {
            // A price that hardly differs from one tried would give the same assignment.
            let near = |cut: &Cut| (cut.price - price).abs() < 1e-3;
            if self.cuts.iter().any(near) || self.cuts.len() >= MAX_SOLVES {
                return;
            }
            d = self.solve(price);
        }
    }

    /// Adds cuts where the bound is highest until it meets the best objective or the hull itself.
    ///
    /// For a hard limit on d this is the search for the price that moves at most so many rows, the
    /// next price being the slope between the touching points on either side of the limit.
    fn cut(&mut self) {
        if self.bound().1 - self.best_objective > TOLERANCE {
            self.solve(0.0);
        }
        while self.cuts.len() < MAX_SOLVES {
            let (d, bound) = self.bound();
            if bound - self.best_objective <= TOLERANCE {
                return;
            }
            let below = self.points.iter().filter(|point| point.0 < d);
            let above = self.points.iter().filter(|point| point.0 > d);
            let (Some(below), Some(above)) = (
                below.max_by_key(|point| point.0),
                above.min_by_key(|point| point.0),
            ) else {
                return;
            };
            let before = self.hull_bound(d);
            let price = (above.1 - below.1) / (above.0 - below.0) as f64;
            self.solve(price);
            if self.hull_bound(d) > before - TOLERANCE {
                return;
            }
        }
    }

    /// The least upper bound on v(d) that the cuts give.
    fn hull_bound(&self, d: usize) -> f64 {
        if d == 0 {
            return self.identity_log_lik;
        }
        (self.cuts.iter())
            .map(|cut| cut.value + cut.price * d as f64)
            .fold(f64::INFINITY, f64::min)
    }

    /// Where the bound on sum l + g is highest, and that bound.
    fn bound(&self) -> (usize, f64) {
        // Only candidate rows can move.
        (self.prior.table()[..=self.lap.rows().len()]
            .iter()
            .enumerate())
        .filter(|(_, g)| **g > f64::NEG_INFINITY)
        .map(|(d, g)| (d, g + self.hull_bound(d)))
        .fold((0, f64::NEG_INFINITY), |max, next| {
            if next.1 > max.1 { next } else { max }
        })
    }

    /// Exchanges of two rows that still improve, then the certificate.
    ///
    /// The hull misses values of d whose best assignment lies below it; exchanges reach many.
    fn finish(mut self) -> Mode {
        let rows = self.lap.rows();
        let target = Target::new(&mut self.best, self.pair, self.prior);
        let mut improved = true;
        while improved {
            improved = false;
            for (k, &i) in rows.iter().enumerate() {
                for &j in &rows[k + 1..] {
                    // Gains at rounding level would go round in circles.
                    if target.log_change(i, j) > 1e-9 {
                        target.pi.exchange(i, j);
                        improved = true;
                    }
                }
            }
        }
        let objective = objective(&self.best, self.pair, self.prior);
        let gap_bound = (self.bound().1 - objective).max(0.0);
        Mode {
            permutation: self.best,
            objective,
            gap_bound,
        }
    }
}

/// -g'(d) by the nearest possible values of d on either side, where both have prior mass.
fn slope(prior: &Prior, d: usize) -> Option<f64> {
    let below = if d <= 2 { 0 } else { d - 1 };
    let above = (d + 1).clamp(2, prior.num_rows());
    let price = (prior.log_weight(below) - prior.log_weight(above)) / (above - below) as f64;
    price.is_finite().then_some(price)
}

#[cfg(test)]
mod tests;
