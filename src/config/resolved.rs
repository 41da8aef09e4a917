//! A validated config: absolute paths, checked ranges, and the same keys, so that a saved one can be read again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::check::Check;
use super::outside::OutsideAsTyped;
use super::raw::RawConfig;
use super::{
    Audit, ConfigError, Data, Family, Feedback, Outside, Prior, Priors, ResponseKind, Sampler,
    Temperature, Unlinked, Update, WeightSide, Weights,
};
use crate::model::stan::{ShippedModel, shipped_model};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Config {
    pub name: String,
    pub model: Model,
    /// Its files are absolute.
    pub data: Data,
    pub temperature: Temperature,
    pub permutation: Permutation,
    pub sampler: Sampler,
    pub output: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Model {
    pub stan: ModelSource,
    /// Name of the latent block.
    pub response: String,
    /// As typed; see `Model::family`.
    pub family: Option<Family>,
    pub priors: Priors,
    /// As typed; see `Model::response_kind`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ResponseKind>,
    /// Further entries for the Stan data block.
    pub data: Map<String, Value>,
}

/// What is assumed of wrong links, and how they are sampled.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Permutation {
    pub prior: Prior,
    pub update: Update,
    pub feedback: Feedback,
    /// None where every response belongs to a row of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    /// The linkage covariates that the log odds of a wrong link are linear in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_formula: Option<String>,
    /// Audits of single blocks, which then have rates of wrong links of their own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub audit_by_block: BTreeMap<String, Audit>,
    /// What `outside` becomes where the data are two files with rows that are linked to nobody; None where it was typed or
    /// cannot be.
    #[serde(skip)]
    pub outside_for_unlinked: Option<Outside>,
}

impl Permutation {
    /// Whether the program is given a weight for each row: without feedback theta sees only rows whose links stay, and
    /// where responses come from outside only predictors that a response belongs to.
    pub fn has_weights(&self) -> bool {
        self.feedback == Feedback::None || self.outside.is_some()
    }
}

/// Where the Stan program is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ModelSource {
    Shipped(String),
    File(PathBuf),
}

impl ModelSource {
    /// The shipped program, where it is one.
    pub fn shipped(&self) -> Option<&'static ShippedModel> {
        match self {
            ModelSource::Shipped(name) => shipped_model(name),
            ModelSource::File(_) => None,
        }
    }

    /// Whether it is the shipped program of this name.
    pub fn is_shipped(&self, name: &str) -> bool {
        self.shipped().is_some_and(|model| model.name == name)
    }
}

impl Model {
    /// The family as typed, or else that of the shipped model, or else gaussian.
    pub fn family(&self) -> Family {
        let shipped = self.stan.shipped().map(|model| model.family);
        match (self.family, shipped) {
            // `stan` says how links of such a program are sampled, and the program what the family is.
            (None | Some(Family::Stan), Some(own)) if own.as_typed() == Family::Stan => own,
            (Some(typed), _) => typed,
            (None, own) => own.unwrap_or(Family::Gaussian),
        }
    }

    /// As typed, or as the shipped program says, or else the family; of a program that says it all itself nothing is known.
    pub fn response_kind(&self) -> ResponseKind {
        let by_family = self.family().response_kind();
        let shipped = self.stan.shipped().map(|model| model.response_kind());
        let by_program = shipped.filter(|kind| *kind != ResponseKind::Real);
        self.outcome.or(by_program).unwrap_or(by_family)
    }
}

impl Config {
    /// The family where it is known to be the law of the program's responses: a shipped program is known, and wherever
    /// links move the family is checked against the program.
    pub fn known_family(&self) -> Option<Family> {
        let is_shipped = self.model.stan.shipped().is_some_and(|model| model.relinks);
        let is_checked = self.permutation.update != Update::None;
        let family = self.model.family();
        (family != Family::Stan && (is_shipped || is_checked)).then_some(family)
    }

