//! A mixture over the rows: a right one follows the regression, a wrong one has any response of the file.
//!
//! Slawski, Diao and Ben-David (2021), "A pseudo-likelihood approach to linear regression with partially shuffled data",
//! Journal of Computational and Graphical Statistics. With probability 1 - rho, y ~ Normal(x'beta, sigma^2); with
//! probability rho, y ~ its marginal distribution, here the normal one with the file's mean and variance. Maximum
//! likelihood by EM; standard errors from the observed information by Louis' (1982) formula.

use std::f64::consts::PI;

use ndarray::{Array2, ArrayView2};
use rand::seq::index;

use super::BaselineFit;
use super::huber::{self, median_scale};
use crate::numerics::invert;
use crate::numerics::{Qr, dot};
use crate::numerics::{mean, sd};

/// Where as many rows as coefficients are fitted perfectly, the likelihood has no bound as sigma falls to 0. So sigma stays
/// above this part of the spread of y: far below the errors of any real data.
const LEAST_SIGMA: f64 = 1e-6;

/// A maximum with a smaller share of right rows is degenerate: rounded responses let a plane through a few of their values
/// rise above every other explanation.
const LEAST_RIGHT: f64 = 0.2;

/// Random fits through as many rows as coefficients; those with the smallest median residual are starts.
const NUM_SUBSETS: usize = 200;
const NUM_SUBSET_STARTS: usize = 2;

/// Enough to tell which start leads highest.
const FIRST_ITERATIONS: usize = 100;
/// Enough to converge where half of the information is missing, and far beyond.
const MOST_ITERATIONS: usize = 10_000;

pub(super) fn fit(x: ArrayView2<f64>, y: &[f64]) -> BaselineFit {
    let qr = Qr::new(x);
    let mixture = Mixture::new(&qr, y);
    let all_right = mixture.all_right();
    let highest = mixture.maximise();
    // On the boundary, where every row is right, the mixture is least squares.
    match highest.filter(|highest| mixture.log_likelihood(highest) > all_right.1 + 1e-8) {
        Some(highest) => mixture.report(&highest),
        None => mixture.report(&all_right.0),
    }
}

/// Parameters, with coefficients of Q in the place of beta.
#[derive(Debug, Clone)]
struct Point {
    gamma: Vec<f64>,
    sigma: f64,
    /// The part of the rows that is linked wrongly.
    rho: f64,
}

struct Mixture<'a> {
    qr: &'a Qr,
    y: &'a [f64],
    /// Log density of each response where it is linked wrongly.
    log_marginal: Vec<f64>,
    least_sigma: f64,
}

