//! The estimate for a known rate of wrong links: as a baseline beside a fit, and for every rate that one may believe in
//! (`known_rate.csv`).

use std::fs;
use std::path::Path;

use super::{CompareError, Estimate, has_coefficients};
use crate::baseline::{KnownRate, one_rate};
use crate::config::{Config, ResponseKind, Update};
use crate::data::Dataset;
use crate::sampler::links::LinkSpace;
use crate::text::{FileError, digits, from_csv, text_if_there, to_csv};

/// How the estimator is called among the methods.
pub const KNOWN_RATE: &str = "known_rate";

const HEADER: [&str; 4] = ["name", "rate", "estimate", "standard_error"];
/// Rates of the file, equally spaced from 0.
const NUM_RATES: usize = 26;
const LARGEST_RATE: f64 = 0.5;

/// One coefficient, if this were the rate of wrong links among the rows that can move.
#[derive(Debug, Clone, PartialEq)]
pub struct RatePoint {
    pub name: String,
    pub rate: f64,
    pub estimate: f64,
    pub standard_error: f64,
}

/// The estimator and the data of a fit to which it applies.
pub struct KnownRateBaseline<'a> {
    known: KnownRate,
    kind: ResponseKind,
    data: &'a Dataset,
    /// The distribution of the rate, where the fit's prior has one.
    rates: Option<Vec<(f64, f64)>>,
}

impl<'a> KnownRateBaseline<'a> {
    /// None where it does not apply: a program without one `beta` for each predictor, a quantile instead of a mean, no row
    /// that can move, rows that are not wrong with one rate or not exchanged with all others of their block, or rows with
    /// survey weights or an offset.
    pub fn new(
        config: &Config,
        data: &'a Dataset,
        space: &LinkSpace,
        output_names: &[String],
    ) -> Option<KnownRateBaseline<'a>> {
        let of_mean = config.model.family().facts().has_mean;
        let exchangeable = data.candidates.is_none() && data.match_probability.is_none();
        let can_move = space.num_movable() > 0;
        let has_beta = has_coefficients(data, output_names);
        let permutation = &config.permutation;
        let counts_once = data.weights.is_none() && data.offset.is_none();
        (of_mean && exchangeable && can_move && has_beta && counts_once).then(|| {
            KnownRateBaseline {
                known: KnownRate::within(space),
                kind: config.model.response_kind(),
                data,
                rates: match permutation.update {
                    Update::None => None,
                    _ => permutation.prior.rate_grid(),
                },
            }
        })
    }

    /// For the rates that the fit's prior expects, an audit counted in; none where it has no rate or the links as given
    /// have no estimate.
    pub fn estimates(&self) -> Vec<Estimate> {
        let rates = self.rates.as_ref();
        let fit = rates.and_then(|rates| {
            let data = self.data;
            self.known
                .fit(self.kind, data.x.view(), &data.response, rates)
        });
        let Some(fit) = fit else {
            return Vec::new();
        };
        let names = self.data.predictor_names.iter().enumerate();
        names
            .map(|(k, name)| Estimate {
                method: KNOWN_RATE.into(),
                name: name.clone(),
                value: fit.mean[k],
                standard_error: Some(fit.sd[k]),
                interval: Some([fit.q5[k], fit.q95[k]]),
            })
            .collect()
    }

    /// Every coefficient at rates from 0 to a half, as far as they can be used; coefficient by coefficient.
    pub fn curve(&self) -> Vec<RatePoint> {
        let largest = self.known.largest_rate().min(LARGEST_RATE);
        let rate = |k: usize| largest * k as f64 / (NUM_RATES - 1) as f64;
        let rates: Vec<(f64, f64)> = (0..NUM_RATES).flat_map(|k| one_rate(rate(k))).collect();
        let data = self.data;
        let fit = self
            .known
            .fit(self.kind, data.x.view(), &data.response, &rates);
        let by_rate = fit.map_or(Vec::new(), |fit| fit.by_rate);
        let names = data.predictor_names.iter().enumerate();
        names
            .flat_map(|(k, name)| {
                by_rate.iter().map(move |at| RatePoint {
                    name: name.clone(),
                    rate: at.rate,
                    estimate: at.beta[k],
                    standard_error: at.standard_error[k],
                })
            })
            .collect()
    }
}

/// Writes known_rate.csv.
pub fn write_known_rate(path: &Path, curve: &[RatePoint]) -> Result<(), CompareError> {
    let rows = curve.iter().map(|point| {
        let numbers = [point.rate, point.estimate, point.standard_error];
        let [rate, estimate, error] = numbers.map(digits);
        [point.name.clone(), rate, estimate, error]
    });
    Ok(fs::write(path, to_csv(HEADER, rows)).map_err(FileError::write(path))?)
}

/// Empty for a fit to which the estimator does not apply, or of an older version.
pub fn read_known_rate(path: &Path) -> Result<Vec<RatePoint>, CompareError> {
    let Some(text) = text_if_there(path)? else {
        return Ok(Vec::new());
    };
    parse(&text).map_err(|what| CompareError::KnownRate {
        path: path.to_path_buf(),
        what,
    })
}

