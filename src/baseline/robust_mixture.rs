//! A row mixture that takes little for granted of the errors, and least squares on the responses that it completes.
//!
//! A right row has a response around a regression with skewed Student t errors, a log spread that is linear in the
//! predictors, and curves (the square of each predictor and of the fitted value, with a prior that keeps them small); a wrong one
//! has the response of any row of its group under the same law (`implied`). At each rate of wrong links the law is fitted by
//! penalised maximum likelihood. Then each response is completed: y where its link stays, the regression's mean where it does
//! not, weighted by the probabilities of both; the estimate is least squares on the completed responses, drawn towards the
//! estimate for a known rate where the two contradict each other (`anchor`). Where every link stays, that is least squares of
//! the file as it is. The estimates are averaged over the posterior of the rate.
//!
//! No error law is exact, and beside a large file a small misfit looks like certainty. So the posterior of the rate is
//! coarsened (Miller and Dunson 2019, "Robust Bayesian inference via coarsening", JASA 114): n rows count as `ROWS_WORTH` n /
//! (`ROWS_WORTH` + n).

mod anchor;
mod error_law;
mod implied;
mod other_population;
mod regression;

use std::ops::RangeInclusive;

use ndarray::ArrayView2;
use rand::Rng;
use rand::seq::index;

use super::known_rate::{AtRate, Average, KnownRate, RateAveraged};
use super::least_squares;
use crate::config::ResponseKind;
use crate::numerics::{Qr, Z_90, beta_cdf, dot, invert, mean, sd};
use crate::sampler::links::{LinkSpace, RatePrior};
use other_population::{OtherPopulation, other_population};
pub(crate) use regression::{LEAST_LOG_SPREAD, RATES, Regression, Shape};

/// The law is fitted to so many rows at most.
const MOST_ROWS: usize = 3000;
/// So many rows the file is worth at most, as far as the rate is concerned.
const ROWS_WORTH: f64 = 3000.0;
/// The same for the question which rates cannot be excluded.
const ROWS_WORTH_TO_EXCLUDE: f64 = 100.0;
/// Rates are excluded that leave less than this on either side.
const EXCLUDED: f64 = 0.025;
/// Larger rates are left out: the method is for files most of whose links are right.
const LARGEST_RATE: f64 = 0.5;
/// Prior standard deviation of a curve's coefficient, curves having variance 1, in standard deviations of the response.
const USUAL_CURVE: f64 = 0.2;
/// Prior standard deviation of the log spread's slope along a standardised predictor.
const USUAL_SPREAD_SLOPE: f64 = 0.2;
/// With more predictors there are no curves: they would take long, and hardly matter beside so many others.
const MOST_CURVED: usize = 30;
/// With fewer rows for each coefficient there are no curves.
const ROWS_FOR_CURVES: usize = 5;
/// With fewer rows for each predictor, a law with tails, skewness and spread fits anything.
const ROWS_FOR_LAW: usize = 4;
/// Columns with fewer distinct values have no curve.
const LEAST_DISTINCT: usize = 4;
/// Where a larger part of the responses is equal, the spread stays above the width of a kernel estimate: a law that passes
/// through equal responses would hardly have any.
const SOME_EQUAL: f64 = 0.05;
/// Where a larger part of the responses is equal, densities say nothing of them.
const MOST_EQUAL: f64 = 0.3;
/// Smaller odds of another population do not count: the links as given may lie far away and would decide the standard deviation.
const LEAST_ODDS: f64 = 0.02;
/// Rates with smaller weights do not count.
const NEGLIGIBLE: f64 = 1e-6;

/// The estimate, and what the posterior of the rate says.
pub struct RobustMixtureFit {
    /// Averaged over the posterior of the rate.
    pub estimate: RateAveraged,
    /// For each coefficient, what its 90 % intervals at all rates that cannot be excluded reach over.
    pub widest: Vec<[f64; 2]>,
    /// The least and the largest rate that cannot be excluded.
    pub possible: [f64; 2],
    /// The probability that the link of each row stays.
    pub stays: Vec<f64>,
}

