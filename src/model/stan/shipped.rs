//! The Stan models and the C++ bridge that travel inside the binary.

use serde_json::{Value, json};

use super::StanSource;

/// A model that a config can name without a path.
#[derive(Debug, Clone, Copy)]
pub struct ShippedModel {
    pub name: &'static str,
    pub stan: &'static str,
    /// What a config for a copy of it needs besides the copy's path: JSON for `model`...
    model: &'static str,
    /// ...and for `permutation`.
    permutation: &'static str,
    example: Example,
}

/// Data with a fifth of the rows mislinked, for a first fit.
#[derive(Debug, Clone, Copy)]
struct Example {
    csv: &'static str,
    /// JSON for `data`, without the file.
    columns: &'static str,
}

const MODELS: &[ShippedModel] = &[
    ShippedModel {
        name: "linear",
        stan: include_str!("../../../stan/linear.stan"),
        model: "{}",
        permutation: RELINKED,
        example: ENGEL,
    },
    ShippedModel {
        name: "quantile",
        stan: include_str!("../../../stan/quantile.stan"),
        model: r#"{"family": {"name": "asymmetric_laplace", "tau": 0.5}}"#,
        permutation: RELINKED,
        example: ENGEL,
    },
    ShippedModel {
        name: "student_t",
        stan: include_str!("../../../stan/student_t.stan"),
        model: r#"{"family": {"name": "student_t", "nu": 4}}"#,
        permutation: RELINKED,
        example: ENGEL,
    },
    ShippedModel {
        name: "robust",
        stan: include_str!("../../../stan/robust.stan"),
        model: r#"{"family": {"name": "robust"}}"#,
        permutation: RELINKED,
        example: ENGEL,
    },
    ShippedModel {
        name: "multivariate",
        stan: include_str!("../../../stan/multivariate.stan"),
        model: r#"{"family": {"name": "stan"}}"#,
        permutation: RELINKED,
        example: Example {
            csv: include_str!("../../../configs/data/households_mislinked.csv"),
            columns: r#"{"response": ["log_food", "log_rent"], "predictors": ["log_income"], "id": "household"}"#,
        },
    },
    ShippedModel {
        name: "mean_shift",
        stan: include_str!("../../../stan/mean_shift.stan"),
        model: r#"{"data": {"k": 24}}"#,
        permutation: r#"{"update": {"name": "none"}}"#,
        example: ENGEL,
    },
    ShippedModel {
        name: "poisson",
        stan: include_str!("../../../stan/poisson.stan"),
        model: r#"{"family": {"name": "poisson"}}"#,
        permutation: RELINKED,
        example: simulated(include_str!("../../../configs/data/poisson.csv")),
    },
    ShippedModel {
        name: "logistic",
        stan: include_str!("../../../stan/logistic.stan"),
        model: r#"{"family": {"name": "logistic"}}"#,
        permutation: r#"{
            "prior": {"name": "beta_binomial", "a": 1, "b": 9, "no_error": 0.5},
            "update": {"name": "active_set"},
            "feedback": "none"
        }"#,
        example: simulated(include_str!("../../../configs/data/logistic.csv")),
    },
    ShippedModel {
        name: "negative_binomial",
        stan: include_str!("../../../stan/negative_binomial.stan"),
        model: r#"{"family": {"name": "stan"}, "outcome": "count"}"#,
        permutation: RELINKED,
        example: simulated(include_str!("../../../configs/data/negative_binomial.csv")),
    },
    ShippedModel {
        name: "gamma",
        stan: include_str!("../../../stan/gamma.stan"),
        model: r#"{"family": {"name": "stan"}, "outcome": "positive"}"#,
        permutation: RELINKED,
        example: simulated(include_str!("../../../configs/data/gamma.csv")),
    },
];

/// The defaults, written out to be edited.
const RELINKED: &str = r#"{
    "prior": {"name": "beta_binomial", "a": 1, "b": 9, "no_error": 0.5},
    "update": {"name": "active_set"}
}"#;

/// Our implementation of BridgeStan's C interface: one translation unit, `bridge.cpp`, in three files.
pub(super) const BRIDGE: [(&str, &str); 3] = [
    (
        "bridge.cpp",
        include_str!("../../../stan/bridge/bridge.cpp"),
    ),
    ("model.hpp", include_str!("../../../stan/bridge/model.hpp")),
    (
        "runtime.hpp",
        include_str!("../../../stan/bridge/runtime.hpp"),
    ),
];
/// Takes the place of Stan's own header of the same name, which compiles far more than the bridge calls.
pub(super) const MODEL_BASE_CRTP: &str =
    include_str!("../../../stan/bridge/slim/stan/model/model_base_crtp.hpp");

/// Engel's households.
const ENGEL: Example = Example {
    csv: include_str!("../../../configs/data/engel_mislinked.csv"),
    columns: r#"{"response": "log_food", "predictors": ["log_income"], "id": "household"}"#,
};

/// What `unshuffle simulate` made.
const fn simulated(csv: &'static str) -> Example {
    Example {
        csv,
        columns: r#"{"response": "y", "predictors": ["x1", "x2"], "id": "row"}"#,
    }
}

impl ShippedModel {
    pub fn source(&self) -> StanSource {
        StanSource::from_text(&format!("{}.stan", self.name), self.stan)
    }

    /// A CSV for a first fit.
    pub fn example_data(&self) -> &'static str {
        self.example.csv
    }

    /// A config to edit, for a copy of this model and of the example data beside it, in `example.csv`.
    pub fn starting_config(&self) -> String {
        let fragment = |text| serde_json::from_str::<Value>(text).expect("JSON from above");
        let mut model = fragment(self.model);
        model["stan"] = json!(format!("{}.stan", self.name));
        let mut data = json!({"file": "example.csv"});
        let columns = fragment(self.example.columns);
        for (key, value) in columns.as_object().expect("an object from above") {
            data[key] = value.clone();
        }
        let config = json!({
            "name": self.name,
            "model": model,
            "data": data,
            "permutation": fragment(self.permutation),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Family, Update};
    use crate::fit::read_data;

    #[test]
    fn every_starting_config_fits_its_copy_of_the_model() {
        for model in MODELS {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("config.json");
            std::fs::write(folder.path().join("example.csv"), model.example_data()).unwrap();
            let text = model.starting_config();
            let config = config::parse(&text, &file, &[], &shipped_names()).unwrap();
            let num_rows = model.example_data().lines().count() - 1;
            assert_eq!(read_data(&config).unwrap().num_rows(), num_rows);
            let shipped = config::Model {
                stan: config::ModelSource::Shipped(model.name.into()),
                family: None,
                outcome: None,
                ..config.model.clone()
            };
            assert_eq!(config.model.family(), shipped.family());
            assert_eq!(config.model.response_kind(), shipped.response_kind());
            let relinks = config.permutation.update != Update::None;
            assert_eq!(relinks, model.name != "mean_shift");
            if model.name == "mean_shift" {
                assert_eq!(config.model.family(), Family::Gaussian);
                assert_eq!(config.model.data["k"], 24);
            }
        }
    }
}
