//! A validated config: absolute paths, checked ranges, and the same keys, so that a saved one can be read again.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::check::Check;
use super::raw::RawConfig;
use super::{
    ConfigError, Data, Family, Feedback, Outside, Prior, Priors, ResponseKind, Sampler,
    Temperature, Update,
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
        let shipped = self
            .stan
            .shipped()
            .map(|model| model.family.response_kind());
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
        check.stan_data("model.data", &Value::Object(raw.model.data.clone()))?;
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
        let outside = check.outside(raw.permutation.outside, update, prior, feedback)?;
        let data = Data {
            rate_formula: rate_formula.clone(),
            ..data.in_folder(&folder)
        };
        let output = match raw.output {
            Some(path) => {
                check.text("output", &path.to_string_lossy())?;
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
        Ok(Config {
            name,
            model: Model {
                stan,
                response: raw.model.response,
                family: raw.model.family,
                priors: raw.model.priors,
                outcome: raw.model.outcome,
                data: raw.model.data,
            },
            data,
            temperature,
            permutation: Permutation {
                prior,
                update,
                feedback,
                outside,
                rate_formula,
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
    };
    let mut folder = std::path::absolute(file).map_err(unreadable)?;
    folder.pop();
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::super::{of_arrays, parse};
    use super::*;
    use crate::model::stan::shipped_names;
    use crate::text::quoted_list;
    use serde_json::json;

    fn minimal() -> Value {
        json!({
            "model": {"stan": "linear"},
            "data": {"file": "wages.csv", "response": "log_wage", "predictors": ["educ", "exper"]}
        })
    }

    fn resolved(value: &Value, settings: &[&str]) -> Result<Config, ConfigError> {
        let settings: Vec<String> = settings.iter().map(|text| text.to_string()).collect();
        parse(
            &value.to_string(),
            Path::new("/project/wages.json"),
            &settings,
        )
    }

    fn refused(setting: &str) -> String {
        resolved(&minimal(), &[setting]).unwrap_err().to_string()
    }

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let config = resolved(&minimal(), &[]).unwrap();
        let expected = json!({
            "name": "wages",
            "model": {"stan": "linear", "response": "y", "family": null, "priors": "scaled", "data": {}},
            "data": {
                "file": "/project/wages.csv", "response": "log_wage", "predictors": ["educ", "exper"],
                "intercept": true, "reference": {}, "missing": "error", "id": null, "block": null, "safe": null,
                "match_probability": null, "candidates": null
            },
            "temperature": 1.0,
            "permutation": {
                "prior": {"name": "beta_binomial", "a": 1.0, "b": 9.0, "no_error": 0.5},
                "update": {"name": "active_set"},
                "feedback": "full"
            },
            "sampler": {
                "chains": 4, "warmup": 1000, "draws": 1000, "thin": 1, "seed": 1, "target_accept": 0.8,
                "max_depth": 10, "metric": "dense", "trajectory": "nuts", "init": "auto",
                "standardise": null
            },
            "output": "/project/out/wages"
        });
        assert_eq!(serde_json::to_value(&config).unwrap(), expected);
    }

    #[test]
    fn a_saved_config_reads_back_the_same_from_its_own_folder() {
        let full = json!({
            "$schema": "config.schema.json",
            "name": "wages 2",
            "model": {
                "stan": "models/mine.stan", "response": "w", "data": {"K": 3, "knots": [0.1, [1e-3]]},
                "family": {"name": "student_t", "nu": 5.5}, "priors": "paper", "outcome": "positive"
            },
            "data": {
                "file": "../data/wages.csv", "response": "log_wage", "predictors": ["educ"],
                "intercept": false, "id": "person", "block": "region", "safe": "verified"
            },
            "temperature": {"stan": 0.9, "permutation": "1/n"},
            "permutation": {
                "prior": {"name": "uniform", "max_moved": 40},
                "update": {"name": "checkerboard", "restart": "mode"}
            },
            "sampler": {
                "chains": 2, "warmup": 0, "draws": 500, "thin": 2, "seed": 18446744073709551615u64,
                "target_accept": 0.95, "max_depth": 8, "metric": "diagonal", "trajectory": "static",
                "init": {"beta": [0, 1]}, "standardise": true
            },
            "output": "results/one"
        });
        let mut audited = minimal();
        audited["permutation"] = json!({
            "prior": {"name": "beta_binomial", "audit": {"checked": 100, "wrong": 7}}
        });
        let mut matched = minimal();
        matched["data"]["match_probability"] = json!("p_match");
        let mut listed = minimal();
        listed["data"]["response"] = json!(["log(food)", "rent"]);
        let mut list_of_one = minimal();
        list_of_one["data"]["response"] = json!(["log_wage"]);
        for value in [minimal(), full, audited, matched, listed, list_of_one] {
            let config = resolved(&value, &[]).unwrap();
            let mut saved = serde_json::to_value(&config).unwrap();
            saved["versions"] = json!({"unshuffle": "0.1.0", "stan": "2.38.0"});
            let place = config.output.join("config.json");
            let again = parse(&saved.to_string(), &place, &[]).unwrap();
            assert_eq!(again, config);
        }
    }

    #[test]
    fn paths_are_relative_to_the_config_file() {
        let config = resolved(
            &minimal(),
            &["model.stan=mine.stan", "output=/tmp/x", "data.file=d/w.csv"],
        )
        .unwrap();
        assert_eq!(
            config.model.stan,
            ModelSource::File("/project/mine.stan".into())
        );
        assert_eq!(config.data.files(), [Path::new("/project/d/w.csv")]);
        assert_eq!(config.output, Path::new("/tmp/x"));
        let gone = resolved(&minimal(), &["sampler.init=s.json"]).unwrap_err();
        assert!(gone.to_string().contains("/project/s.json"), "{gone}");
    }

    #[test]
    fn starting_values_are_read_from_their_file_and_saved() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("s.json"), r#"{"beta": [0, 1]}"#).unwrap();
        let file = folder.path().join("wages.json");
        let settings = ["sampler.init=s.json".into()];
        let config = parse(&minimal().to_string(), &file, &settings).unwrap();
        let saved = serde_json::to_value(&config).unwrap();
        assert_eq!(saved["sampler"]["init"], json!({"beta": [0, 1]}));
    }

    #[test]
    fn arrays_need_no_file_and_a_saved_config_of_them_reads_back() {
        let file = Path::new("/project/wages.json");
        let mut spec = json!({"model": {"stan": "linear"}});
        let config = of_arrays(&spec, file).unwrap();
        assert_eq!(config.data.label(), "arrays");
        assert_eq!(config.data.files(), Vec::<&Path>::new());
        let mut saved = serde_json::to_value(&config).unwrap();
        let typed = parse(&saved.to_string(), file, &[]).unwrap_err();
        assert!(
            typed.to_string().contains("`data.file` is missing"),
            "{typed}"
        );
        saved["versions"] = json!({"unshuffle": "0.1.0"});
        assert_eq!(parse(&saved.to_string(), file, &[]).unwrap(), config);
        let again = crate::data::read(&config.data).unwrap_err();
        assert!(again.to_string().contains("in no file"), "{again}");
        spec["data"] = json!({"file": "wages.csv"});
        let given = of_arrays(&spec, file).unwrap_err();
        assert!(given.to_string().contains("`data` is given"), "{given}");
    }

    #[test]
    fn two_files_and_a_formula_resolve_and_read_back() {
        for links in [json!("person"), json!({"left": "id", "right": "person"})] {
            let value = json!({
                "model": {"stan": "linear"},
                "data": {
                    "left": "survey.csv", "right": "../register.csv", "links": links,
                    "formula": "log(wage) ~ educ*sex - 1", "reference": {"sex": "female"}, "missing": "drop",
                    "match_probability": "p", "candidates": "pairs.csv"
                }
            });
            let config = resolved(&value, &[]).unwrap();
            let data = &config.data;
            assert_eq!(
                data.label(),
                "/project/survey.csv and /project/../register.csv"
            );
            assert_eq!(data.files().len(), 3);
            assert_eq!(data.files()[2], Path::new("/project/pairs.csv"));
            assert_eq!(data.response_label(), "log(wage)");
            let saved = serde_json::to_value(&config).unwrap();
            assert_eq!(saved["data"]["links"], links);
            assert_eq!(saved["data"].get("file"), None);
            let place = Path::new("/elsewhere/config.json");
            let again = parse(&saved.to_string(), place, &[]).unwrap();
            assert_eq!(again, config);
        }
    }

    #[test]
    fn the_family_follows_the_shipped_model_unless_typed() {
        let family = |settings: &[&str]| resolved(&minimal(), settings).unwrap().model.family();
        assert_eq!(family(&[]), Family::Gaussian);
        assert_eq!(family(&["model.stan=mean_shift"]), Family::Gaussian);
        assert_eq!(family(&["model.stan=multivariate"]), Family::Stan);
        assert_eq!(
            family(&["model.stan=quantile"]),
            Family::AsymmetricLaplace { tau: 0.5 }
        );
        assert_eq!(
            family(&["model.stan=student_t"]),
            Family::StudentT { nu: 4.0 }
        );
        assert_eq!(family(&["model.stan=robust"]), Family::Robust { nu: 4.0 });
        assert_eq!(family(&["model.stan=mine.stan"]), Family::Gaussian);
        assert_eq!(
            family(&["model.stan=quantile", r#"model.family={"name":"stan"}"#]),
            Family::Stan
        );
    }

    #[test]
    fn feedback_follows_the_shipped_model_unless_typed() {
        let feedback = |settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(|text| text.to_string()).collect();
            let file = Path::new("/project/wages.json");
            let config = parse(&minimal().to_string(), file, &settings);
            config.unwrap().permutation.feedback
        };
        assert_eq!(feedback(&[]), Feedback::Full);
        assert_eq!(feedback(&["model.stan=logistic"]), Feedback::None);
        let logistic = |more| feedback(&["model.stan=logistic", more]);
        assert_eq!(logistic("permutation.feedback=full"), Feedback::Full);
        assert_eq!(logistic("permutation.update.name=mode"), Feedback::Full);
        assert_eq!(feedback(&["permutation.feedback=none"]), Feedback::None);
        assert_eq!(
            feedback(&["model.stan=own.stan", r#"model.family={"name":"logistic"}"#]),
            Feedback::Full,
            "a program of one's own may have no weights"
        );
    }

    #[test]
    fn the_prior_follows_the_match_probabilities_unless_typed() {
        let prior = |settings: &[&str]| resolved(&minimal(), settings).unwrap().permutation.prior;
        assert_eq!(prior(&[]), Prior::default());
        let matched = "data.match_probability=p_match";
        assert_eq!(prior(&[matched]), Prior::MatchProbability);
        assert_eq!(
            prior(&[matched, "permutation.prior.name=match_probability"]),
            Prior::MatchProbability
        );
        let message = resolved(
            &minimal(),
            &[matched, "permutation.prior.name=beta_binomial"],
        );
        assert_eq!(
            message.unwrap_err().to_string(),
            "/project/wages.json: `permutation.prior.name` is \"beta_binomial\"; where `data.match_probability` is given the prior is \
             `match_probability`, so remove one of the two"
        );
    }

    #[test]
    fn likelihood_power_is_another_name_of_temperature() {
        let config = resolved(&minimal(), &["likelihood_power=0.5"]).unwrap();
        assert_eq!(config, resolved(&minimal(), &["temperature=0.5"]).unwrap());
        for (settings, sentence) in [
            (
                ["likelihood_power=0.5", "temperature=0.5"].as_slice(),
                "`likelihood_power` is given; it is another name of `temperature`, which is given too; remove one of the two",
            ),
            (
                &["likelihood_power=2"],
                "`likelihood_power` is 2; it must be above 0 and at most 1",
            ),
        ] {
            let error = resolved(&minimal(), settings).unwrap_err().to_string();
            assert!(error.contains(sentence), "{error}");
        }
    }

    #[test]
    fn temperatures_wait_for_the_number_of_rows() {
        let config = resolved(&minimal(), &["temperature.permutation=1/n"]).unwrap();
        assert_eq!(config.temperature.at(200), (1.0, 0.005));
    }

    #[test]
    fn values_out_of_range_are_sentences() {
        for (setting, sentence) in [
            (
                "sampler.chains=0",
                "`sampler.chains` is 0; it must be 1 or more",
            ),
            (
                "sampler.draws=0",
                "`sampler.draws` is 0; it must be 1 or more",
            ),
            (
                "sampler.thin=0",
                "`sampler.thin` is 0; it must be 1 or more",
            ),
            (
                "sampler.max_depth=21",
                "`sampler.max_depth` is 21; it must be from 1 to 20",
            ),
            (
                "sampler.target_accept=1",
                "`sampler.target_accept` is 1; it must be between 0 and 1, both excluded",
            ),
            (
                "sampler.init=-1",
                "`sampler.init` is -1; it must be 0 or more",
            ),
            (
                "temperature=0",
                "`temperature` is 0; it must be above 0 and at most 1",
            ),
            (
                "temperature.stan=1.5",
                "`temperature.stan` is 1.5; it must be above 0 and at most 1",
            ),
            (
                r#"model.family={"name":"asymmetric_laplace","tau":1}"#,
                "`model.family.tau` is 1; it must be between 0 and 1, both excluded",
            ),
            (
                r#"model.family={"name":"student_t","nu":0}"#,
                "`model.family.nu` is 0; it must be above 0",
            ),
            (
                r#"permutation.prior={"name":"beta_binomial","b":-1}"#,
                "`permutation.prior.b` is -1; it must be above 0",
            ),
            (
                r#"permutation.prior={"name":"beta_binomial","audit":{"checked":0,"wrong":0}}"#,
                "`permutation.prior.audit.checked` is 0; it must be 1 or more",
            ),
            (
                r#"permutation.prior={"name":"beta_binomial","audit":{"checked":5,"wrong":7}}"#,
                "`permutation.prior.audit.wrong` is 7; it must be at most `checked`, which is 5",
            ),
            (
                r#"permutation.prior={"name":"beta_binomial","audit":{"checked":5,"wrong":1,"weight":1.5}}"#,
                "`permutation.prior.audit.weight` is 1.5; it must be above 0 and at most 1",
            ),
            (
                r#"permutation.prior={"name":"beta_binomial","no_error":1}"#,
                "`permutation.prior.no_error` is 1; it must be 0 or more and below 1; to keep every link, write \
                 \"update\": {\"name\": \"none\"} in `permutation`",
            ),
            (
                r#"permutation.prior={"name":"match_probability"}"#,
                "`permutation.prior.name` is \"match_probability\"; name the column of these probabilities in \
                 `data.match_probability`, or choose another prior",
            ),
            (
                r#"permutation.prior={"name":"uniform","max_moved":1}"#,
                "`permutation.prior.max_moved` is 1; one row alone cannot move, so write 0, or 2 or more",
            ),
            (
                r#"permutation.prior={"name":"hamming","theta":-0.5}"#,
                "`permutation.prior.theta` is -0.5; it must be 0 or more",
            ),
            (
                r#"permutation.update={"name":"checkerboard","steps":0}"#,
                "`permutation.update.steps` is 0; it must be 1 or more",
            ),
            (
                r#"permutation={"feedback":"none","update":{"name":"mode"}}"#,
                "`permutation.feedback` is \"none\"; without feedback the moved rows are sampled, so set permutation.update to \
                 {\"name\": \"active_set\"} or remove it",
            ),
            (
                "data.predictors=[]",
                r#"`data.predictors` is missing; add it, for example "predictors": ["educ", "exper"]"#,
            ),
            (
                "data.file=",
                "`data.file` is empty; fill it in or remove the key",
            ),
            (
                "name=a/b",
                "`name` is \"a/b\"; it names a folder, so it cannot contain / or \\; set \"output\" for another place",
            ),
            (
                "model.data.knots=[1,[2,null]]",
                "`model.data.knots[1][1]` is null; Stan data are numbers and lists of numbers",
            ),
            (
                "model.stan=linaer",
                "`model.stan` is \"linaer\"; write a shipped model ({shipped}), perhaps `linear`, or the path of a .stan file",
            ),
            (
                "model.stan=hierarchical",
                "`model.stan` is \"hierarchical\"; write a shipped model ({shipped}), or the path of a .stan file",
            ),
            (
                "model.stan=models/mine",
                "`model.stan` is \"models/mine\"; the path of a Stan program ends in .stan",
            ),
        ] {
            let sentence = sentence.replace("{shipped}", &quoted_list(&shipped_names()));
            assert_eq!(refused(setting), format!("/project/wages.json: {sentence}"));
        }
    }

    #[test]
    fn the_output_folder_may_not_hold_the_data() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("wages.csv"), "").unwrap();
        let file = folder.path().join("wages.json");
        let message = parse(&minimal().to_string(), &file, &["output=.".into()])
            .unwrap_err()
            .to_string();
        assert!(
            message.ends_with("that folder holds the data file, so choose a folder of its own"),
            "{message}"
        );
        let input = folder.path().join("out/input");
        std::fs::create_dir_all(&input).unwrap();
        std::fs::write(input.join("wages.csv"), "").unwrap();
        let file = input.join("config.json");
        parse(&minimal().to_string(), &file, &["output=..".into()]).unwrap();
    }

    #[test]
    fn the_program_says_the_kind_and_else_the_family() {
        let kind = |stan: ModelSource, family: Option<Family>| {
            let model = Model {
                stan,
                response: "y".into(),
                family,
                priors: Priors::Scaled,
                outcome: None,
                data: serde_json::Map::new(),
            };
            let typed = Model {
                outcome: Some(ResponseKind::Positive),
                ..model.clone()
            };
            assert_eq!(typed.response_kind(), ResponseKind::Positive);
            model.response_kind()
        };
        let shipped = |name: &str| ModelSource::Shipped(name.into());
        let own = || ModelSource::File("own.stan".into());
        assert_eq!(kind(shipped("linear"), None), ResponseKind::Real);
        assert_eq!(kind(shipped("gamma"), None), ResponseKind::Positive);
        let by_log_lik = kind(shipped("poisson"), Some(Family::Stan));
        assert_eq!(by_log_lik, ResponseKind::Count);
        assert_eq!(kind(own(), Some(Family::Logistic)), ResponseKind::ZeroOne);
        assert_eq!(kind(own(), Some(Family::Stan)), ResponseKind::Real);
    }
}
