//! Fits against posteriors that are known: enumeration, quadrature, simulation-based calibration, change of units.

#[path = "../common/mod.rs"]
mod common;

mod calibration;
mod enumeration;
mod exact;
mod exact_linear;
mod families;
mod feedback;
mod joint;
mod quadrature;
mod row_mixture;
mod several;
mod study;
mod units;
