//! Checks of single config values: ranges, names and places.

use crate::model::stan::{ShippedModel, shipped_names};
use crate::model::{Parameter, Source};
use crate::sampler::links::WeightSide;
use crate::text::{nearest, quoted_list};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use serde_json::{Map, Value};

use super::explain::shown;
use super::outside::OutsideAsTyped;
use super::{
    Alpha, ConfigError, Data, DataSource, Family, Feedback, Init, Model, ModelSource, Outside,
    OutsideResponse, Prior, ResponseKind, Sampler, StanColumn, Temperature, Unlinked, Update,
};

/// More is a slip of the keyboard, and would not fit into memory.
const MOST_CHAINS: usize = 10_000;
const MOST_ITERATIONS: usize = 1_000_000_000;
/// As for the parameters of the Beta distribution that the audit is added to.
pub(super) const MOST_CHECKED: usize = 1_000_000_000;
/// The likelihood of a million rows raised to less is lost in rounding.
const LEAST_POWER: f64 = 1e-9;

/// 1e-300 as it was typed, not with 300 digits.
fn without_many_zeros(value: String) -> String {
    const MOST_DIGITS: usize = 25;
    match value.parse::<f64>() {
        Ok(number) if value.len() > MOST_DIGITS => format!("{number:e}"),
        _ => value,
    }
}

/// Every failure names the config file.
pub(crate) struct Check<'a> {
    pub(crate) file: &'a Path,
}

