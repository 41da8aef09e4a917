//! The estimates of a fit by method (coefficients.csv): the recommended ones, those of the draws, and those of other estimators.

use serde::{Deserialize, Serialize};

use crate::baseline::compare::Estimate;
use crate::text::{digits, from_csv, to_csv};

/// Where an estimate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// What the checks of the model recommend.
    Recommended,
    /// The joint posterior of coefficients and links.
    Joint,
    /// The same program with every link kept.
    AsLinked,
    /// Huber's M-estimator on the links as given.
    Huber,
    /// The row mixture of Slawski, Diao and Ben-David.
    Mixture,
    /// The estimate for a known rate of exchangeable linkage errors.
    KnownRate,
    /// Least squares on the responses that a row mixture with a robust error law completes.
    RobustMixture,
    /// The same program with every link kept, each row weighted by the probability of the robust mixture that its link is right.
    Weighted,
}

impl Method {
    /// The name in coefficients.csv.
    pub fn name(self) -> &'static str {
        match self {
            Method::Recommended => "recommended",
            Method::Joint => "joint",
            Method::AsLinked => "as_linked",
            Method::Huber => "huber",
            Method::Mixture => "mixture",
            Method::KnownRate => "known_rate",
            Method::RobustMixture => "robust_mixture",
            Method::Weighted => "weighted",
        }
    }
}

impl Coefficient {
    /// The same as an estimate, to stand beside those of other methods.
    pub(crate) fn as_estimate(&self) -> Estimate {
        Estimate {
            method: self.method.name().into(),
            name: self.name.clone(),
            value: self.estimate,
            standard_error: Some(self.sd),
            interval: Some([self.q5, self.q95]),
        }
    }
}

/// One line of coefficients.csv.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficient {
    /// The user's name.
    pub name: String,
    /// Where the estimate comes from.
    pub method: Method,
    /// Posterior mean, or estimate.
    pub estimate: f64,
    /// Posterior standard deviation, or standard error.
    pub sd: f64,
    /// Lower end of the 90 % interval.
    pub q5: f64,
    /// Upper end of the 90 % interval.
    pub q95: f64,
}

const HEADER: [&str; 6] = ["name", "method", "estimate", "sd", "5%", "95%"];

/// The text of coefficients.csv.
pub(crate) fn coefficients_csv(coefficients: &[Coefficient]) -> Vec<u8> {
    let rows = coefficients.iter().map(|c| {
        let [estimate, sd, q5, q95] = [c.estimate, c.sd, c.q5, c.q95].map(digits);
        let [name, method] = [&c.name, c.method.name()].map(str::to_owned);
        [name, method, estimate, sd, q5, q95]
    });
    to_csv(HEADER, rows)
}

/// The coefficients in a file, or what is wrong with it.
pub(crate) fn parse_coefficients(text: &str) -> Result<Vec<Coefficient>, String> {
    from_csv(text, &HEADER, |line| {
        let method = serde_json::from_value::<Method>(line.text(1).into());
        Ok(Coefficient {
            name: line.text(0).into(),
            method: method.map_err(|error| error.to_string())?,
            estimate: line.number(2)?,
            sd: line.number(3)?,
            q5: line.number(4)?,
            q95: line.number(5)?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_read_back_as_written() {
        let coefficient = |name: &str, method| Coefficient {
            name: name.into(),
            method,
            estimate: 0.1 + 0.2,
            sd: 1e-7,
            q5: -3.0,
            q95: 1e22,
        };
        let all = [
            coefficient("(Intercept)", Method::Recommended),
            coefficient("log(wage), \"real\"", Method::AsLinked),
        ];
        let text = String::from_utf8(coefficients_csv(&all)).unwrap();
        assert_eq!(parse_coefficients(&text).unwrap(), all);
        let damaged = text.replace("as_linked", "as_lonked");
        assert!(parse_coefficients(&damaged).is_err());
    }
}
