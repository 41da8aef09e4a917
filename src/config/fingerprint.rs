//! A hash of what a config asks for, by which a saved config that was edited is noticed.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Config;

/// Entries that say where files are. They may change when a project is moved; the data have a hash of their own.
const PLACES: [&str; 7] = [
    "/output",
    "/data/file",
    "/data/left",
    "/data/right",
    "/data/candidates",
    "/model/stan",
    "/sampler/init",
];

impl Config {
    /// The SHA-256 of all entries except paths.
    pub fn settings_sha256(&self) -> String {
        let mut value = serde_json::to_value(self).expect("a config is plain JSON");
        for place in PLACES {
            if let Some(entry) = value.pointer_mut(place).filter(|entry| entry.is_string()) {
                *entry = Value::Null;
            }
        }
        let digest = Sha256::digest(value.to_string());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::config;

    #[test]
    fn other_paths_are_the_same_settings_and_other_columns_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        let text = r#"{"model": {"stan": "linear"}, "data": {"file": "a.csv", "response": "y", "predictors": ["x1", "x2"]}}"#;
        std::fs::write(&path, text).unwrap();
        let hash = |settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(|text| text.to_string()).collect();
            config::load(&path, &settings).unwrap().settings_sha256()
        };
        let own = hash(&[]);
        assert_eq!(own.len(), 64);
        assert_eq!(hash(&["output=elsewhere", "data.file=b.csv"]), own);
        for setting in [
            "data.response=x3",
            r#"data.predictors=["x2","x1"]"#,
            "sampler.seed=99",
            "permutation.update.name=none",
        ] {
            assert_ne!(hash(&[setting]), own, "{setting}");
        }
    }
}
