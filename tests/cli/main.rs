//! The command line as a user meets it: every command, its files and its sentences.

#[path = "../common/mod.rs"]
mod common;

mod adopt;
mod assess;
mod bad_inputs;
mod cache;
mod chains;
mod commands;
mod compare;
mod compile;
mod damaged_files;
mod data_input;
mod design_matrix;
mod export;
mod file_study;
mod fits;
mod groups;
mod interrupts;
mod json;
mod library;
mod linkage;
mod links_fits;
mod odd_files;
mod offset;
mod outside;
mod predict;
mod python_readers;
mod refit;
mod report;
mod resume;
mod several_responses;
mod simulate;
mod standardise;
mod streams;
mod study;
mod survey;
mod survival;
mod trust;
