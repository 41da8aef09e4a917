//! A known rate of wrong links: regression corrected for exchangeable linkage errors.
//!
//! Lahiri and Larsen (2005), "Regression analysis with linked data", JASA 100; Chambers (2009), "Regression analysis of
//! probability-linked data". A share `rate` of the links of a group is wrong, and a wrong link is as likely to lead to any
//! other row of the group. So E(y | X) = E mu, where mu are the means with the right links, and in a group of n rows
//!
//!   (E mu)_i = a mu_i + (1 - a) mean(mu),   a = 1 - rate n / (n - 1).
//!
//! Rows that cannot move have (E mu)_i = mu_i. The estimate solves Z'(y - E mu(beta)) = 0 with Z = W E X: Lahiri and
//! Larsen's choice, least squares of y on E X in a linear regression. Chambers' Z = X gives the same in one group with
//! an intercept, but only E X weighs rows by what they tell: as the rate grows, the estimate rests on rows that cannot
//! move and on the means of groups, and its matrix X'E'EX stays positive definite where X'EX is singular. In one group with
//! an intercept the estimate is right for the fit to the rightly linked file even where the regression is misspecified.
//!
//! W weighs rows that can move by s^2 / (s^2 + v), all others by 1: s^2 is the variance of a response around its mean and v
//! what wrong links add to it on average. Without rows that cannot move, W changes nothing.
//!
//! Only the mean of y is used, so no shape of its distribution is taken for wrong links. The price is a variance near
//! 1 / a^2 times that of the links as given. Below `LEAST_ATTENUATION` the estimate would be noise: there a stays at this
//! bound, so rates beyond [`KnownRate::largest_rate`] count as that rate in the groups concerned. Estimating equations
//! for counts and for 0 or 1 may lack a solution at large rates: these rates have the estimate of the largest rate with one.

mod average;
mod rates;
mod solve;

use std::ops::Range;

use ndarray::ArrayView2;

use super::generalised::generalised;
use crate::config::ResponseKind;
use crate::numerics::{Qr, dot};
use crate::sampler::links::LinkSpace;

pub(super) use average::Average;
pub use rates::one_rate;

/// The contrasts within a group are attenuated by a, and never by less than this.
const LEAST_ATTENUATION: f64 = 0.1;
/// Larger steps of the rate are divided, so that each solution starts near the next.
const LARGEST_STEP: f64 = 0.05;
/// Part of the squared residuals that is not put down to wrong links, at least.
const LEAST_NOISE: f64 = 0.05;

/// Which rows can be linked wrongly, and to which others.
#[derive(Debug, Clone)]
pub struct KnownRate {
    num_rows: usize,
    /// Rows that may have been exchanged with each other, at least two in each group; all other links are right.
    groups: Vec<Vec<usize>>,
    /// The group of each row, `RIGHT` where its link is right.
    group_of: Vec<u32>,
}

/// In the place of the group of a row whose link is right.
const RIGHT: u32 = u32::MAX;

/// An estimate averaged over rates of wrong links, and for each of them.
#[derive(Debug, Clone, PartialEq)]
pub struct RateAveraged {
    /// Mean, standard deviation and quantiles of the mixture of normal distributions over the rates.
    pub mean: Vec<f64>,
    pub sd: Vec<f64>,
    pub q5: Vec<f64>,
    pub q95: Vec<f64>,
    /// Covariance matrix of the mixture, row by row.
    pub covariance: Vec<f64>,
    /// Mean of the rates.
    pub rate: f64,
    /// The estimate at each rate, in increasing order of the rate.
    pub by_rate: Vec<AtRate>,
}

/// The estimate for one rate.
#[derive(Debug, Clone, PartialEq)]
pub struct AtRate {
    pub rate: f64,
    pub weight: f64,
    pub beta: Vec<f64>,
    pub standard_error: Vec<f64>,
    /// Heteroscedasticity-robust sandwich (HC3) of `beta`, row by row. Conservative for the means of groups, since an
    /// exchange leaves them as they are.
    pub covariance: Vec<f64>,
}

impl KnownRate {
    /// Any row may have been exchanged with any other.
    #[cfg(test)]
    pub fn free(num_rows: usize) -> KnownRate {
        KnownRate::within(&LinkSpace::free(num_rows))
    }

