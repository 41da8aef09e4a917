//! Reads a config file, applies `--set`, and says what is wrong with it.

use std::path::Path;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::check::Check;
use super::init::read_init;
use super::objects::Objects;
use super::raw::RawConfig;
use super::resolved::absolute_folder;
use super::{Config, ConfigError, Data, explain::explain, overrides, strict_json};
use crate::text::{MOST_BYTES, read_at_most};

/// Reads and validates a config file. `settings` are the values of `--set`.
pub fn load(file: &Path, settings: &[String]) -> Result<Config, ConfigError> {
    parse(&read_text(file, PATH)?, file, settings)
}

/// As `load`, for text that stands, or will stand, in `file`.
pub fn parse(text: &str, file: &Path, settings: &[String]) -> Result<Config, ConfigError> {
    let raw: RawConfig = raw_config(parse_value(text, file, settings)?, file)?;
    let is_saved = raw.versions.is_some();
    let data = raw.data.clone().resolve(&Check { file }, is_saved)?;
    Config::resolve(raw, data, file)
}

/// The config of a fit of arrays. `spec` has the entries of a config but `data`; its paths are relative to `file`.
pub fn of_arrays(spec: &Value, file: &Path) -> Result<Config, ConfigError> {
    let raw: RawConfig<Option<IgnoredAny>> = raw_config(spec.clone(), file)?;
    let rule = "the data are arrays, so remove it";
    Check { file }.that(raw.data.is_none(), "data", "given", rule)?;
    Config::resolve(raw, Data::arrays(), file)
}

/// A config as typed, with starting values instead of the file that holds them.
fn raw_config<D: DeserializeOwned>(
    mut value: Value,
    file: &Path,
) -> Result<RawConfig<D>, ConfigError> {
    if let Some(init) = value.pointer_mut("/sampler/init")
        && let Some(path) = init.as_str().filter(|path| path.ends_with(".json"))
    {
        *init = Value::Object(read_init(&absolute_folder(file)?.join(path))?);
    }
    typed(&value, file)
}

/// The JSON of a file, with the values of `--set`.
pub(crate) fn load_value(file: &Path, settings: &[String]) -> Result<Value, ConfigError> {
    parse_value(&read_text(file, PATH)?, file, settings)
}

fn parse_value(text: &str, file: &Path, settings: &[String]) -> Result<Value, ConfigError> {
    let mut value =
        strict_json::from_str(text).map_err(|error| syntax_error(file, text, &error))?;
    for setting in settings {
        overrides::apply(&mut value, setting)?;
    }
    Ok(value)
}

/// What the JSON of `file` says, or what is wrong with it.
pub(crate) fn typed<T: DeserializeOwned>(value: &Value, file: &Path) -> Result<T, ConfigError> {
    serde_path_to_error::deserialize(Objects(value))
        .map_err(|error| explain(&file.display().to_string(), value, &error))
}

/// The JSON Schema of a config, for editors.
pub fn schema() -> String {
    serde_json::to_string_pretty(&schemars::schema_for!(RawConfig)).expect("a schema is plain JSON")
}

/// What to do about a config that cannot be read.
const PATH: &str = "check the path";

pub(super) fn read_text(file: &Path, fix: &'static str) -> Result<String, ConfigError> {
    let bytes = read_at_most(file, MOST_BYTES).map_err(|source| ConfigError::Unreadable {
        file: file.display().to_string(),
        source,
        fix,
    })?;
    // Windows editors put a byte order mark at the start, which strict JSON does not allow.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_string()),
        Err(_) => Err(ConfigError::NotText {
            file: file.display().to_string(),
        }),
    }
}

pub(super) fn syntax_error(file: &Path, text: &str, error: &serde_json::Error) -> ConfigError {
    let message = error.to_string();
    let problem = message
        .rsplit_once(" at line ")
        .map_or(message.as_str(), |(problem, _)| problem);
    let fix = if strict_json::is_repeated_key(error) {
        "remove one of the two"
    } else if problem.starts_with("recursion limit") {
        "write fewer brackets inside one another"
    } else if problem.starts_with("number out of range") {
        "write a number below 1e308"
    } else {
        let line = text.lines().nth(error.line().saturating_sub(1));
        let before = line.and_then(|line| line.get(..error.column().saturating_sub(1)));
        let at = before.map_or("", |before| &line.unwrap_or_default()[before.len()..]);
        word_of_other_languages(at).unwrap_or(
            "JSON has no comments, no comma after the last entry, and double quotes around text",
        )
    };
    ConfigError::Syntax {
        file: file.display().to_string(),
        line: error.line(),
        column: error.column(),
        problem: problem.to_string(),
        fix,
    }
}

