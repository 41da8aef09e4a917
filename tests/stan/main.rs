//! Shipped programs and programs of the user's own, through the compiled library.

#[path = "../common/mod.rs"]
mod common;

mod models;
mod pairs;
mod shipped_densities;
mod types;
