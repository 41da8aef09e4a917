//! Files of a finished fit that are gone or cut short. Most files of a fit are tables of which any number of lines reads well,
//! so the status of a finished fit records the size of each.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::PathBuf;

use super::{FitState, Folder, Posterior, PosteriorError, Status};

/// A file of a finished fit that is gone, or shorter than the fit wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedFile {
    pub name: String,
    path: PathBuf,
    /// Bytes when the fit finished.
    written: u64,
    /// Bytes now; None where the file is gone.
    found: Option<u64>,
}

impl DamagedFile {
    /// The chain, from 1, whose draws or links are in the file.
    pub fn chain(&self) -> Option<usize> {
        let (what, chain) = self.name.strip_suffix(".csv")?.rsplit_once('_')?;
        let is_sampled = matches!(what, "draws" | "links");
        is_sampled.then(|| chain.parse().ok()).flatten()
    }
}

impl fmt::Display for DamagedFile {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (path, written) = (self.path.display(), self.written);
        match self.found {
            None => write!(f, "{path} is gone, which the fit wrote"),
            Some(found) => write!(
                f,
                "{path} has {found} of the {written} bytes that the fit wrote"
            ),
        }
    }
}

impl Folder {
    /// The sizes in bytes of the files of a fit that nothing changes after it. A report is written again by `unshuffle report`,
    /// and paths in config.json may be edited; that file and the checkpoints are JSON, which does not read well without its end.
    pub fn sizes(&self, files: &[String]) -> BTreeMap<String, u64> {
        let changes = |name: &str| {
            let named = [
                Folder::STATUS,
                Folder::CONFIG,
                Folder::REPORT,
                Folder::AGGREGATE_REPORT,
            ];
            named.contains(&name) || name.starts_with("checkpoint_")
        };
        let lasting = files.iter().filter(|name| !changes(name));
        let size = |name: &String| Some((name.clone(), fs::metadata(self.file(name)).ok()?.len()));
        lasting.filter_map(size).collect()
    }

    /// The files of the fit that are gone or cut short; none for a fit that is not finished, or of an older version, which
    /// recorded no sizes.
    pub fn damaged(&self) -> Result<Vec<DamagedFile>, PosteriorError> {
        let status = Status::read(self)?;
        Ok(status.map_or(Vec::new(), |status| status.damaged(self)))
    }
}

impl Status {
    pub(super) fn damaged(&self, folder: &Folder) -> Vec<DamagedFile> {
        if self.state != FitState::Finished {
            return Vec::new();
        }
        let damaged = self.sizes.iter().filter_map(|(name, &written)| {
            let path = folder.file(name);
            let found = fs::metadata(&path).ok().map(|file| file.len());
            found
                .is_none_or(|found| found < written)
                .then(|| DamagedFile {
                    name: name.clone(),
                    path,
                    written,
                    found,
                })
        });
        damaged.collect()
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

    /// The files of the finished fit that are gone or cut short.
    pub fn damaged(&self) -> Vec<DamagedFile> {
        let status = self.status.as_ref();
        status.map_or(Vec::new(), |status| status.damaged(&self.folder))
    }

    /// Refuses a finished fit of which one of these files is gone or cut short.
    pub fn check_whole(&self, needed: &[&str]) -> Result<(), PosteriorError> {
        let mut damaged = self.damaged().into_iter();
        match damaged.find(|file| needed.contains(&file.name.as_str())) {
            Some(file) => Err(PosteriorError::Damaged { file }),
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
}
