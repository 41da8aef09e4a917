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
        let message = String::from_utf8_lossy(&output.stderr).trim().to_string();
        match output.status.code() {
            Some(_) if !message.is_empty() => Err(StanError::Program { message }),
            // Killed, for want of memory as a rule: the program is not at fault.
            _ => Err(StanError::Ended {
                program: self.program.clone(),
                status: output.status.to_string(),
            }),
        }
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

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_stanc_that_is_killed_does_not_blame_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let answer = |script: &str| {
            let program = folder.path().join("stanc");
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let source = StanSource::from_text("own.stan", "model {}");
            Stanc { program }.info(&source).unwrap_err()
        };
        for script in ["kill -9 $$", "exit 2"] {
            let error = answer(script);
            assert!(!error.is_users());
            assert!(
                error.to_string().contains("stanc ended without a word ("),
                "{error}"
            );
        }
        let error = answer("echo 'Syntax error in own.stan' >&2; exit 1");
        assert!(error.is_users());
        assert_eq!(error.to_string(), "Syntax error in own.stan");
    }
}
