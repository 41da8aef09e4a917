//! Prior locations and scales in the units of the file, or the paper's.

use std::borrow::Cow;

use ndarray::ArrayView1;
use serde_json::{Map, Value, json};

use crate::config::{Priors, ResponseKind};
use crate::data::{Dataset, Groups};
use crate::model::LinearPrior;
use crate::numerics::Spread;

/// Prior standard deviations in units of the spread that the data suggest, as in rstanarm.
const WIDTH: f64 = 2.5;

/// Entries of Stan's data block that a program may declare.
pub const X_CENTRE: &str = "X_centre";
pub const BETA_LOCATION: &str = "beta_location";
pub const BETA_SCALE: &str = "beta_scale";
pub const SIGMA_SCALE: &str = "sigma_scale";
pub const SIGMA2_SCALE: &str = "sigma2_scale";
pub const SIGMA_F2_SCALE: &str = "sigma_f2_scale";
pub const TAU_SCALE: &str = "tau_scale";

/// The priors of one response.
struct OfResponse {
    location: Vec<f64>,
    scale: Vec<f64>,
    /// Of the errors' standard deviation, and of their variance.
    sigma: f64,
    sigma2: f64,
}

/// The prior of the shipped program `linear` with these entries, one coefficient for each column; None where one of them is
/// no list of numbers, or no number.
pub fn of_linear(entries: &Map<String, Value>, num_columns: usize) -> Option<LinearPrior> {
    let list = |name: &str| {
        let values = entries.get(name)?.as_array()?.iter();
        let values = values.map(Value::as_f64).collect::<Option<Vec<f64>>>()?;
        (values.len() == num_columns).then_some(values)
    };
    Some(LinearPrior {
        centre: list(X_CENTRE)?,
        location: list(BETA_LOCATION)?,
        scale: list(BETA_SCALE)?,
        variance_scale: entries.get(SIGMA2_SCALE)?.as_f64()?,
    })
}

/// Every entry that a program may declare, by name; matrices and vectors by response where the responses are a list.
pub fn entries(priors: Priors, kind: ResponseKind, data: &Dataset) -> Map<String, Value> {
    let further = data.further_responses.iter().map(Vec::as_slice);
    let own = match kind {
        ResponseKind::Real => data.response_less_offset(),
        _ => Cow::Borrowed(data.response.as_slice()),
    };
    let responses = std::iter::once(own.as_ref()).chain(further);
    let by_response: Vec<OfResponse> = responses
        .map(|response| match priors {
            Priors::Scaled => scaled(kind, data, response),
            Priors::Paper => paper(kind, data.x.ncols()),
        })
        .collect();
    let centre = match priors {
        Priors::Scaled => centres(data),
        Priors::Paper => vec![0.0; data.x.ncols()],
    };
    let is_list = data.response_names.is_some();
    let matrix = |of: fn(&OfResponse) -> &[f64]| match is_list {
        false => json!(of(&by_response[0])),
        true => {
            let row = |d: usize| by_response.iter().map(|r| of(r)[d]).collect::<Vec<_>>();
            json!((0..data.x.ncols()).map(row).collect::<Vec<_>>())
        }
    };
    let vector = |of: fn(&OfResponse) -> f64| match is_list {
        false => json!(of(&by_response[0])),
        true => json!(by_response.iter().map(of).collect::<Vec<_>>()),
    };
    let mut entries = Map::from_iter([
        (X_CENTRE.into(), json!(centre)),
        (BETA_LOCATION.into(), matrix(|r| &r.location)),
        (BETA_SCALE.into(), matrix(|r| &r.scale)),
        (SIGMA_SCALE.into(), vector(|r| r.sigma)),
        (SIGMA2_SCALE.into(), vector(|r| r.sigma2)),
        (SIGMA_F2_SCALE.into(), vector(|r| r.sigma2)),
    ]);
    if let Some(groups) = &data.groups {
        let scales = match priors {
            Priors::Scaled => between_groups(kind, groups, &own),
            Priors::Paper => vec![paper(kind, 1).scale[0]; groups.z.ncols()],
        };
        entries.insert(TAU_SCALE.into(), json!(scales));
    }
    entries
}

/// Scales of the standard deviations between groups: as those of coefficients of the same columns.
fn between_groups(kind: ResponseKind, groups: &Groups, response: &[f64]) -> Vec<f64> {
    let of_response = Spread::around_mean(response.iter().copied());
    let size = linear_predictor(kind, response, of_response).size;
    let columns = groups.z.columns().into_iter().enumerate();
    let scale = |(k, column): (usize, ArrayView1<f64>)| match groups.has_intercept() && k == 0 {
        true => positive(WIDTH * size),
        false => positive(WIDTH * size / Spread::around_zero(column.iter().copied()).size),
    };
    columns.map(scale).collect()
}

