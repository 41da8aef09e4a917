//! A config to begin with, for a program that was adopted.

use serde_json::{Map, Value, json};

use super::Adopted;
use super::data_block::Predictors;
use super::likelihood::Likelihood;

impl Adopted {
    /// `stan` is the program's path as the config will name it.
    pub fn starting_config(&self, stan: &str) -> String {
        let mut model = json!({
            "stan": stan, "response": self.response, "family": {"name": "stan"}
        });
        if !self.entries.is_empty() {
            let entries = self.entries.iter();
            let entries: Map<String, Value> = entries
                .map(|(name, kind)| (name.clone(), self.entry(name, kind)))
                .collect();
            model["data"] = Value::Object(entries);
        }
        let predictors = match &self.predictors {
            Predictors::Columns(columns) => json!(columns),
            Predictors::Matrix => json!(["fill in: the columns of X"]),
            Predictors::None => json!([]),
        };
        let config = json!({
            "model": model,
            "data": {
                "file": "fill in: your CSV", "response": self.response, "predictors": predictors,
                "intercept": self.wants_ones()
            }
        });
        serde_json::to_string_pretty(&config).expect("plain JSON") + "\n"
    }

    /// What the user completes: a column for what has a value in each row, the number of levels of a column of codes, else its type.
    fn entry(&self, name: &str, kind: &str) -> Value {
        let is_of_rows = |kind: &str| kind.ends_with("[N]") || kind.starts_with("array[N]");
        let of_codes = self.codes_counted_by(name);
        match of_codes {
            Some(codes) => json!({"levels": format!("fill in: the column of {codes}")}),
            None if is_of_rows(kind) => json!({"column": format!("fill in: the column of {name}")}),
            None => json!(format!("fill in: {kind}")),
        }
    }

    /// brms calls the grouping of each row J_1, and the number of its groups N_1.
    fn codes_counted_by(&self, name: &str) -> Option<&str> {
        let number = name.strip_prefix("N_")?;
        let codes = format!("J_{number}");
        let found = self
            .entries
            .iter()
            .find(|(name, kind)| *name == codes && kind.starts_with("array[N] int"));
        found.map(|(name, _)| name.as_str())
    }

    /// Whether X has a column of ones in front.
    fn wants_ones(&self) -> bool {
        match self.predictors {
            Predictors::Columns(_) => false,
            Predictors::Matrix => !self.has_intercept,
            Predictors::None => true,
        }
    }

    /// What the user should know of the config, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.predictors == Predictors::Matrix {
            notes.push(match self.wants_ones() {
                true if self.takes_ones => "data.intercept is true, since the program expects a column of ones in X, as brms makes it.".into(),
                true => "data.intercept is true, since the program has no intercept of its own: X begins with a column of ones.".into(),
                false => "data.intercept is false, since the program seems to have an intercept of its own: X has no column of ones.".to_string(),
            });
        }
        for (name, kind) in &self.entries {
            let how = match self.entry(name, kind) {
                Value::Object(entry) if entry.contains_key("levels") => {
                    ", the number of levels of a column: {\"levels\": ...}"
                }
                Value::Object(_) => {
                    ", a column of the file: {\"column\": ...}; {\"column\": \"1\"} is a 1 in each row"
                }
                _ => "",
            };
            notes.push(format!("model.data must give {name} ({kind}){how}."));
        }
        if let Some(family) = self.family {
            notes.push(format!(
                "model.family may be {family} instead of \"stan\": the same likelihood, faster; `unshuffle check` compares them."
            ));
        }
        notes
    }
}

/// The family written in Rust that means the same, as the config names it.
pub(super) fn native_family(
    likelihood: &Likelihood,
    predictors: &Predictors,
) -> Option<&'static str> {
    let plain = |text: &&str| text.split_whitespace().collect::<Vec<_>>().concat();
    let arguments: Vec<String> = likelihood.arguments.iter().map(plain).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_gaussian = matches!(
        (likelihood.name, arguments.as_slice()),
        ("normal", ["X*beta", "sigma" | "sqrt(sigma2)"])
            | (
                "normal_id_glm",
                ["X", "0" | "0.0", "beta", "sigma" | "sqrt(sigma2)"]
            )
    );
    (is_gaussian && *predictors == Predictors::Matrix).then_some("{\"name\": \"gaussian\"}")
}
