//! Coefficients side by side: the baselines, this fit, and the truth where it is known.

mod baselines_csv;
mod known_rate;
mod table;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::baseline::Baseline;
use crate::data::Dataset;
use crate::posterior::diagnostics::SummaryRow;
use crate::study::simulate::Truth;

pub use baselines_csv::{BASELINES_FILE, read_baselines, write_baselines};
pub use known_rate::{
    KNOWN_RATE, KNOWN_RATE_FILE, KnownRateBaseline, RatePoint, read_known_rate, write_known_rate,
};
pub use table::{method_label, table};

/// Half the width of a 90 % interval, in standard errors.
const Z_90: f64 = 1.644_853_626_951_472_7;

/// The name of what the mixture and the fit say of the links, beside the coefficients.
const MISMATCH_RATE: &str = "mismatch_rate";

/// How this program's own estimates are called among the methods.
pub const UNSHUFFLE: &str = "unshuffle";
const TRUTH: &str = "truth";

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
    #[error("cannot read {}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
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
    let path = path.to_path_buf();
    match fs::read_to_string(&path) {
        Ok(text) => {
            serde_json::from_str(&text).map_err(|source| CompareError::Truth { path, source })
        }
        Err(source) => Err(CompareError::Read { path, source }),
    }
}

/// Whether the program has one `beta` for each column of X, without which there is nothing to compare.
pub fn has_coefficients(data: &Dataset, output_names: &[String]) -> bool {
    let mut wanted = (1..=data.x.ncols()).map(beta_name);
    wanted.all(|name| output_names.contains(&name))
}

fn beta_name(number: usize) -> String {
    format!("beta.{number}")
}

/// What the methods make of the links as given, with normal 90 % intervals.
pub fn baselines(data: &Dataset, methods: &[Baseline]) -> Vec<Estimate> {
    let mut estimates = Vec::new();
    for method in methods {
        let fit = method.fit(data.x.view(), &data.response);
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

/// The baselines, and behind them this fit and the truth. None where there is neither a baseline nor a truth, or where the
/// summary lacks one `beta` for each coefficient.
pub fn beside_fit(
    mut estimates: Vec<Estimate>,
    summary: &[SummaryRow],
    truth: Option<&Truth>,
) -> Option<Vec<Estimate>> {
    let names: Vec<String> = match estimates.first() {
        Some(first) => {
            let of_first = estimates.iter().filter(|e| e.method == first.method);
            of_first.map(|estimate| estimate.name.clone()).collect()
        }
        None => truth?.coefficients.clone(),
    };
    let find = |name: &str| summary.iter().find(|row| row.name == name);
    let fitted = |name: &str, row: &SummaryRow| {
        Some(Estimate {
            method: UNSHUFFLE.into(),
            name: name.into(),
            value: row.mean?,
            standard_error: row.sd,
            interval: Some([row.q5?, row.q95?]),
        })
    };
    let has_rate = estimates.iter().any(|e| e.name == MISMATCH_RATE);
    for (number, name) in (1..).zip(&names) {
        estimates.push(fitted(name, find(&beta_name(number))?)?);
    }
    if has_rate && let Some(row) = find(MISMATCH_RATE) {
        estimates.extend(fitted(MISMATCH_RATE, row));
    }
    if let Some(truth) = truth {
        let true_value = |(name, value): (String, f64)| Estimate {
            method: TRUTH.into(),
            name,
            value,
            standard_error: None,
            interval: None,
        };
        let rate = truth.num_moved as f64 / truth.pi.len() as f64;
        let rate = has_rate.then(|| (MISMATCH_RATE.into(), rate));
        let coefficients = names.into_iter().zip(truth.beta.iter().copied());
        estimates.extend(coefficients.chain(rate).map(true_value));
    }
    Some(estimates)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::posterior::diagnostics::summarize;

    fn data() -> Dataset {
        Dataset::new(
            vec!["(Intercept)".into(), "income".into()],
            array![[1., 0.], [1., 1.], [1., 2.], [1., 3.], [1., 4.]],
            vec![1.0, 3.1, 4.9, 7.0, 2.0],
        )
    }

    fn summary(names: &[&str]) -> Vec<SummaryRow> {
        let draws = [0.0, 1.0, 2.0, 3.0, 4.0];
        names
            .iter()
            .map(|name| summarize(name, &[&draws], None))
            .collect()
    }

    fn of<'a>(estimates: &'a [Estimate], method: &str) -> Vec<&'a str> {
        let of_method = estimates.iter().filter(|e| e.method == method);
        of_method.map(|e| e.name.as_str()).collect()
    }

    #[test]
    fn each_method_has_each_coefficient_once() {
        let methods = [Baseline::LeastSquares, Baseline::Mixture];
        let rows = baselines(&data(), &methods);
        let truth = Truth {
            coefficients: data().predictor_names,
            beta: vec![1.0, 2.0],
            sigma: Some(0.1),
            phi: None,
            shape: None,
            num_moved: 2,
            pi: vec![0, 1, 2, 4, 3],
            pi0: Vec::new(),
        };
        let summary = summary(&["lp__", "beta.1", "beta.2", "mismatch_rate"]);
        let all = beside_fit(rows, &summary, Some(&truth)).unwrap();
        let coefficients = ["(Intercept)", "income"];
        let with_rate = ["(Intercept)", "income", "mismatch_rate"];
        assert_eq!(of(&all, "least_squares"), coefficients);
        assert_eq!(of(&all, "mixture"), with_rate);
        assert_eq!(of(&all, "unshuffle"), with_rate);
        assert_eq!(of(&all, "truth"), with_rate);
        assert_eq!(all.last().unwrap().value, 0.4);
        let without_baselines = beside_fit(Vec::new(), &summary, Some(&truth)).unwrap();
        assert_eq!(of(&without_baselines, "unshuffle"), coefficients);
        assert_eq!(of(&without_baselines, "truth"), coefficients);
        assert!(beside_fit(Vec::new(), &summary, None).is_none());
        let fitted = all.iter().find(|e| e.method == "unshuffle").unwrap();
        assert_eq!((fitted.value, fitted.interval), (2.0, Some([0.2, 3.8])));
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
    fn without_a_beta_for_each_coefficient_nothing_is_compared() {
        let rows = baselines(&data(), &[Baseline::LeastSquares]);
        assert!(beside_fit(rows, &summary(&["beta.1", "mu"]), None).is_none());
        let names = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        assert!(!has_coefficients(&data(), &names(&["beta.1", "sigma"])));
        assert!(has_coefficients(&data(), &names(&["beta.1", "beta.2"])));
    }
}
