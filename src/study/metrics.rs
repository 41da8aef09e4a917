//! What a fit is measured by, once the truth is known.

use ndarray::{ArrayView1, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::posterior::links::LinksSummary;
use crate::study::simulate::Truth;

/// A row counts as found to be moved above this probability.
const MOVED: f64 = 0.5;

/// None where a method has no such number.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Mean of |estimate - truth| over the coefficients; on a file over the slopes, the truth being the fit of the unharmed file
    /// and the unit its standard errors, as for `width`.
    pub beta_error: Option<f64>,
    /// |estimate - truth| over |truth|, Euclidean; not on a file, whose coefficients have units of their own.
    pub relative_l2: Option<f64>,
    /// Share of the coefficients inside their 90 % intervals, and the intervals' mean width.
    pub coverage: Option<f64>,
    pub width: Option<f64>,
    pub sigma: Option<f64>,
    /// Sum of |PiHat - Pi0| over all entries; and over n^2.
    pub pi_error_raw: Option<f64>,
    pub pi_error: Option<f64>,
    /// The same over n^2, without rows that are copies of each other.
    pub pi_error_distinct: Option<f64>,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    pub mismatch_rate: Option<f64>,
    pub num_moved: Option<f64>,
    /// The worst of the coefficients, sigma and the number of moved rows.
    pub r_hat: Option<f64>,
    /// The least of the coefficients.
    pub ess_bulk: Option<f64>,
    pub num_divergences: Option<f64>,
    /// Posterior mean and 95 % quantile of the Renyi divergence from the truth, over n.
    pub renyi: Option<f64>,
    pub renyi_q95: Option<f64>,
    /// The radius of the paper's contraction theorem, and the posterior mass beyond it.
    pub radius: Option<f64>,
    pub mass_outside: Option<f64>,
}

/// Times depend on the machine and its load, so they are kept apart from what a seed determines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    pub seconds: Option<f64>,
    pub iteration_ms: Option<f64>,
    pub step_one_ms: Option<f64>,
    pub step_two_ms: Option<f64>,
    /// The least of the coefficients.
    pub ess_per_second: Option<f64>,
}

/// An estimate with its 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

impl Metrics {
    pub fn of_coefficients(&mut self, estimates: &[Interval], truth: &[f64]) {
        assert_eq!(estimates.len(), truth.len(), "one estimate a coefficient");
        let count = truth.len() as f64;
        let pairs = || estimates.iter().zip(truth);
        let sum_of =
            |each: fn(f64, f64) -> f64| -> f64 { pairs().map(|(e, t)| each(e.estimate, *t)).sum() };
        self.beta_error = Some(sum_of(|e, t| (e - t).abs()) / count);
        let norm = sum_of(|_, t| t * t).sqrt();
        self.relative_l2 = (norm > 0.0).then(|| sum_of(|e, t| (e - t).powi(2)).sqrt() / norm);
        let covered = pairs()
            .filter(|(e, t)| (e.low..=e.high).contains(*t))
            .count();
        self.coverage = Some(covered as f64 / count);
        self.width = Some(estimates.iter().map(|e| e.high - e.low).sum::<f64>() / count);
    }

    /// `p_moved` is each row's probability of being linked wrongly.
    pub fn of_moved_rows(&mut self, p_moved: &[f64], truth: &Truth) {
        let found = |row: usize| p_moved[row] > MOVED;
        let moved = |row: usize| truth.pi[row] != row;
        let rows = 0..truth.pi.len();
        let num_found = rows.clone().filter(|&row| found(row)).count();
        let both = rows.filter(|&row| found(row) && moved(row)).count() as f64;
        self.precision = (num_found > 0).then(|| both / num_found as f64);
        self.recall = (truth.num_moved > 0).then(|| both / truth.num_moved as f64);
    }

    pub fn of_links(&mut self, links: &LinksSummary, truth: &Truth) {
        let num_rows = links.num_rows();
        let mut true_entries: Vec<Vec<(usize, f64)>> = vec![Vec::new(); num_rows];
        for &(row, column, probability) in &truth.pi0 {
            true_entries[row].push((column, probability));
        }
        let (mut all, mut distinct) = (0.0, 0.0);
        let mut difference = vec![0.0; num_rows];
        let mut p_moved = Vec::with_capacity(num_rows);
        for (row, entries) in true_entries.iter().enumerate() {
            let found = links.row(row);
            p_moved.push(found.p_moved);
            difference.fill(0.0);
            for (column, probability) in found.partners {
                difference[column] += probability;
            }
            for (column, probability) in entries {
                difference[*column] -= probability;
            }
            let error: f64 = difference.iter().map(|entry: &f64| entry.abs()).sum();
            all += error;
            // A row with two true places is a copy of another one.
            if entries.len() == 1 {
                distinct += error;
            }
        }
        let entries = (num_rows * num_rows) as f64;
        self.pi_error_raw = Some(all);
        self.pi_error = Some(all / entries);
        self.pi_error_distinct = Some(distinct / entries);
        self.of_moved_rows(&p_moved, truth);
    }
}

/// Squared distance between the true means of the responses and those of one draw: |Pi0 X beta0 - Pi X beta|^2.
pub struct TrueMeans<'a> {
    x: ArrayView2<'a, f64>,
    means: Vec<f64>,
}

impl<'a> TrueMeans<'a> {
    pub fn new(x: ArrayView2<'a, f64>, truth: &Truth) -> TrueMeans<'a> {
        let fitted = x.dot(&ArrayView1::from(&truth.beta));
        TrueMeans {
            x,
            means: truth.pi.iter().map(|&row| fitted[row]).collect(),
        }
    }

    /// `moved` lists (row, what it is linked to) of the moved rows, from 0.
    pub fn distance2(&self, beta: &[f64], moved: impl Iterator<Item = (usize, usize)>) -> f64 {
        let fitted = self.x.dot(&ArrayView1::from(beta));
        let term = |row: usize, column: usize| (self.means[row] - fitted[column]).powi(2);
        let unmoved: f64 = (0..self.means.len()).map(|row| term(row, row)).sum();
        let change: f64 = moved
            .map(|(row, column)| term(row, column) - term(row, row))
            .sum();
        (unmoved + change).max(0.0)
    }
}

/// Section III of the paper: with these constants the posterior mass of draws whose Renyi divergence from the truth, over
/// n, exceeds the radius is at most exp(-t n epsilon^2), with probability at least 1 - 2 / ((D - 1 + t)^2 n epsilon^2).
pub const CONTRACTION_D: f64 = 2.0;
pub const CONTRACTION_T: f64 = 1.0;

/// epsilon_n^2 of the theorem, for at most `max_moved` moved rows.
pub fn epsilon2(num_rows: usize, max_moved: usize, alpha: f64) -> f64 {
    let (n, k) = (num_rows as f64, max_moved.max(1) as f64);
    let of_links = (k.ln() + k * n.ln()) / n;
    let of_beta = 2.0 / n;
    2.0 * (of_beta + of_links) / alpha
}

/// The theorem's radius; there is none at alpha = 1.
pub fn radius(num_rows: usize, max_moved: usize, alpha: f64) -> Option<f64> {
    let factor = (CONTRACTION_D + 3.0 * CONTRACTION_T) / (1.0 - alpha);
    (alpha < 1.0).then(|| factor * epsilon2(num_rows, max_moved, alpha))
}
