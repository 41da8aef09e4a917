//! z-tests that allow for autocorrelation, and a chain to feed them.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::sampler::hmc::LogDensity;
use crate::sampler::hmc::warmup::{Adaptation, AdaptationSettings, Trajectory};
use crate::sampler::hmc::{Kernel, MetricKind, MovingTarget, State, StepInfo};

/// A claim about the mean of a stationary series.
pub(crate) struct Check {
    name: String,
    series: Vec<f64>,
    expected: f64,
}

impl Check {
    pub(crate) fn new(name: impl Into<String>, series: Vec<f64>, expected: f64) -> Self {
        Self {
            name: name.into(),
            series,
            expected,
        }
    }

    pub(crate) fn z(&self) -> f64 {
        let (mean, standard_error) = mean_and_error(&self.series);
        (mean - self.expected) / standard_error
    }
}

/// Mean and its standard error by Geyer's (1992) initial monotone sequence.
pub(crate) fn mean_and_error(series: &[f64]) -> (f64, f64) {
    let n = series.len();
    let mean = series.iter().sum::<f64>() / n as f64;
    let centred: Vec<f64> = series.iter().map(|x| x - mean).collect();
    let autocovariance = |lag: usize| {
        let products = centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b);
        products.sum::<f64>() / n as f64
    };
    let mut long_run = -autocovariance(0);
    let mut smallest = f64::INFINITY;
    for lag in (0..n / 2).step_by(2) {
        let pair = autocovariance(lag) + autocovariance(lag + 1);
        if pair <= 0.0 {
            break;
        }
        smallest = pair.min(smallest);
        long_run += 2.0 * smallest;
    }
    // Antithetic chains: a pair sum near zero must not make the error vanish.
    let long_run = long_run.max(0.05 * autocovariance(0));
    (mean, (long_run / n as f64).sqrt())
}

/// Two-sided p-value of a normal z, by the continued fraction of Abramowitz and Stegun 26.2.14.
fn p_value(z: f64) -> f64 {
    let z = z.abs();
    if z < 2.0 {
        // Never near a threshold of this module.
        return 1.0;
    }
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let fraction = (1..=60).rev().fold(z, |tail, k| z + f64::from(k) / tail);
    2.0 * density / fraction
}

/// Names and z-scores of the checks that fail, at this error rate over all of them (Bonferroni).
pub(crate) fn failures(error_rate: f64, checks: &[Check]) -> Vec<(String, f64)> {
    let threshold = error_rate / checks.len() as f64;
    checks
        .iter()
        .map(|check| (check.name.clone(), check.z()))
        .filter(|&(_, z)| z.is_nan() || p_value(z) < threshold)
        .collect()
}

pub(crate) fn assert_all(error_rate: f64, checks: &[Check]) {
    let failed = failures(error_rate, checks);
    assert!(failed.is_empty(), "failed: {failed:?}");
}

/// The same checks must see that the kernel is wrong.
pub(crate) fn assert_rejected(error_rate: f64, checks: &[Check]) {
    assert!(
        !failures(error_rate, checks).is_empty(),
        "the wrong kernel passed"
    );
}

/// One coordinate, or another function of the draws, as a series.
pub(crate) fn series(draws: &[Vec<f64>], value: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    draws.iter().map(|draw| value(draw)).collect()
}

pub(crate) fn settings(metric: MetricKind, trajectory: Trajectory) -> AdaptationSettings {
    AdaptationSettings {
        num_warmup: 1000,
        target_accept: 0.8,
        metric,
        trajectory,
    }
}

/// A chain after its warm-up.
pub(crate) struct Chain<T> {
    pub target: MovingTarget<T>,
    pub kernel: Kernel,
    pub state: State,
    pub rng: ChaCha8Rng,
}

impl<T: LogDensity> Chain<T> {
    pub(crate) fn warmed_up(target: T, settings: AdaptationSettings, seed: u64) -> Self {
        Self::warmed_up_with(target, settings, seed, |_, _, _| {})
    }

    /// `update` is the other Gibbs block: it runs before every transition of the warm-up.
    pub(crate) fn warmed_up_with(
        target: T,
        settings: AdaptationSettings,
        seed: u64,
        mut update: impl FnMut(&mut MovingTarget<T>, &[f64], &mut ChaCha8Rng),
    ) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut target = MovingTarget::new(target);
        let mut state = State::new(vec![0.3; target.dim()], &mut target).unwrap();
        let mut kernel = Kernel::nuts(target.dim(), 10);
        let mut adaptation =
            Adaptation::start(settings, &mut kernel, &mut target, &state, &mut rng).unwrap();
        while adaptation.is_warming_up() {
            update(&mut target, state.position(), &mut rng);
            state.refresh(&mut target).unwrap();
            let info = kernel.step(&mut target, &mut state, &mut rng).unwrap();
            adaptation
                .after_step(&info, &state, &mut kernel, &mut target, &mut rng)
                .unwrap();
        }
        Self {
            target,
            kernel,
            state,
            rng,
        }
    }

    pub(crate) fn step(&mut self) -> StepInfo {
        self.state.refresh(&mut self.target).unwrap();
        self.kernel
            .step(&mut self.target, &mut self.state, &mut self.rng)
            .unwrap()
    }

    pub(crate) fn draws(&mut self, num_draws: usize) -> Vec<Vec<f64>> {
        (0..num_draws)
            .map(|_| {
                self.step();
                self.state.position().to_vec()
            })
            .collect()
    }

    pub(crate) fn infos(&mut self, num_draws: usize) -> Vec<StepInfo> {
        (0..num_draws).map(|_| self.step()).collect()
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use rand_distr::StandardNormal;

    use super::*;

    #[test]
    fn p_values_match_tables() {
        for (z, p) in [
            (2.575_829, 0.01),
            (3.290_527, 0.001),
            (-4.891_638, 1e-6),
            (2.0, 0.045_500),
        ] {
            assert!((p_value(z) / p - 1.0).abs() < 1e-4, "{z}");
        }
    }

    /// AR(1) with coefficient 0.9: the error is sqrt((1 + 0.9) / (1 - 0.9)) times that of iid draws.
    #[test]
    fn standard_errors_allow_for_autocorrelation() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut x = 0.0;
        let series: Vec<f64> = (0..100_000)
            .map(|_| {
                x = 0.9 * x + 0.19_f64.sqrt() * rng.sample::<f64, _>(StandardNormal);
                x
            })
            .collect();
        let (_, error) = mean_and_error(&series);
        let expected = (19.0 / 100_000.0_f64).sqrt();
        assert!((error / expected - 1.0).abs() < 0.1, "{error} {expected}");
    }
}
