//! What else would explain the responses: heavy tails, skewness, a spread that depends on the predictors, a curve.
//!
//! Two questions to a regression with skewed Student t errors whose log spread is linear in the predictors, by penalised
//! maximum likelihood (EM with Fisher scoring for the spread). First, does it explain the file without any wrong link, as well as
//! normal errors do with wrong links? Then nothing in the file speaks for wrong links. Second, which rate of wrong links
//! does it find itself? What the simpler law takes for wrong links beyond that is misfit.

use std::f64::consts::PI;

use super::error_law::ErrorLaw;
use super::frame::{Frame, mean, variance};
use crate::numerics::{beta_cdf, density_without_own, dot, invert};
use crate::sampler::links::RatePrior;

/// Rates at which the likelihood is maximised.
const RATES: [f64; 22] = [
    0.0, 0.005, 0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.125, 0.15, 0.18, 0.21, 0.25, 0.3, 0.35,
    0.4, 0.45, 0.5, 0.55, 0.6, 0.65,
];
const LARGEST_RATE: f64 = 0.675;
/// Prior standard deviation of the log spread's slope along a standardised predictor.
const SPREAD_SLOPE: f64 = 0.5;
/// The least log spread, in units of the responses' standard deviation: responses that pile up at one value would let it collapse.
const LEAST_LOG_SPREAD: f64 = -3.9;
const MOST_ITERATIONS: usize = 100;
const CONVERGED: f64 = 1e-4;

/// How the rows that stay scatter around the regression.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Normal with one spread.
    Normal,
    /// Skewed Student t with a log spread that is linear in the predictors.
    Robust,
}

/// What the rival explanation says of a file.
#[derive(Clone, Copy)]
pub(super) struct Rival {
    /// Log likelihood of the model with wrong links, less that of the best explanation without any, each less its
    /// number of parameters (half of Akaike's criterion).
    pub evidence: f64,
    /// The posterior mean of the rate where errors may have tails, skewness and a spread that depends on the predictors.
    pub rate: f64,
}

impl Rival {
    /// None where the responses or predictors do not vary.
    pub fn new(
        frame: &Frame,
        response: &[f64],
        is_normal: bool,
        prior: RatePrior,
    ) -> Option<Rival> {
        let file = File::new(frame, response)?;
        let robust = file.along_rates(Shape::Robust, &file.smooth_marginal)?;
        let simple = match is_normal {
            true => &file.along_rates(Shape::Normal, &file.normal_marginal)?,
            false => &robust,
        };
        let log_likelihoods = simple.iter().map(Fit::log_likelihood);
        let with_links = log_likelihoods.fold(f64::MIN, f64::max);
        // The same law with every link kept has no rate; beyond that the rival has a curve, and where the law is normal
        // the slopes of the spread, the degrees of freedom and the skewness.
        let num_more = 1 + if is_normal {
            file.predictors.len() + 2
        } else {
            0
        };
        let kept = simple[0].log_likelihood() + 1.0;
        let rival = file.without_wrong_links()? + 1.0 - num_more as f64;
        Some(Rival {
            evidence: with_links - kept.max(rival),
            rate: posterior_rate(&robust, prior),
        })
    }
}

/// Standardised columns of the rows that are looked at.
struct File {
    response: Vec<f64>,
    /// Without the constant, of mean 0 and variance 1.
    predictors: Vec<Vec<f64>>,
    /// Log densities of the responses of wrong rows: normal, and by a kernel estimate from the other rows. With its own row an
    /// outlier would look likely among wrong rows.
    normal_marginal: Vec<f64>,
    smooth_marginal: Vec<f64>,
}

/// A maximum of the penalised likelihood at one rate.
#[derive(Clone)]
struct Fit {
    coefficients: Vec<f64>,
    /// The coefficients of the log spread; the first is its level.
    spread: Vec<f64>,
    law: ErrorLaw,
    objective: f64,
}

impl Fit {
    fn log_likelihood(&self) -> f64 {
        self.objective - penalty(self)
    }
}

impl File {
    fn new(frame: &Frame, response: &[f64]) -> Option<File> {
        let (centre, scale) = (mean(response), variance(response).sqrt());
        if scale.is_nan() || scale <= 0.0 {
            return None;
        }
        let response: Vec<f64> = response.iter().map(|y| (y - centre) / scale).collect();
        let length = (frame.len() as f64).sqrt();
        let predictors = frame.basis.iter();
        let predictors = predictors.map(|column| column.iter().map(|v| v * length).collect());
        let normal = |y: &f64| -0.5 * (y * y + (2.0 * PI).ln());
        let smooth = density_without_own(&response)?;
        Some(File {
            predictors: predictors.collect(),
            normal_marginal: response.iter().map(normal).collect(),
            smooth_marginal: smooth.iter().map(|d| d.max(1e-300).ln()).collect(),
            response,
        })
    }

