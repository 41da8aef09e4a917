//! Whether to believe the draws: checks in words, convergence by quantity, traces, ranks, energies, agreement between chains, and a
//! predictive check.

mod agreement;
mod checks;
mod convergence;
mod energy;
mod predictive;
mod ranks;
mod traces;

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::by_chain::worst_first;
use super::page::Picture;
use super::saved::Saved;
use crate::posterior::diagnostics::SummaryRow;

/// Traces and ranks are drawn of so many quantities.
const MOST_PANELS: usize = 8;

#[derive(Debug, Clone, Serialize)]
pub struct Trust {
    pub in_short: String,
    pub checks: Vec<checks::Check>,
    pub convergence: convergence::Convergence,
    pub traces: Part,
    pub ranks: Part,
    pub sampler: Vec<energy::ChainRow>,
    pub energy: Part,
    pub agreement: Part,
    pub predictive: Part,
}

/// A picture, or why there is none.
#[derive(Debug, Clone, Serialize)]
pub struct Part {
    pub picture: Option<Picture>,
    pub missing: Option<String>,
}

impl From<Result<Picture, String>> for Part {
    fn from(drawn: Result<Picture, String>) -> Part {
        let missing = drawn.as_ref().err().cloned();
        Part {
            picture: drawn.ok(),
            missing,
        }
    }
}

impl Trust {
    pub fn new(saved: &Saved) -> Trust {
        let checks = checks::checks(saved);
        let selected = selected(saved);
        Trust {
            in_short: checks::in_short(&checks),
            checks,
            convergence: convergence::Convergence::new(saved),
            traces: traces::picture(saved, &selected).into(),
            ranks: ranks::picture(saved, &selected).into(),
            sampler: energy::chain_rows(saved),
            energy: energy::picture(saved).into(),
            agreement: agreement::picture(saved).into(),
            predictive: predictive::picture(saved).into(),
        }
    }
}

/// The quantities that are worst off, and in any case the number of moved rows.
fn selected(saved: &Saved) -> Vec<&SummaryRow> {
    let varying = worst_first(saved).into_iter();
    let mut rows: Vec<&SummaryRow> = varying.filter(|row| !row.is_constant()).collect();
    let moved = rows.iter().position(|row| row.name == "n_moved");
    if let Some(place) = moved.filter(|place| *place >= MOST_PANELS) {
        rows.swap(place, MOST_PANELS - 1);
    }
    rows.truncate(MOST_PANELS);
    rows
}
