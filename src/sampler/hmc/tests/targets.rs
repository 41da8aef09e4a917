//! Log densities with known answers.

use crate::sampler::hmc::{EvalError, LogDensity};

/// A normal target with a dense precision matrix.
pub(crate) struct Gaussian {
    mean: Vec<f64>,
    precision: Vec<f64>,
}

impl Gaussian {
    pub(crate) fn independent(mean: &[f64], sd: &[f64]) -> Self {
        let dim = mean.len();
        let mut precision = vec![0.0; dim * dim];
        for (i, sd) in sd.iter().enumerate() {
            precision[i * dim + i] = 1.0 / (sd * sd);
        }
        Self {
            mean: mean.to_vec(),
            precision,
        }
    }

    /// Means 0, 1, 2, ...; variances 1 and correlations rho^|i - j|, whose precision has three bands.
    pub(crate) fn autoregressive(dim: usize, rho: f64) -> Self {
        let mut precision = vec![0.0; dim * dim];
        let scale = 1.0 / (1.0 - rho * rho);
        for i in 0..dim {
            let interior = i > 0 && i + 1 < dim;
            precision[i * dim + i] = if interior {
                scale * (1.0 + rho * rho)
            } else {
                scale
            };
            if i > 0 {
                precision[i * dim + i - 1] = -scale * rho;
                precision[(i - 1) * dim + i] = -scale * rho;
            }
        }
        Self {
            mean: (0..dim).map(|i| i as f64).collect(),
            precision,
        }
    }
}

impl LogDensity for Gaussian {
    fn dim(&self) -> usize {
        self.mean.len()
    }

    fn log_density_gradient(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
        let dim = self.dim();
        let mut log_density = 0.0;
        for i in 0..dim {
            let row = &self.precision[i * dim..(i + 1) * dim];
            gradient[i] = -(0..dim)
                .map(|j| row[j] * (q[j] - self.mean[j]))
                .sum::<f64>();
            log_density += 0.5 * gradient[i] * (q[i] - self.mean[i]);
        }
        Ok(log_density)
    }
}

/// Neal's (2003) funnel, moderate: v = q[0] ~ N(0, 1.5^2) and the others N(0, e^v) given v.
pub(crate) struct Funnel {
    pub dim: usize,
}

impl LogDensity for Funnel {
    fn dim(&self) -> usize {
        self.dim
    }

    fn log_density_gradient(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
        let precision = (-q[0]).exp();
        let num_x = (self.dim - 1) as f64;
        let squares: f64 = q[1..].iter().map(|x| x * x).sum();
        gradient[0] = -q[0] / 2.25 - 0.5 * num_x + 0.5 * precision * squares;
        for (g, x) in gradient[1..].iter_mut().zip(&q[1..]) {
            *g = -precision * x;
        }
        Ok(-q[0] * q[0] / 4.5 - 0.5 * num_x * q[0] - 0.5 * precision * squares)
    }
}

/// A target given by a function of position and gradient.
pub(crate) struct FromFn<F> {
    dim: usize,
    function: F,
}

impl<F> FromFn<F>
where
    F: FnMut(&[f64], &mut [f64]) -> Result<f64, EvalError>,
{
    pub(crate) fn new(dim: usize, function: F) -> Self {
        Self { dim, function }
    }
}

impl<F> LogDensity for FromFn<F>
where
    F: FnMut(&[f64], &mut [f64]) -> Result<f64, EvalError>,
{
    fn dim(&self) -> usize {
        self.dim
    }

    fn log_density_gradient(&mut self, q: &[f64], gradient: &mut [f64]) -> Result<f64, EvalError> {
        (self.function)(q, gradient)
    }
}

/// log(s) for s ~ Gamma(shape, 1), with or without the Jacobian s of the transform.
pub(crate) fn log_gamma(shape: f64, jacobian: bool) -> impl LogDensity {
    let power = if jacobian { shape } else { shape - 1.0 };
    FromFn::new(1, move |q, gradient| {
        gradient[0] = power - q[0].exp();
        Ok(power * q[0] - q[0].exp())
    })
}
