//! Finds programs whose theta is the coefficients and the error scale of a linear regression, and nothing else.

use super::{Block, ModelError, Outputs, StanModel};
use crate::sampler::chain::GaussianTheta;

/// Where beta and the error scale stand in the theta of a program; None where theta has other parts, or parts with other transforms.
pub fn gaussian_theta(
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
    Ok(Some(GaussianTheta::new(beta, scale, power)))
}
