//! A joint move of the links and theta: proposed with theta integrated out, accepted by the program's own density.

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::gaussian_theta::GaussianTheta;
use super::model::LinkedDensity;
use crate::numerics::floats;
use crate::sampler::hmc::{EvalError, MovingTarget, State};
use crate::sampler::links::{Collapsed, LinkSpace, Move, Permutation, Prior};

/// How often the proposals are learnt anew during warm-up.
const NUM_WINDOWS: usize = 10;

/// Proposes (pi', theta') from a surrogate posterior and accepts it with probability
/// min(1, w(pi', theta') / w(pi, theta)), where w is the program's density over the surrogate's.
///
/// So the move is exact whatever priors the program has. The prior of the links stands in both densities and cancels.
pub struct CollapsedMove {
    kernel: Collapsed,
    places: GaussianTheta,
    num_warmup: usize,
    state: CollapsedState,
}

/// What changes in a `CollapsedMove` from iteration to iteration.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CollapsedState {
    num_done: usize,
    num_accepted: usize,
    /// Theta summed over the current window of warm-up.
    #[serde(with = "floats")]
    sum: Vec<f64>,
    /// d before each iteration of warm-up.
    num_moved: Vec<usize>,
    /// Insertions and removals in the current window of warm-up: proposed and accepted.
    changes: [u64; 2],
    /// None until the first window of warm-up has ended.
    proposals: Option<Proposals>,
}

/// What a window of warm-up learnt for the proposals.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Proposals {
    /// Their reference theta.
    #[serde(with = "floats")]
    theta: Vec<f64>,
    mean_num_moved: f64,
    variance_num_moved: f64,
    /// Of insertions and removals.
    acceptance: f64,
}

impl CollapsedMove {
    pub fn new(kernel: Collapsed, places: GaussianTheta, num_warmup: usize) -> CollapsedMove {
        CollapsedMove {
            kernel,
            places,
            num_warmup,
            state: CollapsedState::default(),
        }
    }

    pub(super) fn state(&self) -> &CollapsedState {
        &self.state
    }

    /// Continues where another move of the same kind was.
    pub(super) fn resume(&mut self, state: CollapsedState, space: &LinkSpace) {
        if let Some(proposals) = &state.proposals {
            self.set_proposals(proposals, space);
        }
        self.state = state;
    }

    /// Share of the moves after warm-up that were accepted.
    pub fn accept_rate(&self) -> Option<f64> {
        let num_moves = self.state.num_done.checked_sub(self.num_warmup)?;
        (num_moves > 0).then(|| self.state.num_accepted as f64 / num_moves as f64)
    }

    /// One move. `theta` belongs to `state`, before and after; afterwards `state` is fresh under the links as they are then.
    pub(super) fn step<T: LinkedDensity>(
        &mut self,
        target: &mut MovingTarget<T>,
        state: &mut State,
        links: (&mut Permutation, &Prior, &[f64]),
        theta: &mut Vec<f64>,
        rng: &mut impl Rng,
    ) -> Result<(), EvalError> {
        self.learn(theta, links.0, links.1);
        let accepts = |log_ratio: f64, u: f64| u < log_ratio.exp();
        self.step_with(target, state, links, theta, rng, accepts)
    }

    /// `accepts` is told log w(pi', theta') - log w(pi, theta) and a uniform draw.
    fn step_with<T: LinkedDensity>(
        &mut self,
        target: &mut MovingTarget<T>,
        state: &mut State,
        (permutation, prior, responses): (&mut Permutation, &Prior, &[f64]),
        theta: &mut Vec<f64>,
        rng: &mut impl Rng,
        accepts: impl Fn(f64, f64) -> bool,
    ) -> Result<(), EvalError> {
        self.kernel.start(permutation);
        let before = state.log_density() - self.surrogate(theta);
        if self.state.num_done < self.num_warmup {
            let info = self.kernel.step_in_warmup(permutation, prior, rng);
            for count in [Move::Insert, Move::Remove].map(|kind| info.of(kind)) {
                self.state.changes[0] += count.proposed;
                self.state.changes[1] += count.accepted;
            }
        } else {
            self.kernel.step(permutation, prior, rng);
        }
        let mut proposed = theta.clone();
        let beta = self.places.beta_mut(&mut proposed);
        let variance = self.kernel.draw_theta(beta, rng);
        self.places.set_variance(variance, &mut proposed);
        let surrogate = self.surrogate(&proposed);
        let u = rng.random();
        target.change().align(permutation, responses);
        let position = target.density().position_of(proposed.clone());
        let accepted = match State::new(position, target) {
            Ok(moved) if accepts(moved.log_density() - surrogate - before, u) => {
                *state = moved;
                *theta = proposed;
                true
            }
            Ok(_) | Err(EvalError::Rejected(_)) => false,
            Err(fatal @ EvalError::Fatal(_)) => return Err(fatal),
        };
        if !accepted {
            self.kernel.undo(permutation);
            target.change().align(permutation, responses);
            state.refresh(target)?;
        }
        let is_counted = accepted && self.state.num_done >= self.num_warmup;
        self.state.num_accepted += usize::from(is_counted);
        self.state.num_done += 1;
        Ok(())
    }

