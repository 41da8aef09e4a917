//! The coefficients: a forest plot of 50 and 90 % intervals beside the baselines, and the summary table.

use serde::Serialize;

use super::saved::Saved;

#[derive(Debug, Clone, Serialize)]
pub struct Coefficients {}

impl Coefficients {
    pub fn new(_saved: &Saved) -> Coefficients {
        Coefficients {}
    }
}
