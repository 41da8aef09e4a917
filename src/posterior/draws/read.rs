//! Reads a fit's draws back, for everything that works from saved output alone.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Checkpoint;
use super::copies::is_copy;
use crate::posterior::diagnostics::e_bfmi;
use crate::posterior::{FitState, Folder, FolderLock, PosteriorError, Status};
use crate::text::{FileError, read_saved};

#[derive(Debug, Error)]
pub enum DrawsError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot read {}: {source}; name the output folder of a fit, or its config (.json)", path.display())]
    NoFolder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} has no draws_<chain>.csv: it is not the output of a fit", path.display())]
    NoDraws { path: PathBuf },
    #[error("{}, line {line}: {what}", path.display())]
    Malformed {
        path: PathBuf,
        line: usize,
        what: String,
    },
}

/// One chain as it was saved.
#[derive(Debug, Clone, Default)]
pub struct ChainDraws {
    /// Number of the chain, from 1.
    pub chain: usize,
    /// Most doublings of a trajectory.
    pub max_depth: usize,
    /// Iterations of warm-up, which are not saved.
    pub num_warmup: usize,
    /// Time of the warm-up.
    pub warmup_seconds: f64,
    /// Time of the draws.
    pub sampling_seconds: f64,
    /// Names of the columns.
    pub names: Vec<String>,
    /// One vector of draws for each name.
    pub columns: Vec<Vec<f64>>,
}

impl ChainDraws {
    /// How many draws there are.
    pub fn num_draws(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// The draws of one quantity.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let k = self.names.iter().position(|known| known == name)?;
        Some(&self.columns[k])
    }

    /// The columns of a matrix of `rows` by `columns`, in Stan's order: by columns.
    pub fn matrix(&self, name: &str, rows: usize, columns: usize) -> Option<&[Vec<f64>]> {
        let first = format!("{name}.1.1");
        let start = self.names.iter().position(|known| *known == first)?;
        let end = start + rows * columns;
        let is_last = *self.names.get(end - 1)? == format!("{name}.{rows}.{columns}");
        is_last.then(|| &self.columns[start..end])
    }

    /// How many draws ended in a divergence.
    pub fn num_divergences(&self) -> usize {
        let divergent = self.column("divergent__").unwrap_or_default();
        divergent.iter().filter(|value| **value > 0.0).count()
    }

    /// The E-BFMI of the energies; None where there are too few, or they are not finite.
    pub fn e_bfmi(&self) -> Option<f64> {
        e_bfmi(self.column("energy__")?)
    }
}

/// All chains of the fit in `folder`, in the order of their numbers. Of a fit that is running, planned or was killed only those
/// draws count for which its checkpoints vouch: its files may end anywhere.
pub fn read_output(folder: &Path) -> Result<Vec<ChainDraws>, PosteriorError> {
    let folder = Folder::new(folder);
    let status = Status::read(&folder)?;
    let is_open = |status: &Status| {
        use FitState::{Failed, Planned, Running};
        matches!(status.state, Planned | Running | Failed)
    };
    let is_open = status.as_ref().is_some_and(is_open);
    let is_ours = |chain: &usize| {
        let name = format!("draws_{chain}.csv");
        let files = status.as_ref().map(|status| &status.files);
        files.is_none_or(|files| files.contains(&name))
    };
    let mut chains = Vec::new();
    for chain in folder
        .chains()
        .map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => DrawsError::NoFolder {
                path: folder.path().to_path_buf(),
                source,
            },
            _ => FileError::read(folder.path())(source).into(),
        })?
        .into_iter()
        .filter(is_ours)
    {
        let num_draws = match is_open {
            true => Checkpoint::read(&folder, chain)?.map_or(0, |saved| saved.num_draws()),
            false => usize::MAX,
        };
        if num_draws > 0 {
            let mut draws = read_named(&folder.draws(chain))?;
            draws.columns.iter_mut().for_each(|c| c.truncate(num_draws));
            chains.push(ChainDraws { chain, ..draws });
        }
    }
    let is_finished = |status: &Status| status.state == FitState::Finished;
    if chains.is_empty() && status.is_some_and(|status| !is_finished(&status)) {
        FolderLock::check_free(&folder)?;
        return Err(PosteriorError::NoDrawsYet {
            path: folder.path().to_path_buf(),
        });
    }
    if chains.is_empty() {
        return Err(DrawsError::NoDraws {
            path: folder.path().to_path_buf(),
        }
        .into());
    }
    for chain in &chains[1..] {
        if chain.names != chains[0].names {
            return Err(DrawsError::Malformed {
                path: folder.draws(chain.chain),
                line: 1,
                what: "its columns differ from the first chain's: the folder mixes two fits".into(),
            }
            .into());
        }
    }
    Ok(chains)
}

