//! The coefficients: a forest plot of 50 and 90 % intervals beside the baselines, and the summary table.

mod forest;
mod known_rate;
mod table;

use serde::Serialize;

use super::page::Picture;
use crate::posterior::Posterior;
use crate::posterior::diagnostics::SummaryRow;

pub use forest::{Row as ForestRow, figure as forest_figure, interval as forest_interval};
use table::SummaryTable;

#[derive(Debug, Clone, Serialize)]
pub struct CoefficientsSection {
    /// None for a program without one `beta` for each column of X.
    pub forest: Option<Picture>,
    /// The coefficients by the rate of wrong links that one believes in, where that can be estimated.
    pub by_rate: Option<Picture>,
    pub table: SummaryTable,
}

impl CoefficientsSection {
    pub fn new(fit: &Posterior) -> CoefficientsSection {
        CoefficientsSection {
            forest: forest::picture(fit),
            by_rate: known_rate::picture(fit),
            table: SummaryTable::new(fit),
        }
    }

    /// The same without quantities that may belong to single rows.
    pub fn without_rows(fit: &Posterior) -> CoefficientsSection {
        CoefficientsSection {
            table: SummaryTable::of_file(fit),
            ..CoefficientsSection::new(fit)
        }
    }
}

/// The forest plot as an SVG file of its own.
pub fn forest_svg(fit: &Posterior) -> Option<String> {
    forest::drawn(fit).map(|(figure, _)| figure.svg())
}

/// The coefficients with the user's names, in the order of her responses and predictors; none for a program without one
/// `beta` for each.
pub fn coefficients(fit: &Posterior) -> Vec<(String, &SummaryRow)> {
    let found = fit.coefficient_names().into_iter();
    found
        .filter_map(|(beta, name)| Some((name, fit.quantity(&beta)?)))
        .collect()
}