/// The means of the predictors; zero for the intercept, and everywhere without one.
fn centres(data: &Dataset) -> Vec<f64> {
    let columns = data.x.columns().into_iter().enumerate();
    columns
        .map(|(j, column)| match (data.has_intercept(), j) {
            (false, _) | (true, 0) => 0.0,
            (true, _) => Spread::around_mean(column.iter().copied()).centre,
        })
        .collect()
}

fn scaled(kind: ResponseKind, data: &Dataset, response: &[f64]) -> OfResponse {
    let of_response = Spread::around_mean(response.iter().copied());
    let mut linear = linear_predictor(kind, response, of_response);
    linear.centre -= level(kind, data.offset.as_deref());
    // Without an intercept slopes and errors must reach the level of the response, too.
    let reach = |spread: Spread| match data.has_intercept() {
        true => spread.size,
        false => spread.size.hypot(spread.centre),
    };
    let columns = data.x.columns().into_iter().enumerate();
    let (location, scale) = columns
        .map(|(j, column)| {
            let values = column.iter().copied();
            match (data.has_intercept(), j) {
                (true, 0) => (linear.centre, WIDTH * linear.size),
                (true, _) => (0.0, WIDTH * linear.size / Spread::around_mean(values).size),
                (false, _) => (
                    0.0,
                    WIDTH * reach(linear) / Spread::around_zero(values).size,
                ),
            }
        })
        .map(|(location, scale)| (location, positive(scale)))
        .unzip();
    OfResponse {
        location,
        scale,
        sigma: positive(WIDTH * reach(of_response)),
        sigma2: positive(WIDTH * reach(of_response).powi(2)),
    }
}

/// Where x'beta lies when all predictors are at their means, and the unit of its spread: that of the response itself, or
/// 1 on the scale of logs and log odds.
fn linear_predictor(kind: ResponseKind, response: &[f64], of_response: Spread) -> Spread {
    let num_rows = response.len() as f64;
    let centre = match kind {
        ResponseKind::Real => return of_response,
        // Counts that are all zero say that the mean is less than half a count in all rows.
        ResponseKind::Count => of_response.centre.max(0.5 / num_rows).ln(),
        ResponseKind::Positive => of_response.centre.max(f64::MIN_POSITIVE).ln(),
        ResponseKind::ZeroOne => {
            let ones: f64 = response.iter().sum();
            ((ones + 0.5) / (num_rows - ones + 0.5)).ln()
        }
    };
    Spread { centre, size: 1.0 }
}

/// What an offset adds to where x'beta lies: on the scale of logs the log of its mean factor. That of a response which is itself
/// x'beta and an error was subtracted from it.
fn level(kind: ResponseKind, offset: Option<&[f64]>) -> f64 {
    let Some(offset) = offset else {
        return 0.0;
    };
    let num_rows = offset.len() as f64;
    let mean = offset.iter().sum::<f64>() / num_rows;
    match kind {
        ResponseKind::Real => 0.0,
        ResponseKind::ZeroOne => mean,
        ResponseKind::Count | ResponseKind::Positive => {
            let factors = offset.iter().map(|offset| (offset - mean).exp());
            let level = mean + (factors.sum::<f64>() / num_rows).ln();
            if level.is_finite() { level } else { mean }
        }
    }
}

/// The constants of the programs before there were scaled priors.
fn paper(kind: ResponseKind, num_columns: usize) -> OfResponse {
    let large = 1000f64.sqrt();
    let scale = match kind {
        ResponseKind::Real => large,
        ResponseKind::Count | ResponseKind::Positive => 5.0,
        ResponseKind::ZeroOne => 2.5,
    };
    OfResponse {
        location: vec![0.0; num_columns],
        scale: vec![scale; num_columns],
        sigma: large,
        sigma2: large,
    }
}

