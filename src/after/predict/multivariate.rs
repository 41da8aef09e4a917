//! New responses of the shipped program `multivariate`: several at once, with correlated normal errors.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::Prediction;
use crate::posterior::Posterior;

/// The names of the responses, if the fit is of that program.
pub(super) fn response_names(fit: &Posterior) -> Option<Vec<String>> {
    let shipped = fit.config.model.stan.shipped()?;
    let names = fit.data.as_ref()?.response_names.clone()?;
    (shipped.name == "multivariate").then_some(names)
}

/// One list for each draw, in each one number for each row and response.
pub(super) type Values = Vec<Vec<f64>>;

/// Responses and expected responses; None where the draws lack a parameter.
pub(super) fn draw(
    prediction: &Prediction,
    num_responses: usize,
    rng: &mut impl Rng,
) -> Option<(Values, Values)> {
    let x = &prediction.rows.x;
    let (mut responses, mut means) = (Vec::new(), Vec::new());
    for &index in &prediction.draws {
        let (chain, draw) = prediction.fit.place(index);
        let chain = &prediction.fit.chains[chain];
        let value = |name: String| chain.column(&name).map(|column| column[draw]);
        let mut expected = Vec::with_capacity(x.nrows() * num_responses);
        let mut drawn = Vec::with_capacity(expected.capacity());
        let mut beta = Vec::new();
        for k in 1..=num_responses {
            let of_response = (1..=x.ncols()).map(|d| value(format!("beta.{d}.{k}")));
            beta.push(of_response.collect::<Option<Vec<f64>>>()?);
        }
        let factor = factor(num_responses, value)?;
        for row in x.rows() {
            let z: Vec<f64> = (0..num_responses)
                .map(|_| StandardNormal.sample(rng))
                .collect();
            for (beta, factor) in beta.iter().zip(&factor) {
                let mean: f64 = row.iter().zip(beta).map(|(x, b)| x * b).sum();
                let error: f64 = factor.iter().zip(&z).map(|(l, z)| l * z).sum();
                expected.push(mean);
                drawn.push(mean + error);
            }
        }
        responses.push(drawn);
        means.push(expected);
    }
    Some((responses, means))
}

/// The lower triangle S of the covariance S S' of the errors.
fn factor(num_responses: usize, value: impl Fn(String) -> Option<f64>) -> Option<Vec<Vec<f64>>> {
    let row = |k: usize| {
        let scale = value(format!("sigma2.{k}"))?.sqrt();
        let entries = (1..=k).map(|j| Some(scale * value(format!("L.{k}.{j}"))?));
        entries.collect()
    };
    (1..=num_responses).map(row).collect()
}
