//! Pairs of y ~ normal(x theta_1, scale), for chains on a model without Stan.

use std::convert::Infallible;

use rand::Rng;

use super::*;
use crate::sampler::links::{
    FamilyLogLik, LinkKernel, LinksGivenMoved, Normal, OutsideLinks, Permutation, Prior,
};

/// theta is (slope, logarithm of the scale or of its square).
pub(super) struct GaussianPairs {
    x: Vec<f64>,
    log_lik: FamilyLogLik<Normal>,
    /// theta_2 times this is the log scale.
    log_scale: f64,
}

impl GaussianPairs {
    pub fn with_log_scale(x: &[f64], y: &[f64]) -> Self {
        Self::new(x, y, 1.0)
    }

    pub fn with_log_variance(x: &[f64], y: &[f64]) -> Self {
        Self::new(x, y, 0.5)
    }

    fn new(x: &[f64], y: &[f64], log_scale: f64) -> Self {
        Self {
            x: x.to_vec(),
            log_lik: FamilyLogLik::new(Normal, y.to_vec(), 1.0),
            log_scale,
        }
    }

    fn own(&self, row: usize) -> f64 {
        self.log_lik.log_density(row, row)
    }
}

impl LinkedPairs for GaussianPairs {
    type Error = Infallible;

    fn update(&mut self, theta: &[f64]) -> Result<(), Infallible> {
        let x = &self.x;
        self.log_lik
            .update((self.log_scale * theta[1]).exp(), |fitted| {
                (fitted.iter_mut().zip(x)).for_each(|(fitted, x)| *fitted = x * theta[0]);
            });
        Ok(())
    }

    fn step<R: Rng>(
        &self,
        kernel: &mut LinkKernel,
        pi: &mut Permutation,
        prior: &Prior,
        rng: &mut R,
    ) -> Result<UpdateInfo, Infallible> {
        Ok(kernel.step(pi, &self.log_lik, prior, rng))
    }

    fn keep_proposals(&self, kernel: &mut LinkKernel, prior: &Prior) {
        kernel.keep_proposals(&self.log_lik, prior);
    }

    fn step_given_moved<R: Rng>(
        &self,
        links: &mut LinksGivenMoved,
        state: &Permutation,
        prior: &Prior,
        rng: &mut R,
    ) -> Result<(), Infallible> {
        links.step(state, &self.log_lik, prior, rng);
        Ok(())
    }

    fn step_outside<R: Rng>(
        &self,
        links: &mut OutsideLinks<'_>,
        pi: &mut Permutation,
        wrong: Option<&Permutation>,
        rng: &mut R,
    ) -> Result<UpdateInfo, Infallible> {
        Ok(links.step_as(pi, &self.log_lik, |row| self.own(row), wrong, rng))
    }

    fn draw_may_be_outside<R: Rng>(
        &self,
        links: &mut OutsideLinks<'_>,
        pi: &mut Permutation,
        whole: &Prior,
        rng: &mut R,
    ) -> Result<bool, Infallible> {
        Ok(links.draw_may_be_outside(pi, &self.log_lik, |row| self.own(row), whole, rng))
    }

    fn temperature(&self) -> f64 {
        1.0
    }

    fn own_log_densities(&self, own: &mut Vec<f64>) {
        own.clear();
        own.extend((0..self.x.len()).map(|row| self.own(row)));
    }
}
