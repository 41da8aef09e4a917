//! What can be wrong with a config, each as one sentence that names the place and the fix.

use thiserror::Error;

#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("cannot read `{file}` ({source}); {fix}")]
    Unreadable {
        file: String,
        #[source]
        source: std::io::Error,
        fix: &'static str,
    },
    #[error(
        "the name of the folder {folder} is not UTF-8 text, so no results could name it; rename it"
    )]
    FolderName { folder: String },
    #[error("{file} is not UTF-8 text; save it again as UTF-8")]
    NotText { file: String },
    #[error("{file}, line {line}, column {column}: not valid JSON, {problem}; {fix}")]
    Syntax {
        file: String,
        line: usize,
        column: usize,
        problem: String,
        fix: &'static str,
    },
    #[error("{file}: unknown key `{path}`; {advice}")]
    UnknownKey {
        file: String,
        path: String,
        advice: String,
    },
    #[error("{file}: `{path}` is missing; add it, for example {example}")]
    MissingKey {
        file: String,
        path: String,
        example: String,
    },
    #[error("{file}: `{path}` is {value}; {rule}")]
    BadValue {
        file: String,
        path: String,
        value: String,
        rule: String,
    },
    #[error("{file} is {value}; {rule}")]
    BadFile {
        file: String,
        value: String,
        rule: String,
    },
    #[error("--set {setting}: {problem}")]
    BadSetting { setting: String, problem: String },
}

impl ConfigError {
    /// The same mistake in a config that stands at `outer` of another one.
    pub(crate) fn inside(mut self, outer: &str) -> ConfigError {
        if let ConfigError::BadFile { file, value, rule } = self {
            return ConfigError::BadValue {
                file,
                path: outer.into(),
                value,
                rule,
            };
        }
        if let ConfigError::UnknownKey { path, .. }
        | ConfigError::MissingKey { path, .. }
        | ConfigError::BadValue { path, .. } = &mut self
        {
            *path = format!("{outer}.{path}");
        }
        self
    }
}
