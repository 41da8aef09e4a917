//! A finished fit: its draws, what they say of each quantity and each link, and what is wrong with them.

pub mod diagnostics;
pub mod draws;
pub mod links;
pub mod saved_fit;
pub mod summary;
