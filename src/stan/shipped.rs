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

/// Our implementation of BridgeStan's C interface: one translation unit, `bridge.cpp`, in three files.
pub(super) const BRIDGE: [(&str, &str); 3] = [
    ("bridge.cpp", include_str!("../../stan/bridge/bridge.cpp")),
    ("model.hpp", include_str!("../../stan/bridge/model.hpp")),
    ("runtime.hpp", include_str!("../../stan/bridge/runtime.hpp")),
];
/// Takes the place of Stan's own header of the same name, which compiles far more than the bridge calls.
pub(super) const MODEL_BASE_CRTP: &str =
    include_str!("../../stan/bridge/slim/stan/model/model_base_crtp.hpp");

/// Engel's households, for a first fit.
pub const EXAMPLE_DATA: &str = include_str!("../../configs/data/engel.csv");

impl ShippedModel {
    pub fn source(&self) -> StanSource {
        StanSource::from_text(&format!("{}.stan", self.name), self.stan)
    }

    /// A config to edit, for a copy of this model and of the example data beside it.
    pub fn starting_config(&self) -> String {
        let config = serde_json::json!({
            "name": self.name,
            "model": { "stan": format!("{}.stan", self.name) },
            "data": { "file": "example.csv", "response": "log_food", "predictors": ["log_income"] },
            "permutation": { "update": { "name": "none" } },
        });
        serde_json::to_string_pretty(&config).expect("plain JSON") + "\n"
    }
}

pub fn shipped_model(name: &str) -> Option<&'static ShippedModel> {
    MODELS.iter().find(|model| model.name == name)
}

pub fn shipped_names() -> Vec<&'static str> {
    MODELS.iter().map(|model| model.name).collect()
}
