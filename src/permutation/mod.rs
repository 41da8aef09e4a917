//! permutation