/// What to write in the place of a word that Python, R or JavaScript has and JSON lacks.
fn word_of_other_languages(text: &str) -> Option<&'static str> {
    let starts = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    if starts(&["NaN", "nan", "Inf", "inf", "NA"]) {
        Some("JSON has no NaN and no Infinity: write a finite number, or leave the key out")
    } else if starts(&["True", "False", "None", "TRUE", "FALSE", "NULL"]) {
        Some("JSON writes true, false and null in small letters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Family;
    use serde_json::json;

    fn minimal() -> String {
        json!({
            "model": {"stan": "linear"},
            "data": {"file": "wages.csv", "response": "log_wage", "predictors": ["educ", "exper"]}
        })
        .to_string()
    }

    fn refused(text: &str, settings: &[&str]) -> String {
        let settings: Vec<String> = settings.iter().map(|text| text.to_string()).collect();
        parse(text, Path::new("wages.json"), &settings)
            .unwrap_err()
            .to_string()
    }

    fn refused_setting(setting: &str) -> String {
        refused(&minimal(), &[setting])
    }

    #[test]
    fn the_schema_lists_every_shipped_model_and_every_family_that_can_be_typed() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let models = &schema["$defs"]["RawModel"]["properties"]["stan"]["description"];
        let names = crate::model::stan::shipped_names().join(", ");
        assert!(models.as_str().unwrap().contains(&names), "{models}");
        let families = schema["$defs"]["Family"]["oneOf"].as_array().unwrap();
        let found = families.iter().map(|f| &f["properties"]["name"]["const"]);
        let typed = Family::ALL.into_iter().filter_map(Family::typed_name);
        assert!(found.eq(typed), "{families:?}");
    }

    #[test]
    fn unknown_keys_name_the_nearest() {
        for (setting, sentence) in [
            (
                "sampler.chians=2",
                "unknown key `sampler.chians`; did you mean `chains`?",
            ),
            (
                "temprature=1",
                "unknown key `temprature`; did you mean `temperature`?",
            ),
            (
                "seed=1",
                "unknown key `seed`; the keys here are `name`, `model`, `data`, `temperature`, \
                 `likelihood_power`, `permutation`, `sampler` and `output`",
            ),
            (
                r#"model.family={"name":"student_t","mu":4}"#,
                "unknown key `model.family.mu`; did you mean `nu`?",
            ),
            (
                r#"permutation.prior={"name":"uniform","max_move":4}"#,
                "unknown key `permutation.prior.max_move`; did you mean `max_moved`?",
            ),
            (
                r#"permutation.update={"name":"checkerboard","step":4}"#,
                "unknown key `permutation.update.step`; did you mean `steps`?",
            ),
            (
                r#"temperature={"stan":1,"permutations":1}"#,
                "unknown key `temperature.permutations`; did you mean `permutation`?",
            ),
        ] {
            assert_eq!(refused_setting(setting), format!("wages.json: {sentence}"));
        }
    }

    #[test]
    fn wrong_types_say_what_to_write() {
        for (setting, sentence) in [
            (
                r#"sampler.chains="4""#,
                r#"`sampler.chains` is "4"; write a whole number of 0 or more, without quotes"#,
            ),
            (
                "sampler.draws=-5",
                "`sampler.draws` is -5; write a whole number of 0 or more, without quotes",
            ),
            (
                "sampler.draws=1e3",
                "`sampler.draws` is 1000.0; write a whole number of 0 or more, without quotes",
            ),
            (
                "sampler.target_accept=high",
                r#"`sampler.target_accept` is "high"; write a number without quotes"#,
            ),
            (
                "data.intercept=1",
                "`data.intercept` is 1; write true or false, without quotes",
            ),
            ("name=12", "`name` is 12; write text in quotes"),
            ("data.file=12", "`data.file` is 12; write text in quotes"),
            (
                "data.predictors=educ",
                r#"`data.predictors` is "educ"; write a list such as ["educ", "exper"]"#,
            ),
            (
                "data.response=3",
                r#"`data.response` is 3; write a column such as "log_wage", or a list such as ["food", "rent"]"#,
            ),
            (
                r#"data.response=["food",3]"#,
                "`data.response[1]` is 3; write text in quotes",
            ),
            (
                "data.predictors.1=3",
                "`data.predictors[1]` is 3; write text in quotes",
            ),
            (
                "model=linear",
                r#"`model` is "linear"; write an object such as {"stan": "linear"}"#,
            ),
            (
                "model.data=3",
                r#"`model.data` is 3; write an object such as {"K": 3}"#,
            ),
            (
                "model.family=gaussian",
                r#"`model.family` is "gaussian"; write an object such as {"name": "gaussian"}"#,
            ),
            (
                r#"model.family={"name":"student_t","nu":"4"}"#,
                r#"`model.family.nu` is "4"; write a number without quotes"#,
            ),
            (
                r#"temperature="1/m""#,
                r#"`temperature` is "1/m"; write a number in (0, 1], "1/n" or {"stan": 1.0, "permutation": 0.5}"#,
            ),
            (
                "temperature.stan=true",
                r#"`temperature.stan` is true; write a number in (0, 1] or "1/n""#,
            ),
            (
                "sampler.init=zero",
                r#"`sampler.init` is "zero"; write "auto", a number of 0 or more, an object of parameter values, or the path of a .json file of them"#,
            ),
        ] {
            assert_eq!(refused_setting(setting), format!("wages.json: {sentence}"));
        }
    }

    #[test]
    fn wrong_choices_name_the_nearest_or_list_all() {
        for (setting, sentence) in [
            (
                "model.family.name=gausian",
                r#"`model.family.name` is "gausian"; did you mean `gaussian`?"#,
            ),
            (
                "permutation.prior.name=poisson",
                r#"`permutation.prior.name` is "poisson"; the choices here are `beta_binomial`, `match_probability`, `uniform` and `hamming`"#,
            ),
            (
                "sampler.metric=diag",
                r#"`sampler.metric` is "diag"; the choices here are `dense` and `diagonal`"#,
            ),
            (
                r#"permutation.update={"name":"checkerboard","restart":"modus"}"#,
                r#"`permutation.update.restart` is "modus"; did you mean `mode`?"#,
            ),
            (
                "permutation.outside=maybe",
                r#"`permutation.outside` is "maybe"; write true, false, or an object such as {"a": 1, "b": 1, "no_error": 0.5}"#,
            ),
            (
                r#"permutation.prior={"name":"match_probability","no_error":0.5}"#,
                r#"`permutation.prior` is {"name":"match_probability","no_error":0.5}; `match_probability` has no `no_error`; remove `no_error` or choose another name"#,
            ),
            (
                r#"model.family={"name":"gaussian","tau":0.5}"#,
                r#"`model.family` is {"name":"gaussian","tau":0.5}; `gaussian` has no `tau`; remove `tau` or choose another name"#,
            ),
        ] {
            assert_eq!(refused_setting(setting), format!("wages.json: {sentence}"));
        }
    }

    #[test]
    fn missing_keys_come_with_an_example() {
        let data = r#""data": {"file": "w.csv", "response": "y", "predictors": ["x"]}"#;
        for (text, sentence) in [
            (
                format!("{{{data}}}"),
                r#"`model` is missing; add it, for example "model": {"stan": "linear"}"#,
            ),
            (
                format!(r#"{{"model": {{}}, {data}}}"#),
                r#"`model.stan` is missing; add it, for example "stan": "linear""#,
            ),
            (
                r#"{"model": {"stan": "linear"}}"#.into(),
                r#"`data` is missing; add it, for example "data": {"file": "wages.csv", "response": "log_wage", "predictors": ["educ", "exper"]}"#,
            ),
            (
                format!(r#"{{"model": {{"stan": "linear", "family": {{"tau": 0.5}}}}, {data}}}"#),
                r#"`model.family.name` is missing; add it, for example "name": "gaussian""#,
            ),
            (
                format!(
                    r#"{{"model": {{"stan": "linear", "family": {{"name": "student_t"}}}}, {data}}}"#
                ),
                r#"`model.family.nu` is missing; add it, for example "nu": 4"#,
            ),
        ] {
            assert_eq!(refused(&text, &[]), format!("wages.json: {sentence}"));
        }
    }

    #[test]
    fn data_are_named_in_one_way() {
        let refused_data = |data: Value| {
            let config = json!({"model": {"stan": "linear"}, "data": data});
            refused(&config.to_string(), &[])
        };
        for (data, sentence) in [
            (
                json!({"file": "w.csv"}),
                r#"`data.formula` is missing; add it, for example "formula": "log(wage) ~ educ + exper""#,
            ),
            (
                json!({"file": "w.csv", "predictors": ["x"]}),
                r#"`data.response` is missing; add it, for example "response": "log_wage""#,
            ),
            (
                json!({"file": "w.csv", "formula": "y ~ x", "response": "y"}),
                r#"`data.formula` is "y ~ x"; it stands for data.response and data.predictors, so remove it or remove them"#,
            ),
            (
                json!({"formula": "y ~ x"}),
                r#"`data.file` is missing; add it, for example "file": "wages.csv""#,
            ),
            (
                json!({"formula": "y ~ x", "left": "s.csv", "right": "r.csv"}),
                r#"`data.links` is missing; add it, for example "links": "person""#,
            ),
            (
                json!({"formula": "y ~ x", "left": "s.csv", "links": "person"}),
                r#"`data.right` is missing; add it, for example "right": "register.csv""#,
            ),
            (
                json!({"formula": "y ~ x", "file": "w.csv", "left": "s.csv", "right": "r.csv"}),
                r#"`data.file` is "w.csv"; the data are one file or two, so remove it or remove data.left and data.right"#,
            ),
            (
                json!({"formula": "y ~ x", "file": "w.csv", "links": 3}),
                r#"`data.links` is 3; write a column such as "person", or {"left": "register_id", "right": "id"}, or {"pairs": "predictions.csv", "left": "person", "right": "id"}"#,
            ),
            (
                json!({"formula": "y ~ x", "left": "s.csv", "right": "r.csv", "links": {"left": "a", "threshold": 0.5}}),
                r#"`data.links.pairs` is missing; add it, for example "pairs": "predictions.csv""#,
            ),
            (
                json!({"formula": "y ~ x", "left": "s.csv", "right": "r.csv", "links": {"pairs": "p.csv", "threshold": 1}}),
                "`data.links.threshold` is 1; it must be 0 or more and below 1",
            ),
            (
                json!({"formula": "y ~ x", "left": "s.csv", "right": "r.csv", "links": {"pairs": "p.csv", "left": "a"}}),
                "`data.links` is one of `left` and `right`; name the column of ids of both files, or neither where the pairs have row numbers",
            ),
            (
                json!({"formula": "y ~ x", "left": "s.csv", "right": "r.csv", "links": {"pairs": "p.csv"}, "candidates": "c.csv"}),
                r#"`data.candidates` is "c.csv"; the pairs of data.links say this, so remove it"#,
            ),
            (
                json!({"formula": "y ~ x", "file": "w.csv", "links": {"left": "id"}}),
                r#"`data.links.right` is missing; add it, for example "right": "id""#,
            ),
            (
                json!({"formula": "y ~ x", "file": "w.csv", "missing": "omit"}),
                r#"`data.missing` is "omit"; the choices here are `error` and `drop`"#,
            ),
            (
                json!({"formula": "y ~ x", "file": "w.csv", "reference": {"sector": 3}}),
                r#"`data.reference.sector` is 3; write text in quotes"#,
            ),
            (
                json!({"formula": " ", "file": "w.csv"}),
                "`data.formula` is empty; fill it in or remove the key",
            ),
            (
                json!({"formula": "y ~ x", "file": "w.csv", "candidates": ""}),
                "`data.candidates` is empty; fill it in or remove the key",
            ),
        ] {
            assert_eq!(refused_data(data), format!("wages.json: {sentence}"));
        }
    }

    #[test]
    fn every_required_key_has_an_example() {
        let full: Value = serde_json::from_str(&minimal()).unwrap();
        for pointer in ["model", "data"] {
            for key in full[pointer].as_object().unwrap().keys() {
                let mut value = full.clone();
                value[pointer].as_object_mut().unwrap().remove(key);
                let message = refused(&value.to_string(), &[]);
                let start = format!("wages.json: `{pointer}.{key}` is missing; add it");
                assert!(message.starts_with(&start), "{message}");
                assert!(!message.contains("..."), "{message}");
            }
        }
        for setting in [
            r#"permutation.prior={}"#,
            r#"permutation.prior={"name":"uniform"}"#,
            r#"permutation.prior={"name":"hamming"}"#,
            r#"permutation.update={}"#,
            r#"model.family={"name":"asymmetric_laplace"}"#,
        ] {
            let message = refused_setting(setting);
            assert!(message.contains(" is missing; add it, for example "));
            assert!(!message.contains("..."), "{message}");
        }
    }

    #[test]
    fn bad_json_has_a_line_and_a_column() {
        assert_eq!(
            refused("{\n  \"name\": \"a\",\n}", &[]),
            "wages.json, line 3, column 1: not valid JSON, trailing comma; JSON has no comments, no comma after \
             the last entry, and double quotes around text"
        );
        assert_eq!(
            refused("{\n  \"name\": \"a\",\n  \"name\": \"b\"\n}", &[]),
            "wages.json, line 3, column 8: not valid JSON, key `name` is given twice; remove one of the two"
        );
    }

    #[test]
    fn files_are_read_with_a_byte_order_mark_and_missing_ones_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("wages.json");
        let message = load(&file, &[]).unwrap_err().to_string();
        assert_eq!(
            message,
            format!(
                "cannot read `{}` (No such file or directory (os error 2)); check the path",
                file.display()
            )
        );
        std::fs::write(&file, b"{\"name\": \"M\xfcller\"}").unwrap();
        assert_eq!(
            load(&file, &[]).unwrap_err().to_string(),
            format!(
                "{} is not UTF-8 text; save it again as UTF-8",
                file.display()
            )
        );
        std::fs::write(&file, format!("\u{feff}{}", minimal())).unwrap();
        let settings = ["sampler.draws=20".to_string()];
        let config = load(&file, &settings).unwrap();
        assert_eq!(config.sampler.draws, 20);
        assert_eq!(config.output, folder.path().join("out/wages"));
    }

    #[test]
    fn the_schema_describes_every_key() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let mut keys = Vec::new();
        collect_properties(&schema, &mut keys);
        for key in [
            "$schema",
            "name",
            "model",
            "stan",
            "response",
            "family",
            "tau",
            "nu",
            "data",
            "file",
            "predictors",
            "intercept",
            "id",
            "block",
            "safe",
            "left",
            "right",
            "links",
            "formula",
            "reference",
            "missing",
            "match_probability",
            "candidates",
            "weights",
            "with",
            "scale",
            "strata",
            "clusters",
            "temperature",
            "likelihood_power",
            "permutation",
            "prior",
            "a",
            "b",
            "audit",
            "checked",
            "wrong",
            "max_moved",
            "theta",
            "update",
            "steps",
            "restart",
            "sampler",
            "chains",
            "warmup",
            "draws",
            "thin",
            "seed",
            "target_accept",
            "max_depth",
            "metric",
            "trajectory",
            "init",
            "standardise",
            "priors",
            "outcome",
            "output",
            "versions",
        ] {
            let found: Vec<_> = keys.iter().filter(|(name, _)| name == key).collect();
            assert!(!found.is_empty(), "`{key}` is not in the schema");
            for (_, property) in found {
                let is_tag = property.get("const").is_some();
                assert!(
                    is_tag || property.get("description").is_some(),
                    "`{key}`: {property}"
                );
            }
        }
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["required"], json!(["model", "data"]));
    }

    fn collect_properties(schema: &Value, into: &mut Vec<(String, Value)>) {
        match schema {
            Value::Object(object) => {
                if let Some(Value::Object(properties)) = object.get("properties") {
                    into.extend(properties.clone());
                }
                object
                    .values()
                    .for_each(|value| collect_properties(value, into));
            }
            Value::Array(list) => list
                .iter()
                .for_each(|value| collect_properties(value, into)),
            _ => {}
        }
    }
}
