//! The Stan models and the C++ bridge that travel inside the binary.

use serde_json::{Value, json};

use super::StanSource;
use crate::model::family::{Family, Parameter, ResponseKind, Source};

/// A model that a config can name without a path.
#[derive(Debug, Clone, Copy)]
pub struct ShippedModel {
    pub name: &'static str,
    pub stan: &'static str,
    pub family: Family,
    /// Whether its fits move links: only then is the family the law of a response.
    pub relinks: bool,
    /// Whether moved rows inform the parameters by default.
    pub has_feedback: bool,
    /// Whether its responses are a time and whether the event was seen then.
    pub has_times: bool,
    /// JSON for `model.data` in a starting config.
    data: Option<&'static str>,
    example: Example,
}

/// Data with a fifth of the rows mislinked, for a first fit.
#[derive(Debug, Clone, Copy)]
struct Example {
    csv: &'static str,
    /// JSON for `data`, without the file.
    columns: &'static str,
}

/// Every shipped model.
const MODELS: &[ShippedModel] = &[
    LINEAR,
    ShippedModel {
        name: "quantile",
        stan: include_str!("../../../stan/quantile.stan"),
        family: Family::AsymmetricLaplace { tau: 0.5 },
        ..LINEAR
    },
    ShippedModel {
        name: "student_t",
        stan: include_str!("../../../stan/student_t.stan"),
        family: Family::StudentT { nu: 4.0 },
        ..LINEAR
    },
    ShippedModel {
        name: "robust",
        stan: include_str!("../../../stan/robust.stan"),
        family: Family::Robust { nu: 4.0 },
        ..LINEAR
    },
    ShippedModel {
        name: "multivariate",
        stan: include_str!("../../../stan/multivariate.stan"),
        family: Family::Stan,
        example: Example {
            csv: include_str!("../../../configs/data/households_mislinked.csv"),
            columns: r#"{"response": ["log_food", "log_rent"], "predictors": ["log_income"], "id": "household"}"#,
        },
        ..LINEAR
    },
    ShippedModel {
        name: "mean_shift",
        stan: include_str!("../../../stan/mean_shift.stan"),
        family: Family::Gaussian,
        relinks: false,
        data: Some(r#"{"k": 24}"#),
        ..LINEAR
    },
    ShippedModel {
        name: "poisson",
        stan: include_str!("../../../stan/poisson.stan"),
        family: Family::Poisson,
        example: simulated(include_str!("../../../configs/data/poisson.csv")),
        ..LINEAR
    },
    ShippedModel {
        name: "logistic",
        stan: include_str!("../../../stan/logistic.stan"),
        family: Family::Logistic,
        example: simulated(include_str!("../../../configs/data/logistic.csv")),
        // Responses of 0 and 1 do not say where they belong.
        has_feedback: false,
        ..LINEAR
    },
    ShippedModel {
        name: "negative_binomial",
        stan: include_str!("../../../stan/negative_binomial.stan"),
        family: Family::NegativeBinomial { phi: 5.0 },
        example: simulated(include_str!("../../../configs/data/negative_binomial.csv")),
        ..LINEAR
    },
    ShippedModel {
        name: "gamma",
        stan: include_str!("../../../stan/gamma.stan"),
        family: Family::Gamma { shape: 5.0 },
        example: simulated(include_str!("../../../configs/data/gamma.csv")),
        ..LINEAR
    },
    ShippedModel {
        name: "log_normal",
        stan: include_str!("../../../stan/log_normal.stan"),
        family: Family::LogNormal,
        example: simulated(include_str!("../../../configs/data/log_normal.csv")),
        ..LINEAR
    },
    ShippedModel {
        name: "hierarchical",
        stan: include_str!("../../../stan/hierarchical.stan"),
        family: Family::Stan,
        example: Example {
            csv: include_str!("../../../configs/data/schools_mislinked.csv"),
            columns: r#"{"formula": "score ~ hours + (1 + hours | school)", "id": "pupil"}"#,
        },
        ..LINEAR
    },
    ShippedModel {
        name: "weibull_survival",
        stan: include_str!("../../../stan/weibull_survival.stan"),
        ..SURVIVAL
    },
    ShippedModel {
        name: "log_normal_survival",
        stan: include_str!("../../../stan/log_normal_survival.stan"),
        ..SURVIVAL
    },
];

/// The linear model, from which the others differ.
const LINEAR: ShippedModel = ShippedModel {
    name: "linear",
    stan: include_str!("../../../stan/linear.stan"),
    family: Family::Gaussian,
    relinks: true,
    has_feedback: true,
    has_times: false,
    data: None,
    example: ENGEL,
};

/// A model of times, from which others differ.
const SURVIVAL: ShippedModel = ShippedModel {
    family: Family::Stan,
    has_times: true,
    example: Example {
        csv: include_str!("../../../configs/data/patients_mislinked.csv"),
        columns: r#"{"formula": "Surv(months, died) ~ age + treated", "id": "patient"}"#,
    },
    ..LINEAR
};

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
pub(super) const MODEL_BASE_CRTP: (&str, &str) = (
    "stan/model/model_base_crtp.hpp",
    include_str!("../../../stan/bridge/slim/stan/model/model_base_crtp.hpp"),
);
/// Take the place of Stan's own headers of the same names in programs that use no solver.
pub(super) const WITHOUT_SOLVERS: [(&str, &str); 2] = [
    (
        "stan/math/prim/functor.hpp",
        include_str!("../../../stan/bridge/slim/stan/math/prim/functor.hpp"),
    ),
    (
        "stan/math/rev/functor.hpp",
        include_str!("../../../stan/bridge/slim/stan/math/rev/functor.hpp"),
    ),
];

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

    /// Which values a response, or the first of several, can have.
    pub fn response_kind(&self) -> ResponseKind {
        match self.has_times {
            true => ResponseKind::Positive,
            false => self.family.response_kind(),
        }
    }

    /// A CSV for a first fit.
    pub fn example_data(&self) -> &'static str {
        self.example.csv
    }

    /// A config to edit, for a copy of this model and of the example data beside it, in `example.csv`.
    pub fn starting_config(&self) -> String {
        let fragment = |text| serde_json::from_str::<Value>(text).expect("JSON from above");
        let mut model = json!({});
        if self.family != Family::Gaussian {
            model["family"] = typed(self.family);
        }
        if !self.family.facts().is_native && self.response_kind() != ResponseKind::Real {
            model["outcome"] = json!(self.response_kind());
        }
        if let Some(data) = self.data {
            model["data"] = fragment(data);
        }
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
            "permutation": self.permutation(),
        });
        serde_json::to_string_pretty(&config).expect("plain JSON") + "\n"
    }

    /// The defaults, written out to be edited.
    fn permutation(&self) -> Value {
        if !self.relinks {
            return json!({"update": {"name": "none"}});
        }
        let mut permutation = json!({
            "prior": {"name": "beta_binomial", "a": 1, "b": 9, "no_error": 0.5},
            "update": {"name": "active_set"}
        });
        if !self.has_feedback {
            permutation["feedback"] = json!("none");
        }
        permutation
    }
}

