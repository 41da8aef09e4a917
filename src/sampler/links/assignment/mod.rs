//! The mode of p(pi | theta, y): the best assignment of responses to predictors under the prior.

mod candidates;
mod groups;
mod lap;
mod sorted;

use super::acceptance::Target;
use super::moved_groups::MovedGroups;
use super::pair::PairLogLik;
use super::permutation::Permutation;
use super::prior::Prior;
use groups::Groups;
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

/// Finds argmax of sum l(i, pi(i)) + log prior.
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
            && let Some(locations) = pair.locations().filter(|at| at.is_best_sorted)
        {
            let permutation = sorted::assign(&locations, prior.space());
            return Mode {
                objective: objective(&permutation, pair, prior),
                permutation,
                gap_bound: 0.0,
            };
        }
        let mut groups = candidates::select(current, pair, prior.space(), self.max_rows);
        if groups.len() <= 1 {
            let lap = Lap::new(groups.pop().unwrap_or_default(), pair, prior.space());
            search(lap, current, pair, prior)
        } else {
            search(Groups::new(groups, pair, prior), current, pair, prior)
        }
    }
}

fn search<L: PairLogLik + ?Sized>(
    solver: impl Solver,
    current: &Permutation,
    pair: &L,
    prior: &Prior,
) -> Mode {
    let mut search = Search::new(solver, current, pair, prior);
    if search.max_moved >= 2 {
        search.fixed_point(current.num_moved());
        search.cut();
    }
    search.finish()
}

fn objective<L: PairLogLik + ?Sized>(pi: &Permutation, pair: &L, prior: &Prior) -> f64 {
    pair.total(pi) + prior.log_prior(pi)
}

/// The assignment problem with a price on every moved row.
trait Solver {
    /// Maximises value - price * d, the value being sum l and all of the log prior but g(d).
    fn solve(&mut self, price: f64) -> Solved;

    /// Rows that may move, in groups that may exchange.
    fn groups(&self) -> &[Vec<usize>];
}

struct Solved {
    permutation: Permutation,
    value: f64,
    /// No permutation has a larger value - price * d.
    bound: f64,
}

/// What one solve says of all others: the value of any permutation is at most `value + price * d`.
struct Cut {
    price: f64,
    value: f64,
}

/// The state of one search: the best permutation so far and the bounds on all of them.
///
/// v(d), the largest value of a permutation that moves d rows, lies under its concave hull. Each
/// solve with a price on moved rows touches that hull in a point and bounds v by a line.
struct Search<'a, S, L: ?Sized> {
    solver: S,
    pair: &'a L,
    prior: &'a Prior,
    best: Permutation,
    best_objective: f64,
    identity_value: f64,
    max_moved: usize,
    /// (d, v(d)) where the hull was touched.
    points: Vec<(usize, f64)>,
    cuts: Vec<Cut>,
}

impl<'a, S: Solver, L: PairLogLik + ?Sized> Search<'a, S, L> {
    fn new(solver: S, current: &Permutation, pair: &'a L, prior: &'a Prior) -> Self {
        let identity = Permutation::identity(pair.len());
        let identity_value = pair.total(&identity);
        let mut search = Self {
            max_moved: solver.groups().iter().map(Vec::len).sum(),
            solver,
            pair,
            prior,
            best_objective: objective(&identity, pair, prior),
            best: identity,
            identity_value,
            points: vec![(0, identity_value)],
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

    /// Maximises value - price * d; returns the number of rows moved.
    fn solve(&mut self, price: f64) -> usize {
        let solved = self.solver.solve(price);
        self.consider(&solved.permutation);
        let num_moved = solved.permutation.num_moved();
        self.points.push((num_moved, solved.value));
        self.cuts.push(Cut {
            price,
            value: solved.bound,
        });
        num_moved
    }

    /// Linearises g at the number of moved rows, solves, and repeats until that number stays.
    fn fixed_point(&mut self, start: usize) {
        let mut d = start;
        while let Some(price) = slope(self.prior.table(), d) {
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
            return self.identity_value;
        }
        (self.cuts.iter())
            .map(|cut| cut.value + cut.price * d as f64)
            .fold(f64::INFINITY, f64::min)
    }

    /// Where the bound on the objective is highest, and that bound.
    fn bound(&self) -> (usize, f64) {
        // Only candidate rows can move.
        (self.prior.table()[..=self.max_moved].iter().enumerate())
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
        let mut moved_groups = MovedGroups::default();
        let mut target = Target::new(&mut self.best, self.pair, self.prior, &mut moved_groups);
        for rows in self.solver.groups() {
            let mut improved = true;
            while improved {
                improved = false;
                for (k, &i) in rows.iter().enumerate() {
                    for &j in &rows[k + 1..] {
                        // Gains at rounding level would go round in circles.
                        if target.log_change(i, j) > 1e-9 {
                            target.exchange(i, j);
                            improved = true;
                        }
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
fn slope(table: &[f64], d: usize) -> Option<f64> {
    let below = if d <= 2 { 0 } else { d - 1 };
    let above = (d + 1).clamp(2, table.len() - 1);
    let price = (table[below] - table[above]) / (above - below) as f64;
    price.is_finite().then_some(price)
}

#[cfg(test)]
mod tests;
