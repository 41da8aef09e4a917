//! Rows that were not fitted, as the same columns of X: to predict their responses.

use std::path::Path;

use ndarray::Array2;

use super::cell::{self, Number};
use super::design::{self, design_of_new_rows};
use super::linked::Linked;
use super::read::RowsToFit;
use super::table::Table;
use super::{DataError, NewGroups, groups};
use crate::config::Data;

/// The largest size of a predictor, as in the data of a fit: its product with a coefficient may be no number.
const LARGEST: f64 = 1e100;

/// The rows of a file that needs no response.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRows {
    pub predictor_names: Vec<String>,
    pub x: Array2<f64>,
    /// What is added to the linear predictor of each row.
    pub offset: Option<Vec<f64>>,
    /// Terms whose coefficients differ between groups.
    pub groups: Option<NewGroups>,
    /// Her names of the rows, where the file has the column of them.
    pub row_ids: Option<Vec<String>>,
}

/// Codes the rows of `file` with the formula, the levels and the references of the fit of `data`.
pub fn read_new(data: &Data, file: &Path) -> Result<NewRows, DataError> {
    let fitted = RowsToFit::read(data)?;
    let rows = Linked::one(Table::read(file, "the file of new rows")?);
    rows.has_rows()?;
    let key = data.predictors_key();
    for name in fitted.formula.predictor_columns() {
        let column = rows.column(name, key)?;
        let missing = |row: &usize| cell::is_missing(rows.cell(column, *row));
        if let Some(row) = (0..rows.num_rows()).find(missing) {
            return Err(rows.bad_value(column, row, "fill it in or leave the row out"));
        }
        let too_large = |row: &usize| match cell::number(rows.cell(column, *row)) {
            Number::Value(value) => value.abs() > LARGEST,
            _ => false,
        };
        if let Some(row) = (0..rows.num_rows()).find(too_large) {
            let fix = "write a number between -1e100 and 1e100, or leave the row out";
            return Err(rows.bad_value(column, row, fix));
        }
    }
    let design = design_of_new_rows(&rows, &fitted.linked, &fitted.formula, data)?;
    let groups = fitted.formula.group.as_ref();
    let groups = groups.map(|group| groups::of_new_rows(&rows, &fitted.linked, group, data));
    let id = data.id.as_deref();
    let id = id.and_then(|name| rows.column(name, "data.id").ok());
    let all = 0..rows.num_rows();
    Ok(NewRows {
        predictor_names: design.names,
        x: design.x,
        offset: design::offset(&rows, &fitted.formula, data)?,
        groups: groups.transpose()?,
        row_ids: id.map(|column| all.map(|row| rows.cell(column, row).into()).collect()),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ndarray::array;
    use tempfile::TempDir;

    use super::*;

    const FITTED: &str = "id,y,age,sector,grade\n1,2,30,b,1\n2,4,40,a,2\n3,3,50,c,3\n4,8,60,a,1\n5,1,35,b,2\n6,2,45,c,3\n7,9,20,a,1\n8,3,28,b,3\n";

    /// Means of slopes by group are those of the fit, and groups that it did not have count on.
    #[test]
    fn groups_are_those_of_the_fit_and_new_ones() {
        let rows = read(
            "age,sector\n40,c\n48.5,z\n30,a\n10,z\n20,q\n",
            "y ~ age + (1 + age | sector)",
        );
        let groups = rows.unwrap().groups.unwrap();
        assert_eq!((groups.num_fitted, groups.num_new), (3, 2));
        assert_eq!(groups.of_row, [2, 3, 0, 3, 4]);
        // The mean age of the fit is 38.5.
        let expected = array![
            [1.0, 1.5],
            [1.0, 10.0],
            [1.0, -8.5],
            [1.0, -28.5],
            [1.0, -18.5]
        ];
        assert_eq!(groups.z, expected);
        let numbers = read("age,grade\n40,3.0\n40,9\n", "y ~ age + (0 + age | grade)");
        let groups = numbers.unwrap().groups.unwrap();
        assert_eq!(
            (groups.of_row, groups.z),
            (vec![2, 3], array![[40.0], [40.0]])
        );
        assert!(
            read("age,sector\n40,c\n", "y ~ age")
                .unwrap()
                .groups
                .is_none()
        );
    }

    fn read(new: &str, formula: &str) -> Result<NewRows, String> {
        let folder: TempDir = tempfile::tempdir().unwrap();
        let (old, file) = (folder.path().join("d.csv"), folder.path().join("new.csv"));
        fs::write(&old, FITTED).unwrap();
        fs::write(&file, new).unwrap();
        let mut data = Data::new(old, "", Vec::new());
        data.formula = Some(formula.into());
        data.id = Some("id".into());
        data.reference.insert("sector".into(), "b".into());
        let said = |error: DataError| error.to_string();
        let text = read_new(&data, &file).map_err(said);
        text.map_err(|error| error.replace(&format!("{}/", folder.path().display()), ""))
    }

    #[test]
    fn a_predictor_that_no_prediction_survives_is_refused() {
        let rows = |age: &str| read(&format!("age\n40\n{age}\n"), "y ~ age");
        assert_eq!(
            rows("-1e101").unwrap_err(),
            "new.csv, line 3: `age` is \"-1e101\"; write a number between -1e100 and 1e100, or leave the row out"
        );
        assert!(rows("1e100").is_ok());
    }

    #[test]
    fn levels_and_references_are_those_of_the_fit() {
        // Without a row of level b or c the file alone would be coded otherwise.
        let rows = read(
            "sector,age,grade,id\na,10,2.0,x\n\"c\",20,3,y\n",
            "y ~ log(age) + sector + C(grade)",
        );
        let rows = rows.unwrap();
        assert_eq!(
            rows.predictor_names,
            [
                "(Intercept)",
                "log(age)",
                "sector[a]",
                "sector[c]",
                "grade[2]",
                "grade[3]"
            ]
        );
        let logs = [10f64.ln(), 20f64.ln()];
        let expected = array![
            [1.0, logs[0], 1.0, 0.0, 1.0, 0.0],
            [1.0, logs[1], 0.0, 1.0, 0.0, 1.0]
        ];
        assert_eq!(rows.x, expected);
        assert_eq!(rows.row_ids, Some(vec!["x".into(), "y".into()]));
    }

    #[test]
    fn interactions_are_coded_as_in_the_fit() {
        let rows = read("sector,age\nc,2\nb,3\n", "y ~ age*sector").unwrap();
        assert_eq!(
            rows.predictor_names[4..],
            ["age:sector[a]", "age:sector[c]"]
        );
        assert_eq!(rows.x.row(0).to_vec(), [1.0, 2.0, 0.0, 1.0, 0.0, 2.0]);
        assert_eq!(rows.x.row(1).to_vec(), [1.0, 3.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(rows.row_ids, None);
    }

    #[test]
    fn what_cannot_be_coded_is_one_sentence() {
        let formula = "y ~ age + sector";
        for (new, sentence) in [
            (
                "age,sector\n1,a\n2,farm\n",
                "new.csv, line 3: `sector` is \"farm\"; the data of the fit have only the levels `a`, `b` and `c`, so \
                 correct it or leave the row out",
            ),
            (
                "age,sector\n1,a\nNA,b\n",
                "new.csv, line 3: `age` is \"NA\"; fill it in or leave the row out",
            ),
            (
                "age,sectors\n1,a\n",
                "new.csv: no column `sector` (data.formula); did you mean `sectors`?",
            ),
            (
                "age,sector\nold,a\n",
                "new.csv, line 2: `age` is \"old\"; write a number, since it holds numbers in the data of the fit",
            ),
        ] {
            assert_eq!(read(new, formula).unwrap_err(), sentence);
        }
    }
}
