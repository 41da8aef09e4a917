//! Terms by group: `(1 + x | g)` in a formula.

use ndarray::Array2;
use serde_json::{Map, Value, json};

use super::cell::{self, Number};
use super::design::{design_of_group, design_of_group_of_new_rows};
use super::formula::Group;
use super::linked::Linked;
use super::values::group_category;
use super::{Codes, DataError, INTERCEPT, checks};
use crate::config::Data;
use crate::numerics::Spread;

/// The groups of the rows, and the columns whose coefficients differ between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// The column that names them.
    pub column: String,
    /// For each row its group, counted from 0.
    pub of_row: Vec<usize>,
    pub levels: Vec<String>,
    /// Names of the columns of `z`.
    pub names: Vec<String>,
    /// Rows by columns. With an intercept the others are measured from their means, so that the intercept of a group is
    /// its deviation there, in any unit.
    pub z: Array2<f64>,
}

impl Groups {
    /// What the group of each row adds to the linear predictor. Deviations are counted by group, in each by the columns of `z`.
    pub fn part(&self, deviation: impl Fn(usize) -> f64) -> Vec<f64> {
        let num_columns = self.z.ncols();
        let rows = self.z.rows().into_iter().zip(&self.of_row);
        rows.map(|(z, group)| {
            let columns = z.iter().enumerate();
            columns
                .map(|(l, z)| z * deviation(group * num_columns + l))
                .sum()
        })
        .collect()
    }
}

pub(super) fn read(
    linked: &Linked,
    group: &Group,
    data: &Data,
    codes: &mut Vec<Codes>,
) -> Result<Groups, DataError> {
    let column = linked.column(&group.column, data.predictors_key())?;
    let category = group_category(linked, column);
    let (num_levels, num_rows) = (category.levels.len(), linked.num_rows());
    if num_levels < 2 || num_levels >= num_rows {
        return Err(DataError::NumGroups {
            file: linked.file(column).into(),
            column: group.column.clone(),
            num_levels,
            num_rows,
        });
    }
    let design = design_of_group(linked, group, data)?;
    let key = data.predictors_key();
    if design.names.is_empty() {
        let column = group.column.clone();
        return Err(DataError::NoGroupTerms { key, column });
    }
    let place = (linked.file(column), key);
    checks::check_columns(design.x.view(), &design.names, group.intercept, place)?;
    codes.push(Codes {
        entry: "group".into(),
        levels: category.levels.clone(),
    });
    Ok(Groups {
        column: group.column.clone(),
        of_row: category.of_row,
        levels: category.levels,
        z: centred(design.x, group.intercept),
        names: design.names,
    })
}

/// The groups of rows that were not fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct NewGroups {
    /// For each row its group among those of the fit, counted from 0; levels that the fit did not have count on from there.
    pub of_row: Vec<usize>,
    pub num_fitted: usize,
    pub num_new: usize,
    /// The columns of `Groups::z`, measured from the means of the fit.
    pub z: Array2<f64>,
}

/// Codes the groups of `rows` with the levels and the means of the fitted rows.
pub(super) fn of_new_rows(
    rows: &Linked,
    fitted: &Linked,
    group: &Group,
    data: &Data,
) -> Result<NewGroups, DataError> {
    let key = data.predictors_key();
    let category = group_category(fitted, fitted.column(&group.column, key)?);
    let mut levels = category.levels;
    let num_fitted = levels.len();
    let column = rows.column(&group.column, key)?;
    let of_row = (0..rows.num_rows()).map(|row| {
        let cell = rows.cell(column, row);
        // 1 and 1.0 are one level.
        let text = match cell::number(cell) {
            Number::Value(value) => (value + 0.0).to_string(),
            _ => cell.to_string(),
        };
        let is_level = |level: &String| *level == text || level == cell;
        levels.iter().position(is_level).unwrap_or_else(|| {
            levels.push(text);
            levels.len() - 1
        })
    });
    let of_row = of_row.collect();
    let mut z = design_of_group_of_new_rows(rows, fitted, group, data)?.x;
    if group.intercept {
        let of_fit = design_of_group(fitted, group, data)?.x;
        let columns = z.columns_mut().into_iter().zip(of_fit.columns());
        for (mut column, of_fit) in columns.skip(1) {
            let centre = Spread::around_mean(of_fit.iter().copied()).centre;
            column.mapv_inplace(|value| value - centre);
        }
    }
    Ok(NewGroups {
        of_row,
        num_fitted,
        num_new: levels.len() - num_fitted,
        z,
    })
}

fn centred(mut z: Array2<f64>, has_intercept: bool) -> Array2<f64> {
    for mut column in z
        .columns_mut()
        .into_iter()
        .skip(1)
        .filter(|_| has_intercept)
    {
        let centre = Spread::around_mean(column.iter().copied()).centre;
        column.mapv_inplace(|value| value - centre);
    }
    z
}

impl Groups {
    /// Entries of the program's data block: J groups, L columns of Z, and the group of each row, counted from 1.
    pub fn stan_entries(&self) -> Map<String, Value> {
        let of_row: Vec<usize> = self.of_row.iter().map(|group| group + 1).collect();
        let z: Vec<Vec<f64>> = self.z.rows().into_iter().map(|row| row.to_vec()).collect();
        Map::from_iter([
            ("J".into(), json!(self.levels.len())),
            ("L".into(), json!(self.z.ncols())),
            ("group".into(), json!(of_row)),
            ("Z".into(), json!(z)),
        ])
    }

    /// Whether the first column of `z` is the intercept.
    pub fn has_intercept(&self) -> bool {
        self.names.first().map(String::as_str) == Some(INTERCEPT)
    }
}