    /// Rows may have been exchanged inside the groups of the space.
    pub fn within(space: &LinkSpace) -> KnownRate {
        let groups = (0..space.num_groups()).map(|group| space.group(group).to_vec());
        let groups: Vec<Vec<usize>> = groups.collect();
        let mut group_of = vec![RIGHT; space.num_rows()];
        for (group, rows) in groups.iter().enumerate() {
            rows.iter().for_each(|&row| group_of[row] = group as u32);
        }
        KnownRate {
            num_rows: space.num_rows(),
            groups,
            group_of,
        }
    }

    /// The largest rate that counts as it is in every group; the smallest group decides.
    pub fn largest_rate(&self) -> f64 {
        let sizes = self.groups.iter().map(|group| group.len() as f64);
        let largest = sizes.map(|size| (1.0 - LEAST_ATTENUATION) * (size - 1.0) / size);
        largest.fold(1.0, f64::min)
    }

    /// `rates` are pairs of a rate and its weight: the distribution of the rate of wrong links among the rows that can move.
    /// `x` is as for `least_squares`. None where the links as given have no estimate, as of responses that the predictors
    /// separate.
    pub fn fit(
        &self,
        kind: ResponseKind,
        x: ArrayView2<f64>,
        y: &[f64],
        rates: &[(f64, f64)],
    ) -> Option<RateAveraged> {
        self.fit_by(kind, x, &Qr::new(x), y, rates)
    }

    /// As `fit`, with the decomposition of `x` that others use as well.
    pub(crate) fn fit_by(
        &self,
        kind: ResponseKind,
        x: ArrayView2<f64>,
        qr: &Qr,
        y: &[f64],
        rates: &[(f64, f64)],
    ) -> Option<RateAveraged> {
        assert_eq!(x.nrows(), self.num_rows, "as many rows as the groups have");
        assert_eq!(y.len(), self.num_rows, "one response for each row");
        let total: f64 = rates.iter().map(|rate| rate.1).sum();
        assert!(total > 0.0, "at least one rate has a weight");
        let mut sorted = rates.to_vec();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let problem = Problem::new(kind, qr, y);
        let mut gamma = problem.as_linked(x)?;
        let (mut last_rate, mut exists) = (0.0, true);
        let mut last = self.at(&problem, 0.0, &gamma)?;
        let mut by_rate = Vec::with_capacity(sorted.len());
        for (rate, weight) in sorted {
            let num_steps = ((rate - last_rate) / LARGEST_STEP).ceil().max(1.0);
            for step in 1..=num_steps as usize {
                let between = last_rate + (rate - last_rate) * step as f64 / num_steps;
                let found = exists.then(|| self.at(&problem, between, &gamma));
                match found.flatten() {
                    Some(found) => {
                        gamma.clone_from(&found.gamma);
                        last = found;
                    }
                    None => exists = false,
                }
            }
            last_rate = rate;
            by_rate.push(AtRate {
                rate,
                weight: weight / total,
                beta: problem.qr.beta(&last.gamma),
                standard_error: problem
                    .qr
                    .standard_errors(&last.covariance, problem.qr.dim()),
                covariance: problem.qr.covariance(&last.covariance),
            });
        }
        Some(Average::new(&by_rate).into_fit(by_rate))
    }

    /// The estimate at one rate, from a start near it; None where the equations have no solution in numbers.
    fn at(&self, problem: &Problem, rate: f64, start: &[f64]) -> Option<Solution> {
        let expected = Expected::new(self, rate);
        let mut found = problem.solve(&expected, None, start)?;
        let num_movable: usize = self.groups.iter().map(Vec::len).sum();
        let mut weights = None;
        if num_movable < self.num_rows && rate > 0.0 {
            weights = Some(self.weights(problem, &expected, &found));
            found = problem.solve(&expected, weights.as_deref(), &found.gamma)?;
        }
        Some(Solution {
            covariance: problem.sandwich(&expected, weights.as_deref(), &found),
            gamma: found.gamma,
        })
    }

