//! Finds the coefficients and the error scale of a linear regression in the theta of a program.

use super::{Block, ModelError, Outputs, StanModel};
use crate::numerics::rng::DrawSeeds;
use crate::sampler::chain::GaussianTheta;

/// Where beta and the error scale stand in the theta of a program; None where they are no parameters of it, or have other
/// transforms.
pub fn gaussian_theta(
    model: &StanModel,
    num_columns: usize,
    response: &[f64],
) -> Result<Option<GaussianTheta>, ModelError> {
    if model.shape().num_responses() != 1 {
        return Ok(None);
    }
    let beta = model.plain_block("beta")?;
    let Some(beta) = beta.filter(|block| block.len() == num_columns) else {
        return Ok(None);
    };
    let place_of = |name: &str| model.theta_names().iter().position(|known| known == name);
    let (name, scale, power) = match (place_of("sigma"), place_of("sigma2")) {
        (Some(scale), None) => ("sigma", scale, 1.0),
        (None, Some(scale)) => ("sigma2", scale, 2.0),
        _ => return Ok(None),
    };
    let Some((place, Block::Parameters)) = model.index_of(name) else {
        return Ok(None);
    };
    // Parameters are not generated: these seeds are never used.
    let mut outputs = Outputs::new(model, DrawSeeds::new(0, 0))?;
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
