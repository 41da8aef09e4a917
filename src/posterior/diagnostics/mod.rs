//! Convergence diagnostics and summaries of draws: R-hat, effective sample sizes, Monte Carlo errors and the findings on them.
//!
//! Definitions follow Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and localization",
//! as computed by R posterior and ArviZ. A function of chains takes one slice of draws per chain, all of one length.

mod chains;
mod checks;
mod energy;
mod ess;
mod finding;
mod finding_json;
mod mcse;
mod ranks;
mod rhat;
mod summary;
mod summary_csv;
mod summary_table;

#[cfg(test)]
mod reference;

pub use checks::{ChainRecord, RunRecord, check};
pub use energy::e_bfmi;
pub use ess::ess_mean;
#[cfg(test)]
pub(crate) use finding::Names;
pub use finding::{Finding, Worst};
pub(crate) use finding::{MAX_PRIOR_DEVIATION, MAX_R_HAT, MIN_E_BFMI, MIN_ESS_PER_CHAIN};
pub(crate) use finding::{is_high_r_hat, is_low_e_bfmi, min_ess};
pub use mcse::mcse_mean;
#[cfg(test)]
pub(crate) use summary::NUM_SUMMARIZED;
pub use summary::{SummaryRow, summarize};
pub use summary_csv::write_csv;
pub use summary_table::text_table;
