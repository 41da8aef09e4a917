//! Normal errors through sufficient statistics: a density of theta whose cost does not depend on the number of rows.
//!
//! A program is alpha * log likelihood + log prior. Built on one row of zeros with alpha = 0, it is its prior alone,
//! whatever the user wrote there. The normal likelihood is added in Rust, from Q'y and the residual sum of squares. That
//! the sum is the program's own density is tried before it is used: see `agrees_with`.

use std::sync::Arc;

use rand::Rng;

use super::{ModelError, StanModel, ThetaGivenPi};
use crate::sampler::chain::{GaussianTheta, LinkedDensity};
use crate::sampler::hmc::{EvalError, LogDensity};
use crate::sampler::links::{LinearStatistics, Permutation};

/// The density of theta of a linear regression with normal errors; one serves all chains.
///
/// HMC moves in orthogonal coordinates: R beta = c + u z, where X = QR and c is Q'y of the links as given. There the
/// likelihood is isotropic however the predictors are correlated. With u the root of the residual sum of squares of the
/// links as given, z has about the spread of log sigma, 1 / sqrt(n), before a metric is learnt. All other parameters stay as
/// they are. The map is affine, so the density of z needs no Jacobian.
pub struct GaussianDensity {
    /// The program without its likelihood.
    prior: StanModel,
    statistics: Arc<LinearStatistics>,
    places: GaussianTheta,
    temperature: f64,
    /// u.
    unit: f64,
    /// What the program's log density has beyond this one: constants that it keeps or drops.
    constant: f64,
}

/// Differences of the log density, and of its gradient by z, that rounding explains, relative to their sizes.
const VALUE_TOLERANCE: f64 = 1e-9;
const GRADIENT_TOLERANCE: f64 = 1e-8;
/// Points at which the program is compared, and how many of them it must not reject.
const NUM_POINTS: usize = 5;
const FEWEST_POINTS: usize = 3;

impl GaussianDensity {
    /// `prior` is the program on one row of zeros with alpha = 0. None where the links as given leave no residuals.
    pub fn new(
        prior: StanModel,
        statistics: Arc<LinearStatistics>,
        places: GaussianTheta,
        temperature: f64,
    ) -> Option<GaussianDensity> {
        let unit = statistics.given_rss().sqrt();
        (unit.is_finite() && unit > 0.0).then_some(GaussianDensity {
            prior,
            statistics,
            places,
            temperature,
            unit,
            constant: 0.0,
        })
    }

    /// The program without its likelihood and without rows: its parameters are those of the program.
    pub fn prior(&self) -> &StanModel {
        &self.prior
    }

    pub fn statistics(&self) -> &Arc<LinearStatistics> {
        &self.statistics
    }

    /// z becomes theta.
    fn to_theta(&self, position: &mut [f64]) {
        let beta = self.places.beta_mut(position);
        for (value, given) in beta.iter_mut().zip(self.statistics.given_projection()) {
            *value = given + self.unit * *value;
        }
        self.statistics.r().solve(beta);
    }

    /// theta becomes z.
    fn to_position(&self, theta: &mut [f64]) {
        let beta = self.places.beta_mut(theta);
        for k in 0..beta.len() {
            let given = self.statistics.given_projection()[k];
            // R is upper triangular: entry k uses no earlier one.
            beta[k] = (self.statistics.r().times(k, beta) - given) / self.unit;
        }
    }

    /// The gradient by theta becomes the gradient by z.
    fn pull_back(&self, gradient: &mut [f64]) {
        let beta = self.places.beta_mut(gradient);
        self.statistics.r().solve_transposed(beta);
        beta.iter_mut().for_each(|value| *value *= self.unit);
    }

    /// Whether this is the density of `program` up to a constant, which is taken over: values and gradients are compared
    /// around the least-squares estimate, with the links as given and with others.
    pub fn agrees_with(
        &mut self,
        program: &StanModel,
        rng: &mut impl Rng,
    ) -> Result<bool, ModelError> {
        self.constant = 0.0;
        let mut constant = None;
        let mut num_compared = 0;
        for _ in 0..NUM_POINTS {
            let position = self.random_position(rng);
            let permutations = self.some_permutations(rng);
            for permutation in &permutations {
                let [own, plain] = self.both(program, &position, permutation);
                let (own, plain) = match (own, plain) {
                    (Ok(own), Ok(plain)) => (own, plain),
                    (Err(_), Err(_)) => continue,
                    _ => return Ok(false),
                };
                let difference = plain.value - own.value;
                let constant = *constant.get_or_insert(difference);
                if !own.agrees_with(&plain, constant) {
                    return Ok(false);
                }
                num_compared += 1;
            }
        }
        self.constant = constant.unwrap_or(0.0);
        Ok(num_compared >= FEWEST_POINTS * NUM_PERMUTATIONS)
    }

    /// Within three standard errors of the least-squares estimate; parameters besides beta and sigma within 1 of 0.
    fn random_position(&self, rng: &mut impl Rng) -> Vec<f64> {
        let num_rows = self.statistics.num_rows() as f64;
        let mut position: Vec<f64> = (0..self.prior.dim())
            .map(|_| rng.random_range(-1.0..1.0))
            .collect();
        let beta = self.places.beta_mut(&mut position);
        beta.iter_mut().for_each(|z| *z *= 3.0 / num_rows.sqrt());
        let factor: f64 = rng.random_range(0.3..3.0);
        self.places.set_variance(
            factor * self.statistics.given_rss() / num_rows,
            &mut position,
        );
        position
    }

