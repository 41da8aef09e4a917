//! How the fit was run: everything needed to repeat it.

use serde::Serialize;
use serde_json::Value;

use super::format::significant;
use crate::config::{Config, Feedback, ModelSource};
use crate::posterior::{Folder, Posterior};
use crate::priors::PriorsUsed;
use crate::sampler::chain::LinksStart;

#[derive(Debug, Clone, Serialize)]
pub struct Provenance {
    /// (what, value) in the order of the page.
    pub facts: Vec<(&'static str, String)>,
    /// Times and counts, one row a chain.
    pub chains: Vec<ChainTimes>,
    pub config: String,
    pub program_name: String,
    pub program: String,
    /// What to type to repeat the fit.
    pub command: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct ChainTimes {
    pub chain: usize,
    pub warmup: String,
    pub sampling: String,
    pub step_one: String,
    pub step_two: String,
    pub gradients: String,
    pub step_size: String,
    pub divergences: String,
    pub treedepth_hits: String,
    pub links_start: String,
}

impl Provenance {
    pub fn new(fit: &Posterior) -> Provenance {
        let config = &fit.config;
        let value = serde_json::to_value(config).expect("a config is plain JSON");
        // The same from wherever the report is made.
        let folder = fit.folder.path();
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.into());
        let config_file = Folder::new(folder).file(Folder::CONFIG);
        Provenance {
            facts: facts(fit, &value),
            chains: chain_times(fit),
            config: serde_json::to_string_pretty(&value).expect("plain JSON"),
            program_name: model_name(config),
            program: fit.program.clone().unwrap_or_default(),
            command: format!(
                "unshuffle fit {} --set output=again",
                quoted(&config_file.display().to_string())
            ),
        }
    }
}

fn facts(fit: &Posterior, value: &Value) -> Vec<(&'static str, String)> {
    let config = &fit.config;
    let version = |value: &Option<String>| value.clone().unwrap_or("unknown".into());
    let versions = &fit.versions;
    let seconds = fit.seconds();
    let rows = fit.num_rows();
    let sampler = &config.sampler;
    let mut facts = vec![
        ("Data", config.data.label()),
        ("SHA-256 of the data", version(&versions.data_sha256)),
        ("Rows", rows.map_or("unknown".into(), |n| n.to_string())),
        ("Response", config.data.response_label()),
        ("Predictors", fit.predictors().join(", ")),
        ("Stan program", model_name(config)),
    ];
    let priors = fit.data.as_ref().and_then(|data| data.priors.as_ref());
    facts.extend(priors.map(|priors| ("Priors of the parameters", priors_in_words(priors))));
    if fit.links.is_some() {
        facts.push(("Likelihood of links", config.model.family().to_string()));
        facts.push(("Prior of links", choice(&value["permutation"]["prior"])));
        let rate = config.permutation.prior.rate();
        facts.extend(rate.map(|rate| ("Prior of the mismatch rate", rate.to_string())));
        let feedback = match config.permutation.feedback {
            Feedback::Full => "full: moved rows inform the parameters",
            Feedback::None => "none: only rows whose links stay inform the parameters",
        };
        facts.push(("Feedback", feedback.into()));
    }
    facts.extend([
        ("Update of links", choice(&value["permutation"]["update"])),
        ("Temperature", choice(&value["temperature"])),
        (
            "Chains",
            format!(
                "{}, each with {} warm-up iterations and {} draws{}",
                sampler.chains,
                sampler.warmup,
                sampler.draws,
                match sampler.thin {
                    1 => String::new(),
                    thin => format!(", of which every {thin}th is kept"),
                }
            ),
        ),
        ("Seed", sampler.seed.to_string()),
        (
            "Time",
            seconds.map_or("unknown".into(), |s| format!("{} s", significant(s, 3))),
        ),
        ("unshuffle", version(&versions.unshuffle)),
        ("Stan", version(&versions.stan)),
        ("Toolchain", version(&versions.toolchain)),
    ]);
    facts
}

fn priors_in_words(priors: &PriorsUsed) -> String {
    let words = priors.words().join("; ");
    match priors.program {
        Some(_) => words,
        None => format!("{}: {words}", priors.source()),
    }
}

/// A choice of the config in words: its name, and its numbers behind it.
fn choice(value: &Value) -> String {
    let Value::Object(entries) = value else {
        return match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
    };
    let numbers: Vec<String> = entries
        .iter()
        .filter(|(key, value)| *key != "name" && !value.is_null())
        .map(|(key, value)| match value {
            Value::Object(_) => format!("{key} ({})", choice(value)),
            _ => format!("{key} = {}", choice(value)),
        })
        .collect();
    match (
        entries.get("name").and_then(Value::as_str),
        numbers.is_empty(),
    ) {
        (Some(name), true) => name.into(),
        (Some(name), false) => format!("{name} ({})", numbers.join(", ")),
        (None, _) => numbers.join(", "),
    }
}

/// What a person calls the program: the name of its file.
pub fn model_name(config: &Config) -> String {
    match &config.model.stan {
        ModelSource::Shipped(name) => format!("{name}.stan"),
        ModelSource::File(path) => {
            let file = path.file_name().unwrap_or(path.as_os_str());
            file.to_string_lossy().into_owned()
        }
    }
}

/// As a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if path.chars().all(plain) {
        path.into()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

fn chain_times(fit: &Posterior) -> Vec<ChainTimes> {
    let chains = fit.outcomes().iter();
    let rows = chains.map(|chain| {
        let number = |value: f64, unit: &str| format!("{}{unit}", significant(value, 3));
        ChainTimes {
            chain: chain.chain,
            warmup: number(chain.warmup_seconds, " s"),
            sampling: number(chain.sampling_seconds, " s"),
            step_one: number(chain.step_one_seconds, " s"),
            step_two: number(chain.step_two_seconds, " s"),
            gradients: chain.num_gradients.to_string(),
            step_size: number(chain.step_size, ""),
            divergences: chain.num_divergences.to_string(),
            treedepth_hits: chain.num_treedepth_hits.to_string(),
            links_start: chain.links_start.map_or("kept", LinksStart::name).into(),
        }
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn choices_read_as_words() {
        let prior = json!({"name": "beta_binomial", "a": 1.0, "b": 2.5});
        assert_eq!(choice(&prior), "beta_binomial (a = 1.0, b = 2.5)");
        assert_eq!(choice(&json!({"name": "none"})), "none");
        let audited =
            json!({"name": "beta_binomial", "a": 1, "audit": {"checked": 100, "wrong": 7}});
        assert_eq!(
            choice(&audited),
            "beta_binomial (a = 1, audit (checked = 100, wrong = 7))"
        );
        assert_eq!(choice(&json!("1/n")), "1/n");
        assert_eq!(
            choice(&json!({"stan": 1, "permutation": 0.5})),
            "stan = 1, permutation = 0.5"
        );
    }

    #[test]
    fn a_command_survives_spaces_and_quotes() {
        assert_eq!(quoted("/tmp/a_b-c.json"), "/tmp/a_b-c.json");
        assert_eq!(quoted("my fit's.json"), r"'my fit'\''s.json'");
    }
}
