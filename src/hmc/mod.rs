//! hmc
