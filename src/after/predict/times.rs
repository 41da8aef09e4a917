//! New times of the shipped programs `weibull_survival` and `log_normal_survival`: when the event comes, not censored.

use rand::Rng;
use rand_distr::{Distribution, Open01, StandardNormal};

use super::Prediction;
use super::multivariate::Values;
use crate::numerics::log_gamma;

/// The law of a time given its row of predictors, at one draw of the parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TimeLaw {
    /// exp(x'beta) is the time by which the event has come with probability 1 - 1/e.
    Weibull { shape: f64 },
    /// exp(x'beta) is the median.
    LogNormal { sigma: f64 },
}

impl TimeLaw {
    fn mean(self, linear: f64) -> f64 {
        match self {
            TimeLaw::Weibull { shape } => (linear + log_gamma(1.0 + 1.0 / shape)).exp(),
            TimeLaw::LogNormal { sigma } => (linear + 0.5 * sigma * sigma).exp(),
        }
    }

    fn draw(self, linear: f64, rng: &mut impl Rng) -> f64 {
        match self {
            TimeLaw::Weibull { shape } => {
                let survival: f64 = Open01.sample(rng);
                (linear + (-survival.ln()).ln() / shape).exp()
            }
            TimeLaw::LogNormal { sigma } => {
                let z: f64 = StandardNormal.sample(rng);
                (linear + sigma * z).exp()
            }
        }
    }
}

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
        let linear: Vec<f64> = linear.collect();
        responses.push(linear.iter().map(|&linear| law.draw(linear, rng)).collect());
        means.push(linear.iter().map(|&linear| law.mean(linear)).collect());
    }
    Some((responses, means))
}
