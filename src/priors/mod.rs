//! The priors of the shipped programs: their numbers, taken from the file as linked, and what they are in words.
//!
//! Nothing here depends on the links: columns of X and the response enter through their own means and spreads alone.

mod numbers;
mod words;

pub use numbers::{entries, of_linear};
pub use words::PriorsUsed;
#[cfg(test)]
pub(crate) use words::{Law, PriorLine};
