//! How the fit was run: everything needed to repeat it.

use serde::Serialize;

use super::format::significant;
use super::saved::Saved;

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
    pub fn new(saved: &Saved) -> Provenance {
        let config = &saved.config;
        let version = |name: &str| {
            let value = saved.versions.get(name).and_then(|value| value.as_str());
            value.unwrap_or("unknown").to_string()
        };
        let seconds = saved.diagnostics["seconds"].as_f64();
        let facts = vec![
            ("Data", config.data.file.display().to_string()),
            ("SHA-256 of the data", version("data_sha256")),
            ("Response", config.data.response.clone()),
            ("Predictors", saved.predictors().join(", ")),
            ("Seed", config.sampler.seed.to_string()),
            (
                "Time",
                seconds.map_or("unknown".into(), |s| format!("{} s", significant(s, 3))),
            ),
            ("unshuffle", version("unshuffle")),
            ("Stan", version("stan")),
            ("Compiler", version("toolchain")),
        ];
        let value = serde_json::to_value(config).expect("a config is plain JSON");
        let config_file = saved.folder.join("config.json");
        Provenance {
            facts,
            chains: chain_times(saved),
            config: serde_json::to_string_pretty(&value).expect("plain JSON"),
            program_name: model_name(&value),
            program: saved.program.clone(),
            command: format!(
                "unshuffle fit {} --set output=again",
                quoted(&config_file.display().to_string())
            ),
        }
    }
}

fn model_name(config: &serde_json::Value) -> String {
    let name = config["model"]["stan"].as_str().unwrap_or_default();
    let file = std::path::Path::new(name).file_name();
    let name = file.map_or(name.into(), |file| file.to_string_lossy());
    if name.ends_with(".stan") {
        name.into_owned()
    } else {
        format!("{name}.stan")
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

fn chain_times(saved: &Saved) -> Vec<ChainTimes> {
    let chains = saved.diagnostics["chains"].as_array();
    let rows = chains.into_iter().flatten().enumerate().map(|(k, chain)| {
        let number = |key: &str, unit: &str| match chain[key].as_f64() {
            Some(value) => format!("{}{unit}", significant(value, 3)),
            None => "NA".into(),
        };
        let whole = |key: &str| chain[key].as_u64().map_or("NA".into(), |n| n.to_string());
        ChainTimes {
            chain: chain["chain"].as_u64().map_or(k + 1, |n| n as usize),
            warmup: number("warmup_seconds", " s"),
            sampling: number("sampling_seconds", " s"),
            step_one: number("step_one_seconds", " s"),
            step_two: number("step_two_seconds", " s"),
            gradients: whole("num_gradients"),
            step_size: number("step_size", ""),
            divergences: whole("num_divergences"),
            treedepth_hits: whole("num_treedepth_hits"),
            links_start: chain["links_start"].as_str().unwrap_or("kept").to_string(),
        }
    });
    rows.collect()
}
