//! The posterior predictive check of a fit, as in predictive.json.

use serde::{Deserialize, Serialize};

/// The density of the responses and of data sets drawn from the fit, on one grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predictive {
    pub grid: Vec<f64>,
    pub observed: Vec<f64>,
    pub replicated: Vec<Vec<f64>>,
}