/// None where responses or predictors do not vary, where rows are few or many responses are equal, or where most links are known
/// to be wrong.
pub fn robust_mixture(
    x: ArrayView2<f64>,
    y: &[f64],
    space: &LinkSpace,
    prior: RatePrior,
    rng: &mut impl Rng,
) -> Option<RobustMixtureFit> {
    let equal = largest_equal_share(y);
    if equal > MOST_EQUAL || prior.mean() > LARGEST_RATE {
        return None;
    }
    let mut file = File::new(x, y)?;
    let least_log_spread = match equal > SOME_EQUAL {
        true => (0.9 * (y.len() as f64).powf(-0.2)).ln(),
        false => LEAST_LOG_SPREAD,
    };
    let rows = match y.len() > MOST_ROWS {
        true => index::sample(rng, y.len(), MOST_ROWS).into_vec(),
        false => (0..y.len()).collect(),
    };
    let mut part = file.only(&rows);
    let kept = part.regression(least_log_spread).all_kept()?;
    file.marginal = implied::marginal(&file.regression(least_log_spread), &kept, space);
    part.marginal = rows.iter().map(|&row| file.marginal[row]).collect();
    let law = part.regression(least_log_spread);
    let fits = law.along_rates()?;
    let rates = RatePosterior::new(&law, &fits, prior)?;
    let completion = Completion {
        qr: Qr::new(x),
        y,
        scale: file.scale,
        centre: file.centre,
        regression: &file.regression(least_log_spread),
    };
    let at_rates: Option<Vec<AtRate>> = (0..RATES.len())
        .filter(|&k| rates.weights[k] > NEGLIGIBLE || rates.possible.contains(&k))
        .map(|k| completion.at(&fits[k], RATES[k], rates.weights[k]))
        .collect();
    let mut at_rates = at_rates?;
    let stays = completion.stays(&fits, &rates.weights);
    anchor_all(&mut at_rates, x, &completion.qr, y, space)?;
    let widest = rates.widest(&at_rates, x.ncols());
    at_rates.retain(|at| at.weight > NEGLIGIBLE);
    let total: f64 = at_rates.iter().map(|at| at.weight).sum();
    at_rates.iter_mut().for_each(|at| at.weight /= total);
    Some(RobustMixtureFit {
        estimate: Average::new(&at_rates).into_fit(at_rates),
        widest,
        possible: rates.possible_rates(),
        stays,
    })
}

/// Draws the estimate at each rate towards that for a known rate.
fn anchor_all(
    at_rates: &mut [AtRate],
    x: ArrayView2<f64>,
    qr: &Qr,
    y: &[f64],
    space: &LinkSpace,
) -> Option<()> {
    let rates: Vec<(f64, f64)> = at_rates.iter().map(|at| (at.rate, at.weight)).collect();
    let known = KnownRate::within(space).fit_by(ResponseKind::Real, x, qr, y, &rates)?;
    let slopes = varying_columns(x);
    for (at, known) in at_rates.iter_mut().zip(&known.by_rate) {
        anchor::draw_towards(at, known, &slopes, rate_step(at.rate));
    }
    Some(())
}

/// What the file says of the rate of wrong links.
struct RatePosterior {
    /// The posterior of each of `RATES`.
    weights: Vec<f64>,
    /// The places in `RATES` that cannot be excluded.
    possible: RangeInclusive<usize>,
}

impl RatePosterior {
    /// From the law that was fitted at each of `RATES`. None where it has no volume.
    fn new(law: &Regression, fits: &[regression::Fit], prior: RatePrior) -> Option<RatePosterior> {
        let evidence: Option<Vec<f64>> = (fits.iter().zip(RATES))
            .map(|(fit, rate)| Some(fit.objective + law.log_volume(fit, rate)?))
            .collect();
        let evidence = evidence?;
        let others: Vec<Option<OtherPopulation>> = (fits.iter().zip(RATES))
            .map(|(fit, rate)| other_population(law, fit, rate).filter(|_| rate > 0.0))
            .collect();
        let worth = |rows: f64| rows / (rows + law.response.len() as f64);
        let weigh = |rows: f64| posterior(&evidence, prior, worth(rows));
        let keep = |weights, rows: f64| keeping_others(weights, &others, prior, worth(rows));
        // Another population may stand behind any rate, but excludes none.
        let coarse = weigh(ROWS_WORTH_TO_EXCLUDE);
        let highest = *not_excluded(&coarse).end();
        let lowest = *not_excluded(&keep(coarse, ROWS_WORTH_TO_EXCLUDE)).start();
        Some(RatePosterior {
            weights: keep(weigh(ROWS_WORTH), ROWS_WORTH),
            possible: lowest..=highest,
        })
    }

