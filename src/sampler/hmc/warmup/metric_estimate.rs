//! The metric, learnt from the gradients at the draws.
//!
//! For a normal target with precision P the gradient is g = -P (q - mu), so that E[g g'] = P; for
//! any smooth target E[g g'] is its mean curvature, -E[Hessian] (Bartlett's identity). That makes
//! M = E[g g'], the inverse of the covariance that Stan uses.
//!
//! - Why not from the draws: they pool over permutations, whose targets sit in different places,
//!   and the pooled covariance overstates the spread of each. A gradient only sees the target that
//!   its draw was made from. Leapfrogs per transition where the other block moves the target: 5
//!   from gradients, 26 from draws, 11 from the geometric mean of both scales (as nuts-rs does).
//! - On targets that stand still the three were alike, up to noise (normals, regressions with 8
//!   and with 100 rows, Student t). In a funnel, whose neck gradients see better than draws do,
//!   diagonal metrics gave 4 times the effective draws that those from draws gave.
//! - Uncentred: E[g] = 0 under each permutation's target by itself, so the mean is not estimated.
//! - Stan shrinks towards 1e-3 I, which depends on the units of the parameters. Here a dense
//!   estimate shrinks towards its own diagonal, and a diagonal one not at all: the result scales
//!   with the parameters, and n draws give each scale to about 1 / sqrt(2 n). The weight must be
//!   tiny: an intercept and an uncentred predictor correlate to 0.99 and more, and a hundredth of
//!   the diagonal already cuts the longest axis to a third.
//! - A dense estimate from n draws has noise, which no diagonal one has: where the target's coordinates do not correlate,
//!   it stretches axes by up to ((1 + r) / (1 - r))^2, r^2 = dim / n (Marchenko and Pastur 1967), and trajectories
//!   take the root of that as many steps more. So where the correlations of the gradients stretch no axis farther than
//!   noise alone would, the diagonal is kept. A step then costs as many operations as there are coordinates.

use serde::{Deserialize, Serialize};

use crate::numerics::{dot, floats, invert};
use crate::sampler::hmc::{Metric, MetricKind};

/// Dense estimates need this many draws for each dimension; below, the diagonal alone is kept.
const DRAWS_PER_DIM: usize = 3;
/// How many draws know as much of correlations as one independent draw: measured with regressions of 7 to 102 coefficients
/// whose gradients do not correlate.
const DRAWS_PER_INDEPENDENT: f64 = 2.0;
/// How much farther than noise correlations must stretch the axes to be believed.
const BEYOND_NOISE: f64 = 1.2;
/// Steps of the power iteration for the longest and the shortest axis.
const POWER_STEPS: usize = 30;
/// Weight, in draws, of the shrinkage of a dense estimate towards its diagonal (Stan's 5 times 1e-3).
const SHRINKAGE_DRAWS: f64 = 5e-3;

/// Running estimate of M = E[g g'], g the gradient of the log density at a draw.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MetricEstimate {
    kind: MetricKind,
    dim: usize,
    num_draws: usize,
    /// Mean of g g': its diagonal, or all of it row by row. Gradients may overflow.
    #[serde(with = "floats")]
    second_moment: Vec<f64>,
}

impl MetricEstimate {
    pub fn new(kind: MetricKind, dim: usize) -> Self {
        let len = match kind {
            MetricKind::Diagonal => dim,
            MetricKind::Dense => dim * dim,
        };
        Self {
            kind,
            dim,
            num_draws: 0,
            second_moment: vec![0.0; len],
        }
    }

    pub fn add(&mut self, gradient: &[f64]) {
        self.num_draws += 1;
        let weight = 1.0 / self.num_draws as f64;
        match self.kind {
            MetricKind::Diagonal => {
                for (mean, g) in self.second_moment.iter_mut().zip(gradient) {
                    *mean += weight * (g * g - *mean);
                }
            }
            MetricKind::Dense => {
                for (row, a) in self.second_moment.chunks_exact_mut(self.dim).zip(gradient) {
                    for (mean, b) in row.iter_mut().zip(gradient) {
                        *mean += weight * (a * b - *mean);
                    }
                }
            }
        }
    }

