//! Step 2 of the sampler: which response belongs to which row of predictors, given the parameters.
//!
//! Notation: `y[i]` belongs to `X[pi(i)]`; `l(i, j)` is the tempered log density of `y[i]` given
//! `X[j]`; `d` is the number of rows with `pi(i) != i` and `M` their set; `g[d]` is the log prior. [`LinkSpace`] says
//! which permutations are possible: rows move inside their groups.

mod acceptance;
mod active_set;
mod alias;
mod assignment;
mod block_rates;
mod checkerboard;
mod collapsed;
mod columns;
mod components;
mod family;
mod marginal;
mod moved_groups;
mod outside;
mod outside_links;
mod outside_set;
mod outside_switch;
mod pair;
#[allow(clippy::module_inception)]
mod permutation;
mod prior;
mod rate;
mod rate_prior;
mod rate_regression;
mod row_mixture;
mod rows;
mod space;
mod start;
mod statistics;
mod update;
mod walk;
mod weighted;
mod wrong_sets;

#[cfg(test)]
mod collapsed_exactness;
#[cfg(test)]
pub(crate) mod exactness;
#[cfg(test)]
mod extremes;
#[cfg(test)]
mod mixing;
#[cfg(test)]
pub(crate) mod outside_exactness;
#[cfg(test)]
mod structured;
#[cfg(test)]
mod weighted_exactness;

pub use active_set::ActiveSet;
pub use assignment::ModeSearch;
pub use checkerboard::{Checkerboard, Restart};
pub use collapsed::Collapsed;
pub use family::{FamilyLogLik, Normal, PairFamily, PairResponses};
pub use marginal::Marginal;
pub use outside::OutsidePrior;
pub use outside_links::OutsideLinks;
pub use pair::PairLogLik;
pub use permutation::{NOBODY, OUTSIDE, Permutation};
pub use prior::{Prior, PriorKind};
pub use rate_prior::RatePrior;
pub use rate_regression::RateRegression;
pub use row_mixture::{LinksGivenMoved, RowMixture};
pub use space::{LinkFacts, LinkSpace};
pub use statistics::LinearStatistics;
pub use update::{LinkKernel, Move, UpdateInfo};
pub use weighted::{CompleteLogLik, SurveyWeights, WeightSide, WeightedLogLik};
pub use wrong_sets::WrongSets;
