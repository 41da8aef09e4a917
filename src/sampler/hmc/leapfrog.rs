//! Points in phase space, and the leapfrog step that moves them.

use rand::Rng;

use super::metric::Metric;
use super::state::State;
use super::target::MovingTarget;
use crate::numerics::dot;
use crate::sampler::hmc::{EvalError, LogDensity};

/// Stan's max_deltaH: the trajectory has left the level set of H for good.
pub(super) const MAX_ENERGY_ERROR: f64 = 1000.0;

/// What a kernel moves with: both parts are set from outside.
#[derive(Debug)]
pub(super) struct Dynamics {
    pub metric: Metric,
    pub step_size: f64,
}

/// (q, p) with everything a leapfrog step needs to go on from there.
#[derive(Debug)]
pub(super) struct PhasePoint {
    pub position: Vec<f64>,
    pub momentum: Vec<f64>,
    pub velocity: Vec<f64>,
    pub gradient: Vec<f64>,
    pub log_density: f64,
}

impl PhasePoint {
    pub fn new(dim: usize) -> Self {
        Self {
            position: vec![0.0; dim],
            momentum: vec![0.0; dim],
            velocity: vec![0.0; dim],
            gradient: vec![0.0; dim],
            log_density: f64::NEG_INFINITY,
        }
    }

    /// Puts the point at `state` with a fresh momentum; returns its energy.
    pub fn start<R: Rng + ?Sized>(&mut self, state: &State, metric: &Metric, rng: &mut R) -> f64 {
        self.position.copy_from_slice(&state.position);
        self.gradient.copy_from_slice(&state.gradient);
        self.log_density = state.log_density;
        metric.draw_momentum(&mut self.momentum, rng);
        metric.velocity(&self.momentum, &mut self.velocity);
        self.energy()
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.position.copy_from_slice(&other.position);
        self.momentum.copy_from_slice(&other.momentum);
        self.velocity.copy_from_slice(&other.velocity);
        self.gradient.copy_from_slice(&other.gradient);
        self.log_density = other.log_density;
    }

    /// H(q, p), and infinity where it is not a number: such a point is never chosen.
    fn energy(&self) -> f64 {
        let energy = -self.log_density + 0.5 * dot(&self.momentum, &self.velocity);
        if energy.is_nan() {
            f64::INFINITY
        } else {
            energy
        }
    }

    /// One leapfrog step (Neal 2011, eq. 5.18-5.20) over `time`, negative to go back.
    ///
    /// Returns the energy at the new point, infinite where the target rejected it.
    pub fn leapfrog<T: LogDensity>(
        &mut self,
        time: f64,
        metric: &Metric,
        target: &mut MovingTarget<T>,
    ) -> Result<f64, EvalError> {
        add_scaled(&mut self.momentum, 0.5 * time, &self.gradient);
        metric.velocity(&self.momentum, &mut self.velocity);
        add_scaled(&mut self.position, time, &self.velocity);
        self.log_density = target.evaluate(&self.position, &mut self.gradient)?;
        if self.log_density == f64::NEG_INFINITY {
            return Ok(f64::INFINITY);
        }
        add_scaled(&mut self.momentum, 0.5 * time, &self.gradient);
        metric.velocity(&self.momentum, &mut self.velocity);
        Ok(self.energy())
    }
}

fn add_scaled(sum: &mut [f64], scale: f64, term: &[f64]) {
    for (sum, term) in sum.iter_mut().zip(term) {
        *sum += scale * term;
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::sampler::hmc::tests::targets::{Funnel, Gaussian};

    fn start<T: LogDensity>(
        target: &mut MovingTarget<T>,
        metric: &Metric,
        seed: u64,
    ) -> (PhasePoint, f64) {
        let state = State::new(vec![0.4; target.dim()], target).unwrap();
        let mut point = PhasePoint::new(target.dim());
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let energy = point.start(&state, metric, &mut rng);
        (point, energy)
    }

    fn correlated_metric() -> Metric {
        Metric::dense(vec![1.0, 0.3, 0.0, 0.3, 0.5, 0.1, 0.0, 0.1, 2.0], 3).unwrap()
    }

    #[test]
    fn going_back_returns_to_the_start() {
        let mut target = MovingTarget::new(Funnel { dim: 3 });
        for metric in [Metric::unit(3), correlated_metric()] {
            let (mut point, _) = start(&mut target, &metric, 1);
            let (origin, _) = start(&mut target, &metric, 1);
            for time in [0.1, -0.1] {
                for _ in 0..50 {
                    point.leapfrog(time, &metric, &mut target).unwrap();
                }
            }
            for (end, begin) in point.position.iter().zip(&origin.position) {
                assert!((end - begin).abs() < 1e-10);
            }
            for (end, begin) in point.momentum.iter().zip(&origin.momentum) {
                assert!((end - begin).abs() < 1e-10);
            }
        }
    }

    /// The largest energy error over a fixed time is O(eps^2): half the step, a quarter of the error.
    #[test]
    fn energy_error_is_quadratic_in_the_step_size() {
        let mut target = MovingTarget::new(Gaussian::autoregressive(3, 0.5));
        let metric = correlated_metric();
        let mut worst_error = |num_steps: u32| {
            let (mut point, initial) = start(&mut target, &metric, 2);
            let time = 2.0 / f64::from(num_steps);
            (0..num_steps)
                .map(|_| {
                    let energy = point.leapfrog(time, &metric, &mut target).unwrap();
                    (energy - initial).abs()
                })
                .fold(0.0, f64::max)
        };
        for num_steps in [32, 64, 128] {
            let ratio = worst_error(num_steps) / worst_error(2 * num_steps);
            assert!((3.8..4.2).contains(&ratio), "ratio {ratio}");
        }
    }
}
