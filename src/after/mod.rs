//! What follows a fit: completed data sets for other software, pooled estimates, predictions for new rows.

pub mod export;
pub mod pool;
pub mod predict;