    /// Starts over, for the next window.
    pub fn clear(&mut self) {
        self.num_draws = 0;
        self.second_moment.fill(0.0);
    }

    pub fn metric(&self) -> Metric {
        let dense = match self.kind {
            MetricKind::Dense if self.num_draws >= DRAWS_PER_DIM * self.dim => self.dense(),
            _ => None,
        };
        dense.unwrap_or_else(|| self.diagonal())
    }

    fn dense(&self) -> Option<Metric> {
        let n = self.num_draws as f64;
        let keep = n / (n + SHRINKAGE_DRAWS);
        let mut mass = self.second_moment.clone();
        for (index, entry) in mass.iter_mut().enumerate() {
            if index % (self.dim + 1) != 0 {
                *entry *= keep;
            }
        }
        let inverse = invert(&mass, self.dim)?;
        let is_stretched = self.stretch(&mass, &inverse) > BEYOND_NOISE * self.stretch_by_noise();
        is_stretched.then(|| Metric::dense(inverse, self.dim))?
    }

    /// The condition number that correlations have which are noise alone. Dense estimates have at least 3 draws for each
    /// dimension, so it is finite.
    fn stretch_by_noise(&self) -> f64 {
        let r = (DRAWS_PER_INDEPENDENT * self.dim as f64 / self.num_draws as f64).sqrt();
        ((1.0 + r) / (1.0 - r)).powi(2)
    }

    /// The condition number of the correlation matrix of `mass`, which has this inverse.
    fn stretch(&self, mass: &[f64], inverse: &[f64]) -> f64 {
        let scale: Vec<f64> = mass
            .iter()
            .step_by(self.dim + 1)
            .map(|m| m.sqrt())
            .collect();
        let largest = |matrix: &[f64], scale: &dyn Fn(usize) -> f64| {
            // Not orthogonal to the wanted direction but by accident.
            let mut direction: Vec<f64> = (0..self.dim)
                .map(|k| 1.0 + 0.5 * (k as f64).sin())
                .collect();
            let mut value = 0.0;
            for _ in 0..POWER_STEPS {
                let scaled = direction.iter().enumerate();
                let scaled: Vec<f64> = scaled.map(|(k, d)| d * scale(k)).collect();
                for (k, (d, row)) in (direction.iter_mut())
                    .zip(matrix.chunks_exact(self.dim))
                    .enumerate()
                {
                    *d = dot(row, &scaled) * scale(k);
                }
                value = dot(&direction, &direction).sqrt();
                direction.iter_mut().for_each(|d| *d /= value);
            }
            value
        };
        largest(mass, &|k| 1.0 / scale[k]) * largest(inverse, &|k| scale[k])
    }

