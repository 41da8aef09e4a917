//! The job script of a Slurm array that runs the tasks of a study or the chains of a fit.

use std::path::Path;

/// A Slurm job array: one job for every number from 1 to `last`.
pub(super) struct JobArray {
    /// What the jobs do, in the plural.
    pub what: &'static str,
    pub last: usize,
    pub num_cpus: usize,
    /// The arguments of `unshuffle` in each job, which learns its number from the environment.
    pub arguments: Vec<String>,
}

impl JobArray {
    /// The script for `sbatch`. Whatever a person has typed is quoted, and stands in no comment.
    pub fn script(&self) -> String {
        let JobArray {
            what,
            last,
            num_cpus,
            arguments,
        } = self;
        let program = std::env::current_exe().map_or("unshuffle".into(), |path| absolute(&path));
        let words: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
        format!(
            "#!/bin/bash
# {what} as a Slurm job array: `sbatch FILE`. Send it again after a kill or a time limit: finished ones are left alone,
# others go on, and the results do not depend on which job did what. Change time and memory as needed.
#SBATCH --job-name=unshuffle
#SBATCH --array=1-{last}
#SBATCH --cpus-per-task={num_cpus}
#SBATCH --mem=2G
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=unshuffle-%A_%a.out
set -euo pipefail
# Slurm signals this process, which must be unshuffle itself.
exec {} {}
",
            quoted(&program),
            words.join(" ")
        )
    }
}

/// A path that means the same in every folder.
pub(super) fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    path.display().to_string()
}

/// The words that name a config and override its entries.
pub(super) fn config_words(config: &Path, settings: &[String]) -> Vec<String> {
    let overrides = settings.iter().cloned();
    let overrides = overrides.flat_map(|setting| ["--set".to_string(), setting]);
    [absolute(config)].into_iter().chain(overrides).collect()
}

/// The words that name a BridgeStan folder, where there is one.
pub(super) fn bridgestan_words(folder: Option<&Path>) -> Vec<String> {
    let words = folder.map(|folder| ["--bridgestan".to_string(), absolute(folder)]);
    words.into_iter().flatten().collect()
}

/// A word as bash reads it back unchanged.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn bash_reads_every_word_back() {
        for word in [
            "plain",
            "",
            "two words",
            "it's",
            "a\n#b",
            "$HOME `x` \\ \"",
            "[1,2]",
        ] {
            let script = format!("printf '%s|' {}", quoted(word));
            let printed = Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(
                String::from_utf8(printed.stdout).unwrap(),
                format!("{word}|")
            );
        }
    }
}