    /// The constant and the predictors.
    fn columns(&self) -> Vec<&[f64]> {
        self.predictors.iter().map(Vec::as_slice).collect()
    }

    /// Maxima at each rate, of climbs from both ends of the grid.
    fn along_rates(&self, shape: Shape, marginal: &[f64]) -> Option<Vec<Fit>> {
        let regression = Regression {
            file: self,
            columns: self.columns(),
            shape,
            marginal,
        };
        let mut best: Vec<Option<Fit>> = vec![None; RATES.len()];
        let upwards: Vec<usize> = (0..RATES.len()).collect();
        let downwards: Vec<usize> = upwards.iter().rev().copied().collect();
        for (order, narrower) in [(upwards, 1.0), (downwards, 0.6)] {
            let mut start = regression.start(narrower)?;
            for k in order {
                let fit = regression.climb(start, RATES[k])?;
                let is_better = |known: &Fit| fit.objective > known.objective;
                if best[k].as_ref().is_none_or(is_better) {
                    best[k] = Some(fit);
                }
                start = best[k].clone()?;
            }
        }
        best.into_iter().collect()
    }

    /// The log likelihood of tails, spread and a curve without any wrong link.
    fn without_wrong_links(&self) -> Option<f64> {
        let straight = Regression {
            file: self,
            columns: self.columns(),
            shape: Shape::Robust,
            marginal: &self.normal_marginal,
        };
        let first = straight.start(1.0)?;
        let fitted = straight.fitted(&first.coefficients);
        let (centre, scale) = (mean(&fitted), variance(&fitted).sqrt());
        let square = |f: &f64| ((f - centre) / scale.max(1e-12)).powi(2) - 1.0;
        let curve: Vec<f64> = fitted.iter().map(square).collect();
        let mut columns = self.columns();
        columns.push(&curve);
        let curved = Regression {
            columns,
            ..straight
        };
        Some(curved.climb(curved.start(1.0)?, 0.0)?.log_likelihood())
    }
}

struct Regression<'a> {
    file: &'a File,
    columns: Vec<&'a [f64]>,
    shape: Shape,
    marginal: &'a [f64],
}