    /// `data` are those of `raw`, or arrays.
    pub(super) fn resolve<D>(
        raw: RawConfig<D>,
        data: Data,
        file: &Path,
    ) -> Result<Config, ConfigError> {
        let check = Check { file };
        let folder = absolute_folder(file)?;
        let name = match raw.name {
            Some(name) => name,
            None => file
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default(),
        };
        check.name(&name)?;
        check.text("model.stan", &raw.model.stan)?;
        check.text("model.response", &raw.model.response)?;
        let stan_columns = check.stan_entries(&raw.model.data)?;
        if let Some(family) = &raw.model.family {
            check.family(family)?;
        }
        let temperature = check.temperature(raw.temperature, raw.likelihood_power)?;
        let update = raw.permutation.update;
        let rate_formula = raw.permutation.rate_formula;
        check.rate_formula(rate_formula.as_deref(), update, &data)?;
        let prior = check.prior(raw.permutation.prior, &data, rate_formula.is_some())?;
        check.update(update)?;
        check.sampler(&raw.sampler)?;

        let stan = check.model_source(&raw.model.stan, &folder)?;
        let feedback = check.feedback(raw.permutation.feedback, update, stan.shipped())?;
        let has_places = data.unlinked == Unlinked::Places;
        let audit_by_block = raw.permutation.audit_by_block;
        check.audit_by_block(&audit_by_block, prior, &data)?;
        let is_open = raw.permutation.outside.is_none() && !has_places && raw.versions.is_none();
        let outside = OutsideAsTyped::for_places(raw.permutation.outside, has_places);
        let outside = check.outside(outside, update, prior, feedback, &data)?;
        let by_default = OutsideAsTyped::Switch(true);
        let by_default = check.outside(Some(by_default), update, prior, feedback, &data);
        let by_default = by_default.ok().flatten().filter(|_| {
            let stays = |weights: &Weights| weights.with == WeightSide::Predictors;
            is_open && data.has_two_files() && !data.weights.as_ref().is_some_and(stays)
        });
        check.weights(&data, outside.is_some())?;
        let data = Data {
            stan_columns,
            rate_formula: rate_formula.clone(),
            ..data.in_folder(&folder)
        };
        let output = match raw.output {
            Some(path) => {
                check.text("output", &path.to_string_lossy())?;
                // A folder called ~ is easily removed together with all that its owner has.
                check.that(
                    !path.starts_with("~"),
                    "output",
                    format!("\"{}\"", path.display()),
                    "only a shell knows what ~ stands for, so write the whole path",
                )?;
                folder.join(path)
            }
            None => folder.join("out").join(&name),
        };
        for file in data.files() {
            check.output(&output, file, "data file")?;
        }
        if let ModelSource::File(program) = &stan {
            check.output(&output, program, "Stan program")?;
        }
        let model = Model {
            stan,
            response: raw.model.response,
            family: raw.model.family,
            priors: raw.model.priors,
            outcome: raw.model.outcome,
            data: raw.model.data,
        };
        check.outside_response(outside, &model)?;
        Ok(Config {
            name,
            model,
            data,
            temperature,
            permutation: Permutation {
                prior,
                update,
                feedback,
                outside,
                rate_formula,
                audit_by_block,
                outside_for_unlinked: by_default,
            },
            sampler: raw.sampler,
            output,
        })
    }
}

/// The folder of a file, which need not exist.
pub(super) fn absolute_folder(file: &Path) -> Result<PathBuf, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable {
        file: file.display().to_string(),
        source,
        fix: "check the path",
    };
    let mut folder = std::path::absolute(file).map_err(unreadable)?;
    folder.pop();
    // The saved config and the header of the draws name files below it.
    match folder.to_str() {
        Some(_) => Ok(folder),
        None => Err(ConfigError::FolderName {
            folder: folder.display().to_string(),
        }),
    }
}

#[cfg(test)]
mod tests;