    /// The least and the largest rate that cannot be excluded.
    fn possible_rates(&self) -> [f64; 2] {
        [RATES[*self.possible.start()], RATES[*self.possible.end()]]
    }

    /// For each coefficient, what its 90 % intervals at all rates that cannot be excluded reach over.
    fn widest(&self, at_rates: &[AtRate], num_coefficients: usize) -> Vec<[f64; 2]> {
        let [low, high] = self.possible_rates();
        let of = |k: usize| {
            let cannot_be_excluded = at_rates.iter().filter(|at| (low..=high).contains(&at.rate));
            cannot_be_excluded.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], at| {
                let half = Z_90 * at.standard_error[k];
                [low.min(at.beta[k] - half), high.max(at.beta[k] + half)]
            })
        };
        (0..num_coefficients).map(of).collect()
    }
}

/// The places in `RATES` that a posterior does not exclude.
fn not_excluded(posterior: &[f64]) -> RangeInclusive<usize> {
    let places = 0..posterior.len();
    let low = first_beyond(posterior, places.clone()).unwrap_or(0);
    low..=first_beyond(posterior, places.rev()).unwrap_or(low)
}

/// The first place in this order by which more than `EXCLUDED` of the posterior is passed.
fn first_beyond(posterior: &[f64], mut places: impl Iterator<Item = usize>) -> Option<usize> {
    let mut passed = 0.0;
    places.find(|&k| {
        passed += posterior[k];
        passed > EXCLUDED
    })
}

/// The distance between a rate of `RATES` and the next; none at 0, where every link is kept.
fn rate_step(rate: f64) -> f64 {
    let next = RATES.iter().find(|next| **next > rate);
    match rate > 0.0 {
        true => next.map_or(0.0, |next| next - rate),
        false => 0.0,
    }
}

/// Columns that are no intercept.
fn varying_columns(x: ArrayView2<f64>) -> Vec<usize> {
    let varies = |k: &usize| x.column(*k).iter().any(|value| *value != x[[0, *k]]);
    (0..x.ncols()).filter(varies).collect()
}

/// The largest share of the responses that are equal.
fn largest_equal_share(y: &[f64]) -> f64 {
    let mut sorted = y.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let runs = sorted.chunk_by(|a, b| a == b).map(<[f64]>::len);
    runs.max().unwrap_or(0) as f64 / y.len().max(1) as f64
}

/// The posterior of each of `RATES`, whose log likelihoods count `worth` times.
fn posterior(evidence: &[f64], prior: RatePrior, worth: f64) -> Vec<f64> {
    let largest = evidence.iter().copied().fold(f64::MIN, f64::max);
    let cdf = |rate: f64| beta_cdf(rate.min(1.0), prior.a, prior.b);
    let weight = |k: usize| {
        if RATES[k] > LARGEST_RATE {
            return 0.0;
        }
        let middle = |other: usize| 0.5 * (RATES[k] + RATES[other]);
        let low = if k == 0 { 0.0 } else { middle(k - 1) };
        let mut mass = (1.0 - prior.no_error) * (cdf(middle(k + 1)) - cdf(low));
        if k == 0 {
            mass += prior.no_error;
        }
        mass * (worth * (evidence[k] - largest)).exp()
    };
    let weights: Vec<f64> = (0..RATES.len()).map(weight).collect();
    let total: f64 = weights.iter().sum();
    let shares = weights.iter().map(|w| w / total.max(f64::MIN_POSITIVE));
    shares.collect()
}

/// Weights of `RATES`, each in so far as the rows that look wrong are not another population; then no link is wrong.
/// Beforehand that is as probable as the prior says of no wrong link.
fn keeping_others(
    mut weights: Vec<f64>,
    others: &[Option<OtherPopulation>],
    prior: RatePrior,
    worth: f64,
) -> Vec<f64> {
    let prior_odds = prior.no_error / (1.0 - prior.no_error);
    for (k, other) in others.iter().enumerate() {
        let odds = other.map_or(0.0, |other| prior_odds * other.log_odds(worth).exp());
        let odds = if odds < LEAST_ODDS { 0.0 } else { odds };
        let wrong = weights[k] / (1.0 + odds);
        weights[0] += weights[k] - wrong;
        weights[k] = wrong;
    }
    weights
}

