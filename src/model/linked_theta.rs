//! The density of theta that a chain evaluates: the program's own, or the same one through sufficient statistics.

use super::{GaussianGivenPi, ThetaGivenPi};
use crate::sampler::chain::LinkedDensity;
use crate::sampler::hmc::{EvalError, LogDensity};
use crate::sampler::links::Permutation;

/// log p(theta | links) of one chain.
pub enum LinkedTheta<'m> {
    Program(ThetaGivenPi<'m>),
    Statistics(GaussianGivenPi<'m>),
}

impl LogDensity for LinkedTheta<'_> {
    fn dim(&self) -> usize {
        match self {
            LinkedTheta::Program(density) => density.dim(),
            LinkedTheta::Statistics(density) => density.dim(),
        }
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, EvalError> {
        match self {
            LinkedTheta::Program(density) => density.log_density_gradient(position, gradient),
            LinkedTheta::Statistics(density) => density.log_density_gradient(position, gradient),
        }
    }
}

impl LinkedDensity for LinkedTheta<'_> {
    fn response(&self) -> &[f64] {
        match self {
            LinkedTheta::Program(density) => density.response(),
            LinkedTheta::Statistics(density) => density.response(),
        }
    }

    fn align(&mut self, permutation: &Permutation, responses: &[f64]) {
        match self {
            LinkedTheta::Program(density) => density.align(permutation, responses),
            LinkedTheta::Statistics(density) => density.align(permutation, responses),
        }
    }

    fn weights(&self) -> &[f64] {
        match self {
            LinkedTheta::Program(density) => density.weights(),
            LinkedTheta::Statistics(density) => density.weights(),
        }
    }

    fn weights_mut(&mut self) -> &mut [f64] {
        match self {
            LinkedTheta::Program(density) => density.weights_mut(),
            LinkedTheta::Statistics(density) => density.weights_mut(),
        }
    }

    fn theta_at(&self, position: &[f64], theta: &mut [f64]) {
        match self {
            LinkedTheta::Program(density) => density.theta_at(position, theta),
            LinkedTheta::Statistics(density) => density.theta_at(position, theta),
        }
    }

    fn position_of(&self, theta: Vec<f64>) -> Vec<f64> {
        match self {
            LinkedTheta::Program(density) => density.position_of(theta),
            LinkedTheta::Statistics(density) => density.position_of(theta),
        }
    }
}
