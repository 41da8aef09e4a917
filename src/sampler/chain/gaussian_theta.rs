//! Theta of a linear regression with normal errors: coefficients and an error scale, and perhaps other parameters.

use std::ops::Range;

/// Where beta and the error scale stand in theta.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianTheta {
    beta: Range<usize>,
    scale: usize,
    /// Theta holds log sigma times this: 1 for a parameter `sigma`, 2 for `sigma2`.
    power: f64,
}

impl GaussianTheta {
    pub fn new(beta: Range<usize>, scale: usize, power: f64) -> GaussianTheta {
        GaussianTheta { beta, scale, power }
    }

    /// Where beta stands.
    pub fn place(&self) -> Range<usize> {
        self.beta.clone()
    }

    pub fn beta<'t>(&self, theta: &'t [f64]) -> &'t [f64] {
        &theta[self.beta.clone()]
    }

    pub fn beta_mut<'t>(&self, theta: &'t mut [f64]) -> &'t mut [f64] {
        &mut theta[self.beta.clone()]
    }

    pub fn log_variance(&self, theta: &[f64]) -> f64 {
        2.0 / self.power * theta[self.scale]
    }

    /// sigma squared.
    pub fn variance(&self, theta: &[f64]) -> f64 {
        self.log_variance(theta).exp()
    }

    /// Adds a derivative by the log variance to a gradient by theta.
    pub fn add_by_log_variance(&self, slope: f64, gradient: &mut [f64]) {
        gradient[self.scale] += 2.0 / self.power * slope;
    }

    pub fn set_variance(&self, variance: f64, theta: &mut [f64]) {
        theta[self.scale] = 0.5 * self.power * variance.ln();
    }
}
