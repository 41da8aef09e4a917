//! The output folder of a fit: the name of every file in it, and which of them a new fit replaces.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::PosteriorError;

/// The output folder of a fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    pub const CONFIG: &str = "config.json";
    pub const PROGRAM: &str = "model.stan";
    pub const DATA: &str = "data.json";
    pub const SUMMARY: &str = "summary.csv";
    pub const DIAGNOSTICS: &str = "diagnostics.json";
    pub const ROWS: &str = "rows.csv";
    pub const PI_MEAN: &str = "pi_mean.csv";
    pub const BASELINES: &str = "baselines.csv";
    pub const KNOWN_RATE: &str = "known_rate.csv";
    pub const COEFFICIENTS: &str = "coefficients.csv";
    pub const TRUST: &str = "trust.json";
    pub const PREDICTIVE: &str = "predictive.json";
    pub const REPORT: &str = "report.html";

    /// All files but those of single chains.
    const FILES: [&str; 13] = [
        Folder::CONFIG,
        Folder::PROGRAM,
        Folder::DATA,
        Folder::SUMMARY,
        Folder::DIAGNOSTICS,
        Folder::ROWS,
        Folder::PI_MEAN,
        Folder::BASELINES,
        Folder::KNOWN_RATE,
        Folder::COEFFICIENTS,
        Folder::TRUST,
        Folder::PREDICTIVE,
        Folder::REPORT,
    ];

    pub fn new(path: impl Into<PathBuf>) -> Folder {
        Folder { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of one of the files named above.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The draws of one chain; chains count from 1.
    pub fn draws(&self, chain: usize) -> PathBuf {
        self.path.join(format!("draws_{chain}.csv"))
    }

    /// The moved rows of every draw of one chain.
    pub fn links(&self, chain: usize) -> PathBuf {
        self.path.join(format!("links_{chain}.csv"))
    }

    /// The subfolder for relinked data.
    pub fn export(&self) -> ExportFolder {
        ExportFolder::new(self.path.join("export"))
    }

    /// Whether a fit has left its config or its draws.
    pub fn exists(&self) -> bool {
        self.file(Folder::CONFIG).exists() || self.draws(1).exists()
    }

    /// The numbers of the chains with draws, in ascending order.
    pub fn chains(&self) -> std::io::Result<Vec<usize>> {
        let mut chains = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            chains.extend(number_in(&name.to_string_lossy(), "draws_"));
        }
        chains.sort_unstable();
        Ok(chains)
    }

    /// Makes the folder, and removes what an earlier fit left there; other files stay.
    pub fn clear(&self) -> Result<(), PosteriorError> {
        fs::create_dir_all(&self.path).map_err(|source| failed(&self.path, source))?;
        // Data relinked by the earlier fit would pass for those of this one.
        let mut outdated = self.export().files();
        let entries = fs::read_dir(&self.path).map_err(|source| failed(&self.path, source))?;
        let ours = entries.flatten().filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let of_chain = ["draws_", "links_"].map(|prefix| number_in(&name, prefix));
            of_chain.iter().any(Option::is_some) || Folder::FILES.contains(&name.as_str())
        });
        outdated.extend(ours.map(|entry| entry.path()));
        for path in outdated {
            fs::remove_file(&path).map_err(|source| failed(&path, source))?;
        }
        Ok(())
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), PosteriorError> {
        let path = self.file(name);
        fs::write(&path, bytes).map_err(|source| failed(&path, source))
    }

    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), PosteriorError> {
        let text = serde_json::to_string_pretty(value).expect("plain JSON");
        self.write(name, text + "\n")
    }

    /// The text of a file; None where it does not exist.
    pub(super) fn read(&self, name: &str) -> Result<Option<String>, PosteriorError> {
        let path = self.file(name);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(PosteriorError::Read { path, source }),
        }
    }

    pub(super) fn read_json<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, PosteriorError> {
        let parse = |text: String| {
            serde_json::from_str(&text).map_err(|source| PosteriorError::Json {
                path: self.file(name),
                source,
            })
        };
        self.read(name)?.map(parse).transpose()
    }
}

/// A folder of relinked data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFolder {
    path: PathBuf,
}

impl ExportFolder {
    pub const MODE: &str = "relinked_mode.csv";
    pub const BEST: &str = "relinked_best.csv";
    pub const DRAWS: &str = "draws.parquet";
    pub const LINKS: &str = "links.parquet";

    const FILES: [&str; 4] = [
        ExportFolder::MODE,
        ExportFolder::BEST,
        ExportFolder::DRAWS,
        ExportFolder::LINKS,
    ];

    pub fn new(path: impl Into<PathBuf>) -> ExportFolder {
        ExportFolder { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of a completed data set; sets count from 1.
    pub fn completed(set: usize) -> String {
        format!("completed_{set}.csv")
    }

    /// What exports have left in the folder, sorted.
    pub fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let exported = entries.filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_set = number_in(&name, "completed_").is_some();
            is_set || ExportFolder::FILES.contains(&name.as_str())
        });
        let mut paths: Vec<PathBuf> = exported.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    }
}

fn failed(path: &Path, source: std::io::Error) -> PosteriorError {
    PosteriorError::Write {
        path: path.to_path_buf(),
        source,
    }
}

/// The number of a file that is called `<prefix><number>.csv`.
fn number_in(name: &str, prefix: &str) -> Option<usize> {
    let number = name.strip_prefix(prefix)?.strip_suffix(".csv")?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clearing_removes_what_a_fit_writes_and_nothing_else() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().join("fit"));
        folder.clear().unwrap();
        assert!(!folder.exists());
        let export = folder.export();
        fs::create_dir(export.path()).unwrap();
        let own = ["notes.txt", "draws_all.csv", "summary.csv.bak"];
        let mut names = Folder::FILES.map(String::from).to_vec();
        names.extend(["draws_1.csv", "draws_12.csv", "links_1.csv"].map(String::from));
        names.extend(own.map(String::from));
        names.extend(["export/completed_3.csv", "export/relinked_best.csv"].map(String::from));
        names.push("export/mine.csv".into());
        for name in &names {
            folder.write(name, "x").unwrap();
        }
        assert!(folder.exists());
        assert_eq!(folder.chains().unwrap(), [1, 12]);
        assert_eq!(export.files().len(), 2);
        folder.clear().unwrap();
        let left: Vec<&String> = names.iter().filter(|n| folder.file(n).exists()).collect();
        assert_eq!(
            left,
            [
                "notes.txt",
                "draws_all.csv",
                "summary.csv.bak",
                "export/mine.csv"
            ]
        );
        assert!(!folder.exists());
    }

    #[test]
    fn a_missing_file_is_none_and_a_damaged_one_an_error() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        assert_eq!(folder.read_json::<u8>(Folder::DATA).unwrap(), None);
        folder.write(Folder::DATA, "{").unwrap();
        let error = folder.read_json::<u8>(Folder::DATA).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("data.json is damaged: fit again")
        );
    }
}
