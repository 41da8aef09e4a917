//! What holds for every shipped program: the same answer in any unit, and row weights that mean what they say.
//!
//! A program of its own, beside tests/posterior: a process can load some 25 compiled Stan programs and no more, since their
//! thread-local variables are addressed statically.

#[path = "../common/mod.rs"]
mod common;

#[path = "../posterior/study.rs"]
mod study;

mod feedback;
mod row_mixture;
mod units;