fn parse(text: &str) -> Result<Vec<RatePoint>, String> {
    from_csv(text, &HEADER, |line| {
        Ok(RatePoint {
            name: line.text(0).into(),
            rate: line.number(1)?,
            estimate: line.number(2)?,
            standard_error: line.number(3)?,
        })
    })
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use serde_json::{Value, json};

    use super::*;
    use crate::config;
    use crate::data::link_space;

    fn data() -> Dataset {
        let x = Array2::from_shape_fn((40, 2), |(i, k)| [1.0, (i as f64).sin()][k]);
        let y = (0..40).map(|i| ((i * i) % 7 + i % 2) as f64).collect();
        Dataset::new(vec!["(Intercept)".into(), "income, yearly".into()], x, y)
    }

    fn config(changes: &[(&str, Value)]) -> Config {
        let mut text = json!({
            "model": {"stan": "linear"},
            "data": {"file": "data.csv", "response": "y", "predictors": ["x"]},
        });
        for (key, value) in changes {
            text[*key] = value.clone();
        }
        let file = Path::new("fit.json");
        config::parse(&text.to_string(), file, &[]).unwrap()
    }

    fn baseline<'a>(config: &Config, data: &'a Dataset) -> Option<KnownRateBaseline<'a>> {
        let names = ["beta.1", "beta.2"].map(String::from);
        KnownRateBaseline::new(config, data, &link_space(data), &names)
    }

    #[test]
    fn it_applies_to_means_of_rows_that_are_exchangeable() {
        let mut data = data();
        assert!(baseline(&config(&[]), &data).is_some());
        let poisson = config(&[("model", json!({"stan": "poisson"}))]);
        assert!(baseline(&poisson, &data).is_some());
        let quantile = config(&[("model", json!({"stan": "quantile"}))]);
        assert!(baseline(&quantile, &data).is_none());
        let no_beta = ["slope.1".to_string()];
        let space = link_space(&data);
        assert!(KnownRateBaseline::new(&config(&[]), &data, &space, &no_beta).is_none());
        data.safe = Some(vec![true; 40]);
        assert!(baseline(&config(&[]), &data).is_none());
        data.safe = None;
        data.candidates = Some(Vec::new());
        assert!(baseline(&config(&[]), &data).is_none());
    }

    #[test]
    fn the_prior_s_rate_is_the_audit_s() {
        let data = data();
        let prior = |prior: Value| config(&[("permutation", json!({ "prior": prior }))]);
        let audit = |checked: usize, wrong: usize| {
            let audit = json!({"checked": checked, "wrong": wrong});
            let flat =
                json!({"name": "beta_binomial", "a": 1, "b": 1, "no_error": 0, "audit": audit});
            let config = prior(flat);
            let estimates = baseline(&config, &data).unwrap().estimates();
            assert_eq!(estimates[1].name, "income, yearly");
            assert!(estimates.iter().all(|e| e.method == "known_rate"));
            estimates[1].clone()
        };
        // A hundred thousand links fix the rate, and with it the factor of the slope.
        let ratio = audit(100_000, 30_000).value / audit(100_000, 0).value;
        assert!((ratio * (1.0 - 0.3 * 40.0 / 39.0) - 1.0).abs() < 1e-3);
        let width = |e: Estimate| e.interval.map(|[low, high]| high - low).unwrap();
        assert!(width(audit(10, 3)) > width(audit(100_000, 30_000)));
        // Half of the default prior is a rate of exactly 0, and so is half of its estimate.
        let slope = |no_error: Value| {
            let config = prior(json!({"name": "beta_binomial", "no_error": no_error}));
            baseline(&config, &data).unwrap().estimates()[1].value
        };
        let as_linked = crate::baseline::least_squares(data.x.view(), &data.response).beta[1];
        let halves = 0.5 * (as_linked + slope(json!(0)));
        assert!((slope(json!(0.5)) - halves).abs() < 1e-9 * halves.abs());
        assert!((slope(json!(0)) - as_linked).abs() > 1e-3 * as_linked.abs());
        let uniform = prior(json!({"name": "uniform", "max_moved": 10}));
        assert!(baseline(&uniform, &data).unwrap().estimates().is_empty());
        let kept = config(&[("permutation", json!({"update": {"name": "none"}}))]);
        assert!(baseline(&kept, &data).unwrap().estimates().is_empty());
    }

    #[test]
    fn the_curve_begins_with_the_links_as_given_and_survives_its_file() {
        let data = data();
        let curve = baseline(&config(&[]), &data).unwrap().curve();
        assert_eq!(curve.len(), 2 * NUM_RATES);
        let naive = crate::baseline::least_squares(data.x.view(), &data.response);
        assert!((curve[NUM_RATES].estimate - naive.beta[1]).abs() < 1e-12);
        assert_eq!((curve[0].rate, curve[2 * NUM_RATES - 1].rate), (0.0, 0.5));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("known_rate.csv");
        assert_eq!(read_known_rate(&file).unwrap(), []);
        write_known_rate(&file, &curve).unwrap();
        assert_eq!(read_known_rate(&file).unwrap(), curve);
        fs::write(&file, "name,rate,estimate,standard_error\nx,0,one,1\n").unwrap();
        let message = read_known_rate(&file).unwrap_err().to_string();
        let expected = "known_rate.csv: line 2, column estimate: `one` is no number: delete it";
        assert!(message.contains(expected), "{message}");
    }
}
