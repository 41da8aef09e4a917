//! Whether to trust the draws: traces, ranks, energies, agreement between chains, and a predictive check.

use serde::Serialize;

use super::page::Picture;
use super::saved::Saved;

#[derive(Debug, Clone, Serialize)]
pub struct Trust {
    pub pictures: Vec<Picture>,
}

impl Trust {
    pub fn new(_saved: &Saved) -> Trust {
        Trust {
            pictures: Vec::new(),
        }
    }
}