/// Standardised columns.
struct File {
    centre: f64,
    scale: f64,
    response: Vec<f64>,
    /// Orthogonal to the constant and each other, of variance 1.
    predictors: Vec<Vec<f64>>,
    /// Of variance 1, orthogonal to the predictors.
    curves: Vec<Vec<f64>>,
    /// Log density of each response where its link is wrong; at first no link can be.
    marginal: Vec<f64>,
}

impl File {
    fn new(x: ArrayView2<f64>, y: &[f64]) -> Option<File> {
        let (centre, scale) = (mean(y)?, sd(y)?);
        if scale.is_nan() || scale <= 0.0 {
            return None;
        }
        let response: Vec<f64> = y.iter().map(|y| (y - centre) / scale).collect();
        // One column at a time: a large file has room for few copies of its predictors.
        let standardised = || {
            x.columns()
                .into_iter()
                .filter_map(|c| standardise(c.to_vec()))
        };
        let mut predictors: Vec<Vec<f64>> = Vec::new();
        for column in standardised() {
            predictors.extend(beyond(&predictors, column));
        }
        let num_rows = response.len();
        if predictors.is_empty() || num_rows < ROWS_FOR_LAW * (1 + predictors.len()) {
            return None;
        }
        let of_fitted = match predictors.len() > 1 {
            true => beyond(&predictors, squares(&centred_fit(x, &response)?)),
            false => None,
        };
        let curve = |column: Vec<f64>| beyond(&predictors, squares(&column));
        let bent = standardised().filter(|c| has_distinct_values(c));
        let mut curves: Vec<Vec<f64>> = bent.filter_map(curve).chain(of_fitted).collect();
        let num_columns = 1 + predictors.len() + curves.len();
        if predictors.len() > MOST_CURVED || num_rows < ROWS_FOR_CURVES * num_columns {
            curves.clear();
        }
        Some(File {
            centre,
            scale,
            marginal: vec![f64::NEG_INFINITY; num_rows],
            response,
            predictors,
            curves,
        })
    }

    fn only(&self, rows: &[usize]) -> File {
        let of = |values: &Vec<f64>| -> Vec<f64> { rows.iter().map(|&r| values[r]).collect() };
        File {
            centre: self.centre,
            scale: self.scale,
            response: of(&self.response),
            predictors: self.predictors.iter().map(of).collect(),
            curves: self.curves.iter().map(of).collect(),
            marginal: of(&self.marginal),
        }
    }

    fn regression(&self, least_log_spread: f64) -> Regression<'_> {
        let straight = self.predictors.iter().map(|c| (c.as_slice(), 0.0));
        let precision = USUAL_CURVE.powi(-2);
        let curves = self.curves.iter().map(|c| (c.as_slice(), precision));
        Regression {
            response: &self.response,
            columns: straight.chain(curves).collect(),
            spread_columns: self.predictors.iter().map(Vec::as_slice).collect(),
            usual_spread_slope: USUAL_SPREAD_SLOPE,
            shape: Shape::Robust,
            marginal: &self.marginal,
            least_log_spread,
        }
    }
}

/// Of mean 0 and variance 1; None for a constant.
fn standardise(mut column: Vec<f64>) -> Option<Vec<f64>> {
    let (centre, scale) = (mean(&column)?, sd(&column)?);
    let is_constant = scale.is_nan() || scale <= 1e-10 * centre.abs();
    let standardise = |v: &mut f64| *v = (*v - centre) / scale;
    column.iter_mut().for_each(standardise);
    (!is_constant && scale > 0.0).then_some(column)
}

/// The fitted values of least squares, around their mean.
fn centred_fit(x: ArrayView2<f64>, response: &[f64]) -> Option<Vec<f64>> {
    let fit = least_squares(x, response);
    let fitted = |row: ndarray::ArrayView1<f64>| dot(&row.to_vec(), &fit.beta);
    let mut fitted: Vec<f64> = x.rows().into_iter().map(fitted).collect();
    let centre = mean(&fitted)?;
    fitted.iter_mut().for_each(|f| *f -= centre);
    Some(fitted)
}

fn squares(column: &[f64]) -> Vec<f64> {
    column.iter().map(|v| v * v).collect()
}

