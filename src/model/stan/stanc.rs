//! Calls stanc: Stan to C++, what a program declares, and stanc's own words on a mistake.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

use super::cache::cache_error;
use super::{StanError, StanSource};

/// The names that a Stan program declares in the blocks that matter before compiling.
#[derive(Debug, Clone, Deserialize)]
pub struct ProgramInfo {
    pub inputs: BTreeMap<String, Declaration>,
    pub parameters: BTreeMap<String, Declaration>,
}

/// What stanc says of a declared variable, as far as it is used.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Declaration {
    /// How many indices it takes: 1 for a vector, 2 for a matrix or an array of vectors.
    pub dimensions: usize,
}

pub(super) struct Stanc {
    pub program: PathBuf,
}

impl Stanc {
    pub fn info(&self, source: &StanSource) -> Result<ProgramInfo, StanError> {
        let work = tempfile::tempdir().map_err(|source| StanError::Temporary {
            path: std::env::temp_dir(),
            source,
        })?;
        let output = self.run(source, work.path(), &["--info".into()])?;
        serde_json::from_slice(&output.stdout).map_err(|source| StanError::NoAnswer {
            program: self.program.clone(),
            source,
        })
    }

    /// Writes the C++ of `source` to `work/model.hpp`.
    pub fn translate(&self, source: &StanSource, work: &Path) -> Result<PathBuf, StanError> {
        let hpp = work.join("model.hpp");
        let options = [
            format!("--name={}", source.model_name()),
            format!("--o={}", hpp.display()),
        ];
        self.run(source, work, &options)?;
        Ok(hpp)
    }

    pub fn version(&self) -> Result<String, StanError> {
        let output = self.output(Command::new(&self.program).arg("--version"))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
    }

    fn run(
        &self,
        source: &StanSource,
        work: &Path,
        options: &[String],
    ) -> Result<Output, StanError> {
        let file = source
            .write_to(work)
            .map_err(|error| cache_error("write to", work, error))?;
        // A comma separates here, so the folder of the copies is named without its path.
        let mut include_paths = ".".to_string();
        if let Some(folder) = &source.folder {
            include_paths = format!("{include_paths},{}", folder.display());
        }
        let program = std::path::absolute(&self.program).unwrap_or(self.program.clone());
        let output = self.output(
            Command::new(program)
                .current_dir(work)
                .args(options)
                .arg(format!("--include-paths={include_paths}"))
                .arg(format!("--filename-in-msg={}", source.label))
                .arg(&file),
        )?;
        if output.status.success() {
            return Ok(output);
        }
        Err(StanError::Program {
            message: String::from_utf8_lossy(&output.stderr).trim().to_string(),
        })
    }

    fn output(&self, command: &mut Command) -> Result<Output, StanError> {
        command
            .output()
            .map_err(|source| StanError::MissingProgram {
                program: self.program.display().to_string(),
                remedy: "the Stan toolchain is damaged; delete its folder and fit again to fetch it anew",
                source,
            })
    }
}
