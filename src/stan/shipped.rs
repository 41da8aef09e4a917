//! The Stan models and the C++ bridge that travel inside the binary.

use super::StanSource;

/// A model that a config can name without a path.
#[derive(Debug, Clone, Copy)]
pub struct ShippedModel {
    pub name: &'static str,
    pub stan: &'static str,
}

const MODELS: &[ShippedModel] = &[ShippedModel {
    name: "linear",
    stan: include_str!("../../stan/linear.stan"),
}];

impl ShippedModel {
    pub fn source(&self) -> StanSource {
        StanSource::from_text(&format!("{}.stan", self.name), self.stan)
    }
}

pub fn shipped_model(name: &str) -> Option<&'static ShippedModel> {
    MODELS.iter().find(|model| model.name == name)
}

pub fn shipped_names() -> Vec<&'static str> {
    MODELS.iter().map(|model| model.name).collect()
}