fn has_distinct_values(column: &[f64]) -> bool {
    let mut seen: Vec<f64> = Vec::new();
    for value in column {
        if !seen.contains(value) {
            seen.push(*value);
        }
        if seen.len() >= LEAST_DISTINCT {
            return true;
        }
    }
    false
}

/// What of a column is orthogonal to the constant and to `known`, of variance 1; None where nothing is left.
fn beyond(known: &[Vec<f64>], mut column: Vec<f64>) -> Option<Vec<f64>> {
    let num_rows = column.len() as f64;
    let before = dot(&column, &column).sqrt();
    // Twice, so that columns that are nearly dependent stay orthogonal.
    for _ in 0..2 {
        let centre = mean(&column)?;
        column.iter_mut().for_each(|v| *v -= centre);
        for other in known {
            let along = dot(other, &column) / num_rows;
            column
                .iter_mut()
                .zip(other)
                .for_each(|(v, o)| *v -= along * o);
        }
    }
    let left = dot(&column, &column).sqrt();
    if left.is_nan() || left <= 1e-6 * before {
        return None;
    }
    let factor = num_rows.sqrt() / left;
    column.iter_mut().for_each(|v| *v *= factor);
    Some(column)
}

/// Least squares on completed responses.
struct Completion<'a> {
    qr: Qr,
    /// As given, and what standardises it.
    y: &'a [f64],
    centre: f64,
    scale: f64,
    regression: &'a Regression<'a>,
}

impl Completion<'_> {
    /// The probability that the link of each row stays, averaged over `RATES`.
    fn stays(&self, fits: &[regression::Fit], weights: &[f64]) -> Vec<f64> {
        let mut average = vec![0.0; self.y.len()];
        let count = || (0..RATES.len()).filter(|&k| weights[k] > NEGLIGIBLE);
        let total: f64 = count().map(|k| weights[k]).sum();
        for k in count() {
            let stays = self.regression.stays(&fits[k], RATES[k]);
            let share = weights[k] / total;
            (average.iter_mut().zip(stays)).for_each(|(sum, s)| *sum += share * s);
        }
        average.iter().map(|s| s.clamp(0.0, 1.0)).collect()
    }

    fn at(&self, fit: &regression::Fit, rate: f64, weight: f64) -> Option<AtRate> {
        let stays = self.regression.stays(fit, rate);
        let spreads = self.regression.log_spread(fit);
        let variances: Vec<f64> = spreads.iter().map(|s| (2.0 * s).exp()).collect();
        let coefficients = self.regression.weighted(&stays, mean(&variances)?)?;
        let expected = self.regression.fitted(&coefficients);
        let completed: Vec<f64> = (0..self.y.len())
            .map(|i| {
                let expected = self.centre + self.scale * expected[i];
                stays[i] * self.y[i] + (1.0 - stays[i]) * expected
            })
            .collect();
        let (gamma, _) = self.qr.project(&completed);
        let residuals = self.qr.residuals(self.y, &gamma);
        // A sandwich: the rows that stay, as far as they do.
        let bread = invert(&self.qr.cross_product(&stays), self.qr.dim())?;
        let squares = residuals.iter().zip(&stays).map(|(r, s)| s * r * r);
        let filling = self.qr.cross_product(&squares.collect::<Vec<f64>>());
        let covariance = self
            .qr
            .covariance(&sandwich(&bread, &filling, self.qr.dim()));
        let dim = self.qr.dim();
        let standard_error = (0..dim).map(|k| covariance[k * dim + k].max(0.0).sqrt());
        Some(AtRate {
            rate,
            weight,
            beta: self.qr.beta(&gamma),
            standard_error: standard_error.collect(),
            covariance,
        })
    }
}

/// A B A of symmetric matrices.
fn sandwich(a: &[f64], b: &[f64], dim: usize) -> Vec<f64> {
    let product = |left: &[f64], right: &[f64]| -> Vec<f64> {
        let entry = |i: usize, j: usize| -> f64 {
            (0..dim)
                .map(|k| left[i * dim + k] * right[k * dim + j])
                .sum()
        };
        (0..dim * dim).map(|k| entry(k / dim, k % dim)).collect()
    };
    product(&product(a, b), a)
}

#[cfg(test)]
mod tests;
