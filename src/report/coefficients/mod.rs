//! The coefficients: a forest plot of 50 and 90 % intervals beside the baselines, and the summary table.

mod forest;
mod known_rate;
mod table;

use serde::Serialize;

use super::page::Picture;
use super::saved::Saved;
use crate::posterior::diagnostics::SummaryRow;

use table::SummaryTable;

#[derive(Debug, Clone, Serialize)]
pub struct Coefficients {
    /// None for a program without one `beta` for each column of X.
    pub forest: Option<Picture>,
    /// The coefficients by the rate of wrong links that one believes in, where that can be estimated.
    pub by_rate: Option<Picture>,
    pub table: SummaryTable,
}

impl Coefficients {
    pub fn new(saved: &Saved) -> Coefficients {
        Coefficients {
            forest: forest::picture(saved),
            by_rate: known_rate::picture(saved),
            table: SummaryTable::new(saved),
        }
    }
}

/// The coefficients with the user's names, in the order of her responses and predictors; none for a program without one
/// `beta` for each.
pub fn coefficients(saved: &Saved) -> Vec<(String, &SummaryRow)> {
    let found = saved.coefficient_names().into_iter();
    found
        .filter_map(|(beta, name)| Some((name, saved.quantity(&beta)?)))
        .collect()
}
