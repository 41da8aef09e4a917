//! The summary of every quantity: the coefficients by the user's names first, `lp__` last.

use serde::Serialize;

use crate::posterior::Posterior;
use crate::posterior::diagnostics::SummaryRow;
use crate::report::aggregate::is_of_file;
use crate::report::format::{significant, with_spread};

/// Quantities shown; summary.csv has the others.
const MOST_SHOWN: usize = 1000;

/// Columns behind the name, each with what it means.
const COLUMNS: [(&str, &str); 9] = [
    ("Mean", "Posterior mean: the estimate."),
    (
        "MCSE",
        "Monte Carlo standard error: how far the mean may be off because the draws are finitely many.",
    ),
    (
        "SD",
        "Posterior standard deviation: the uncertainty left by the data.",
    ),
    ("5 %", "5 % quantile, the lower end of the 90 % interval."),
    ("50 %", "Posterior median."),
    ("95 %", "95 % quantile, the upper end of the 90 % interval."),
    (
        "Bulk ESS",
        "Effective sample size for the centre of the posterior: as many independent draws would tell as much. At least 100 for each chain is wanted.",
    ),
    (
        "Tail ESS",
        "Effective sample size for the 5 and 95 % quantiles. At least 100 for each chain is wanted.",
    ),
    (
        "R-hat",
        "Compares the chains with each other: 1 where they agree; above 1.01 they do not.",
    ),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SummaryTable {
    /// (name, what it means) of each column behind the name.
    pub columns: Vec<(&'static str, &'static str)>,
    pub rows: Vec<Quantity>,
    pub num_left_out: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quantity {
    pub name: String,
    /// What it is called in the files, if not the same.
    pub file_name: Option<String>,
    pub cells: Vec<String>,
}

impl SummaryTable {
    pub fn new(fit: &Posterior) -> SummaryTable {
        SummaryTable::chosen(fit, |_| true)
    }

    /// Without quantities that may belong to single rows.
    pub fn of_file(fit: &Posterior) -> SummaryTable {
        SummaryTable::chosen(fit, |row| is_of_file(fit, &row.name))
    }

    fn chosen(fit: &Posterior, is_chosen: impl Fn(&SummaryRow) -> bool) -> SummaryTable {
        let rows = fit.summary().iter().filter(|row| is_chosen(row));
        let named = rows.map(|row| (fit.name_of(&row.name), row));
        SummaryTable::of(named.collect())
    }

    fn of(mut named: Vec<(String, &SummaryRow)>) -> SummaryTable {
        named.sort_by_key(|(name, row)| match row.name.as_str() {
            "lp__" => 2,
            own => i32::from(name == own),
        });
        let num_left_out = named.len().saturating_sub(MOST_SHOWN);
        named.truncate(MOST_SHOWN);
        let rows = named.into_iter().map(|(name, row)| Quantity {
            file_name: (name != row.name).then(|| row.name.clone()),
            name,
            cells: cells(row),
        });
        SummaryTable {
            columns: COLUMNS.to_vec(),
            rows: rows.collect(),
            num_left_out,
        }
    }
}

fn cells(row: &SummaryRow) -> Vec<String> {
    let spread = row.sd.unwrap_or(0.0);
    let value = |value: Option<f64>| with_spread(value.unwrap_or(f64::NAN), spread);
    let digits = |value: Option<f64>, digits| significant(value.unwrap_or(f64::NAN), digits);
    let whole = |value: Option<f64>| value.map_or("NA".into(), |v| format!("{v:.0}"));
    let r_hat = row.r_hat.map_or("NA".into(), |r_hat| format!("{r_hat:.3}"));
    vec![
        value(row.mean),
        digits(row.mcse, 2),
        digits(row.sd, 2),
        value(row.q5),
        value(row.q50),
        value(row.q95),
        whole(row.ess_bulk),
        whole(row.ess_tail),
        r_hat,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::diagnostics::summarize;

    #[test]
    fn coefficients_come_first_and_the_density_last() {
        let draws: Vec<f64> = (0..100).map(|k| f64::from(k * 37 % 100) / 50.0).collect();
        let rows = ["lp__", "sigma", "beta.1"].map(|name| summarize(name, &[&draws], None));
        let names = ["lp__", "sigma", "<script>"].map(String::from);
        let table = SummaryTable::of(names.into_iter().zip(&rows).collect());
        let order: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(order, ["<script>", "sigma", "lp__"]);
        assert_eq!(table.rows[0].file_name.as_deref(), Some("beta.1"));
        assert_eq!(table.rows[1].file_name, None);
        assert_eq!(table.rows[0].cells[0], "0.99");
        assert_eq!(table.rows[0].cells.len(), table.columns.len());
    }

    #[test]
    fn so_many_quantities_are_shown_and_no_more() {
        let row = summarize("x", &[&[0.0, 1.0]], None);
        let table = SummaryTable::of(vec![("x".to_string(), &row); MOST_SHOWN + 7]);
        assert_eq!((table.rows.len(), table.num_left_out), (MOST_SHOWN, 7));
    }
}
