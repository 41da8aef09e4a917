//! The output folder of a fit: the name of every file in it, and which of them a new fit replaces.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{PosteriorError, Status};
use crate::text::{FileError, text_if_there};

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
    /// The report without anything of single rows.
    pub const AGGREGATE_REPORT: &str = "report_aggregate.html";
    /// Which fit is in the folder, and how far it has come.
    pub const STATUS: &str = "status.json";
    /// There while a fit is at work.
    pub(super) const LOCK: &str = "fit.lock";

    /// What a fit begins with.
    const INPUT: [&str; 3] = [Folder::CONFIG, Folder::PROGRAM, Folder::DATA];

    /// What a fit makes of its draws.
    const RESULTS: [&str; 11] = [
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
        Folder::AGGREGATE_REPORT,
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

    /// The folder in which a fit is made that is to replace the one in this folder.
    pub fn beside(&self) -> Folder {
        let mut name = self.path.as_os_str().to_os_string();
        name.push(".new");
        Folder::new(name)
    }

    /// The draws of one chain; chains count from 1.
    pub fn draws(&self, chain: usize) -> PathBuf {
        self.path.join(format!("draws_{chain}.csv"))
    }

    /// The moved rows of every draw of one chain.
    pub fn links(&self, chain: usize) -> PathBuf {
        self.path.join(format!("links_{chain}.csv"))
    }

    /// Draws of a chain beyond the length that chains of an interrupted fit have in common.
    pub(super) fn surplus_draws(&self, chain: usize) -> PathBuf {
        self.path.join(format!("surplus_draws_{chain}.csv"))
    }

    /// The moved rows of these draws.
    pub(super) fn surplus_links(&self, chain: usize) -> PathBuf {
        self.path.join(format!("surplus_links_{chain}.csv"))
    }

    /// There while a process samples one chain alone.
    pub(super) fn chain_lock(&self, chain: usize) -> PathBuf {
        self.path.join(format!("chain_{chain}.lock"))
    }

    /// The subfolder for relinked data.
    pub fn export(&self) -> ExportFolder {
        ExportFolder::new(self.path.join("export"))
    }

    /// The name of the saved state of one chain.
    pub fn checkpoint(chain: usize) -> String {
        format!("checkpoint_{chain}.json")
    }

    /// The names of all files that a fit with so many chains writes.
    pub(super) fn names(num_chains: usize) -> Vec<String> {
        let fixed = [Folder::STATUS].into_iter().chain(Folder::INPUT);
        let fixed = fixed.chain(Folder::RESULTS).map(String::from);
        let of_chain = |chain| {
            let csv = ["draws", "links", "surplus_draws", "surplus_links"];
            let csv = csv.map(|what| format!("{what}_{chain}.csv"));
            csv.into_iter().chain([Folder::checkpoint(chain)])
        };
        fixed.chain((1..=num_chains).flat_map(of_chain)).collect()
    }

    /// The names of the files of the fit in the folder; None where there is no fit.
    pub fn fit_files(&self) -> Result<Option<Vec<String>>, PosteriorError> {
        match Status::read(self) {
            Ok(Some(status)) => Ok(Some(status.files)),
            Ok(None) => Ok(self.files_by_config()),
            Err(damaged) => match self.files_by_config() {
                Some(files) => Ok(Some(files)),
                None => Err(damaged),
            },
        }
    }

    /// The files of a fit without a status, which is lost, or was not written by older versions: its config vouches for
    /// them, as it names the versions of its programs.
    fn files_by_config(&self) -> Option<Vec<String>> {
        let config = self.read_json::<Value>(Folder::CONFIG).unwrap_or_default();
        let config = config.filter(|config| config["versions"].is_object())?;
        let num_chains = config["sampler"]["chains"].as_u64().unwrap_or(0);
        Some(Folder::names(num_chains as usize))
    }

    /// Refuses files with names of `files` that are not of the fit in the folder.
    pub fn check_ours(&self, files: &[String]) -> Result<(), PosteriorError> {
        let ours = self.fit_files()?.unwrap_or_default();
        let others = files.iter().filter(|name| !ours.contains(name));
        let paths = others.flat_map(|name| {
            // A fit that was killed before it had a status may have left a part of one.
            let partial = (name != Folder::STATUS).then(|| self.partial(name));
            [Some(self.file(name)), partial].into_iter().flatten()
        });
        let mut paths = paths.into_iter();
        // A link is somebody's too, wherever it leads.
        match paths.find(|path| path.symlink_metadata().is_ok()) {
            Some(path) => Err(PosteriorError::NotOurs { path }),
            None => Ok(()),
        }
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

    pub fn create(&self) -> Result<(), PosteriorError> {
        Ok(fs::create_dir_all(&self.path).map_err(FileError::write_to(&self.path))?)
    }

    /// Removes the fit in the folder, and the data that it relinked; other files stay.
    pub fn clear(&self) -> Result<(), PosteriorError> {
        // Data relinked by the earlier fit would pass for those of the next one.
        self.export().clear()?;
        let names = self.fit_files()?.unwrap_or_default();
        // The status vouches for the others, so it goes last.
        let (status, others): (Vec<_>, Vec<_>) =
            names.iter().partition(|name| *name == Folder::STATUS);
        others.into_iter().chain(status).try_for_each(|name| {
            remove(&self.partial(name))?;
            remove(&self.file(name))
        })
    }

    /// Removes what a fit has made of its draws, which are about to be more.
    pub fn clear_results(&self) -> Result<(), PosteriorError> {
        self.export().clear()?;
        Folder::RESULTS
            .iter()
            .try_for_each(|name| remove(&self.file(name)))
    }

    /// Moves the fit in this folder into another one, whose own fit is removed, and removes this folder if nothing else is in it.
    pub fn move_to(&self, other: &Folder) -> Result<(), PosteriorError> {
        let mut names = self.fit_files()?.unwrap_or_default();
        other.check_ours(&names)?;
        other.clear()?;
        // First the status, which vouches for the others.
        names.sort_by_key(|name| name != Folder::STATUS);
        for name in &names {
            let (from, to) = (self.file(name), other.file(name));
            if from.exists() {
                fs::rename(&from, &to).map_err(FileError::write_to(&to))?;
            }
        }
        Ok(())
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, name: &str) -> Result<(), PosteriorError> {
        remove(&self.file(name))
    }

    /// Removes the folder if it is empty.
    pub fn remove_if_empty(&self) {
        let _ = fs::remove_dir(&self.path);
    }

    /// Writes a file as a whole: a reader, or whoever comes after a crash, sees the old one or the new one.
    pub(super) fn replace(&self, name: &str, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        let partial = self.partial(name);
        // What a killed fit left; never a file that a link of this name leads to.
        match fs::remove_file(&partial) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::create_new(&partial)?;
        file.write_all(bytes.as_ref())?;
        file.sync_all()?;
        fs::rename(&partial, self.file(name))?;
        self.sync();
        Ok(())
    }

    /// Where a file is written until it can take its place.
    fn partial(&self, name: &str) -> PathBuf {
        self.file(&format!("{name}.partial"))
    }

    /// Waits until renamed files have their new names on the disk, where the file system can tell.
    pub(super) fn sync(&self) {
        let _ = File::open(&self.path).and_then(|folder| folder.sync_all());
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), PosteriorError> {
        let path = self.file(name);
        Ok(fs::write(&path, bytes).map_err(FileError::write_to(&path))?)
    }

    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), PosteriorError> {
        let text = serde_json::to_string_pretty(value).expect("plain JSON");
        self.write(name, text + "\n")
    }

    /// As `write_json`, for a file that a fit needs to be resumed: it is whole at every moment.
    pub fn replace_json(&self, name: &str, value: &impl Serialize) -> Result<(), PosteriorError> {
        let text = serde_json::to_string_pretty(value).expect("plain JSON");
        let written = self.replace(name, text + "\n");
        Ok(written.map_err(FileError::write_to(self.file(name)))?)
    }

    /// The text of a file; None where it does not exist.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, PosteriorError> {
        let path = self.file(name);
        match text_if_there(&path) {
            Err(error) if error.kind() == ErrorKind::NotADirectory => {
                let path = self.path.clone();
                Err(PosteriorError::NoFolder { path })
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(PosteriorError::Rows {
                path,
                what: "it is not text".into(),
            }),
            read => Ok(read?),
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
    pub const ARVIZ: &str = "arviz.nc";
    /// A folder with the draws of every chain and nothing else.
    pub const CMDSTAN: &str = "cmdstan";

    /// The names of the files of the last export.
    const MARKER: &str = "export.json";

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

    /// The draws of one chain in the folder for CmdStan's readers.
    pub fn cmdstan(chain: usize) -> String {
        format!("{}/draws_{chain}.csv", ExportFolder::CMDSTAN)
    }

    /// The files that the last export wrote here, sorted.
    pub fn files(&self) -> Result<Vec<PathBuf>, PosteriorError> {
        let paths = self.names()?.into_iter().map(|name| self.path.join(name));
        let mut paths: Vec<PathBuf> = paths.filter(|path| path.exists()).collect();
        paths.sort();
        Ok(paths)
    }

    fn names(&self) -> Result<Vec<String>, PosteriorError> {
        let names = Folder::new(&self.path).read_json(ExportFolder::MARKER)?;
        Ok(names.unwrap_or_default())
    }

    /// Makes the folder and marks these files in it as those of an export. Files of the last export are removed, since a
    /// set of it among new ones would go unnoticed; a file that no export wrote is refused.
    pub fn start(&self, files: &[String]) -> Result<(), PosteriorError> {
        let folder = Folder::new(&self.path);
        let ours = self.names()?;
        let names = files.iter().map(String::as_str);
        let mut others = names.filter(|name| !ours.iter().any(|own| own == name));
        if let Some(name) = others.find(|name| folder.file(name).exists()) {
            return Err(PosteriorError::NotOurs {
                path: folder.file(name),
            });
        }
        folder.create()?;
        self.clear()?;
        folder.write_json(ExportFolder::MARKER, &files)
    }

    /// Makes the folder and marks one more file in it as that of an export; one that no export wrote is refused.
    pub fn add(&self, file: &str) -> Result<(), PosteriorError> {
        let folder = Folder::new(&self.path);
        let mut names = self.names()?;
        if names.iter().any(|name| name == file) {
            return Ok(());
        }
        if folder.file(file).exists() {
            return Err(PosteriorError::NotOurs {
                path: folder.file(file),
            });
        }
        folder.create()?;
        names.push(file.to_string());
        folder.write_json(ExportFolder::MARKER, &names)
    }

    /// Removes the files of the last export.
    pub fn clear(&self) -> Result<(), PosteriorError> {
        self.files()?.iter().try_for_each(|path| remove(path))?;
        Folder::new(self.path.join(ExportFolder::CMDSTAN)).remove_if_empty();
        remove(&self.path.join(ExportFolder::MARKER))
    }
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> Result<(), PosteriorError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(FileError::write_to(path)(error).into())
        }
        _ => Ok(()),
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

    fn names_in(folder: &Folder) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn clearing_removes_what_the_fit_wrote_and_nothing_else() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path().join("fit"));
        folder.create().unwrap();
        assert_eq!(folder.fit_files().unwrap(), None);
        for name in ["draws_3.csv", "notes.txt", "summary.csv.bak"] {
            folder.write(name, "mine").unwrap();
        }
        let status = Status::running("wages", 2);
        folder.check_ours(&status.files).unwrap();
        let error = folder.check_ours(&Folder::names(3)).unwrap_err();
        assert!(error.to_string().contains("draws_3.csv was not written"));
        status.write(&folder).unwrap();
        for name in [
            "draws_1.csv",
            "links_2.csv",
            "checkpoint_1.json",
            "report.html",
        ] {
            folder.write(name, "ours").unwrap();
        }
        let export = folder.export();
        export.start(&["completed_3.csv".into()]).unwrap();
        for name in ["export/completed_3.csv", "export/completed_4.csv"] {
            folder.write(name, "x").unwrap();
        }
        let refused = export.start(&["completed_4.csv".into()]).unwrap_err();
        assert!(refused.to_string().contains("completed_4.csv was not"));
        folder.clear().unwrap();
        let left = ["draws_3.csv", "export", "notes.txt", "summary.csv.bak"];
        assert_eq!(names_in(&folder), left);
        assert_eq!(names_in(&Folder::new(export.path())), ["completed_4.csv"]);
    }

    #[test]
    fn a_fit_of_an_older_version_is_known_by_its_config() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        folder
            .write(Folder::CONFIG, r#"{"sampler": {"chains": 1}}"#)
            .unwrap();
        assert_eq!(folder.fit_files().unwrap(), None);
        let saved = r#"{"sampler": {"chains": 1}, "versions": {}}"#;
        folder.write(Folder::CONFIG, saved).unwrap();
        folder.write("draws_1.csv", "ours").unwrap();
        folder.write("draws_2.csv", "mine").unwrap();
        folder.clear().unwrap();
        assert_eq!(names_in(&folder), ["draws_2.csv"]);
    }

    #[test]
    fn a_fit_moves_over_another_and_leaves_the_files_of_others() {
        let temporary = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| Folder::new(temporary.path().join(name)));
        for (folder, num_chains) in [(&old, 3), (&new, 1)] {
            folder.create().unwrap();
            Status::running("wages", num_chains).write(folder).unwrap();
            folder.write("draws_1.csv", num_chains.to_string()).unwrap();
        }
        old.write("draws_3.csv", "of the old fit").unwrap();
        old.write("notes.txt", "mine").unwrap();
        new.move_to(&old).unwrap();
        new.remove_if_empty();
        assert_eq!(names_in(&old), ["draws_1.csv", "notes.txt", "status.json"]);
        assert_eq!(old.read("draws_1.csv").unwrap().unwrap(), "1");
        assert!(!new.path().exists());
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
                .ends_with("data.json is damaged: fit again with --force")
        );
    }
}
