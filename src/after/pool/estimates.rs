//! estimates.csv: one line for each completed data set and coefficient; and the pooled ones as CSV.

use std::path::Path;

use super::{Estimates, PoolError, Pooled};
use crate::data::Table;
use crate::posterior::draws::format_float;
use crate::text::percent;

const KEY: &str = "needed by unshuffle pool";

/// Standard errors whose squares are neither 0 nor infinite.
const SQUARED: std::ops::RangeInclusive<f64> = 1e-150..=1e150;

/// Columns `set`, `name`, `estimate`, `standard_error` or `variance`, and perhaps `df_complete`; coefficients in the order of
/// the file.
pub fn read_estimates(path: &Path) -> Result<Vec<Estimates>, PoolError> {
    let file = path.display().to_string();
    if !path.exists() {
        return Err(PoolError::NotFound { file });
    }
    let table = Table::read(path, "the file of estimates")?;
    let [set, name, estimate] = [
        table.column("set", KEY)?,
        table.column("name", KEY)?,
        table.column("estimate", KEY)?,
    ];
    let variance = table.position("variance");
    let spread = match variance {
        Some(variance) => variance,
        None => table.column("standard_error", KEY)?,
    };
    let standard_error = table.position("standard_error");
    let df = table.position("df_complete");
    let number = |row: usize, column: usize, least: f64, rule: &str| {
        let value = table.cell(row, column).parse::<f64>();
        let value = value.ok().filter(|v| v.is_finite() && *v >= least);
        value.ok_or_else(|| table.bad_value(row, column, rule))
    };
    let mut found: Vec<(Estimates, Vec<&str>)> = Vec::new();
    for row in 0..table.rows.len() {
        if table.cell(row, name).is_empty() {
            let rule = "write the name of the coefficient";
            return Err(table.bad_value(row, name, rule).into());
        }
        let [set, name] = [set, name].map(|column| table.cell(row, column));
        let value = number(row, estimate, f64::NEG_INFINITY, "write a number")?;
        let spread = number(row, spread, 0.0, "write a number of 0 or more")?;
        let df = match df {
            Some(df) if !table.cell(row, df).is_empty() => Some(number(
                row,
                df,
                f64::MIN_POSITIVE,
                "write a number above 0, or nothing for a large sample",
            )?),
            _ => None,
        };
        let spread = match (variance, standard_error) {
            (None, _) if spread == 0.0 || SQUARED.contains(&spread) => spread * spread,
            (None, Some(column)) => {
                let rule = "choose a unit in which it is between 1e-150 and 1e150, or write 0";
                return Err(table.bad_value(row, column, rule).into());
            }
            (None, None) => unreachable!("one of the two columns is there"),
            (Some(_), None) => spread,
            (Some(_), Some(column)) => {
                let error = number(row, column, 0.0, "write a number of 0 or more")?;
                if (error * error - spread).abs() > 1e-3 * spread {
                    let rule = format!(
                        "the square of it is not `variance`, which is {spread}; remove the column that is wrong"
                    );
                    return Err(table.bad_value(row, column, rule).into());
                }
                spread
            }
        };
        let known = found.iter().position(|(known, _)| known.name == name);
        let index = known.unwrap_or_else(|| {
            let new = Estimates {
                name: name.into(),
                sets: Vec::new(),
                df_complete: df,
            };
            found.push((new, Vec::new()));
            found.len() - 1
        });
        let (estimates, sets) = &mut found[index];
        if sets.contains(&set) {
            return Err(PoolError::Twice {
                file,
                name: name.into(),
                set: set.into(),
            });
        }
        if estimates.df_complete != df {
            return Err(PoolError::Degrees {
                file,
                name: name.into(),
                first: estimates.df_complete.unwrap_or(f64::INFINITY),
                second: df.unwrap_or(f64::INFINITY),
            });
        }
        estimates.sets.push((value, spread));
        sets.push(set);
    }
    let estimates: Vec<Estimates> = found.into_iter().map(|(estimates, _)| estimates).collect();
    check(&estimates, file)?;
    Ok(estimates)
}

