//! New responses of the shipped program `hierarchical`: normal errors, and coefficients that differ between groups.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::Prediction;
use super::multivariate::Values;
use crate::data::NewGroups;
use crate::numerics::dot;

/// Responses and expected responses; None where the draws lack a parameter. A group that the fit did not have gets
/// deviations from the law of the groups, one draw of them for each draw of the fit.
pub(super) fn draw(
    prediction: &Prediction,
    groups: &NewGroups,
    rng: &mut impl Rng,
) -> Option<(Values, Values)> {
    let (x, num_columns) = (&prediction.rows.x, groups.z.ncols());
    let (mut responses, mut means) = (Vec::new(), Vec::new());
    for &index in &prediction.draws {
        let (chain, draw) = prediction.fit.place(index);
        let chain = &prediction.fit.chains[chain];
        let value = |name: String| chain.column(&name).map(|column| column[draw]);
        let beta = (1..=x.ncols()).map(|d| value(format!("beta.{d}")));
        let beta: Vec<f64> = beta.collect::<Option<_>>()?;
        let scale = value("sigma2".into())?.sqrt();
        let mut deviations: Vec<Vec<f64>> = (1..=groups.num_fitted)
            .map(|j| {
                let of_group = (1..=num_columns).map(|l| value(format!("u.{l}.{j}")));
                of_group.collect::<Option<Vec<f64>>>()
            })
            .collect::<Option<_>>()?;
        for _ in 0..groups.num_new {
            let z: Vec<f64> = (0..num_columns)
                .map(|_| StandardNormal.sample(rng))
                .collect();
            let deviation = (1..=num_columns).map(|l| {
                let factor = (1..=l).map(|m| value(format!("C.{l}.{m}")));
                let factor: Vec<f64> = factor.collect::<Option<_>>()?;
                Some(value(format!("tau.{l}"))? * dot(&factor, &z[..l]))
            });
            deviations.push(deviation.collect::<Option<_>>()?);
        }
        let rows = x.rows().into_iter().zip(groups.z.rows());
        let expected = rows.zip(&groups.of_row).map(|((x, z), group)| {
            let fixed: f64 = x.iter().zip(&beta).map(|(x, b)| x * b).sum();
            let own: f64 = z.iter().zip(&deviations[*group]).map(|(z, u)| z * u).sum();
            fixed + own
        });
        let mut expected: Vec<f64> = expected.collect();
        let offset = prediction.rows.offset.iter().flatten();
        (expected.iter_mut().zip(offset)).for_each(|(mean, offset)| *mean += offset);
        let drawn = expected.iter().map(|mean| {
            let error: f64 = StandardNormal.sample(rng);
            mean + scale * error
        });
        responses.push(drawn.collect());
        means.push(expected);
    }
    Some((responses, means))
}