    fn diagonal(&self) -> Metric {
        let stride = match self.kind {
            MetricKind::Diagonal => 1,
            MetricKind::Dense => self.dim + 1,
        };
        let inverse = self.second_moment.iter().step_by(stride).map(|mass| {
            let inverse = 1.0 / mass;
            // A gradient that is always zero (or overflows) says nothing of the scale.
            if inverse.is_finite() && inverse > 0.0 {
                inverse
            } else {
                1.0
            }
        });
        Metric::diagonal(inverse.collect())
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    use super::*;
    use crate::sampler::hmc::MovingTarget;
    use crate::sampler::hmc::tests::support::{Chain, settings};
    use crate::sampler::hmc::tests::targets::Gaussian;
    use crate::sampler::hmc::warmup::Trajectory;
    use crate::sampler::hmc::warmup::dual_averaging::DualAveraging;
    use crate::sampler::hmc::{EvalError, LogDensity};

    #[test]
    fn dense_waits_for_three_draws_a_dimension() {
        let mut estimate = MetricEstimate::new(MetricKind::Dense, 2);
        for draw in 1..=6 {
            let sign = if draw % 2 == 0 { 1.0 } else { -1.0 };
            estimate.add(&[f64::from(draw), f64::from(draw) + 0.01 * sign]);
            let expected = if draw < 6 {
                MetricKind::Diagonal
            } else {
                MetricKind::Dense
            };
            assert_eq!(estimate.metric().kind(), expected);
        }
        estimate.clear();
        assert_eq!(estimate.metric().inverse(), [1.0, 1.0]);
    }

    /// E[g g'] of six gradients by hand, its off-diagonal shrunk by 6 / 6.005.
    #[test]
    fn dense_estimate_shrinks_towards_its_diagonal() {
        let mut estimate = MetricEstimate::new(MetricKind::Dense, 2);
        for _ in 0..3 {
            estimate.add(&[2.0, 1.0]);
            estimate.add(&[2.0, 0.9]);
        }
        let square = (1.0 + 0.81) / 2.0;
        let off = (2.0 + 1.8) / 2.0 * 6.0 / 6.005;
        let determinant = 4.0 * square - off * off;
        let expected = [square, -off, -off, 4.0].map(|x| x / determinant);
        for (found, expected) in estimate.metric().inverse().iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-11);
        }
    }

    /// 20 gradients of different scales, to which `add_correlation` gives correlations; 400 draws.
    fn kind_learnt(add_correlation: impl Fn(&mut [f64], f64)) -> MetricKind {
        let mut rng: ChaCha8Rng = rand::SeedableRng::seed_from_u64(4);
        let mut estimate = MetricEstimate::new(MetricKind::Dense, 20);
        for _ in 0..400 {
            let mut g: Vec<f64> = (0..20).map(|_| rng.sample(StandardNormal)).collect();
            add_correlation(&mut g, rng.sample(StandardNormal));
            g.iter_mut().zip(1..).for_each(|(g, k)| *g *= f64::from(k));
            estimate.add(&g);
        }
        estimate.metric().kind()
    }

    /// Noise is no reason for a dense metric; two gradients that are nearly one, and a part that all share, are.
    #[test]
    fn the_diagonal_is_kept_where_nothing_but_noise_correlates() {
        assert_eq!(kind_learnt(|_, _| ()), MetricKind::Diagonal);
        let pair = |g: &mut [f64], _| g[7] = 0.95 * g[3] + 0.3 * g[7];
        assert_eq!(kind_learnt(pair), MetricKind::Dense);
        let shared = |g: &mut [f64], part: f64| g.iter_mut().for_each(|g| *g += 0.7 * part);
        assert_eq!(kind_learnt(shared), MetricKind::Dense);
    }

    /// An intercept and an uncentred predictor: the longest axis must survive the shrinkage.
    #[test]
    fn near_collinear_coefficients_keep_their_spread() {
        let mut rng: ChaCha8Rng = rand::SeedableRng::seed_from_u64(3);
        let correlation: f64 = 0.999;
        let rest = (1.0 - correlation * correlation).sqrt();
        let mut estimate = MetricEstimate::new(MetricKind::Dense, 2);
        for _ in 0..500 {
            let z: [f64; 2] = [rng.sample(StandardNormal), rng.sample(StandardNormal)];
            // q ~ N(0, C) with unit variances; its gradient is -C^-1 q.
            let q = [z[0], correlation * z[0] + rest * z[1]];
            let determinant = rest * rest;
            estimate.add(&[
                -(q[0] - correlation * q[1]) / determinant,
                -(q[1] - correlation * q[0]) / determinant,
            ]);
        }
        let variance = estimate.metric().inverse()[0];
        assert!((0.7..1.4).contains(&variance), "{variance}");
    }

    #[test]
    fn gradients_without_information_leave_the_scale_alone() {
        for kind in [MetricKind::Diagonal, MetricKind::Dense] {
            let mut estimate = MetricEstimate::new(kind, 2);
            for _ in 0..10 {
                estimate.add(&[0.0, 2.0]);
            }
            assert_eq!(estimate.metric().kind(), MetricKind::Diagonal);
            assert_eq!(estimate.metric().inverse(), [1.0, 0.25]);
        }
    }

    /// Squares of huge gradients are infinite and then no number: a saved estimate has the same ones.
    #[test]
    fn an_overflow_survives_saving() {
        let mut estimate = MetricEstimate::new(MetricKind::Dense, 2);
        estimate.add(&[1e200, 0.3]);
        assert!(estimate.second_moment[0].is_infinite());
        for _ in 0..3 {
            let text = serde_json::to_string(&estimate).unwrap();
            let mut read: MetricEstimate = serde_json::from_str(&text).unwrap();
            for each in [&mut estimate, &mut read] {
                each.add(&[1e200, 0.1]);
            }
            let bits = |e: &MetricEstimate| e.second_moment.iter().map(|m| m.to_bits()).collect();
            let [found, expected]: [Vec<u64>; 2] = [bits(&read), bits(&estimate)];
            assert_eq!(found[3], expected[3]);
            assert!(read.second_moment[0].is_nan() && estimate.second_moment[0].is_nan());
        }
        assert_eq!(estimate.metric().inverse()[0], 1.0);
    }

    /// 500 draws give each entry of a covariance near 1 to about 0.1; five of those as tolerance.
    #[test]
    fn inverse_metric_approximates_the_covariance() {
        let target = Gaussian::autoregressive(4, 0.6);
        let chain = Chain::warmed_up(target, settings(MetricKind::Dense, Trajectory::Nuts), 1);
        for (index, found) in chain.kernel.metric().inverse().iter().enumerate() {
            let expected = 0.6_f64.powi((index / 4).abs_diff(index % 4) as i32);
            assert!((found - expected).abs() < 0.5, "{index}: {found}");
        }
    }

    /// x ~ N(centre, I), where the other block draws centre_i ~ N(0, spread_i^2) given x.
    struct Pooled {
        centre: Vec<f64>,
    }

    const SPREAD: [f64; 8] = [10.0, 10.0, 10.0, 0.1, 0.1, 0.1, 0.1, 0.1];

    impl LogDensity for Pooled {
        fn dim(&self) -> usize {
            SPREAD.len()
        }

        fn log_density_gradient(
            &mut self,
            x: &[f64],
            gradient: &mut [f64],
        ) -> Result<f64, EvalError> {
            for ((g, centre), x) in gradient.iter_mut().zip(&self.centre).zip(x) {
                *g = centre - x;
            }
            Ok(-0.5 * gradient.iter().map(|g| g * g).sum::<f64>())
        }
    }

    fn move_centre(target: &mut MovingTarget<Pooled>, x: &[f64], rng: &mut ChaCha8Rng) {
        for ((centre, x), spread) in target.change().centre.iter_mut().zip(x).zip(SPREAD) {
            let share = spread * spread / (1.0 + spread * spread);
            *centre = share * x + share.sqrt() * rng.sample::<f64, _>(StandardNormal);
        }
    }

    /// One Gibbs iteration: returns the leapfrogs and the acceptance of its HMC step.
    fn iterate(chain: &mut Chain<Pooled>) -> (u32, f64) {
        move_centre(&mut chain.target, chain.state.position(), &mut chain.rng);
        let info = chain.step();
        (info.num_leapfrog, info.accept_stat)
    }

    fn leapfrogs_per_step(chain: &mut Chain<Pooled>) -> f64 {
        (0..500).map(|_| f64::from(iterate(chain).0)).sum::<f64>() / 500.0
    }

    /// A metric from the variances of the draws, as Stan's, costs at least twice the gradients.
    #[test]
    fn gradients_see_the_scale_of_a_target_that_moves() {
        let target = Pooled {
            centre: vec![0.0; SPREAD.len()],
        };
        let settings = settings(MetricKind::Diagonal, Trajectory::Nuts);
        let mut chain = Chain::warmed_up_with(target, settings, 2, move_centre);
        let by_gradients = leapfrogs_per_step(&mut chain);

        let mut variance = MetricEstimate::new(MetricKind::Diagonal, SPREAD.len());
        for _ in 0..2000 {
            iterate(&mut chain);
            variance.add(chain.state.position());
        }
        let draw_metric = Metric::diagonal(variance.second_moment);
        chain.kernel.set_metric(draw_metric);
        let mut averaging = DualAveraging::new(0.8, chain.kernel.step_size());
        for _ in 0..500 {
            let (_, accept_stat) = iterate(&mut chain);
            chain.kernel.set_step_size(averaging.update(accept_stat));
        }
        chain.kernel.set_step_size(averaging.averaged());
        let by_draws = leapfrogs_per_step(&mut chain);
        assert!(
            by_draws > 2.0 * by_gradients,
            "{by_draws} against {by_gradients}"
        );
    }
}