impl Regression<'_> {
    fn num_rows(&self) -> usize {
        self.file.response.len()
    }

    fn fitted(&self, coefficients: &[f64]) -> Vec<f64> {
        linear(coefficients, &self.columns, self.num_rows())
    }

    /// Least squares, with its spread times `narrower`.
    fn start(&self, narrower: f64) -> Option<Fit> {
        let coefficients = self.weighted(&vec![1.0; self.num_rows()])?;
        let fitted = self.fitted(&coefficients);
        let residuals = self.file.response.iter().zip(&fitted);
        let square: f64 = residuals.map(|(y, f)| (y - f).powi(2)).sum();
        let level = 0.5 * (square / self.num_rows() as f64).ln() + f64::ln(narrower);
        let is_robust = self.shape == Shape::Robust;
        let mut spread = vec![level.max(LEAST_LOG_SPREAD)];
        spread.resize(
            1 + if is_robust {
                self.file.predictors.len()
            } else {
                0
            },
            0.0,
        );
        Some(Fit {
            coefficients,
            spread,
            law: if is_robust {
                ErrorLaw::FIRST
            } else {
                ErrorLaw::NORMAL
            },
            objective: f64::MIN,
        })
    }

    fn weighted(&self, weights: &[f64]) -> Option<Vec<f64>> {
        solve(&self.columns, weights, &self.file.response, &[])
    }

    /// EM at a fixed rate, until the objective hardly rises.
    fn climb(&self, mut fit: Fit, rate: f64) -> Option<Fit> {
        let spread_columns = self.file.columns();
        let num_rows = self.num_rows();
        fit.objective = f64::MIN;
        for _ in 0..MOST_ITERATIONS {
            let log_spread = match self.shape {
                Shape::Normal => vec![fit.spread[0]; num_rows],
                Shape::Robust => linear(&fit.spread, &spread_columns, num_rows),
            };
            let fitted = self.fitted(&fit.coefficients);
            let z: Vec<f64> = (0..num_rows)
                .map(|i| (self.file.response[i] - fitted[i]) / log_spread[i].exp())
                .collect();
            let (objective, stays) = self.expect(&fit, &z, &log_spread, rate);
            if !objective.is_finite() {
                return None;
            }
            let risen = objective - fit.objective;
            fit.objective = objective;
            if risen < CONVERGED {
                break;
            }
            let pull = fit.law.pull();
            let pull: Vec<f64> = z.iter().map(|z| pull(*z)).collect();
            let weights: Vec<f64> = (0..num_rows)
                .map(|i| stays[i] * pull[i] * (-2.0 * log_spread[i]).exp())
                .collect();
            fit.coefficients = self.weighted(&weights)?;
            self.spread_step(&mut fit, &spread_columns, &stays, &pull, &z)?;
            if self.shape == Shape::Robust {
                fit.law = fit.law.improved(&stays, &z);
            }
        }
        Some(fit)
    }

    /// The penalised log likelihood, and P(stays) of each row.
    fn expect(&self, fit: &Fit, z: &[f64], log_spread: &[f64], rate: f64) -> (f64, Vec<f64>) {
        let log_density = fit.law.log_density();
        let mut objective = penalty(fit);
        let stays = (0..z.len()).map(|i| {
            let own = log_density(z[i]) - log_spread[i];
            if rate <= 0.0 {
                objective += own;
                return 1.0;
            }
            let stays = (1.0 - rate).ln() + own;
            let wrong = rate.ln() + self.marginal[i];
            let largest = stays.max(wrong);
            let total = largest + ((stays - largest).exp() + (wrong - largest).exp()).ln();
            objective += total;
            (stays - total).exp()
        });
        let stays = stays.collect();
        (objective, stays)
    }

    /// One step of Fisher scoring for the log spread.
    fn spread_step(
        &self,
        fit: &mut Fit,
        columns: &[&[f64]],
        stays: &[f64],
        pull: &[f64],
        z: &[f64],
    ) -> Option<()> {
        let score: Vec<f64> = (0..z.len())
            .map(|i| stays[i] * (pull[i] * z[i] * z[i] - 1.0))
            .collect();
        if self.shape == Shape::Normal {
            let total: f64 = stays.iter().sum();
            let square = score.iter().sum::<f64>() / total + 1.0;
            fit.spread[0] += 0.5 * square.max(1e-12).ln();
        } else {
            let information = fit.law.information();
            let weights: Vec<f64> = stays.iter().map(|s| s * information).collect();
            let precision = SPREAD_SLOPE.powi(-2);
            let slopes = &fit.spread[1..];
            let penalties: Vec<(f64, f64)> =
                slopes.iter().map(|s| (precision, -precision * s)).collect();
            // The step solves the weighted regression of score / weight on the columns.
            let target: Vec<f64> = (0..z.len())
                .map(|i| {
                    if weights[i] > 0.0 {
                        score[i] / weights[i]
                    } else {
                        0.0
                    }
                })
                .collect();
            let step = solve(columns, &weights, &target, &penalties)?;
            for (value, step) in fit.spread.iter_mut().zip(step) {
                *value += step.clamp(-1.0, 1.0);
            }
            fit.spread[1..]
                .iter_mut()
                .for_each(|s| *s = s.clamp(-2.0, 2.0));
        }
        fit.spread[0] = fit.spread[0].max(LEAST_LOG_SPREAD);
        Some(())
    }
}

/// The constant and `columns`, times `coefficients`, of which those that are missing count as 0.
fn linear(coefficients: &[f64], columns: &[&[f64]], num_rows: usize) -> Vec<f64> {
    let mut sum = vec![coefficients[0]; num_rows];
    for (column, factor) in columns.iter().zip(&coefficients[1..]) {
        sum.iter_mut()
            .zip(*column)
            .for_each(|(s, c)| *s += factor * c);
    }
    sum
}

/// Weighted least squares of `target` on a constant and `columns`; each column after the constant may have a penalty, as
/// what it adds to the normal equations.
fn solve(
    columns: &[&[f64]],
    weights: &[f64],
    target: &[f64],
    penalties: &[(f64, f64)],
) -> Option<Vec<f64>> {
    let dim = columns.len() + 1;
    let ones = vec![1.0; weights.len()];
    let column = |k: usize| {
        if k == 0 {
            ones.as_slice()
        } else {
            columns[k - 1]
        }
    };
    let mut matrix = vec![0.0; dim * dim];
    let mut right = vec![0.0; dim];
    for a in 0..dim {
        let weighted: Vec<f64> = column(a).iter().zip(weights).map(|(c, w)| c * w).collect();
        right[a] = dot(&weighted, target);
        for b in 0..=a {
            let product = dot(&weighted, column(b));
            matrix[a * dim + b] = product;
            matrix[b * dim + a] = product;
        }
    }
    for (k, (precision, pull)) in penalties.iter().enumerate() {
        matrix[(k + 1) * (dim + 1)] += precision;
        right[k + 1] += pull;
    }
    let inverse = invert(&matrix, dim)?;
    let rows = inverse.chunks_exact(dim);
    Some(rows.map(|row| dot(row, &right)).collect())
}

