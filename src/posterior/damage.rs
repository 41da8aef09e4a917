//! Files of a finished fit that are gone, cut short or changed. Most files of a fit are tables of which any number of lines
//! reads well, and any number in them, so the status of a finished fit records the size and the hash of each.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::{FitState, Folder, Posterior, PosteriorError, Status};
use crate::data::files_sha256;

/// A file of a finished fit that is not as the fit wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedFile {
    pub name: String,
    path: PathBuf,
    damage: Damage,
}

/// What happened to a file; sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    Gone,
    Cut {
        found: u64,
        written: u64,
    },
    /// As long as it was or longer, with another content.
    Changed,
}

impl DamagedFile {
    /// The chain, from 1, whose draws or links are in the file.
    pub fn chain(&self) -> Option<usize> {
        let (what, chain) = self.name.strip_suffix(".csv")?.rsplit_once('_')?;
        let is_sampled = matches!(what, "draws" | "links");
        is_sampled.then(|| chain.parse().ok()).flatten()
    }

    /// Whether lines of the file are lost.
    pub fn is_short(&self) -> bool {
        self.damage != Damage::Changed
    }
}

impl fmt::Display for DamagedFile {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let path = self.path.display();
        match self.damage {
            Damage::Gone => write!(f, "{path} is gone, which the fit wrote"),
            Damage::Cut { found, written } => write!(
                f,
                "{path} has {found} of the {written} bytes that the fit wrote"
            ),
            Damage::Changed => write!(f, "{path} was changed after the fit"),
        }
    }
}

impl Folder {
    /// The sizes in bytes of the files of a fit that nothing changes after it.
    pub fn sizes(&self, files: &[String]) -> BTreeMap<String, u64> {
        let size = |name: &String| Some((name.clone(), fs::metadata(self.file(name)).ok()?.len()));
        lasting(files).filter_map(size).collect()
    }

    /// The SHA-256 of these files.
    pub fn hashes(&self, files: &[String]) -> BTreeMap<String, String> {
        let hash = |name: &String| Some((name.clone(), files_sha256(&[&self.file(name)])?));
        lasting(files).filter_map(hash).collect()
    }

    /// The files of the fit that are gone, cut short or changed; none for a fit that is not finished, or of an older version,
    /// which recorded no sizes.
    pub fn damaged(&self) -> Result<Vec<DamagedFile>, PosteriorError> {
        let status = Status::read(self)?;
        Ok(status.map_or(Vec::new(), |status| status.damaged(self)))
    }
}

/// The names of the files that nothing changes after a fit. A report is written again by `unshuffle report`, and paths in
/// config.json may be edited; that file and the checkpoints are JSON, which does not read well without its end.
fn lasting(files: &[String]) -> impl Iterator<Item = &String> {
    let changes = |name: &str| {
        let named = [
            Folder::STATUS,
            Folder::CONFIG,
            Folder::REPORT,
            Folder::AGGREGATE_REPORT,
        ];
        named.contains(&name) || name.starts_with("checkpoint_")
    };
    files.iter().filter(move |name| !changes(name))
}

impl Status {
    pub(super) fn damaged(&self, folder: &Folder) -> Vec<DamagedFile> {
        if self.state != FitState::Finished {
            return Vec::new();
        }
        let damaged = self.sizes.iter().filter_map(|(name, &written)| {
            let path = folder.file(name);
            let damage = self.damage(name, written, &path)?;
            let name = name.clone();
            Some(DamagedFile { name, path, damage })
        });
        damaged.collect()
    }

    fn damage(&self, name: &str, written: u64, path: &Path) -> Option<Damage> {
        let Ok(found) = fs::metadata(path).map(|file| file.len()) else {
            return Some(Damage::Gone);
        };
        if found < written {
            return Some(Damage::Cut { found, written });
        }
        let then = self.sha256.get(name)?;
        // The size first: it needs no reading.
        let is_same = found == written && files_sha256(&[path]).as_ref() == Some(then);
        (!is_same).then_some(Damage::Changed)
    }
}

