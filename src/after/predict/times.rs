//! New times of the shipped programs `weibull_survival` and `log_normal_survival`: when the event comes, not censored.

use rand::Rng;

use super::Prediction;
use super::multivariate::Values;
use crate::model::TimeLaw;

/// Times and expected times; None where the draws lack a parameter or the program is another one.
pub(super) fn draw(prediction: &Prediction, rng: &mut impl Rng) -> Option<(Values, Values)> {
    let program = prediction.fit.config.model.stan.shipped()?.name;
    let x = &prediction.rows.x;
    let (mut responses, mut means) = (Vec::new(), Vec::new());
    for &index in &prediction.draws {
        let (chain, draw) = prediction.fit.place(index);
        let chain = &prediction.fit.chains[chain];
        let value = |name: &str| chain.column(name).map(|column| column[draw]);
        let law = match program {
            "weibull_survival" => TimeLaw::Weibull {
                shape: value("shape")?,
            },
            "log_normal_survival" => TimeLaw::LogNormal {
                sigma: value("sigma")?,
            },
            _ => return None,
        };
        let beta = (1..=x.ncols()).map(|d| value(&format!("beta.{d}")));
        let beta: Vec<f64> = beta.collect::<Option<_>>()?;
        let linear = x.rows().into_iter().map(|row| {
            let terms = row.iter().zip(&beta);
            terms.map(|(x, b)| x * b).sum::<f64>()
        });
        let mut linear: Vec<f64> = linear.collect();
        let offset = prediction.rows.offset.iter().flatten();
        (linear.iter_mut().zip(offset)).for_each(|(linear, offset)| *linear += offset);
        responses.push(linear.iter().map(|&linear| law.draw(linear, rng)).collect());
        means.push(linear.iter().map(|&linear| law.mean(linear)).collect());
    }
    Some((responses, means))
}
