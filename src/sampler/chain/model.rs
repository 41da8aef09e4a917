//! What a chain needs of the model that it samples: a density of theta, a pair likelihood, and the outputs of a draw.

use std::error::Error;

use rand::Rng;

use crate::sampler::hmc::LogDensity;
use crate::sampler::links::{
    LinkKernel, LinksGivenMoved, OutsideLinks, Permutation, Prior, UpdateInfo,
};

/// The density of theta given the links, the target of Step 1. Values computed before the responses or the weights were
/// changed are stale.
pub trait LinkedDensity: LogDensity {
    /// The aligned responses: at row j of X, those that are linked to it.
    fn response(&self) -> &[f64];

    /// Gives each row of X the responses that `permutation` links to it. `responses` stand in the order of the user's rows.
    fn align(&mut self, permutation: &Permutation, responses: &[f64]);

    /// The weight of each row in the likelihood; empty for a model without weights.
    fn weights(&self) -> &[f64];

    fn weights_mut(&mut self) -> &mut [f64];

    /// Writes theta at a position of HMC, which may move in other coordinates.
    fn theta_at(&self, position: &[f64], theta: &mut [f64]);

    /// The position of HMC at a theta.
    fn position_of(&self, theta: Vec<f64>) -> Vec<f64>;
}

/// The pair likelihood of Step 2, which follows theta. The loops over pairs of rows run inside `step` and
/// `step_given_moved`, each of them compiled for one likelihood.
pub trait LinkedPairs {
    type Error: Error + 'static;

    /// Moves to a new theta.
    fn update(&mut self, theta: &[f64]) -> Result<(), Self::Error>;

    /// One step of the permutation at the current theta.
    fn step<R: Rng>(
        &self,
        kernel: &mut LinkKernel,
        pi: &mut Permutation,
        prior: &Prior,
        rng: &mut R,
    ) -> Result<UpdateInfo, Self::Error>;

    /// Keeps the proposals of the kernel at the current theta; a likelihood may leave them to follow theta.
    fn keep_proposals(&self, _kernel: &mut LinkKernel, _prior: &Prior) {}

    /// Draws where the rows that `state` moves belong, at the current theta.
    fn step_given_moved<R: Rng>(
        &self,
        links: &mut LinksGivenMoved,
        state: &Permutation,
        prior: &Prior,
        rng: &mut R,
    ) -> Result<(), Self::Error>;

    /// One step of a partial permutation at the current theta. Where `wrong` is given, just the rows that it moves are.
    fn step_outside<R: Rng>(
        &self,
        links: &mut OutsideLinks<'_>,
        pi: &mut Permutation,
        wrong: Option<&Permutation>,
        rng: &mut R,
    ) -> Result<UpdateInfo, Self::Error>;

    /// A draw of whether responses may come from outside, with the links that it changes, at the current theta.
    fn draw_may_be_outside<R: Rng>(
        &self,
        links: &mut OutsideLinks<'_>,
        pi: &mut Permutation,
        whole: &Prior,
        rng: &mut R,
    ) -> Result<bool, Self::Error>;

    fn temperature(&self) -> f64;

    /// The untempered log density of each response at its own link.
    fn own_log_densities(&self, own: &mut Vec<f64>);
}

/// The quantities of a model that are saved with each draw.
pub trait DrawOutputs {
    type Error;

    /// Appends the quantities of draw number `draw` to `row`. They must not depend on other draws.
    fn append(
        &mut self,
        draw: usize,
        theta: &[f64],
        response: &[f64],
        weights: &[f64],
        row: &mut Vec<f64>,
    ) -> Result<(), Self::Error>;
}
