//! Fits against posteriors that are known: enumeration, quadrature, simulation-based calibration.

#[path = "../common/mod.rs"]
mod common;

mod calibration;
mod enumeration;
mod exact;
mod exact_linear;
mod families;
mod joint;
mod offset;
mod places;
mod quadrature;
mod several;
mod study;
mod survey;
