//! `unshuffle schema`: the JSON Schema of a config.

use super::failure::Failure;
use crate::config;

pub(super) fn schema() -> Result<(), Failure> {
    say!("{}", config::schema());
    Ok(())
}
