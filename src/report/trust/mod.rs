//! Whether to believe the fit. The model behind the links: residuals of rows that stay, P(wrong) along the predictors, and the
//! coefficients by method. The draws: checks in words, convergence by quantity, traces, ranks, energies, agreement between
//! chains, and a predictive check.

mod agreement;
mod checks;
mod convergence;
mod energy;
mod one_scale;
mod pairs;
mod predictive;
mod ranks;
mod residuals;
mod traces;
mod wrong;

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::by_chain::worst_first;
use super::page::Picture;
use crate::numerics::Bin;
use crate::plot::Interval;
use crate::posterior::Posterior;
use crate::posterior::diagnostics::SummaryRow;
use residuals::Residuals;

/// Traces and ranks are drawn of so many quantities.
const MOST_PANELS: usize = 8;

#[derive(Debug, Clone, Serialize)]
pub struct TrustSection {
    /// None where every link was kept.
    pub model: Option<ModelPictures>,
    pub in_short: String,
    /// Whether a check of the draws failed or could not be made: its details are then open.
    pub has_problem: bool,
    pub checks: Vec<checks::DrawsCheck>,
    pub convergence: convergence::Convergence,
    pub traces: Part,
    pub ranks: Part,
    pub sampler: Vec<energy::ChainRow>,
    pub energy: Part,
    /// None where no draw diverged.
    pub pairs: Option<Picture>,
    pub agreement: Part,
    pub predictive: Part,
}

/// What the checks of the model behind the links look at.
#[derive(Debug, Clone, Serialize)]
pub struct ModelPictures {
    /// Curvature and spread of rows that stay.
    pub along_fitted: Part,
    pub tails: Part,
    /// P(wrong) by predictor.
    pub wrong: Part,
    /// Coefficients by method.
    pub one_scale: Part,
}

impl ModelPictures {
    fn new(fit: &Posterior) -> Option<ModelPictures> {
        fit.links.as_ref()?;
        let residuals = Residuals::new(fit);
        let along_fitted = residuals.as_ref().map_err(String::clone);
        Some(ModelPictures {
            along_fitted: along_fitted.and_then(Residuals::along_fitted).into(),
            tails: residuals.and_then(|known| known.tails()).into(),
            wrong: wrong::picture(fit).into(),
            one_scale: one_scale::picture(fit).into(),
        })
    }
}

/// The mean of a bin as a mark.
fn interval(bin: Bin) -> Interval {
    Interval {
        at: bin.at,
        low: bin.low,
        high: bin.high,
        inner: None,
        mid: bin.mean,
    }
}

/// The checks of the draws.
pub fn draws_checks(fit: &Posterior) -> Vec<checks::DrawsCheck> {
    checks::checks(fit)
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

impl TrustSection {
    pub fn new(fit: &Posterior) -> TrustSection {
        let checks = checks::checks(fit);
        let selected = selected(fit);
        TrustSection {
            model: ModelPictures::new(fit),
            in_short: checks::in_short(&checks),
            has_problem: checks.iter().any(|c| c.result != checks::Outcome::Pass),
            checks,
            convergence: convergence::Convergence::new(fit),
            traces: traces::picture(fit, &selected).into(),
            ranks: ranks::picture(fit, &selected).into(),
            sampler: energy::chain_rows(fit),
            energy: energy::picture(fit).into(),
            pairs: pairs::picture(fit),
            agreement: agreement::picture(fit).into(),
            predictive: predictive::picture(fit).into(),
        }
    }
}

/// The quantities that are worst off, and in any case the number of moved rows.
fn selected(fit: &Posterior) -> Vec<&SummaryRow> {
    let varying = worst_first(fit).into_iter();
    let mut rows: Vec<&SummaryRow> = varying.filter(|row| !row.is_constant()).collect();
    let moved = rows.iter().position(|row| row.name == "n_moved");
    if let Some(place) = moved.filter(|place| *place >= MOST_PANELS) {
        rows.swap(place, MOST_PANELS - 1);
    }
    rows.truncate(MOST_PANELS);
    rows
}