    /// The surrogate's log density at theta and the links where its kernel stands.
    fn surrogate(&self, theta: &[f64]) -> f64 {
        let variance = self.places.variance(theta);
        self.kernel.log_density(self.places.beta(theta), variance)
    }

    /// In warm-up, after each window, centres the proposals at the window's mean of theta, and makes as many of them as
    /// mean and variance of d over the later half of what was seen ask for. Afterwards nothing changes: the move stays exact.
    fn learn(&mut self, theta: &[f64], permutation: &Permutation, prior: &Prior) {
        let state = &mut self.state;
        if state.num_done >= self.num_warmup {
            return;
        }
        state.sum.resize(theta.len(), 0.0);
        for (sum, value) in state.sum.iter_mut().zip(theta) {
            *sum += value;
        }
        state.num_moved.push(permutation.num_moved());
        let window = self.num_warmup.div_ceil(NUM_WINDOWS);
        if !(state.num_done + 1).is_multiple_of(window) {
            return;
        }
        let later = state.num_moved[state.num_moved.len() / 2..].iter();
        let later = later.map(|&d| d as f64);
        let count = later.len() as f64;
        let mean = later.clone().sum::<f64>() / count;
        let squares: f64 = later.map(|d| (d - mean).powi(2)).sum();
        let proposals = Proposals {
            theta: state.sum.iter().map(|sum| sum / window as f64).collect(),
            mean_num_moved: mean,
            variance_num_moved: squares / count,
            acceptance: state.changes[1] as f64 / state.changes[0].max(1) as f64,
        };
        state.sum.fill(0.0);
        state.changes = [0; 2];
        self.set_proposals(&proposals, prior.space());
        self.state.proposals = Some(proposals);
    }

