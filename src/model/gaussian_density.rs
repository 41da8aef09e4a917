//! Normal errors through sufficient statistics: a density of theta whose cost does not depend on the number of rows.
//!
//! A program is alpha * log likelihood + log prior. Built on one row of zeros with alpha = 0, it is its prior alone,
//! whatever the user wrote there. The normal likelihood is added in Rust, from Q'y and the residual sum of squares. That
//! the sum is the program's own density is tried before it is used: see `agrees_with`.

use std::sync::Arc;

use rand::Rng;

use super::linear_prior::{DiagonalPrior, LinearPrior};
use super::{ModelError, StanModel, ThetaGivenPi};
use crate::numerics::dot;
use crate::sampler::chain::{GaussianTheta, LinkedDensity};
use crate::sampler::hmc::{EvalError, LogDensity};
use crate::sampler::links::{LinearStatistics, Permutation};

/// The density of theta of a linear regression with normal errors; one serves all chains.
///
/// HMC moves in orthogonal coordinates: R beta = c + u z, where X = QR and c is Q'y of the links as given. There the
/// likelihood is isotropic however the predictors are correlated. With u the root of the residual sum of squares of the
/// links as given, z has about the spread of log sigma, 1 / sqrt(n), before a metric is learnt. All other parameters stay as
/// they are. The map is affine, so the density of z needs no Jacobian.
///
/// The prior of the shipped program `linear` is known as it stands there. With it no gradient needs the program, and HMC
/// moves in w = V'z, where neither prior nor likelihood correlates the coefficients: see `DiagonalPrior`.
pub struct GaussianDensity {
    /// The program without its likelihood.
    prior: StanModel,
    statistics: Arc<LinearStatistics>,
    places: GaussianTheta,
    temperature: f64,
    /// The prior in closed form, where it is known.
    known: Option<DiagonalPrior>,
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
            known: None,
            unit,
            constant: 0.0,
        })
    }

    /// This density, where it is that of `program`, with the program's prior in closed form where that is `known`.
    pub fn agreeing(
        self,
        known: Option<LinearPrior>,
        program: &StanModel,
        rng: &mut impl Rng,
    ) -> Result<Option<GaussianDensity>, ModelError> {
        let mut density = match known {
            Some(known) => self.with_known_prior(&known),
            None => self,
        };
        let mut agrees = density.agrees_with(program, rng)?;
        // Numbers of very different size may lose too many digits in the coordinates of the closed form.
        if !agrees && density.known.take().is_some() {
            agrees = density.agrees_with(program, rng)?;
        }
        Ok(agrees.then_some(density))
    }

    /// Coefficients and variance must be all parameters of the program.
    fn with_known_prior(self, known: &LinearPrior) -> GaussianDensity {
        let statistics = &self.statistics;
        let known = known.diagonal(statistics.r(), statistics.given_projection(), self.unit);
        let is_all = self.prior.dim() == statistics.dim() + 1;
        GaussianDensity {
            known: known.filter(|_| is_all),
            ..self
        }
    }

    /// Whether gradients do without the program.
    pub fn knows_prior(&self) -> bool {
        self.known.is_some()
    }

    /// The program without its likelihood and without rows: its parameters are those of the program.
    pub fn prior(&self) -> &StanModel {
        &self.prior
    }

    pub fn statistics(&self) -> &Arc<LinearStatistics> {
        &self.statistics
    }

    /// A position becomes theta.
    fn theta_at(&self, position: &[f64], theta: &mut [f64]) {
        theta.copy_from_slice(position);
        if let Some(known) = &self.known {
            return known.to_beta(position, theta, self.places.place());
        }
        let beta = self.places.beta_mut(theta);
        for (value, given) in beta.iter_mut().zip(self.statistics.given_projection()) {
            *value = given + self.unit * *value;
        }
        self.statistics.r().solve(beta);
    }

    /// theta becomes a position.
    fn to_position(&self, theta: &mut [f64]) {
        let beta = self.places.beta_mut(theta);
        for k in 0..beta.len() {
            let given = self.statistics.given_projection()[k];
            // R is upper triangular: entry k uses no earlier one.
            beta[k] = (self.statistics.r().times(k, beta) - given) / self.unit;
        }
        self.turn(beta);
    }

    /// The gradient by theta becomes the gradient by z.
    fn by_z(&self, gradient: &mut [f64]) {
        let beta = self.places.beta_mut(gradient);
        self.statistics.r().solve_transposed(beta);
        beta.iter_mut().for_each(|value| *value *= self.unit);
    }

    /// The gradient by theta becomes the gradient by the position.
    fn pull_back(&self, gradient: &mut [f64]) {
        self.by_z(gradient);
        self.turn(self.places.beta_mut(gradient));
    }

    /// z becomes w where HMC moves there, and gradients by them likewise.
    fn turn(&self, z: &mut [f64]) {
        if let Some(known) = &self.known {
            let before = z.to_vec();
            known.turn(&before, z);
        }
    }

    /// Whether this is the density of `program` up to a constant, which is taken over: values and gradients are compared
    /// around the least-squares estimate, with the links as given and with others.
    fn agrees_with(&mut self, program: &StanModel, rng: &mut impl Rng) -> Result<bool, ModelError> {
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

    /// Through the statistics and through the program, both by the position.
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
        self.theta_at(position, &mut theta);
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
    /// Q'y less that of the links as given, in the directions of the coordinates.
    change: Vec<f64>,
    /// As much again, for what is computed on the way.
    scratch: Vec<f64>,
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
            scratch: vec![0.0; statistics.dim()],
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
        if let Some(known) = &shared.known {
            return Ok(self.with_known_prior(known, position, gradient));
        }
        let places = &shared.places;
        shared.theta_at(position, &mut self.theta);
        let log_prior = self.prior.log_density_gradient(&self.theta, gradient)?;
        shared.by_z(gradient);
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

impl GaussianGivenPi<'_> {
    /// As `log_density_gradient`, without the program.
    fn with_known_prior(
        &mut self,
        known: &DiagonalPrior,
        position: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        let shared = self.shared;
        let (places, unit) = (&shared.places, shared.unit);
        let log_variance = places.log_variance(position);
        let precision = shared.temperature * (-log_variance).exp();
        gradient.fill(0.0);
        let (w, slopes) = (places.beta(position), places.beta_mut(gradient));
        let mut log_density = known.of_coefficients(w, slopes);
        let distances = self.scratch.iter_mut().zip(w).zip(&self.change);
        distances.for_each(|((distance, w), change)| *distance = unit * w - change);
        let steepness = precision * unit;
        for (slope, distance) in slopes.iter_mut().zip(&self.scratch) {
            *slope = -(*slope + steepness * distance);
        }
        let squares = self.rss + dot(&self.scratch, &self.scratch);
        let tempered_rows = shared.temperature * shared.statistics.num_rows() as f64;
        log_density -= 0.5 * (tempered_rows * log_variance + precision * squares);
        let (log_prior, by_log_variance) = known.of_variance(log_variance);
        let slope = by_log_variance + 0.5 * (precision * squares - tempered_rows);
        places.add_by_log_variance(slope, gradient);
        log_density + log_prior + shared.constant
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
        if let Some(known) = &self.shared.known {
            self.scratch.copy_from_slice(&self.change);
            known.turn(&self.scratch, &mut self.change);
        }
    }

    fn weights(&self) -> &[f64] {
        &[]
    }

    fn weights_mut(&mut self) -> &mut [f64] {
        &mut []
    }

    fn theta_at(&self, position: &[f64], theta: &mut [f64]) {
        self.shared.theta_at(position, theta);
    }

    fn position_of(&self, mut theta: Vec<f64>) -> Vec<f64> {
        self.shared.to_position(&mut theta);
        theta
    }
}
