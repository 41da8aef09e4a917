//! The output folder: what may be replaced, and what is ours to replace.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::FitError;
use crate::after::export::{self, exported_files};
use crate::baseline::compare::{BASELINES_FILE, KNOWN_RATE_FILE};
use crate::trust::{COEFFICIENTS_FILE, TRUST_FILE};

/// Refuses an output folder that holds a fit, unless it may be replaced.
pub fn check_output(output: &Path, force: bool) -> Result<(), FitError> {
    let holds_fit = output.join("config.json").exists() || output.join("draws_1.csv").exists();
    if holds_fit && !force {
        return Err(FitError::OutputExists {
            path: output.to_path_buf(),
        });
    }
    Ok(())
}

/// Makes the folder, and removes what an earlier fit left there; other files are none of ours.
pub(super) fn clear_output(output: &Path) -> Result<(), FitError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| FitError::Write { path, source }
    };
    fs::create_dir_all(output).map_err(failed(output))?;
    // Data relinked by the earlier fit would pass for those of this one.
    for path in exported_files(&output.join(export::FOLDER)) {
        fs::remove_file(&path).map_err(failed(&path))?;
    }
    for entry in fs::read_dir(output).map_err(failed(output))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let per_chain = ["draws_", "links_"].iter().any(|prefix| {
            let number = name
                .strip_prefix(prefix)
                .and_then(|n| n.strip_suffix(".csv"));
            number.is_some_and(|number| number.parse::<usize>().is_ok())
        });
        if per_chain || OUTPUT_FILES.contains(&name.as_str()) {
            fs::remove_file(entry.path()).map_err(failed(&entry.path()))?;
        }
    }
    Ok(())
}

const OUTPUT_FILES: [&str; 13] = [
    COEFFICIENTS_FILE,
    TRUST_FILE,
    "model.stan",
    "predictive.json",
    "config.json",
    "data.json",
    "rows.csv",
    "pi_mean.csv",
    "summary.csv",
    BASELINES_FILE,
    KNOWN_RATE_FILE,
    "diagnostics.json",
    "report.html",
];

pub(super) fn write(path: &Path, value: &Value) -> Result<(), FitError> {
    let text = serde_json::to_string_pretty(value).expect("JSON values are printable");
    write_text(path, &(text + "\n"))
}

pub(super) fn write_text(path: &Path, text: &str) -> Result<(), FitError> {
    fs::write(path, text).map_err(|source| FitError::Write {
        path: path.to_path_buf(),
        source,
    })
}
