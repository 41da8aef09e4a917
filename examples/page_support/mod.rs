//! What the pages made from results of studies share: tables read, numbers in words, sections written.

// Every page uses its own part.
#![allow(dead_code)]

pub mod format;
pub mod section;
pub mod tables;