/// The family as a config names it, with its number as a person types it.
fn typed(family: Family) -> Value {
    let mut typed = json!({"name": family.as_typed().name()});
    if let Some(Parameter { name, value, .. }) = family.parameter_of(Source::Config) {
        typed[name] = value.to_string().parse().expect("a number");
    }
    typed
}

pub fn shipped_model(name: &str) -> Option<&'static ShippedModel> {
    MODELS.iter().find(|model| model.name == name)
}

pub fn shipped_names() -> Vec<&'static str> {
    MODELS.iter().map(|model| model.name).collect()
}

/// The shipped model whose responses are of `family`, if there is one.
pub fn shipped_of(family: Family) -> Option<&'static ShippedModel> {
    let is_of = |model: &&ShippedModel| model.relinks && model.family.name() == family.name();
    MODELS.iter().find(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Update};
    use crate::fit::read_data;

    #[test]
    fn every_starting_config_fits_its_copy_of_the_model() {
        for model in MODELS {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("config.json");
            std::fs::write(folder.path().join("example.csv"), model.example_data()).unwrap();
            let text = model.starting_config();
            let config = config::parse(&text, &file, &[]).unwrap();
            let num_rows = model.example_data().lines().count() - 1;
            assert_eq!(read_data(&config).unwrap().num_rows(), num_rows);
            let shipped = config::Model {
                stan: config::ModelSource::Shipped(model.name.into()),
                family: None,
                outcome: None,
                ..config.model.clone()
            };
            assert_eq!(config.model.family(), model.family.as_typed());
            assert_eq!(shipped.family(), model.family);
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