fn check(estimates: &[Estimates], file: String) -> Result<(), PoolError> {
    let Some(most) = estimates.iter().max_by_key(|e| e.sets.len()) else {
        return Err(crate::data::DataError::NoRows { file }.into());
    };
    for estimates in estimates {
        let num_sets = estimates.sets.len();
        if num_sets < most.sets.len() {
            return Err(PoolError::Uneven {
                file,
                name: estimates.name.clone(),
                num_sets,
                other: most.name.clone(),
                num_other: most.sets.len(),
            });
        }
        if num_sets < 2 {
            return Err(PoolError::OneSet {
                file,
                name: estimates.name.clone(),
            });
        }
    }
    Ok(())
}

/// The pooled estimates with intervals of the probability `level`.
pub fn pooled_csv(pooled: &[Pooled], level: f64) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |fields: Vec<String>| {
        writer
            .write_record(fields)
            .expect("memory can be written to");
    };
    let tail = 0.5 * (1.0 - level);
    let header = format!(
        "name,estimate,standard_error,df,{},{},fraction_missing,relative_increase,within,between,sets",
        percent(tail),
        percent(1.0 - tail)
    );
    write(header.split(',').map(String::from).collect());
    for p in pooled {
        let [low, high] = p.interval;
        let numbers = [
            p.estimate,
            p.standard_error,
            p.df,
            low,
            high,
            p.fraction_missing,
            p.relative_increase,
            p.within,
            p.between,
            p.num_sets as f64,
        ];
        let mut fields = vec![p.name.clone()];
        fields.extend(numbers.map(format_float));
        write(fields);
    }
    let bytes = writer.into_inner().expect("memory can be written to");
    String::from_utf8(bytes).expect("UTF-8 was written")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Estimates>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.csv");
        std::fs::write(&path, text).unwrap();
        let place = format!("{}/", folder.path().display());
        read_estimates(&path).map_err(|error| error.to_string().replace(&place, ""))
    }

    #[test]
    fn lines_are_gathered_by_coefficient() {
        let text = "name,estimate,set,standard_error,df_complete\nb,1,s1,2,30\n\"a, c\",5,s1,1,\nb,3,s2,0.5,30\n\"a, c\",6,s2,1,\n";
        let found = read(text).unwrap();
        assert_eq!(found[0].name, "b");
        assert_eq!(found[0].sets, [(1.0, 4.0), (3.0, 0.25)]);
        assert_eq!(found[0].df_complete, Some(30.0));
        assert_eq!(
            (found[1].name.as_str(), found[1].df_complete),
            ("a, c", None)
        );
        let variances = read("set,name,estimate,variance\n1,b,1,4\n2,b,3,0.25\n").unwrap();
        assert_eq!(variances[0].sets, found[0].sets);
        let csv = pooled_csv(&[found[1].pool(0.9)], 0.9);
        let header = csv.lines().next().unwrap();
        assert!(
            header.starts_with("name,estimate,standard_error,df,5%,95%,"),
            "{csv}"
        );
        assert!(
            csv.lines().nth(1).unwrap().starts_with("\"a, c\",5.5,"),
            "{csv}"
        );
    }

    #[test]
    fn mistakes_are_one_sentence() {
        for (text, sentence) in [
            (
                "set,name,estimates,variance\n1,a,1,1\n",
                "e.csv: no column `estimate` (needed by unshuffle pool); did you mean `estimates`?",
            ),
            (
                "set,name,estimate,variance\n1,a,1,1\n2,a,x,1\n",
                "e.csv, line 3: `estimate` is \"x\"; write a number",
            ),
            (
                "set,name,estimate,standard_error\n1,a,1,-1\n",
                "e.csv, line 2: `standard_error` is \"-1\"; write a number of 0 or more",
            ),
            (
                "set,name,estimate,variance\n1,a,1,1\n",
                "e.csv: `a` stands in one set only; pool estimates of at least two completed data sets",
            ),
            (
                "set,name,estimate,variance\n1,a,1,1\n1,a,1,1\n",
                "e.csv: `a` stands twice in set 1; remove one of the two",
            ),
            (
                "set,name,estimate,variance\n1,a,1,1\n2,a,1,1\n1,b,1,1\n",
                "e.csv: `b` stands in 1 sets, but `a` in 2; give an estimate of each in every set",
            ),
            (
                "set,name,estimate,variance,df_complete\n1,a,1,1,5\n2,a,1,1,6\n",
                "e.csv: `df_complete` of `a` is 5 and 6; it must be the same in every set",
            ),
            (
                "set,name,estimate,variance\n",
                "e.csv has a header line but no rows; add the data below it",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), sentence);
        }
    }
}