impl Check<'_> {
    pub(crate) fn that(
        &self,
        holds: bool,
        path: &str,
        value: impl Display,
        rule: &str,
    ) -> Result<(), ConfigError> {
        match holds {
            true => Ok(()),
            false => Err(self.bad(path, value, rule)),
        }
    }

    pub(super) fn bad(&self, path: &str, value: impl Display, rule: &str) -> ConfigError {
        ConfigError::BadValue {
            file: self.file.display().to_string(),
            path: path.into(),
            value: without_many_zeros(value.to_string()),
            rule: rule.into(),
        }
    }

    pub(super) fn text(&self, path: &str, text: &str) -> Result<(), ConfigError> {
        self.that(
            !text.trim().is_empty(),
            path,
            "empty",
            "fill it in or remove the key",
        )
    }

    pub(super) fn at_least_one(&self, path: &str, count: usize) -> Result<(), ConfigError> {
        self.that(count >= 1, path, count, "it must be 1 or more")
    }

    pub(super) fn at_most(&self, path: &str, value: usize, most: usize) -> Result<(), ConfigError> {
        self.that(
            value <= most,
            path,
            value,
            &format!("it must be at most {most}"),
        )
    }

    /// A parameter of a Beta distribution; beyond these sizes the logarithms of its weights have no digits left.
    fn beta_parameter(&self, path: &str, value: f64) -> Result<(), ConfigError> {
        self.above_zero(path, value)?;
        self.that(
            (1e-9..=1e9).contains(&value),
            path,
            value,
            "it must be from 1e-9 to 1e9",
        )
    }

    fn above_zero(&self, path: &str, value: f64) -> Result<(), ConfigError> {
        self.that(value > 0.0, path, value, "it must be above 0")
    }

    fn inside_unit(&self, path: &str, value: f64) -> Result<(), ConfigError> {
        let inside = value > 0.0 && value < 1.0;
        self.that(
            inside,
            path,
            value,
            "it must be between 0 and 1, both excluded",
        )
    }

    /// The name becomes part of paths.
    pub(super) fn name(&self, name: &str) -> Result<(), ConfigError> {
        self.text("name", name)?;
        let is_file_name = !name.contains(['/', '\\']) && name != "." && name != "..";
        self.that(
            is_file_name,
            "name",
            format!("\"{name}\""),
            "it names a folder, so it cannot contain / or \\; set \"output\" for another place",
        )
    }

    pub(super) fn family(&self, family: &Family) -> Result<(), ConfigError> {
        let Some(parameter) = family.parameter_of(Source::Config) else {
            return Ok(());
        };
        let Parameter { value, range, .. } = parameter;
        let path = format!("model.family.{}", parameter.name);
        self.that(range.contains(value), &path, value, range.rule())
    }

    /// The power of the likelihood, by whichever of its two names it was given.
    pub(super) fn temperature(
        &self,
        temperature: Option<Temperature>,
        likelihood_power: Option<Temperature>,
    ) -> Result<Temperature, ConfigError> {
        let is_once = temperature.is_none() || likelihood_power.is_none();
        let rule = "it is another name of `temperature`, which is given too; remove one of the two";
        self.that(is_once, "likelihood_power", "given", rule)?;
        let (path, temperature) = match likelihood_power {
            Some(power) => ("likelihood_power", power),
            None => ("temperature", temperature.unwrap_or_default()),
        };
        let same = temperature.stan == temperature.permutation;
        for (step, alpha) in [
            ("stan", temperature.stan),
            ("permutation", temperature.permutation),
        ] {
            if let Alpha::Fixed(value) = alpha {
                let path = if same {
                    path.to_string()
                } else {
                    format!("{path}.{step}")
                };
                let inside = value > 0.0 && value <= 1.0;
                self.that(inside, &path, value, "it must be above 0 and at most 1")?;
                let rule = "it must be 1e-9 or more, since a smaller power leaves nothing of the likelihood";
                self.that(value >= LEAST_POWER, &path, value, rule)?;
            }
        }
        Ok(temperature)
    }

    /// The formula of the rates of wrong links goes with columns of files and with links that are sampled.
    pub(super) fn rate_formula(
        &self,
        formula: Option<&str>,
        update: Update,
        data: &Data,
    ) -> Result<(), ConfigError> {
        let Some(formula) = formula else {
            return Ok(());
        };
        let path = "permutation.rate_formula";
        let shown = format!("\"{formula}\"");
        self.that(
            formula.trim_start().starts_with('~'),
            path,
            &shown,
            "it has no response, so begin with ~, as in \"~ string_distance + source\"",
        )?;
        self.that(
            data.source != DataSource::Arrays,
            path,
            &shown,
            "its columns are those of a file, so write the arrays to one, or give match probabilities instead",
        )?;
        self.that(
            data.match_probability.is_none(),
            path,
            &shown,
            "data.match_probability says already how likely each link is right, so remove one of the two",
        )?;
        self.that(
            update == Update::ActiveSet,
            path,
            &shown,
            "the rates are sampled with the links, so set permutation.update to {\"name\": \"active_set\"} or remove it",
        )
    }

    /// The prior as typed, or else the one that the data call for.
    pub(super) fn prior(
        &self,
        typed: Option<Prior>,
        data: &Data,
        has_formula: bool,
    ) -> Result<Prior, ConfigError> {
        let has_probabilities = data.has_probabilities() || has_formula;
        // Probabilities of pairs pick the links and weigh the candidates under any prior.
        let may_differ = matches!(data.source, DataSource::Pairs { .. });
        let prior = typed.unwrap_or(if has_probabilities {
            Prior::MatchProbability
        } else {
            Prior::default()
        });
        let rule = if has_formula {
            "`permutation.rate_formula` has a prior of its own, so remove one of the two"
        } else if has_probabilities {
            "where `data.match_probability` is given the prior is `match_probability`, so remove one of the two"
        } else {
            "name the column of these probabilities in `data.match_probability`, or choose another prior"
        };
        self.that(
            has_probabilities == (prior == Prior::MatchProbability)
                || (has_probabilities && may_differ),
            "permutation.prior.name",
            format!("\"{}\"", prior.name()),
            rule,
        )?;
        match prior {
            Prior::BetaBinomial {
                a,
                b,
                no_error,
                audit,
            } => {
                self.beta_parameter("permutation.prior.a", a)?;
                self.beta_parameter("permutation.prior.b", b)?;
                self.that(
                    (0.0..1.0).contains(&no_error),
                    "permutation.prior.no_error",
                    no_error,
                    "it must be 0 or more and below 1; to keep every link, write \"update\": {\"name\": \"none\"} in `permutation`",
                )?;
                if let Some(audit) = audit {
                    self.audit("permutation.prior.audit", audit)?;
                }
            }
            Prior::MatchProbability => {}
            Prior::Uniform { max_moved } => self.that(
                max_moved != 1,
                "permutation.prior.max_moved",
                max_moved,
                "one row alone cannot move, so write 0, or 2 or more",
            )?,
            Prior::Hamming { theta } => {
                let path = "permutation.prior.theta";
                self.that(theta >= 0.0, path, theta, "it must be 0 or more")?;
                let rule = "it must be at most 1e6; to keep every link, write \"update\": {\"name\": \"none\"} in `permutation`";
                self.that(theta <= 1e6, path, theta, rule)?;
            }
        }
        Ok(prior)
    }

    pub(super) fn update(&self, update: Update) -> Result<(), ConfigError> {
        if let Update::Checkerboard {
            steps: Some(steps), ..
        } = update
        {
            self.at_least_one("permutation.update.steps", steps)?;
            self.at_most("permutation.update.steps", steps, MOST_ITERATIONS)?;
        }
        Ok(())
    }

    /// The feedback as typed, or else what the model calls for: responses of 0 and 1 do not say where they belong.
    pub(super) fn feedback(
        &self,
        typed: Option<Feedback>,
        update: Update,
        shipped: Option<&ShippedModel>,
    ) -> Result<Feedback, ConfigError> {
        let sampled = update == Update::ActiveSet;
        let by_model = match shipped {
            Some(model) if sampled && !model.has_feedback => Feedback::None,
            _ => Feedback::Full,
        };
        let feedback = typed.unwrap_or(by_model);
        self.that(
            feedback == Feedback::Full || sampled,
            "permutation.feedback",
            "\"none\"",
            "without feedback the moved rows are sampled, so set permutation.update to {\"name\": \"active_set\"} or remove it",
        )?;
        Ok(feedback)
    }

    /// Survey weights go with columns of files. A response from outside leaves its place empty, and with it a weight of the
    /// predictors; what that response counts with would depend on the unit of the response.
    pub(super) fn weights(&self, data: &Data, has_outside: bool) -> Result<(), ConfigError> {
        for (path, column) in [
            ("data.offset", &data.offset),
            ("data.strata", &data.strata),
            ("data.clusters", &data.clusters),
        ] {
            if let Some(column) = column {
                self.text(path, column)?;
            }
        }
        let Some(weights) = &data.weights else {
            return Ok(());
        };
        self.text("data.weights", &weights.column)?;
        let path = "data.weights";
        let shown = serde_json::to_string(weights).expect("plain JSON");
        self.that(
            !has_outside || weights.with == WeightSide::Response,
            path,
            &shown,
            "where responses may come from outside the file a weight moves with its response, so set \"with\": \"response\" in data.weights, or permutation.outside to false",
        )
    }

    /// Responses from outside the file, where the config says that there may be any.
    pub(super) fn outside(
        &self,
        typed: Option<OutsideAsTyped>,
        update: Update,
        prior: Prior,
        feedback: Feedback,
        data: &Data,
    ) -> Result<Option<Outside>, ConfigError> {
        let has_places = data.unlinked == Unlinked::Places;
        // Chains hardly change between none and some where candidate pairs limit the links.
        let always = feedback == Feedback::None || has_places || data.has_candidates();
        let Some(outside) = typed.and_then(|typed| typed.resolved(always)) else {
            return self.that(
                !has_places,
                "permutation.outside",
                false,
                "with data.unlinked \"places\" the links are partial permutations, in which a response may come from outside, so remove it or remove data.unlinked",
            )
            .map(|()| None);
        };
        let path = "permutation.outside";
        let shown = serde_json::to_string(&outside).expect("plain JSON");
        self.that(
            update == Update::ActiveSet,
            path,
            &shown,
            "responses from outside the file are sampled, so set permutation.update to {\"name\": \"active_set\"} or remove it",
        )?;
        self.that(
            matches!(prior, Prior::BetaBinomial { .. } | Prior::MatchProbability),
            path,
            &shown,
            "it needs a prior of how likely a link is wrong, so set permutation.prior to {\"name\": \"beta_binomial\"} or remove it",
        )?;
        self.beta_parameter("permutation.outside.a", outside.a)?;
        self.beta_parameter("permutation.outside.b", outside.b)?;
        self.that(
            (0.0..1.0).contains(&outside.no_error),
            "permutation.outside.no_error",
            outside.no_error,
            "it must be 0 or more and below 1; where every response belongs to a row of the file, write \"outside\": false",
        )?;
        self.that(
            feedback == Feedback::Full || outside.no_error == 0.0,
            "permutation.outside.no_error",
            outside.no_error,
            "without feedback the data cannot tell whether any response comes from outside, so write 0 or remove it",
        )?;
        self.that(
            !has_places || outside.no_error == 0.0,
            "permutation.outside.no_error",
            outside.no_error,
            "with data.unlinked \"places\" links need not be whole permutations, so write 0 or remove it",
        )?;
        Ok(Some(outside))
    }

    /// The law of a response from outside must be one that responses of this model can have.
    pub(super) fn outside_response(
        &self,
        outside: Option<Outside>,
        model: &Model,
    ) -> Result<(), ConfigError> {
        let Some(OutsideResponse { mean, sd }) = outside.and_then(|outside| outside.response)
        else {
            return Ok(());
        };
        let kind = model.response_kind();
        let is_zero_one = kind == ResponseKind::ZeroOne;
        let (mean_path, sd_path) = (
            "permutation.outside.response.mean",
            "permutation.outside.response.sd",
        );
        self.that(
            !model.stan.shipped().is_some_and(|model| model.has_times),
            "permutation.outside.response",
            mean,
            "times that may be censored have no law by mean and sd, so remove it",
        )?;
        let (is_possible, rule) = match kind {
            ResponseKind::Real => (mean.is_finite(), "it must be a finite number"),
            ResponseKind::ZeroOne => (
                mean > 0.0 && mean < 1.0,
                "it is the share of ones, so it must be above 0 and below 1",
            ),
            ResponseKind::Count | ResponseKind::Positive => (
                mean > 0.0 && mean.is_finite(),
                "responses of this model are not negative, so it must be above 0",
            ),
        };
        self.that(is_possible, mean_path, mean, rule)?;
        let shown = sd.map_or("missing".into(), |sd| sd.to_string());
        let (is_possible, rule) = match (is_zero_one, sd) {
            (true, _) => (
                sd.is_none(),
                "the mean of responses of 0 and 1 says it already, so remove it",
            ),
            (false, sd) => (
                sd.is_some_and(|sd| sd > 0.0 && sd.is_finite()),
                "the standard deviation of responses from outside must be above 0",
            ),
        };
        self.that(is_possible, sd_path, shown, rule)
    }

    pub(super) fn sampler(&self, sampler: &Sampler) -> Result<(), ConfigError> {
        self.at_least_one("sampler.chains", sampler.chains)?;
        self.at_least_one("sampler.draws", sampler.draws)?;
        self.at_least_one("sampler.thin", sampler.thin)?;
        self.at_most("sampler.chains", sampler.chains, MOST_CHAINS)?;
        self.at_most("sampler.warmup", sampler.warmup, MOST_ITERATIONS)?;
        self.at_most("sampler.draws", sampler.draws, MOST_ITERATIONS)?;
        self.that(
            sampler.thin <= sampler.draws,
            "sampler.thin",
            sampler.thin,
            &format!(
                "it must be at most `sampler.draws`, which is {}",
                sampler.draws
            ),
        )?;
        self.inside_unit("sampler.target_accept", sampler.target_accept)?;
        self.that(
            (1..=20).contains(&sampler.max_depth),
            "sampler.max_depth",
            sampler.max_depth,
            "it must be from 1 to 20",
        )?;
        match sampler.init {
            Init::Uniform(radius) => {
                self.that(
                    radius >= 0.0,
                    "sampler.init",
                    radius,
                    "it must be 0 or more",
                )?;
                self.that(
                    radius <= 100.0,
                    "sampler.init",
                    radius,
                    "it must be at most 100, since a start so far away has no density",
                )
            }
            _ => Ok(()),
        }
    }

    /// Stan would refuse these too, but without naming the key.
    /// The entries of `model.data` that are columns of the file, by name; all others must be numbers.
    pub(super) fn stan_entries(
        &self,
        entries: &Map<String, Value>,
    ) -> Result<BTreeMap<String, StanColumn>, ConfigError> {
        let mut columns = BTreeMap::new();
        for (name, value) in entries {
            let path = format!("model.data.{name}");
            let keys = value
                .as_object()
                .map(|object| object.iter().collect::<Vec<_>>());
            match keys.as_deref() {
                Some([(key, Value::String(column))])
                    if ["column", "levels"].contains(&key.as_str()) =>
                {
                    self.text(&format!("{path}.{key}"), column)?;
                    let (column, counts_levels) = (column.clone(), *key == "levels");
                    columns.insert(
                        name.clone(),
                        StanColumn {
                            column,
                            counts_levels,
                        },
                    );
                }
                Some([(key, _), ..]) if ["column", "levels"].contains(&key.as_str()) => {
                    let rule = "write {\"column\": \"region\"} with a column of the data, or C(region) for one whose numbers are categories, or {\"levels\": \"region\"} for the number of its levels";
                    return Err(self.bad(&path, shown(value), rule));
                }
                _ => self.stan_data(&path, value)?,
            }
        }
        Ok(columns)
    }

    fn stan_data(&self, path: &str, value: &Value) -> Result<(), ConfigError> {
        match value {
            Value::Object(object) => object
                .iter()
                .try_for_each(|(key, value)| self.stan_data(&format!("{path}.{key}"), value)),
            Value::Array(list) => list
                .iter()
                .enumerate()
                .try_for_each(|(index, value)| self.stan_data(&format!("{path}[{index}]"), value)),
            Value::Number(_) => Ok(()),
            other => self.that(
                false,
                path,
                shown(other),
                "Stan data are numbers and lists of numbers",
            ),
        }
    }

    pub(super) fn model_source(
        &self,
        typed: &str,
        folder: &Path,
    ) -> Result<ModelSource, ConfigError> {
        if typed.ends_with(".stan") {
            return Ok(ModelSource::File(folder.join(typed)));
        }
        let shipped = shipped_names();
        if shipped.contains(&typed) {
            return Ok(ModelSource::Shipped(typed.into()));
        }
        let rule = if typed.contains(['/', '\\']) {
            "the path of a Stan program ends in .stan".to_string()
        } else {
            let meant = nearest(typed, shipped.iter().copied())
                .map(|name| format!(" perhaps `{name}`,"))
                .unwrap_or_default();
            format!(
                "write a shipped model ({}),{meant} or the path of a .stan file",
                quoted_list(&shipped)
            )
        };
        Err(self.bad("model.stan", format!("\"{typed}\""), &rule))
    }

    /// `--force` replaces what a fit left in the output folder, so nothing that the fit reads may be there. Its subfolder
    /// `input` is for callers that keep the data with the fit, as the Python package does: no fit writes to it.
    pub(super) fn output(
        &self,
        output: &Path,
        input: &Path,
        what: &str,
    ) -> Result<(), ConfigError> {
        let holds_input = match (output.canonicalize(), input.canonicalize()) {
            (Ok(output), Ok(input)) => {
                input.starts_with(&output) && !input.starts_with(output.join("input"))
            }
            _ => false,
        };
        self.that(
            !holds_input,
            "output",
            format!("\"{}\"", output.display()),
            &format!("that folder holds the {what}, so choose a folder of its own"),
        )
    }
}
