//! Shipped programs and programs of the user's own, through the compiled library: densities, gradients, row weights, and the
//! same answer in any unit.

#[path = "../common/mod.rs"]
mod common;

#[path = "../posterior/study.rs"]
mod study;

mod brms;
mod brms_posteriors;
mod feedback;
mod group_and_time_densities;
mod models;
mod offset;
mod pairs;
mod row_mixture;
mod shipped_densities;
mod statistics;
mod survey;
mod types;
mod units;