    /// W, from the residuals of the estimate without it.
    fn weights(&self, problem: &Problem, expected: &Expected, found: &solve::Root) -> Vec<f64> {
        let means = problem.means(&found.gamma);
        let squares: Vec<f64> = means.iter().map(|mean| mean * mean).collect();
        let (of_means, of_squares) = (expected.apply(&means), expected.apply(&squares));
        let added = of_squares.iter().zip(&of_means).map(|(s, m)| s - m * m);
        let added: f64 = added.sum::<f64>().max(0.0);
        let total = dot(&found.residuals, &found.residuals);
        let noise = (total - added).max(LEAST_NOISE * total) / self.num_rows as f64;
        let movable = self.groups.iter().flatten();
        let num_movable = movable.clone().count() as f64;
        let weight = match noise > 0.0 {
            true => noise / (noise + added / num_movable),
            false => 1.0,
        };
        let mut weights = vec![1.0; self.num_rows];
        movable.for_each(|&row| weights[row] = weight);
        weights
    }
}

struct Solution {
    gamma: Vec<f64>,
    covariance: Vec<f64>,
}

/// The matrix E of one rate.
struct Expected<'a> {
    known: &'a KnownRate,
    /// a of each group.
    attenuation: Vec<f64>,
}

impl<'a> Expected<'a> {
    fn new(known: &'a KnownRate, rate: f64) -> Expected<'a> {
        assert!((0.0..=1.0).contains(&rate), "a rate is a share, not {rate}");
        let attenuation = known.groups.iter().map(|group| {
            let size = group.len() as f64;
            (1.0 - rate * size / (size - 1.0)).max(LEAST_ATTENUATION)
        });
        Expected {
            known,
            attenuation: attenuation.collect(),
        }
    }

    fn apply(&self, values: &[f64]) -> Vec<f64> {
        let means = self.group_means(|row| values[row]);
        let mut expected = values.to_vec();
        self.smooth(0..values.len(), &means, &mut expected);
        expected
    }

    /// The mean of a value of each row in each group.
    fn group_means(&self, value: impl Fn(usize) -> f64) -> Vec<f64> {
        let mean = |group: &Vec<usize>| {
            group.iter().map(|&row| value(row)).sum::<f64>() / group.len() as f64
        };
        self.known.groups.iter().map(mean).collect()
    }

    /// E applied to the values of these rows, whose group means are known.
    fn smooth(&self, rows: Range<usize>, group_means: &[f64], values: &mut [f64]) {
        for (value, group) in values.iter_mut().zip(&self.known.group_of[rows]) {
            if *group != RIGHT {
                let a = self.attenuation[*group as usize];
                *value = a * *value + (1.0 - a) * group_means[*group as usize];
            }
        }
    }
}

/// The regression, with coefficients of Q in the place of beta.
struct Problem<'a> {
    kind: ResponseKind,
    qr: &'a Qr,
    y: &'a [f64],
}

impl<'a> Problem<'a> {
    fn new(kind: ResponseKind, qr: &'a Qr, y: &'a [f64]) -> Problem<'a> {
        Problem { kind, qr, y }
    }

    /// The coefficients with the links as given.
    fn as_linked(&self, x: ArrayView2<f64>) -> Option<Vec<f64>> {
        if self.kind == ResponseKind::Real {
            return Some(self.qr.project(self.y).0);
        }
        let beta = generalised(self.kind, x, self.y)?.beta;
        let linear: Vec<f64> = x
            .rows()
            .into_iter()
            .map(|row| dot_row(row, &beta))
            .collect();
        Some(self.qr.project(&linear).0)
    }

    fn linear(&self, gamma: &[f64]) -> Vec<f64> {
        let residuals = self.qr.residuals(&vec![0.0; self.y.len()], gamma);
        residuals.iter().map(|residual| -residual).collect()
    }

    /// mu, the means with the right links.
    fn means(&self, gamma: &[f64]) -> Vec<f64> {
        let linear = self.linear(gamma);
        linear
            .iter()
            .map(|&linear| self.kind.mean(linear))
            .collect()
    }
}

fn dot_row(row: ndarray::ArrayView1<f64>, beta: &[f64]) -> f64 {
    row.iter().zip(beta).map(|(x, b)| x * b).sum()
}

#[cfg(test)]
mod tests;
