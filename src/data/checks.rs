//! Is the data set a regression that can be fitted? Enough rows, columns that vary, and no dependence among them.

use ndarray::{ArrayView2, Axis, s};

use super::collinear::{self, Dependence};
use super::formula::OFFSET;
use super::{DataError, Dataset, INTERCEPT};
use crate::config::Data;
use crate::text::quoted_list;

pub(super) const CONSTANT: &str = "remove it, since the intercept already stands for a constant";
pub(super) const NOTHING: &str = "remove it, since it explains nothing";

pub(super) fn check(
    dataset: &Dataset,
    with_intercept: bool,
    file: &str,
    data: &Data,
) -> Result<(), DataError> {
    let names = &dataset.predictor_names;
    if dataset.num_rows() <= names.len() {
        return Err(DataError::TooFewRows {
            file: file.into(),
            num_rows: dataset.num_rows(),
            num_coefficients: names.len(),
            counting: if with_intercept {
                " (with the intercept)"
            } else {
                ""
            },
        });
    }
    let responses = [&dataset.response].into_iter();
    let responses = responses.chain(&dataset.further_responses);
    for (k, response) in responses.enumerate() {
        if let Some(value) = beyond_numbers(response) {
            return Err(DataError::Scale {
                file: file.into(),
                column: data.response_label(),
                key: data.response_key(),
                value,
            });
        }
        // Whether an event was seen: always, where no time is censored.
        let is_event = k == 1 && data.response_label().starts_with("Surv(");
        if let Some(value) = constant(response).filter(|&value| !is_event || value != 1.0) {
            let listed = dataset.response_names.as_ref().map(|names| &names[k]);
            return Err(DataError::Constant {
                file: file.into(),
                column: listed.cloned().unwrap_or_else(|| data.response_label()),
                key: data.response_key(),
                value: value.to_string(),
                fix: match is_event {
                    true => {
                        "choose a column that is 1 where the event was seen; times without any cannot be fitted"
                    }
                    false => "choose a response that varies",
                },
            });
        }
    }
    if let Some(value) = dataset.offset.as_ref().and_then(beyond_numbers) {
        return Err(DataError::Scale {
            file: file.into(),
            column: data.offset.clone().unwrap_or_else(|| "offset".into()),
            key: match data.offset {
                Some(_) => OFFSET,
                None => data.predictors_key(),
            },
            value,
        });
    }
    let place = (file, data.predictors_key());
    check_columns(dataset.x.view(), names, with_intercept, place)
}

/// Refuses columns of a design matrix that do not vary, or that depend linearly on one another; `place` is their file and the
/// entry of the config that asks for them. The first of them is the intercept, where there is one.
pub(super) fn check_columns(
    x: ArrayView2<f64>,
    names: &[String],
    with_intercept: bool,
    (file, key): (&str, &'static str),
) -> Result<(), DataError> {
    let skipped = usize::from(with_intercept);
    let x = x.slice(s![.., skipped..]);
    let names = &names[skipped..];
    for (name, column) in names.iter().zip(x.axis_iter(Axis(1))) {
        if let Some(value) = beyond_numbers(column) {
            return Err(DataError::Scale {
                file: file.into(),
                column: name.clone(),
                key,
                value,
            });
        }
        if let Some(value) = constant(column)
            && (with_intercept || value == 0.0)
        {
            return Err(DataError::Constant {
                file: file.into(),
                column: name.clone(),
                key,
                value: value.to_string(),
                fix: if with_intercept { CONSTANT } else { NOTHING },
            });
        }
    }
    let Some(Dependence {
        column,
        on,
        on_intercept,
    }) = collinear::find(x, with_intercept)
    else {
        return Ok(());
    };
    let mut others: Vec<&str> = on.iter().map(|&k| names[k].as_str()).collect();
    if on_intercept {
        others.push(INTERCEPT);
    }
    Err(DataError::Collinear {
        file: file.into(),
        key,
        column: names[column].clone(),
        others: quoted_list(&others),
    })
}

/// The largest of values whose squares and products would not be numbers, or would be 0.
fn beyond_numbers<'a>(values: impl IntoIterator<Item = &'a f64>) -> Option<f64> {
    let values = values.into_iter().map(|value| value.abs());
    let largest = values.fold(0.0, f64::max);
    (largest != 0.0 && !(1e-100..=1e100).contains(&largest)).then_some(largest)
}

/// The value that all have, if they all have the same.
fn constant<'a>(values: impl IntoIterator<Item = &'a f64>) -> Option<f64> {
    let mut values = values.into_iter();
    let first = values.next()?;
    values.all(|value| value == first).then_some(*first)
}
