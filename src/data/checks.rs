//! Is the data set a regression that can be fitted? Enough rows, columns that vary, and no dependence among them.

use ndarray::{Axis, s};

use super::collinear::{self, Dependence};
use super::{DataError, Dataset, INTERCEPT};
use crate::config::{Data, quoted_list};

pub(super) fn check(dataset: &Dataset, file: &str, data: &Data) -> Result<(), DataError> {
    let names = &dataset.predictor_names;
    let with_intercept = data.intercept;
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
    if let Some(value) = constant(&dataset.response) {
        return Err(DataError::Constant {
            file: file.into(),
            column: data.response.clone(),
            key: "data.response",
            value,
            fix: "choose a response that varies",
        });
    }
    let skipped = usize::from(with_intercept);
    let x = dataset.x.slice(s![.., skipped..]);
    let names = &names[skipped..];
    for (name, column) in names.iter().zip(x.axis_iter(Axis(1))) {
        if let Some(value) = constant(column)
            && (with_intercept || value == 0.0)
        {
            return Err(DataError::Constant {
                file: file.into(),
                column: name.clone(),
                key: "data.predictors",
                value,
                fix: if with_intercept {
                    "remove it, since the intercept already stands for a constant"
                } else {
                    "remove it, since it explains nothing"
                },
            });
        }
    }
    match collinear::find(x, with_intercept) {
        None => Ok(()),
        Some(Dependence {
            column,
            on,
            on_intercept,
        }) => {
            let mut others: Vec<&str> = on.iter().map(|&k| names[k].as_str()).collect();
            if on_intercept {
                others.push(INTERCEPT);
            }
            Err(DataError::Collinear {
                file: file.into(),
                column: names[column].clone(),
                others: quoted_list(&others),
            })
        }
    }
}

/// The value that all have, if they all have the same.
fn constant<'a>(values: impl IntoIterator<Item = &'a f64>) -> Option<f64> {
    let mut values = values.into_iter();
    let first = values.next()?;
    values.all(|value| value == first).then_some(*first)
}
