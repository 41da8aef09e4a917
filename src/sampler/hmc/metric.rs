//! The metric: how momenta are drawn and how they move the position.

use rand::Rng;
use rand_distr::StandardNormal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::numerics::cholesky::{factor, solve_transposed};
use crate::numerics::dot;

/// Which entries of the inverse mass matrix are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Metric")]
pub enum MetricKind {
    /// A full mass matrix: learns correlations between parameters, where gradients show more of them than noise.
    #[default]
    Dense,
    /// One scale for each parameter: for many parameters.
    Diagonal,
}

/// An inverse mass matrix M^-1, in Stan's convention: it approximates the covariance of the target.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Metric(Form);

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Diagonal {
        inverse: Vec<f64>,
    },
    Dense {
        dim: usize,
        /// M^-1, row by row.
        inverse: Vec<f64>,
        /// L with M^-1 = L L', so that p = L'^-1 z has covariance M.
        lower: Vec<f64>,
    },
}

impl Metric {
    /// M = I, where sampling starts before anything is known.
    pub fn unit(dim: usize) -> Self {
        Self::diagonal(vec![1.0; dim])
    }

    /// A diagonal metric from the diagonal of M^-1.
    ///
    /// # Panics
    /// Where an entry is not positive and finite.
    pub fn diagonal(inverse: Vec<f64>) -> Self {
        let usable = inverse.iter().all(|&x| x.is_finite() && x > 0.0);
        assert!(
            usable,
            "a diagonal inverse metric must be positive and finite"
        );
        Self(Form::Diagonal { inverse })
    }

    /// A dense metric from M^-1 row by row; `None` where that is not positive definite.
    pub fn dense(inverse: Vec<f64>, dim: usize) -> Option<Self> {
        let lower = factor(&inverse, dim)?;
        Some(Self(Form::Dense {
            dim,
            inverse,
            lower,
        }))
    }

    /// Whether the matrix is diagonal or dense.
    pub fn kind(&self) -> MetricKind {
        match self.0 {
            Form::Diagonal { .. } => MetricKind::Diagonal,
            Form::Dense { .. } => MetricKind::Dense,
        }
    }

    /// The number of unconstrained parameters.
    pub fn dim(&self) -> usize {
        match &self.0 {
            Form::Diagonal { inverse } => inverse.len(),
            Form::Dense { dim, .. } => *dim,
        }
    }

    /// M^-1: its diagonal, or all of it row by row, as CmdStan writes it.
    pub fn inverse(&self) -> &[f64] {
        match &self.0 {
            Form::Diagonal { inverse } | Form::Dense { inverse, .. } => inverse,
        }
    }

    /// Draws p ~ N(0, M).
    pub(super) fn draw_momentum<R: Rng + ?Sized>(&self, momentum: &mut [f64], rng: &mut R) {
        momentum.fill_with(|| rng.sample(StandardNormal));
        match &self.0 {
            Form::Diagonal { inverse } => {
                for (p, inverse) in momentum.iter_mut().zip(inverse) {
                    *p /= inverse.sqrt();
                }
            }
            Form::Dense { lower, .. } => solve_transposed(lower, momentum),
        }
    }

    /// Writes v = M^-1 p.
    pub(super) fn velocity(&self, momentum: &[f64], velocity: &mut [f64]) {
        match &self.0 {
            Form::Diagonal { inverse } => {
                for ((v, p), inverse) in velocity.iter_mut().zip(momentum).zip(inverse) {
                    *v = inverse * p;
                }
            }
            Form::Dense { dim, inverse, .. } => {
                for (v, row) in velocity.iter_mut().zip(inverse.chunks_exact(*dim)) {
                    *v = dot(row, momentum);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::sampler::hmc::tests::support::{Check, assert_all};

    /// Error rate 1e-3: E[v v'] must be M^-1 when p ~ N(0, M) and v = M^-1 p.
    #[test]
    fn velocities_of_drawn_momenta_have_the_inverse_mass_as_covariance() {
        let inverse = [2.0, 0.9, 0.9, 0.5];
        let dense = Metric::dense(inverse.to_vec(), 2).unwrap();
        let diagonal = Metric::diagonal(vec![2.0, 0.5]);
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut checks = Vec::new();
        for (metric, covariance) in [(dense, 0.9), (diagonal, 0.0)] {
            let mut momentum = [0.0; 2];
            let mut velocity = [0.0; 2];
            let products: Vec<[f64; 3]> = (0..20_000)
                .map(|_| {
                    metric.draw_momentum(&mut momentum, &mut rng);
                    metric.velocity(&momentum, &mut velocity);
                    let [a, b] = velocity;
                    [a * a, a * b, b * b]
                })
                .collect();
            for (index, expected) in [2.0, covariance, 0.5].into_iter().enumerate() {
                let series = products.iter().map(|product| product[index]).collect();
                checks.push(Check::new(
                    format!("{:?} {index}", metric.kind()),
                    series,
                    expected,
                ));
            }
        }
        assert_all(1e-3, &checks);
    }

    #[test]
    fn an_indefinite_inverse_makes_no_metric() {
        assert!(Metric::dense(vec![1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
