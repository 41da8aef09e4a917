//! The law of a response at the predictors of each row, at the posterior means of the parameters.

use crate::config::{Family, ResponseKind};
use crate::model::Law;
use crate::posterior::{Posterior, Row};

/// The laws of the responses at all rows.
pub struct MeanLaws {
    family: Family,
    scale: f64,
    /// x'beta of each row.
    linear: Vec<f64>,
}

impl MeanLaws {
    /// None where only the program knows its likelihood, or where it needs more than the saved files have.
    pub fn new(fit: &Posterior) -> Option<MeanLaws> {
        let family = fit.config.model.family();
        // The spread of `robust` needs the predictors, and several responses more than one fitted value.
        let is_known = !matches!(family, Family::Stan | Family::Robust { .. });
        let names = fit
            .data
            .as_ref()
            .and_then(|data| data.response_names.as_ref());
        (is_known && names.is_none()).then_some(())?;
        let mean = |name: &str| fit.quantity(name)?.mean;
        let family = match family {
            // The program estimates the parameter of these.
            Family::NegativeBinomial { .. } | Family::Gamma { .. } => {
                let parameter = family.facts().parameter?;
                family.with_parameter(mean(parameter.name)?)
            }
            other => other,
        };
        let scale = match family.facts().is_additive {
            true => mean("sigma2").map(f64::sqrt).or_else(|| mean("sigma"))?,
            false => 1.0,
        };
        let linear = |row: &Row| Some(linear_of(family.response_kind(), row.fitted?[0]));
        Some(MeanLaws {
            family,
            scale,
            linear: fit.rows.iter().map(linear).collect::<Option<_>>()?,
        })
    }

    /// The law of a response at the predictors of `row`.
    pub fn at(&self, row: usize) -> Law {
        self.family.at(self.linear[row], self.scale)
    }

    /// The likelihood of the responses.
    pub fn family(&self) -> Family {
        self.family
    }
}

/// x'beta of a row whose fitted value is `mean`: the inverse of `ResponseKind::mean`.
fn linear_of(kind: ResponseKind, mean: f64) -> f64 {
    match kind {
        ResponseKind::Real => mean,
        ResponseKind::Count | ResponseKind::Positive => mean.ln(),
        ResponseKind::ZeroOne => (mean / (1.0 - mean)).ln(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitted_values_are_turned_back() {
        use ResponseKind::{Count, Positive, Real, ZeroOne};
        for kind in [Real, Count, Positive, ZeroOne] {
            for linear in [-1.5, 0.0, 2.0] {
                assert!((linear_of(kind, kind.mean(linear)) - linear).abs() < 1e-12);
            }
        }
    }
}