    fn some_permutations(&self, rng: &mut impl Rng) -> [Permutation; NUM_PERMUTATIONS] {
        let num_rows = self.statistics.num_rows();
        let few = (num_rows / 10).clamp(2, 100).min(num_rows);
        [0, few, num_rows].map(|d| match num_rows {
            0 | 1 => Permutation::identity(num_rows),
            _ => Permutation::random_sparse(num_rows, d, rng),
        })
    }

    /// Through the statistics and through the program, both by z.
    fn both(
        &self,
        program: &StanModel,
        position: &[f64],
        permutation: &Permutation,
    ) -> [Result<Evaluated, EvalError>; 2] {
        let responses = self.statistics.response();
        let mut own = GaussianGivenPi::new(self);
        own.align(permutation, responses);
        let mut plain = ThetaGivenPi::new(program, responses);
        plain.align(permutation, responses);
        let mut theta = position.to_vec();
        self.to_theta(&mut theta);
        let mut plain = Evaluated::new(&mut plain, &theta);
        if let Ok(plain) = &mut plain {
            self.pull_back(&mut plain.gradient);
        }
        [Evaluated::new(&mut own, position), plain]
    }
}

/// The links as given, a few rows moved, and all of them.
const NUM_PERMUTATIONS: usize = 3;

/// A log density with its gradient.
struct Evaluated {
    value: f64,
    gradient: Vec<f64>,
}

impl Evaluated {
    fn new(density: &mut impl LogDensity, position: &[f64]) -> Result<Evaluated, EvalError> {
        let mut gradient = vec![0.0; density.dim()];
        let value = density.log_density_gradient(position, &mut gradient)?;
        Ok(Evaluated { value, gradient })
    }

    /// Equal up to rounding, where `other` has `constant` more.
    fn agrees_with(&self, other: &Evaluated, constant: f64) -> bool {
        let sizes = [1.0, self.value.abs(), other.value.abs(), constant.abs()];
        let size = sizes.into_iter().fold(0.0, f64::max);
        let close = (other.value - self.value - constant).abs() <= VALUE_TOLERANCE * size;
        let entries = self.gradient.iter().chain(&other.gradient);
        let steepest = entries.fold(1.0, |most: f64, entry| most.max(entry.abs()));
        let pairs = self.gradient.iter().zip(&other.gradient);
        let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let finite = size.is_finite() && steepest.is_finite();
        // NaN compares as false.
        finite && close && largest <= GRADIENT_TOLERANCE * steepest
    }
}

/// log p(theta | links) through sufficient statistics: what one chain evaluates.
pub struct GaussianGivenPi<'m> {
    shared: &'m GaussianDensity,
    prior: ThetaGivenPi<'m>,
    theta: Vec<f64>,
    /// Q'y less that of the links as given.
    change: Vec<f64>,
    rss: f64,
    aligned: Vec<f64>,
    /// The rows of X whose response in `aligned` is not their own.
    moved: Vec<usize>,
}

impl<'m> GaussianGivenPi<'m> {
    /// With the links as given.
    pub fn new(shared: &'m GaussianDensity) -> GaussianGivenPi<'m> {
        let statistics = &shared.statistics;
        GaussianGivenPi {
            prior: ThetaGivenPi::new(&shared.prior, &[0.0]),
            theta: vec![0.0; shared.prior.dim()],
            change: vec![0.0; statistics.dim()],
            rss: statistics.given_rss(),
            aligned: statistics.response().to_vec(),
            moved: Vec::with_capacity(statistics.num_rows()),
            shared,
        }
    }
}

impl LogDensity for GaussianGivenPi<'_> {
    fn dim(&self) -> usize {
        self.theta.len()
    }

    /// With v = sigma^2 and S = RSS + |R beta - Q'y|^2, the log likelihood is -alpha / 2 (n log v + S / v), but for constants.
    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, EvalError> {
        let shared = self.shared;
        let places = &shared.places;
        self.theta.copy_from_slice(position);
        shared.to_theta(&mut self.theta);
        let log_prior = self.prior.log_density_gradient(&self.theta, gradient)?;
        shared.pull_back(gradient);
        let log_variance = places.log_variance(&self.theta);
        let precision = shared.temperature * (-log_variance).exp();
        let mut squares = self.rss;
        let slopes = places.beta_mut(gradient).iter_mut();
        for ((slope, z), change) in slopes.zip(places.beta(position)).zip(&self.change) {
            let distance = shared.unit * z - change;
            squares += distance * distance;
            *slope -= precision * shared.unit * distance;
        }
        let tempered_rows = shared.temperature * shared.statistics.num_rows() as f64;
        let log_likelihood = -0.5 * (tempered_rows * log_variance + precision * squares);
        places.add_by_log_variance(0.5 * (precision * squares - tempered_rows), gradient);
        Ok(log_prior + log_likelihood + shared.constant)
    }
}

impl LinkedDensity for GaussianGivenPi<'_> {
    fn response(&self) -> &[f64] {
        &self.aligned
    }

    /// Costs what the moved rows cost.
    fn align(&mut self, permutation: &Permutation, responses: &[f64]) {
        for &column in &self.moved {
            self.aligned[column] = responses[column];
        }
        self.moved.clear();
        self.moved.extend_from_slice(permutation.moved());
        for &column in &self.moved {
            self.aligned[column] = responses[permutation.row_of(column)];
        }
        self.rss = self.shared.statistics.at(permutation, &mut self.change);
    }

    fn weights(&self) -> &[f64] {
        &[]
    }

    fn weights_mut(&mut self) -> &mut [f64] {
        &mut []
    }

    fn theta_at(&self, position: &[f64], theta: &mut [f64]) {
        theta.copy_from_slice(position);
        self.shared.to_theta(theta);
    }

    fn position_of(&self, mut theta: Vec<f64>) -> Vec<f64> {
        self.shared.to_position(&mut theta);
        theta
    }
}