impl Posterior {
    /// What a verdict, the coefficients and their comparison are read from, besides what every command needs.
    pub const OF_VERDICT: &[&str] = &[
        Folder::COEFFICIENTS,
        Folder::BASELINES,
        Folder::KNOWN_RATE,
        Folder::PREDICTIVE,
        Folder::PROGRAM,
    ];

    /// Refuses a finished fit of which one of these files is gone, cut short or changed.
    pub fn check_whole(&self, needed: &[&str]) -> Result<(), PosteriorError> {
        let mut damaged = self.damaged.iter();
        match damaged.find(|file| needed.contains(&file.name.as_str())) {
            Some(file) => Err(PosteriorError::Damaged { file: file.clone() }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_finished_fit_that_are_shorter_or_gone_are_named() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        let mut status = Status::running("a", 1);
        for name in [
            "coefficients.csv",
            "draws_1.csv",
            "links_1.csv",
            "report.html",
            "config.json",
        ] {
            folder.write(name, "1234\n5678\n").unwrap();
        }
        status.state = FitState::Finished;
        // As older versions have it.
        status.write(&folder).unwrap();
        folder.write("coefficients.csv", "1234\n").unwrap();
        assert_eq!(folder.damaged().unwrap(), []);

        status.sizes = folder.sizes(&status.files);
        let recorded: Vec<&str> = status.sizes.keys().map(String::as_str).collect();
        assert_eq!(recorded, ["coefficients.csv", "draws_1.csv", "links_1.csv"]);
        status.write(&folder).unwrap();
        // Longer files are somebody's own affair, and reports and paths in the config change.
        folder.write("coefficients.csv", "1234\n5678\n").unwrap();
        folder.write("report.html", "").unwrap();
        folder.write("config.json", "").unwrap();
        assert_eq!(folder.damaged().unwrap(), []);

        folder.write("coefficients.csv", "12\n").unwrap();
        fs::remove_file(folder.links(1)).unwrap();
        let damaged = folder.damaged().unwrap();
        let place = format!("{}/", temporary.path().display());
        let sentences = damaged
            .iter()
            .map(|file| file.to_string().replace(&place, ""));
        assert_eq!(
            sentences.collect::<Vec<_>>(),
            [
                "coefficients.csv has 3 of the 5 bytes that the fit wrote",
                "links_1.csv is gone, which the fit wrote"
            ]
        );
        let chains: Vec<_> = damaged.iter().map(DamagedFile::chain).collect();
        assert_eq!(chains, [None, Some(1)]);
        // A fit at work has files of any size.
        status.state = FitState::Running;
        assert_eq!(status.damaged(&folder), []);
    }

    #[test]
    fn files_with_another_content_are_named_where_hashes_are_known() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path());
        let mut status = Status::running("a", 1);
        status.state = FitState::Finished;
        for name in ["coefficients.csv", "draws_1.csv", "report.html"] {
            folder.write(name, "1234\n5678\n").unwrap();
        }
        status.sizes = folder.sizes(&status.files);
        let of_size = "4321\n5678\n";
        folder.write("coefficients.csv", of_size).unwrap();
        assert_eq!(status.damaged(&folder), [], "older versions have no hashes");
        folder.write("coefficients.csv", "1234\n5678\n").unwrap();

        status.sha256 = folder.hashes(&status.files);
        let hashed: Vec<&str> = status.sha256.keys().map(String::as_str).collect();
        assert_eq!(hashed, ["coefficients.csv", "draws_1.csv"]);
        assert_eq!(status.damaged(&folder), []);
        folder.write("report.html", of_size).unwrap();
        assert_eq!(status.damaged(&folder), []);
        for (name, content) in [
            ("coefficients.csv", of_size),
            ("draws_1.csv", "1234\n5678\n9\n"),
        ] {
            folder.write(name, content).unwrap();
            let [file] = status.damaged(&folder).try_into().unwrap();
            let says = format!("{} was changed after the fit", folder.file(name).display());
            assert_eq!((file.to_string(), file.is_short()), (says, false));
            folder.write(name, "1234\n5678\n").unwrap();
        }
    }
}