/// Log prior of the spread's slopes and of the error law.
fn penalty(fit: &Fit) -> f64 {
    let slopes: f64 = fit.spread[1..]
        .iter()
        .map(|s| (s / SPREAD_SLOPE).powi(2))
        .sum();
    -0.5 * slopes + fit.law.log_prior()
}

/// The posterior mean of the rate, from the maxima at each.
fn posterior_rate(fits: &[Fit], prior: RatePrior) -> f64 {
    let largest = fits
        .iter()
        .map(|fit| fit.objective)
        .fold(f64::MIN, f64::max);
    let cdf = |rate: f64| beta_cdf(rate.min(1.0), prior.a, prior.b);
    let (mut total, mut sum) = (0.0, 0.0);
    for (k, fit) in fits.iter().enumerate() {
        let middle = |other: f64| 0.5 * (RATES[k] + other);
        let low = if k == 0 { 0.0 } else { middle(RATES[k - 1]) };
        let high = RATES.get(k + 1).map_or(LARGEST_RATE, |next| middle(*next));
        let mut mass = (1.0 - prior.no_error) * (cdf(high) - cdf(low));
        if k == 0 {
            mass += prior.no_error;
        }
        let weight = mass * (fit.objective - largest).exp();
        total += weight;
        sum += weight * RATES[k];
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::rng::{self, ChainRng};
    use crate::sampler::links::LinkSpace;
    use ndarray::Array2;
    use rand::Rng;
    use rand_distr::{StandardNormal, StudentT};

    const NUM_ROWS: usize = 400;
    const PRIOR: RatePrior = RatePrior {
        a: 1.0,
        b: 9.0,
        no_error: 0.5,
    };

    /// y = x + error, with the responses of `num_wrong` rows moved on by one row.
    fn rival(num_wrong: usize, mut error: impl FnMut(f64, &mut ChainRng) -> f64) -> Rival {
        let mut rng = rng::stream(3, 1);
        let x: Vec<f64> = (0..NUM_ROWS).map(|_| rng.sample(StandardNormal)).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 1.5 * x + error(*x, &mut rng)).collect();
        y[..num_wrong].rotate_left(usize::from(num_wrong > 0));
        let design = Array2::from_shape_fn((NUM_ROWS, 2), |(i, k)| if k == 0 { 1.0 } else { x[i] });
        let space = LinkSpace::free(NUM_ROWS);
        let frame = Frame::new(design.view(), &space, NUM_ROWS, &mut rng).unwrap();
        let response: Vec<f64> = frame.rows.iter().map(|&row| y[row]).collect();
        Rival::new(&frame, &response, true, PRIOR).unwrap()
    }

    fn normal(_: f64, rng: &mut ChainRng) -> f64 {
        0.6 * rng.sample::<f64, _>(StandardNormal)
    }

    #[test]
    fn wrong_links_are_told_from_normal_errors_alone() {
        let none = rival(0, normal);
        assert!(none.evidence < 3.0, "{}", none.evidence);
        assert!(none.rate < 0.03, "{}", none.rate);
        let some = rival(60, normal);
        assert!(some.evidence > 10.0, "{}", some.evidence);
        assert!((some.rate - 0.15).abs() < 0.06, "{}", some.rate);
    }

    #[test]
    fn tails_and_a_changing_spread_are_no_wrong_links() {
        let tails = rival(0, |_, rng| 0.5 * rng.sample(StudentT::new(3.0).unwrap()));
        assert!(tails.evidence < 0.0, "{}", tails.evidence);
        assert!(tails.rate < 0.03, "{}", tails.rate);
        let growing = rival(0, |x, rng| (0.7 * x).exp() * normal(x, rng));
        assert!(growing.evidence < -10.0, "{}", growing.evidence);
        assert!(growing.rate < 0.03, "{}", growing.rate);
    }

    #[test]
    fn skewed_errors_are_no_wrong_links() {
        let skewed = rival(0, |_, rng| 0.8 * rng.sample::<f64, _>(rand_distr::Exp1));
        assert!(skewed.evidence < -10.0, "{}", skewed.evidence);
        assert!(skewed.rate < 0.05, "{}", skewed.rate);
    }

    #[test]
    fn wrong_links_are_found_beside_a_changing_spread() {
        let both = rival(80, |x, rng| 0.4 * (0.5 * x).exp() * normal(x, rng));
        assert!((both.rate - 0.2).abs() < 0.06, "{}", both.rate);
    }
}
