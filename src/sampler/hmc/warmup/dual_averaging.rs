//! Step size by dual averaging: Hoffman and Gelman (2014), section 3.2, with Stan's constants.

use serde::{Deserialize, Serialize};

/// Pull of the iterates towards `mu`.
const GAMMA: f64 = 0.05;
/// Damps the first iterations.
const T0: f64 = 10.0;
/// Decay of the weight of new iterates in the average.
const KAPPA: f64 = 0.75;

/// Beyond these, the target is flat or never accepts, and step sizes would leave the floats.
const STEP_SIZES: [f64; 2] = [1e-300, 1e7];

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DualAveraging {
    target_accept: f64,
    /// log(10 eps): large steps are cheap to try, small ones are not.
    mu: f64,
    num_updates: u32,
    /// H-bar of the paper: mean of `target_accept` minus acceptance.
    mean_error: f64,
    /// log of the averaged step size.
    log_averaged: f64,
}

impl DualAveraging {
    pub fn new(target_accept: f64, initial_step_size: f64) -> Self {
        assert!(
            target_accept > 0.0 && target_accept < 1.0,
            "target_accept must lie between 0 and 1"
        );
        Self {
            target_accept,
            mu: (10.0 * initial_step_size).ln(),
            num_updates: 0,
            mean_error: 0.0,
            log_averaged: initial_step_size.ln(),
        }
    }

    /// Learns from one transition; returns the step size to try next (eq. 6).
    pub fn update(&mut self, accept_stat: f64) -> f64 {
        self.num_updates += 1;
        let t = f64::from(self.num_updates);
        let weight = 1.0 / (t + T0);
        self.mean_error =
            (1.0 - weight) * self.mean_error + weight * (self.target_accept - accept_stat.min(1.0));
        let log_step_size = self.mu - self.mean_error * t.sqrt() / GAMMA;
        // The first weight is 1, so the initial value drops out.
        let weight = t.powf(-KAPPA);
        self.log_averaged = weight * log_step_size + (1.0 - weight) * self.log_averaged;
        bounded(log_step_size)
    }

    /// The step size to keep; without any update, the initial one.
    pub fn averaged(&self) -> f64 {
        bounded(self.log_averaged)
    }
}

fn bounded(log_step_size: f64) -> f64 {
    log_step_size.exp().clamp(STEP_SIZES[0], STEP_SIZES[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand from Stan's stepsize_adaptation.hpp for two updates.
    #[test]
    fn first_updates_match_stan() {
        let mut averaging = DualAveraging::new(0.8, 0.1);
        let first = averaging.update(1.0);
        let expected = (0.2 / 11.0 / 0.05_f64).exp();
        assert!((first - expected).abs() < 1e-12);
        assert!((averaging.averaged() - expected).abs() < 1e-12);

        let second = averaging.update(0.5);
        let mean_error = (11.0 / 12.0) * (-0.2 / 11.0) + 0.3 / 12.0;
        let log_second = -mean_error * 2.0_f64.sqrt() / 0.05;
        assert!((second - log_second.exp()).abs() < 1e-12);
        let weight = 2.0_f64.powf(-0.75);
        let log_averaged = weight * log_second + (1.0 - weight) * (0.2 / 11.0 / 0.05);
        assert!((averaging.averaged() - log_averaged.exp()).abs() < 1e-12);
    }

    #[test]
    fn without_updates_the_initial_step_size_stays() {
        assert!((DualAveraging::new(0.8, 0.3).averaged() - 0.3).abs() < 1e-15);
    }

    #[test]
    fn hopeless_targets_keep_the_step_size_usable() {
        for accept_stat in [0.0, 1.0] {
            let mut averaging = DualAveraging::new(0.8, 1.0);
            for _ in 0..100_000 {
                let step_size = averaging.update(accept_stat);
                assert!(step_size > 0.0 && step_size.is_finite());
            }
            assert!(averaging.averaged() > 0.0 && averaging.averaged().is_finite());
        }
    }

    /// Acceptance exp(-eps^2) has 0.8 at sqrt(-ln 0.8): the root must be found.
    #[test]
    fn finds_the_step_size_of_a_known_acceptance() {
        let mut averaging = DualAveraging::new(0.8, 3.0);
        let mut step_size = 3.0_f64;
        for _ in 0..2000 {
            step_size = averaging.update((-step_size * step_size).exp());
        }
        let root = (-0.8_f64.ln()).sqrt();
        assert!((averaging.averaged() - root).abs() < 0.01);
    }
}
