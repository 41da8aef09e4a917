//! The user's CSV as a design matrix and a response, and as JSON data for Stan.

mod cell;
mod checks;
mod collinear;
mod delimiter;
mod error;
mod place;
mod read;
mod stan_json;

use ndarray::Array2;

pub(crate) use delimiter::detect as detect_delimiter;
pub use error::DataError;
pub(crate) use place::clean;
pub use read::read;
pub use stan_json::stan_json;

/// The name of the first column of `x` when there is an intercept.
pub const INTERCEPT: &str = "(Intercept)";

/// The rows of the user's file, in her order: row i here is her data row i + 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Names of the columns of `x`.
    pub predictor_names: Vec<String>,
    /// Rows by predictors, in row-major order.
    pub x: Array2<f64>,
    pub response: Vec<f64>,
    /// Her names of the rows.
    pub row_ids: Option<Vec<String>>,
    pub blocks: Option<Blocks>,
    /// Rows whose link is known to be right.
    pub safe: Option<Vec<bool>>,
}

/// Groups of rows; a row can only be relinked inside its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// For each row the index of its block, numbered in the order of first appearance.
    pub of_row: Vec<usize>,
    pub labels: Vec<String>,
}

impl Dataset {
    pub fn num_rows(&self) -> usize {
        self.response.len()
    }
}