/// Stan refuses a scale that is zero or infinite, which units near the ends of the doubles would give.
fn positive(scale: f64) -> f64 {
    scale.clamp(f64::MIN_POSITIVE, f64::MAX)
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::data::INTERCEPT;

    fn data(columns: &[&[f64]], intercept: bool, response: &[f64]) -> Dataset {
        let x = Array2::from_shape_fn((response.len(), columns.len()), |(i, j)| columns[j][i]);
        let mut names: Vec<String> = (0..columns.len()).map(|j| format!("x{j}")).collect();
        if intercept {
            names[0] = INTERCEPT.into();
        }
        Dataset::new(names, x, response.to_vec())
    }

    fn numbers(entries: &Map<String, Value>, key: &str) -> Vec<f64> {
        let value = &entries[key];
        let list = value.as_array().cloned().unwrap_or(vec![value.clone()]);
        list.iter().map(|value| value.as_f64().unwrap()).collect()
    }

    #[test]
    fn scales_follow_the_units_of_the_file() {
        let x = [2000.0, 2010.0, 2000.0, 2010.0];
        let y = [10.0, 10.0, 14.0, 14.0];
        let data = data(&[&[1.0; 4], &x], true, &y);
        let found = entries(Priors::Scaled, ResponseKind::Real, &data);
        assert_eq!(numbers(&found, X_CENTRE), [0.0, 2005.0]);
        assert_eq!(numbers(&found, BETA_LOCATION), [12.0, 0.0]);
        assert_eq!(numbers(&found, BETA_SCALE), [5.0, 1.0]);
        assert_eq!(numbers(&found, SIGMA_SCALE), [5.0]);
        assert_eq!(numbers(&found, SIGMA2_SCALE), [10.0]);
        let found = entries(Priors::Scaled, ResponseKind::Positive, &data);
        assert_eq!(numbers(&found, BETA_LOCATION), [12f64.ln(), 0.0]);
        assert_eq!(numbers(&found, BETA_SCALE), [2.5, 0.5]);
        let found = entries(Priors::Paper, ResponseKind::Real, &data);
        assert_eq!(numbers(&found, X_CENTRE), [0.0, 0.0]);
        assert_eq!(numbers(&found, BETA_LOCATION), [0.0, 0.0]);
        assert_eq!(numbers(&found, BETA_SCALE), [1000f64.sqrt(); 2]);
        assert_eq!(numbers(&found, SIGMA2_SCALE), [1000f64.sqrt()]);
    }

    #[test]
    fn without_an_intercept_every_column_is_a_slope_around_zero() {
        let data = data(&[&[3.0, -4.0], &[2.0, 2.0]], false, &[6.0, 8.0]);
        let found = entries(Priors::Scaled, ResponseKind::Real, &data);
        assert_eq!(numbers(&found, X_CENTRE), [0.0, 0.0]);
        assert_eq!(numbers(&found, BETA_LOCATION), [0.0, 0.0]);
        let root_mean_square = 50f64.sqrt();
        let expected = [12.5f64.sqrt(), 2.0].map(|size| 2.5 * root_mean_square / size);
        for (found, expected) in numbers(&found, BETA_SCALE).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn a_list_of_responses_has_matrices() {
        let mut data = data(&[&[1.0; 2], &[0.0, 2.0]], true, &[0.0, 2.0]);
        data.further_responses = vec![vec![10.0, 30.0]];
        data.response_names = Some(vec!["a".into(), "b".into()]);
        let found = entries(Priors::Scaled, ResponseKind::Real, &data);
        assert_eq!(found[BETA_LOCATION], json!([[1.0, 20.0], [0.0, 0.0]]));
        assert_eq!(found[BETA_SCALE], json!([[2.5, 25.0], [2.5, 25.0]]));
        assert_eq!(found[SIGMA2_SCALE], json!([2.5, 250.0]));
    }

    #[test]
    fn every_number_is_finite_and_every_scale_above_zero() {
        let ones = [1.0; 3];
        let kinds = [
            ResponseKind::Real,
            ResponseKind::Count,
            ResponseKind::ZeroOne,
            ResponseKind::Positive,
        ];
        let responses: [&[f64]; 6] = [
            &[0.0; 3],
            &[1.0; 3],
            &[7.0; 3],
            &[1e300, 2e300, 0.0],
            &[1e-300, 2e-300, 3e-300],
            &[1e6, 1e6, 1e6 + 1e-9],
        ];
        let predictors: [&[f64]; 6] = [
            &[0.0; 3],
            &[5.0; 3],
            &[1e300, -1e300, 0.0],
            &[1e-300, -1e-300, 0.0],
            &[1.0, 0.0, 0.0],
            &[0.1, 0.1, 0.1],
        ];
        for kind in kinds {
            let possible = |y: &&[f64]| y.iter().all(|y| kind.allows(*y));
            for y in responses.into_iter().filter(possible) {
                for x in predictors {
                    for intercept in [true, false] {
                        let data = data(&[&ones, x], intercept, y);
                        for (key, value) in entries(Priors::Scaled, kind, &data) {
                            let list = value.as_array().cloned().unwrap_or(vec![value.clone()]);
                            for value in list {
                                let number = value.as_f64().unwrap_or(f64::NAN);
                                assert!(number.is_finite(), "{kind:?} {key} {y:?} {x:?}");
                                let is_scale = key.ends_with("_scale");
                                assert!(!is_scale || number > 0.0, "{kind:?} {key} {y:?} {x:?}");
                            }
                        }
                    }
                }
            }
        }
        let one_row = data(&[&[1.0]], true, &[3.0]);
        let found = entries(Priors::Scaled, ResponseKind::Real, &one_row);
        assert_eq!(numbers(&found, BETA_SCALE), [7.5]);
    }
}