impl<'a> Mixture<'a> {
    fn new(qr: &'a Qr, y: &'a [f64]) -> Mixture<'a> {
        let (mean, spread) = (mean(y).unwrap_or(0.0), sd(y).unwrap_or(0.0));
        Mixture {
            qr,
            y,
            log_marginal: y.iter().map(|y| log_normal(y - mean, spread)).collect(),
            least_sigma: LEAST_SIGMA * spread,
        }
    }

    /// The best parameters where every row is right, and their log likelihood.
    fn all_right(&self) -> (Point, f64) {
        let (gamma, residuals) = self.qr.project(self.y);
        let sigma = (dot(&residuals, &residuals) / self.y.len() as f64).sqrt();
        let log_likelihood = residuals.iter().map(|&r| log_normal(r, sigma)).sum();
        let point = Point {
            gamma,
            sigma,
            rho: 0.0,
        };
        (point, log_likelihood)
    }

    /// The highest maximum that EM finds; none where every start leads to a degenerate one.
    fn maximise(&self) -> Option<Point> {
        let starts = self.starts().into_iter();
        starts
            .filter_map(|start| self.climb(start, FIRST_ITERATIONS))
            .max_by(|a, b| self.log_likelihood(a).total_cmp(&self.log_likelihood(b)))
            .and_then(|best| self.climb(best, MOST_ITERATIONS))
    }

    /// Least squares, Huber, and fits through so few rows that they may all be right where many are wrong.
    fn starts(&self) -> Vec<Point> {
        let start = |gamma: Vec<f64>| Point {
            sigma: median_scale(&self.qr.residuals(self.y, &gamma)).max(self.least_sigma),
            gamma,
            rho: 0.25,
        };
        let mut rng = crate::numerics::rng::stream(2021, 0);
        let mut subsets: Vec<Point> = (0..NUM_SUBSETS)
            .map(|_| index::sample(&mut rng, self.y.len(), self.qr.dim()).into_vec())
            .map(|rows| start(self.through(&rows)))
            .filter(|point| point.gamma.iter().all(|g| g.is_finite()))
            .collect();
        subsets.sort_by(|a, b| a.sigma.total_cmp(&b.sigma));
        subsets.truncate(NUM_SUBSET_STARTS);
        let (least_squares, _) = self.qr.project(self.y);
        let huber = huber::estimate(self.qr, self.y).gamma;
        subsets.extend([start(least_squares), start(huber)]);
        subsets
    }

    /// The coefficients that fit as many rows perfectly; not finite where these are dependent.
    fn through(&self, rows: &[usize]) -> Vec<f64> {
        let shape = (rows.len(), self.qr.dim());
        let q = Array2::from_shape_fn(shape, |(i, j)| self.qr.q[j][rows[i]]);
        let y: Vec<f64> = rows.iter().map(|&row| self.y[row]).collect();
        let subset = Qr::new(q.view());
        subset.beta(&subset.project(&y).0)
    }

    /// EM from a point until it hardly moves; none where it ends in a degenerate maximum.
    fn climb(&self, mut point: Point, most_iterations: usize) -> Option<Point> {
        for _ in 0..most_iterations {
            let next = self.em_step(&point)?;
            let moved = point.gamma.iter().zip(&next.gamma);
            let moved = moved.map(|(a, b)| (a - b).abs() / next.sigma);
            let moved = moved.fold((point.sigma / next.sigma).ln().abs(), f64::max);
            let moved = moved.max((point.rho - next.rho).abs());
            point = next;
            if moved <= 1e-10 {
                break;
            }
        }
        let dim = self.qr.dim() as f64;
        let num_rows = self.y.len() as f64;
        // As many rows as coefficients can always be fitted perfectly: that means something only where most others are too.
        let num_right = (1.0 - point.rho) * num_rows - dim;
        let collapsed = point.sigma <= self.least_sigma && num_right <= 0.5 * (num_rows - dim);
        (num_right > LEAST_RIGHT * (num_rows - dim) && !collapsed).then_some(point)
    }

    /// None where too few rows are right to determine the coefficients.
    fn em_step(&self, point: &Point) -> Option<Point> {
        let p_right = self.p_right(point);
        let num_right: f64 = p_right.iter().sum();
        let gamma = self.qr.weighted(self.y, &p_right)?;
        let residuals = self.qr.residuals(self.y, &gamma);
        let squares = residuals.iter().zip(&p_right).map(|(r, p)| p * r * r);
        let sigma = (squares.sum::<f64>() / num_right).sqrt();
        Some(Point {
            gamma,
            sigma: sigma.max(self.least_sigma),
            rho: 1.0 - num_right / self.y.len() as f64,
        })
    }

    /// P(row is right), the E step.
    fn p_right(&self, point: &Point) -> Vec<f64> {
        let log_densities = self.log_densities(point).into_iter();
        log_densities
            .map(|(right, wrong)| 1.0 / (1.0 + (wrong - right).exp()))
            .collect()
    }

    fn log_likelihood(&self, point: &Point) -> f64 {
        let log_sum = |(a, b): (f64, f64)| a.max(b) + (-(a - b).abs()).exp().ln_1p();
        self.log_densities(point).into_iter().map(log_sum).sum()
    }

    /// For each row the log density of being right with its response, and of being wrong with it.
    fn log_densities(&self, point: &Point) -> Vec<(f64, f64)> {
        let (log_right, log_wrong) = ((-point.rho).ln_1p(), point.rho.ln());
        let residuals = self.qr.residuals(self.y, &point.gamma);
        let rows = residuals.iter().zip(&self.log_marginal);
        rows.map(|(r, log_g)| (log_right + log_normal(*r, point.sigma), log_wrong + log_g))
            .collect()
    }

    fn report(&self, point: &Point) -> BaselineFit {
        let (p_right, unit_errors) = if point.rho > 0.0 {
            let p_right = self.p_right(point);
            let errors = self.unit_errors(point, &p_right);
            (p_right, errors)
        } else {
            let errors = self.qr.inverse_diagonal().into_iter().map(f64::sqrt);
            (vec![1.0; self.y.len()], errors.collect())
        };
        let standard_error = unit_errors.iter().map(|error| point.sigma * error);
        let standard_error = standard_error.collect();
        BaselineFit {
            beta: self.qr.beta(&point.gamma),
            standard_error,
            sigma: point.sigma,
            p_wrong: Some(p_right.iter().map(|p| 1.0 - p).collect()),
            mismatch_rate: Some(point.rho),
        }
    }

    /// Standard errors of beta in units of sigma, in which the information is well scaled.
    fn unit_errors(&self, point: &Point, p_right: &[f64]) -> Vec<f64> {
        let dim = self.qr.dim();
        let size = dim + 2;
        let mut information = self.information(point, p_right);
        if point.sigma <= self.least_sigma {
            // On its bound log sigma is taken as known: a unit on the diagonal keeps it apart from the others.
            for other in 0..size {
                information[dim * size + other] = 0.0;
                information[other * size + dim] = 0.0;
            }
            information[dim * size + dim] = 1.0;
        }
        match invert(&information, size) {
            Some(covariance) => self.qr.standard_errors(&covariance, size),
            None => vec![f64::INFINITY; dim],
        }
    }

    /// Observed information of (gamma / sigma, log sigma, logit rho): what complete rows would tell, less what is missing
    /// because nobody says which rows are right.
    fn information(&self, point: &Point, p_right: &[f64]) -> Vec<f64> {
        let dim = self.qr.dim();
        let size = dim + 2;
        let (log_sigma, logit_rho) = (dim, dim + 1);
        let mut information = vec![0.0; size * size];
        let residuals = self.qr.residuals(self.y, &point.gamma);
        for (row, (residual, &p)) in residuals.iter().zip(p_right).enumerate() {
            let z = residual / point.sigma;
            let q = |k: usize| self.qr.q[k][row];
            // How the score of a right row differs from that of a wrong one.
            let mut apart: Vec<f64> = (0..dim).map(|k| z * q(k)).collect();
            apart.extend([z * z - 1.0, -1.0]);
            for i in 0..size {
                for j in 0..size {
                    information[i * size + j] -= p * (1.0 - p) * apart[i] * apart[j];
                }
            }
            for i in 0..dim {
                for j in 0..dim {
                    information[i * size + j] += p * q(i) * q(j);
                }
                information[i * size + log_sigma] += p * 2.0 * z * q(i);
                information[log_sigma * size + i] += p * 2.0 * z * q(i);
            }
            information[log_sigma * size + log_sigma] += p * 2.0 * z * z;
        }
        information[logit_rho * size + logit_rho] +=
            point.rho * (1.0 - point.rho) * self.y.len() as f64;
        information
    }
}

fn log_normal(deviation: f64, sd: f64) -> f64 {
    -0.5 * (deviation / sd).powi(2) - sd.ln() - 0.5 * (2.0 * PI).ln()
}

#[cfg(test)]
mod tests;
