//! The posterior of each parameter by chain, and of the number and share of moved rows against their prior.

use serde::Serialize;

use super::page::Picture;
use super::saved::Saved;

#[derive(Debug, Clone, Serialize)]
pub struct Posterior {
    pub pictures: Vec<Picture>,
}

impl Posterior {
    pub fn new(_saved: &Saved) -> Posterior {
        Posterior {
            pictures: Vec::new(),
        }
    }
}
