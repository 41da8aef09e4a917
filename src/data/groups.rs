//! Terms by group: `(1 + x | g)` in a formula.

use ndarray::Array2;
use serde_json::{Map, Value, json};

use super::design::design_of_group;
use super::formula::Group;
use super::linked::Linked;
use super::values::group_category;
use super::{Codes, DataError, INTERCEPT};
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