    fn set_proposals(&mut self, proposals: &Proposals, space: &LinkSpace) {
        let theta = &proposals.theta;
        let (beta, variance) = (self.places.beta(theta), self.places.variance(theta));
        self.kernel.set_reference(beta, variance, space);
        let (mean, variance) = (proposals.mean_num_moved, proposals.variance_num_moved);
        let acceptance = proposals.acceptance;
        self.kernel.set_num_moved(mean, variance, acceptance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::hmc::LogDensity;
    use ndarray::Array2;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use std::collections::BTreeMap;

    const X: [f64; 4] = [-1.3, -0.4, 0.5, 1.6];
    const Y: [f64; 4] = [-0.9, 1.2, 0.1, 1.4];

    /// Normal errors with informative priors: beta ~ Normal(1, 0.5), log sigma2 ~ Normal(-1, 0.7).
    struct Informative(Vec<f64>);

    fn log_prior(theta: &[f64]) -> f64 {
        -0.5 * ((theta[0] - 1.0) / 0.5).powi(2) - 0.5 * ((theta[1] + 1.0) / 0.7).powi(2)
    }

    impl LogDensity for Informative {
        fn dim(&self) -> usize {
            2
        }

        fn log_density_gradient(
            &mut self,
            theta: &[f64],
            gradient: &mut [f64],
        ) -> Result<f64, EvalError> {
            gradient.fill(0.0);
            let residual = |(x, y): (&f64, &f64)| (y - x * theta[0]).powi(2);
            let squares: f64 = X.iter().zip(&self.0).map(residual).sum();
            let log_likelihood = -0.5 * (4.0 * theta[1] + squares / theta[1].exp());
            Ok(log_likelihood + log_prior(theta))
        }
    }

    impl LinkedDensity for Informative {
        fn response(&self) -> &[f64] {
            &self.0
        }

        fn weights(&self) -> &[f64] {
            &[]
        }

        fn weights_mut(&mut self) -> &mut [f64] {
            &mut []
        }

        fn theta_at(&self, position: &[f64], theta: &mut [f64]) {
            theta.copy_from_slice(position);
        }

        fn align(&mut self, permutation: &Permutation, responses: &[f64]) {
            permutation.align(responses, &mut self.0);
        }

        fn position_of(&self, theta: Vec<f64>) -> Vec<f64> {
            theta
        }
    }

    fn permutations() -> Vec<Permutation> {
        let all = (0..256).map(|k| vec![k % 4, k / 4 % 4, k / 16 % 4, k / 64]);
        all.filter_map(|forward| Permutation::from_vec(forward).ok())
            .collect()
    }

    /// An exact draw of (pi, theta): from the surrogate, whose marginal of pi is a table, thinned by the priors of theta.
    fn exact(
        all: &[Permutation],
        prior: &Prior,
        kernel: &mut Collapsed,
        rng: &mut ChaCha8Rng,
    ) -> (Permutation, Vec<f64>) {
        let sxx: f64 = X.iter().map(|x| x * x).sum();
        let syy: f64 = Y.iter().map(|y| y * y).sum();
        let weight = |pi: &Permutation| {
            let sxy: f64 = (0..4).map(|i| Y[i] * X[pi.column_of(i)]).sum();
            // n = 4, D = 1.
            (syy - sxy * sxy / sxx).powf(-1.5) * prior.log_prior(pi).exp()
        };
        let total: f64 = all.iter().map(weight).sum();
        loop {
            let mut left = rng.random::<f64>() * total;
            let found = all.iter().find(|pi| {
                left -= weight(pi);
                left < 0.0
            });
            let pi = found.unwrap_or(&all[0]).clone();
            kernel.start(&pi);
            let mut theta = vec![0.0; 2];
            theta[1] = kernel.draw_theta(&mut theta[..1], rng).ln();
            if rng.random::<f64>() < log_prior(&theta).exp() {
                return (pi, theta);
            }
        }
    }

    /// z of a two-sample chi-square over links and quarters of beta and sigma2: exact draws against exact draws that
    /// made one move. Right moves exceed 4.5 with probability 3e-6.
    fn score(seed: u64, accepts: impl Fn(f64, f64) -> bool + Copy) -> f64 {
        let x = Array2::from_shape_vec((4, 1), X.to_vec()).unwrap();
        let prior = Prior::beta_binomial(4, 1.0, 1.0);
        let kernel = Collapsed::new(x.view(), &Y, 1.0, prior.space()).unwrap();
        let mut sampler = kernel.clone();
        let places = GaussianTheta::new(0..1, 1, 2.0);
        let mut collapsed = CollapsedMove::new(kernel.with_num_proposals(20), places, 0);
        let all = permutations();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let cell = |pi: &Permutation, theta: &[f64]| {
            let bin = |value: f64, cuts: [f64; 3]| cuts.iter().filter(|cut| value > **cut).count();
            let beta = bin(theta[0], [0.5, 0.8, 1.1]);
            (
                pi.as_slice().to_vec(),
                beta,
                bin(theta[1], [-1.2, -0.7, -0.2]),
            )
        };
        let mut counts: BTreeMap<_, [f64; 2]> = BTreeMap::new();
        for _ in 0..40_000 {
            let (pi, theta) = exact(&all, &prior, &mut sampler, &mut rng);
            counts.entry(cell(&pi, &theta)).or_default()[0] += 1.0;
            let (mut pi, mut theta) = exact(&all, &prior, &mut sampler, &mut rng);
            let mut aligned = Y.to_vec();
            pi.align(&Y, &mut aligned);
            let mut target = MovingTarget::new(Informative(aligned));
            let mut state = State::new(theta.clone(), &mut target).unwrap();
            let links = (&mut pi, &prior, &Y[..]);
            collapsed
                .step_with(
                    &mut target,
                    &mut state,
                    links,
                    &mut theta,
                    &mut rng,
                    accepts,
                )
                .unwrap();
            assert_eq!(state.position(), theta);
            counts.entry(cell(&pi, &theta)).or_default()[1] += 1.0;
        }
        let rate = collapsed.accept_rate().unwrap();
        assert!(rate > 0.1, "{rate}");
        let cells = counts.values().filter(|pair| pair[0] + pair[1] >= 10.0);
        let (chi_square, count) = cells.fold((0.0, 0.0), |(sum, count), [a, b]| {
            (sum + (a - b) * (a - b) / (a + b), count + 1.0)
        });
        let degrees: f64 = count - 1.0;
        let spread = 2.0 / (9.0 * degrees);
        ((chi_square / degrees).cbrt() - (1.0 - spread)) / spread.sqrt()
    }

    #[test]
    fn the_move_is_exact_under_informative_priors() {
        let z = score(1, |log_ratio, u| u < log_ratio.exp());
        assert!(z < 4.5, "{z}");
    }

    #[test]
    fn wrong_corrections_are_found() {
        let without = score(2, |_, _| true);
        assert!(without > 8.0, "{without}");
        let upside_down = score(3, |log_ratio, u| u < (-log_ratio).exp());
        assert!(upside_down > 8.0, "{upside_down}");
    }
}
