//! Coefficients side by side: the baselines, this fit, and the truth where it is known.

mod baselines_csv;
mod known_rate;
mod table;

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::baseline::Baseline;
use crate::data::{Dataset, Truth};
use crate::numerics::Z_90;
use crate::text::{FileError, read_text};

pub use baselines_csv::{read_baselines, write_baselines};
pub use known_rate::{KNOWN_RATE, KnownRateBaseline, RatePoint, read_known_rate, write_known_rate};
pub use table::{method_label, table};

/// The name of what the mixture and the fit say of the links, beside the coefficients.
pub(crate) const MISMATCH_RATE: &str = "mismatch_rate";

/// How this program's own estimates are called among the methods.
pub const UNSHUFFLE: &str = "unshuffle";
/// The same where a check of the model failed: the joint posterior is then only one of the answers...
pub(crate) const JOINT: &str = "joint";
/// ...and this is the one to use.
pub(crate) const RECOMMENDED: &str = "recommended";
/// How the truth of simulated data is called among the methods.
pub(crate) const TRUTH: &str = "truth";

/// What one method makes of one coefficient.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    pub method: String,
    pub name: String,
    pub value: f64,
    pub standard_error: Option<f64>,
    /// 5 and 95 %.
    pub interval: Option<[f64; 2]>,
}

#[derive(Debug, Error)]
pub enum CompareError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} is not a truth.json", path.display())]
    Truth {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("{}: {what}: delete it, or write it anew by fitting with --compare", path.display())]
    Baselines { path: PathBuf, what: String },
    #[error("{}: {what}: delete it, or fit again", path.display())]
    KnownRate { path: PathBuf, what: String },
}

/// Reads the truth of simulated data, as `unshuffle simulate` writes it.
pub fn read_truth(path: &Path) -> Result<Truth, CompareError> {
    let text = read_text(path).map_err(FileError::read(path))?;
    serde_json::from_str(&text).map_err(|source| CompareError::Truth {
        path: path.to_path_buf(),
        source,
    })
}

/// Whether the program has one `beta` for each column of X, without which there is nothing to compare.
pub fn has_coefficients(data: &Dataset, output_names: &[String]) -> bool {
    let mut wanted = (1..=data.x.ncols()).map(beta_name);
    wanted.all(|name| output_names.contains(&name))
}

/// The name of the coefficient of a column of X, counted from 1.
pub(crate) fn beta_name(number: usize) -> String {
    format!("beta.{number}")
}

/// What the methods make of the links as given, with normal 90 % intervals. Where rows have survey weights, methods that take
/// none are left out; where they have an offset, methods for which it would have to follow wrong links.
pub fn baselines(data: &Dataset, methods: &[Baseline]) -> Vec<Estimate> {
    let mut estimates = Vec::new();
    for method in methods {
        if data.offset.is_some() && *method == Baseline::Mixture {
            continue;
        }
        let (x, y) = (data.x.view(), &data.response_less_offset());
        let fit = match &data.weights {
            Some(weights) => method.fit_weighted(x, y, weights.values()),
            None => Some(method.fit(x, y)),
        };
        let Some(fit) = fit else {
            continue;
        };
        let numbers = fit.beta.iter().zip(&fit.standard_error);
        for (name, (&value, &error)) in data.predictor_names.iter().zip(numbers) {
            estimates.push(Estimate {
                method: method.name().into(),
                name: name.clone(),
                value,
                standard_error: Some(error),
                interval: Some([value - Z_90 * error, value + Z_90 * error]),
            });
        }
        estimates.extend(fit.mismatch_rate.map(|value| Estimate {
            method: method.name().into(),
            name: MISMATCH_RATE.into(),
            value,
            standard_error: None,
            interval: None,
        }));
    }
    estimates
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn data() -> Dataset {
        Dataset::new(
            vec!["(Intercept)".into(), "income".into()],
            array![[1., 0.], [1., 1.], [1., 2.], [1., 3.], [1., 4.]],
            vec![1.0, 3.1, 4.9, 7.0, 2.0],
        )
    }

    #[test]
    fn intervals_hold_90_per_cent_of_a_normal() {
        let [row, ..] = &baselines(&data(), &[Baseline::LeastSquares])[..] else {
            panic!("no rows");
        };
        let [low, high] = row.interval.unwrap();
        let error = row.standard_error.unwrap();
        assert!((high - low - 2.0 * 1.644_853_627 * error).abs() < 1e-9 * error);
        assert!((0.5 * (low + high) - row.value).abs() < 1e-12);
    }

    #[test]
    fn coefficients_need_a_beta_for_each_column() {
        let names = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        assert!(!has_coefficients(&data(), &names(&["beta.1", "sigma"])));
        assert!(has_coefficients(&data(), &names(&["beta.1", "beta.2"])));
    }
}
