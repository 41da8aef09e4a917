//! What the seeds of a method's tasks are hashed from.

use serde_json::{Map, Value, json};

use super::config::Estimator;
use crate::config::Priors;

/// `shared` is what the study says of every method's model. A path of a program stays as typed, so that a study can move;
/// seeds and places are not the cell's.
pub fn identity_of(
    estimator: &Estimator,
    shared: &Map<String, Value>,
    typed: &Value,
    resolved: &Value,
) -> Value {
    let Estimator::Fit(config) = estimator else {
        return typed.clone();
    };
    let mut sampler = resolved["sampler"].clone();
    if let Some(sampler) = sampler.as_object_mut() {
        sampler.shift_remove("seed");
    }
    let mut model = shared.clone();
    model.extend(typed["model"].as_object().cloned().unwrap_or_default());
    let model = match model.contains_key("stan") {
        true => Value::Object(model),
        false => resolved["model"].clone(),
    };
    json!({
        "model": model_identity(model, config.model.priors),
        "family": config.model.family(),
        "temperature": resolved["temperature"],
        "permutation": permutation_identity(resolved["permutation"].clone()),
        "sampler": sampler,
    })
}

/// The paper's priors go without saying, as they did when there were no others: seeds of studies with them stay the same.
fn model_identity(mut model: Value, priors: Priors) -> Value {
    if let Some(entries) = model.as_object_mut() {
        entries.shift_remove("priors");
        if priors != Priors::Paper {
            entries.insert("priors".into(), json!(priors));
        }
    }
    model
}

/// Studies from before these keys had no probability of no error and full feedback: with these their seeds stay.
fn permutation_identity(mut permutation: Value) -> Value {
    if permutation["prior"]["no_error"] == json!(0.0) {
        let prior = permutation["prior"].as_object_mut();
        prior.expect("it has a key").shift_remove("no_error");
    }
    if permutation["feedback"] == json!("full") {
        let entries = permutation.as_object_mut();
        entries.expect("it has a key").shift_remove("feedback");
    }
    permutation
}
