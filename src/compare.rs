//! Coefficients side by side: least squares with the links as given, this fit, and the truth where it is known.

use std::fs;
use std::path::Path;

use crate::baseline::least_squares;
use crate::data::Dataset;
use crate::diagnostics::SummaryRow;
use crate::simulate::Truth;

/// Half the width of a 90 % interval, in standard errors.
const Z_90: f64 = 1.644_853_626_951_472_7;

/// One coefficient, with 90 % intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficient {
    pub name: String,
    pub naive: Estimate,
    pub fitted: Estimate,
    pub truth: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Reads the truth of simulated data, as `unshuffle simulate` writes it.
pub fn read_truth(path: &Path) -> Result<Truth, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read the truth in {}: {error}", path.display()))?;
    serde_json::from_str(&text)
        .map_err(|error| format!("{} is not a truth.json: {error}", path.display()))
}

/// None for a program without one `beta` for each column of X.
pub fn coefficients(
    data: &Dataset,
    summary: &[SummaryRow],
    truth: Option<&Truth>,
) -> Option<Vec<Coefficient>> {
    let naive = least_squares(data.x.view(), &data.response);
    data.predictor_names
        .iter()
        .enumerate()
        .map(|(k, name)| {
            let row = summary
                .iter()
                .find(|row| row.name == format!("beta.{}", k + 1))?;
            let (value, error) = (naive.beta[k], naive.standard_error[k]);
            Some(Coefficient {
                name: name.clone(),
                naive: Estimate {
                    value,
                    low: value - Z_90 * error,
                    high: value + Z_90 * error,
                },
                fitted: Estimate {
                    value: row.mean?,
                    low: row.q5?,
                    high: row.q95?,
                },
                truth: truth.and_then(|truth| truth.beta.get(k).copied()),
            })
        })
        .collect()
}

/// An aligned table for a terminal.
pub fn table(coefficients: &[Coefficient]) -> String {
    let estimate = |e: &Estimate| format!("{:.4} [{:.4}, {:.4}]", e.value, e.low, e.high);
    let mut rows = vec![[
        String::new(),
        "as linked (least squares)".into(),
        "unshuffle".into(),
        "truth".into(),
    ]];
    rows.extend(coefficients.iter().map(|c| {
        [
            c.name.clone(),
            estimate(&c.naive),
            estimate(&c.fitted),
            c.truth.map_or(String::new(), |truth| format!("{truth:.4}")),
        ]
    }));
    let num_columns = if coefficients.iter().any(|c| c.truth.is_some()) {
        4
    } else {
        3
    };
    let width = |k: usize| {
        rows.iter()
            .map(|row| row[k].chars().count())
            .max()
            .unwrap_or(0)
    };
    let mut text = String::new();
    for row in &rows {
        let mut line = format!("{:<width$}", row[0], width = width(0));
        for (k, cell) in row.iter().enumerate().take(num_columns).skip(1) {
            line.push_str(&format!("  {cell:>width$}", width = width(k)));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64) -> Estimate {
        Estimate {
            value,
            low: value - 1.0,
            high: value + 1.0,
        }
    }

    #[test]
    fn the_truth_has_a_column_only_where_it_is_known() {
        let mut coefficient = Coefficient {
            name: "income".into(),
            naive: estimate(1.0),
            fitted: estimate(2.0),
            truth: None,
        };
        assert_eq!(
            table(std::slice::from_ref(&coefficient)),
            "        as linked (least squares)                unshuffle\n\
             income    1.0000 [0.0000, 2.0000]  2.0000 [1.0000, 3.0000]\n"
        );
        coefficient.truth = Some(2.5);
        assert!(table(&[coefficient]).ends_with("2.5000\n"));
    }
}
