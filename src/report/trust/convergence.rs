//! R-hat, effective sample sizes and Monte Carlo errors of every quantity, the worst first.

use serde::Serialize;

use crate::posterior::Posterior;
use crate::posterior::diagnostics::{MAX_R_HAT, SummaryRow, is_high_r_hat, min_ess};
use crate::report::by_chain::{shown_r_hat, worst_first};
use crate::report::format::significant;

const MOST_ROWS: usize = 40;
/// A longer table is folded.
const FEW_ROWS: usize = 12;

#[derive(Debug, Clone, Serialize)]
pub struct Convergence {
    pub rows: Vec<ConvergenceRow>,
    pub num_more: usize,
    pub folded: bool,
    pub num_draws: usize,
    /// What bulk and tail ESS should reach.
    pub wanted_ess: usize,
    pub wanted_r_hat: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConvergenceRow {
    pub name: String,
    pub r_hat: Cell,
    pub ess_bulk: Cell,
    pub ess_tail: Cell,
    pub mcse: Cell,
    pub mcse_per_sd: Cell,
}

/// A number, and whether it is beyond its limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    pub text: String,
    pub bad: bool,
}

impl Convergence {
    pub fn new(fit: &Posterior) -> Convergence {
        let wanted = min_ess(fit.chains.len());
        let all = worst_first(fit);
        let shown = all.iter().take(MOST_ROWS);
        Convergence {
            rows: shown
                .map(|row| ConvergenceRow::new(fit, row, wanted))
                .collect(),
            num_more: all.len().saturating_sub(MOST_ROWS),
            folded: all.len() > FEW_ROWS,
            num_draws: fit.num_draws(),
            wanted_ess: wanted as usize,
            wanted_r_hat: MAX_R_HAT,
        }
    }
}

impl ConvergenceRow {
    fn new(fit: &Posterior, row: &SummaryRow, wanted: f64) -> ConvergenceRow {
        let cell = |value: Option<f64>, digits: i32| Cell {
            text: value.map_or("NA".into(), |value| significant(value, digits)),
            bad: false,
        };
        let size = |value: Option<f64>| Cell {
            text: value.map_or("NA".into(), |value| format!("{value:.0}")),
            bad: value.is_some_and(|value| value < wanted),
        };
        let per_sd = row.mcse.zip(row.sd).map(|(mcse, sd)| mcse / sd);
        ConvergenceRow {
            name: fit.name_of(&row.name),
            r_hat: Cell {
                bad: row.r_hat.is_some_and(is_high_r_hat),
                text: row.r_hat.map_or("NA".into(), shown_r_hat),
            },
            ess_bulk: size(row.ess_bulk),
            ess_tail: size(row.ess_tail),
            mcse: cell(row.mcse, 2),
            mcse_per_sd: cell(per_sd, 2),
        }
    }
}