/// The lines that end with a newline: a killed process may leave half a row at the end, and half a number reads as another.
pub(super) fn whole_lines(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |end| end + 1)]
}

/// As [`read_chain`]; refuses a file that lost even the names of its columns.
fn read_named(path: &Path) -> Result<ChainDraws, DrawsError> {
    let draws = read_chain(path)?;
    match draws.names.is_empty() {
        false => Ok(draws),
        true => Err(DrawsError::Malformed {
            path: path.to_path_buf(),
            line: 1,
            what: "the names of the columns are missing, and with them all draws: fit again".into(),
        }),
    }
}

pub fn read_chain(path: &Path) -> Result<ChainDraws, DrawsError> {
    let text = read_saved(path).map_err(FileError::read(path))?;
    let mut chain = ChainDraws::default();
    for (number, line) in whole_lines(&text).lines().enumerate() {
        if let Some(comment) = line.strip_prefix('#') {
            chain.read_comment(comment.trim());
        } else if chain.names.is_empty() {
            chain.names = line.split(',').map(str::to_string).collect();
            chain.columns = vec![Vec::new(); chain.names.len()];
        } else {
            chain.read_row(line).map_err(|what| DrawsError::Malformed {
                path: path.to_path_buf(),
                line: number + 1,
                what,
            })?;
        }
    }
    chain.leave_out_copies();
    Ok(chain)
}

impl ChainDraws {
    fn read_comment(&mut self, comment: &str) {
        if let Some((key, value)) = comment.split_once('=') {
            let value = value.trim();
            match key.trim() {
                "max_depth" => self.max_depth = value.parse().unwrap_or(0),
                "num_warmup" => self.num_warmup = value.parse().unwrap_or(0),
                _ => {}
            }
        }
        let seconds = |text: &str| -> f64 {
            let text = text.trim_start_matches("Elapsed Time:").trim();
            text.parse().unwrap_or(0.0)
        };
        if let Some(text) = comment.strip_suffix("seconds (Warm-up)") {
            self.warmup_seconds = seconds(text);
        } else if let Some(text) = comment.strip_suffix("seconds (Sampling)") {
            self.sampling_seconds = seconds(text);
        }
    }

    /// Everything here goes by the names of the sampler.
    fn leave_out_copies(&mut self) {
        let names = self.names.clone();
        let is_kept: Vec<bool> = names.iter().map(|name| !is_copy(name, &names)).collect();
        let mut kept = is_kept.iter();
        self.names.retain(|_| *kept.next().expect("one for each"));
        let mut kept = is_kept.iter();
        self.columns.retain(|_| *kept.next().expect("one for each"));
    }

    fn read_row(&mut self, line: &str) -> Result<(), String> {
        let mut fields = line.split(',');
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            let field = fields
                .next()
                .ok_or_else(|| format!("the row ends before the column `{name}`"))?;
            let value = field
                .parse()
                .map_err(|_| format!("`{field}` in the column `{name}` is not a number"))?;
            column.push(value);
        }
        match fields.next() {
            Some(extra) => Err(format!("`{extra}` stands behind the last column")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn copies_of_columns_are_left_out_where_the_originals_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("draws_1.csv");
        fs::write(&path, "lp__,n_moved__,beta.1,n_moved\n-1,4,0.5,4\n").unwrap();
        let chain = read_chain(&path).unwrap();
        assert_eq!(chain.names, ["lp__", "n_moved__", "beta.1"]);
        assert_eq!(chain.columns, [[-1.0], [4.0], [0.5]]);
        // A fit that kept its links may have a parameter of this name.
        fs::write(&path, "lp__,n_moved\n-1,4\n").unwrap();
        assert_eq!(read_chain(&path).unwrap().names, ["lp__", "n_moved"]);
    }

    #[test]
    fn a_row_counts_only_with_its_newline() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("draws_1.csv");
        // Cut inside the last number, 7.5e-14, which still reads as one.
        fs::write(&path, "# comment\nlp__,sigma2\n-1,2e-14\n-2,7.5").unwrap();
        let chain = read_chain(&path).unwrap();
        assert_eq!(chain.columns, [vec![-1.0], vec![2e-14]]);
        fs::write(&path, "lp__,sigma2\n-1\n-2,7.5\n").unwrap();
        assert!(
            read_chain(&path).is_err(),
            "half a row that is not the last"
        );
    }
}
