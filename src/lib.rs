//! Bayesian regression when some rows of a linked data set are linked wrongly.
//!
//! A fit alternates two steps: [`sampler::hmc`] samples the parameters of a Stan program given the links (Step 1), and
//! [`sampler::links`] samples the links given the parameters (Step 2); [`sampler::chain`] puts them together.
//!
//! # Glossary
//!
//! | term | meaning | in code |
//! |---|---|---|
//! | link | the pairing of a response with a row of predictors | `pi(i)`: response i belongs to row `pi(i)` of X |
//! | linkage error | a link that joins records of different units | |
//! | mismatched row | its response belongs to the predictors of another row | `p_moved`, `mismatch_rate` |
//! | moved row | `pi(i) != i` in one draw | [`sampler::links::Permutation::moved`] |
//! | naive estimate | ignores linkage error: every link is kept as given | `as_linked` |
//! | block, safe row, match probability, candidate pair | what is known of the links | [`sampler::links::LinkSpace`] |
//! | active set | the moved rows and those that look mismatched, where moves are proposed | [`sampler::links::ActiveSet`] |
//! | power of the likelihood | alpha of a tempered posterior; config `temperature` or `likelihood_power` | `alpha` |
//! | feedback | whether moved rows inform the parameters | [`sampler::links::RowMixture`] is the model without |
//! | family | density of a response given its predictors, for the links step | [`sampler::links::Family`] |

pub mod after;
pub mod baseline;
pub mod cli;
pub mod config;
pub mod data;
pub mod fit;
pub mod model;
pub mod numerics;
pub mod posterior;
pub mod priors;
pub mod report;
pub mod sampler;
pub mod study;
pub mod text;
pub mod trust;

pub use unshuffle_plot as plot;
