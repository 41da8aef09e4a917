//! Programs whose theta is the coefficients and the error scale of a linear regression, and nothing else.

use std::ops::Range;

use super::{Block, ModelError, Outputs, StanModel};

/// Where beta and the error scale stand in theta.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianTheta {
    beta: Range<usize>,
    scale: usize,
    /// Theta holds log sigma times this: 1 for a parameter `sigma`, 2 for `sigma2`.
    power: f64,
}

impl GaussianTheta {
    /// None where theta has other parts, or parts with other transforms.
    pub fn of(
        model: &StanModel,
        num_columns: usize,
        outputs: &mut Outputs,
        response: &[f64],
    ) -> Result<Option<GaussianTheta>, ModelError> {
        if model.dim() != num_columns + 1 || model.shape().num_responses() != 1 {
            return Ok(None);
        }
        let beta = model.plain_block("beta")?;
        let Some(beta) = beta.filter(|block| block.len() == num_columns) else {
            return Ok(None);
        };
        let scale = if beta.start == 0 { num_columns } else { 0 };
        let name = model.theta_names()[scale].clone();
        let power = match name.as_str() {
            "sigma" => 1.0,
            "sigma2" => 2.0,
            _ => return Ok(None),
        };
        let Some((place, Block::Parameters)) = model.index_of(&name) else {
            return Ok(None);
        };
        // A lower bound of 0 alone has this transform; it is tried at three points.
        for log_value in [-3.7f64, 0.2, 2.9] {
            let mut theta = vec![0.1; model.dim()];
            theta[scale] = log_value;
            let value = outputs.evaluate(&theta, response, Block::Parameters)?[place.start];
            if (value / log_value.exp() - 1.0).abs() > 1e-12 {
                return Ok(None);
            }
        }
        Ok(Some(GaussianTheta { beta, scale, power }))
    }

    #[cfg(test)]
    pub(crate) fn at(beta: Range<usize>, scale: usize, power: f64) -> GaussianTheta {
        GaussianTheta { beta, scale, power }
    }

    pub fn beta<'t>(&self, theta: &'t [f64]) -> &'t [f64] {
        &theta[self.beta.clone()]
    }

    pub fn beta_mut<'t>(&self, theta: &'t mut [f64]) -> &'t mut [f64] {
        &mut theta[self.beta.clone()]
    }

    /// sigma squared.
    pub fn variance(&self, theta: &[f64]) -> f64 {
        (2.0 / self.power * theta[self.scale]).exp()
    }

    pub fn set_variance(&self, variance: f64, theta: &mut [f64]) {
        theta[self.scale] = 0.5 * self.power * variance.ln();
    }
}
