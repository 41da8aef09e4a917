//! A config exactly as typed: its keys, their defaults, and what the JSON Schema says of each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::model::stan::shipped_names;

use super::data::RawData;
use super::outside::OutsideAsTyped;
use super::{Audit, Family, Feedback, Init, Prior, Priors, ResponseKind, Temperature, Update};
use crate::sampler::hmc::MetricKind;
use crate::sampler::hmc::warmup::Trajectory;

/// A fit of a regression whose rows may be linked wrongly: the model, the data, how to sample, where to write.
// A fit of arrays has no data here.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"model\": {...}, \"data\": {...}}"
)]
#[schemars(title = "unshuffle config")]
pub(super) struct RawConfig<D = RawData> {
    /// Address of this schema, for editors; ignored by unshuffle.
    #[serde(rename = "$schema")]
    pub(super) _schema: Option<String>,
    /// Name of the fit, used in file and report titles; by default the config file's name without `.json`.
    pub(super) name: Option<String>,
    /// The Stan program and how it is used.
    pub(super) model: RawModel,
    /// The linked data and the columns to use.
    pub(super) data: D,
    /// Power of the likelihood: a number in (0, 1], "1/n", or one for each step; 1 is the usual posterior.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Temperature", extend("default" = 1.0))]
    pub(super) temperature: Option<Temperature>,
    /// Another name of `temperature`.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Temperature", extend("default" = 1.0))]
    pub(super) likelihood_power: Option<Temperature>,
    /// What is assumed of wrong links, and how they are sampled.
    #[serde(default)]
    pub(super) permutation: RawPermutation,
    /// Chains, iterations and the settings of Hamiltonian Monte Carlo.
    #[serde(default)]
    pub(super) sampler: Sampler,
    /// Folder for the results, relative to the config file; by default `out/<name>` beside it.
    pub(super) output: Option<PathBuf>,
    /// Written by unshuffle into the config saved with the results; ignored when read.
    pub(super) versions: Option<Map<String, Value>>,
}

/// A key that is there has a value: null is none.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Temperature>, D::Error> {
    Temperature::deserialize(deserializer).map(Some)
}

/// The Stan program and how it is used.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "an object such as {\"stan\": \"linear\"}"
)]
pub(super) struct RawModel {
    #[schemars(description = stan_description())]
    pub(super) stan: String,
    /// Name of the parameter in the Stan program that holds the response in the order of the links.
    #[serde(default = "default_response")]
    pub(super) response: String,
    /// Density of a response given its predictors, for the permutation step; by default that of the shipped
    /// model, and gaussian for your own program.
    pub(super) family: Option<Family>,
    /// Numbers of the priors that a shipped program takes as data: "scaled" to the file (the default), or the "paper"'s,
    /// which have units. Your own program gets the same entries where it declares them (X_centre, beta_location,
    /// beta_scale, sigma_scale, sigma2_scale, sigma_f2_scale); `data` below overrides each of them.
    #[serde(default)]
    pub(super) priors: Priors,
    /// Which values the response can have, for a program of your own whose family is "stan"; by default as the shipped
    /// program or the family says, else "real". It decides on which scale `beta` is: priors, starting values and fitted
    /// values depend on it.
    pub(super) outcome: Option<ResponseKind>,
    /// Further entries for the `data` block of the Stan program, besides N, D, X, alpha and, for a list of
    /// responses, K: numbers, lists of numbers, or a column of the predictors' file, {"column": "region"}, whose codes
    /// come with J_<entry>, the number of levels; {"levels": "region"} is that number under another name.
    #[serde(default)]
    pub(super) data: Map<String, Value>,
}

fn stan_description() -> String {
    format!(
        "Name of a shipped model ({}), or path of a `.stan` file relative to the config file.",
        shipped_names().join(", ")
    )
}

fn default_response() -> String {
    "y".into()
}

/// What is assumed of wrong links, and how they are sampled.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "an object such as {\"prior\": {\"name\": \"beta_binomial\"}}"
)]
pub(super) struct RawPermutation {
    /// Prior on the permutation of the rows; by default `match_probability` where `data.match_probability` names a column,
    /// otherwise `beta_binomial` with its defaults: no wrong link with probability 0.5, and else a rate from Beta(1, 9).
    pub(super) prior: Option<Prior>,
    /// How the permutation is updated in each iteration.
    pub(super) update: Update,
    /// Whether moved rows inform the parameters; by default "none" for the shipped model `logistic`, otherwise "full".
    /// "none" goes with the update `active_set`.
    pub(super) feedback: Option<Feedback>,
    /// Whether a response may belong to nobody in the file, and the prior of the share of wrong links that do: by default
    /// every response belongs to a row of the file, unless two files are read of which rows are linked to nobody. `true` is {"a": 1, "b": 1, "no_error": 0.5}.
    pub(super) outside: Option<OutsideAsTyped>,
    /// Columns of the file that say how likely a link is wrong, such as "~ string_distance + source": each row's log odds of
    /// being wrong are linear in them. It takes the place of the rate of `prior`.
    pub(super) rate_formula: Option<String>,
    /// Links of single blocks that were checked by hand, by the label of the block, such as
    /// {"north": {"checked": 100, "wrong": 7}}: every block then has a rate of wrong links of its own, whose prior is that of
    /// `prior` after its audit.
    #[serde(default)]
    pub(super) audit_by_block: BTreeMap<String, Audit>,
}

/// Chains, iterations and the settings of Hamiltonian Monte Carlo.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "an object such as {\"chains\": 4, \"draws\": 1000}"
)]
pub struct Sampler {
    /// Number of independent chains.
    #[schemars(range(min = 1))]
    pub chains: usize,
    /// Iterations of adaptation for each chain, not kept.
    pub warmup: usize,
    /// Iterations after warm-up for each chain.
    #[schemars(range(min = 1))]
    pub draws: usize,
    /// Keep every `thin`-th draw.
    #[schemars(range(min = 1))]
    pub thin: usize,
    /// Seed of the random numbers; the same seed gives the same draws.
    pub seed: u64,
    /// Acceptance rate that the step size aims for, between 0 and 1; raise it when there are divergences.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub target_accept: f64,
    /// Most doublings of a trajectory, 1 to 20.
    #[schemars(range(min = 1, max = 20))]
    pub max_depth: u32,
    /// Shape of the mass matrix.
    pub metric: MetricKind,
    /// How far each trajectory goes.
    pub trajectory: Trajectory,
    /// Starting values: "auto" (least squares for models with `beta` and `sigma2` or `sigma`, otherwise as Stan),
    /// a number r (uniform in ±r on the unconstrained scale), an object of parameter values, or the path of a
    /// `.json` file of them.
    pub init: Init,
    /// Whether the sampler moves in coordinates in which the predictors are centred (given an intercept) and scaled. The
    /// posterior stays the same in any units, and predictors of very different scale, or far from zero, need fewer
    /// steps. By default wherever the program has `beta` with one value for each column of X (and response).
    pub standardise: Option<bool>,
}

impl Default for Sampler {
    fn default() -> Self {
        Sampler {
            chains: 4,
            warmup: 1000,
            draws: 1000,
            thin: 1,
            seed: 1,
            target_accept: 0.8,
            max_depth: 10,
            metric: MetricKind::default(),
            trajectory: Trajectory::default(),
            init: Init::default(),
            standardise: None,
        }
    }
}
