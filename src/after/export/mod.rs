//! Relinked data from a finished fit: the user's file with each response beside the predictors it belongs to.

mod arviz;
mod cmdstan;
mod links;
mod netcdf;
#[cfg(feature = "parquet")]
mod parquet;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use rand::Rng;
use thiserror::Error;

use crate::config::Update;
use crate::data::{DataError, Relinkable};
use crate::fit::FitError;
use crate::numerics::{best_assignment, rng};
use crate::posterior::draws::DrawsError;
use crate::posterior::links::{LinksSummary, RowNumbers};
use crate::posterior::{ExportFolder, Posterior, PosteriorError};
use crate::sampler::links::{Permutation, WeightSide};
use crate::text::{FileError, write_whole};
pub use arviz::write_arviz;
pub use cmdstan::write_cmdstan;
pub(crate) use links::ChainLinks;

/// Chains count from 1, and the last two streams are taken by checks of a fit.
const STREAM: usize = usize::MAX - 2;

#[derive(Debug, Error)]
pub enum ExportError {
    #[error(transparent)]
    Posterior(#[from] PosteriorError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error(
        "the fit in {} kept every link (permutation.update is \"none\"), so there is nothing to relink: fit with another update", folder.display()
    )]
    LinksKept { folder: PathBuf },
    #[error(
        "in the fit in {} responses may come from outside the file (permutation.outside), so its completed data sets would have rows without a response: fit with \"outside\": false, or use its coefficients and rows.csv", folder.display()
    )]
    Outside { folder: PathBuf },
    #[error("--sets is {asked}, but the fit has {num_draws} draws; ask for at most so many")]
    TooManySets { asked: usize, num_draws: usize },
    #[error("{} already exists: choose another --output, or replace it with --force", path.display())]
    Exists { path: PathBuf },
    #[error(transparent)]
    File(#[from] FileError),
}

impl From<DrawsError> for ExportError {
    fn from(error: DrawsError) -> ExportError {
        ExportError::Posterior(error.into())
    }
}

/// What to write.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Completed data sets.
    pub num_sets: usize,
    pub seed: u64,
    pub force: bool,
}

/// One way to link the rows, and what the posterior thinks of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Linking {
    /// Its file; none for the links as they were.
    pub file: Option<String>,
    pub num_moved: usize,
    pub expected_right: f64,
}

/// The fit's links, ready to be exported.
pub struct Export {
    fit: Posterior,
    rows: RowNumbers,
    relinkable: Relinkable,
    summary: LinksSummary,
    chains: Vec<ChainLinks>,
}

impl Export {
    /// `also` are columns that move with the response, besides its own.
    pub fn read(folder: &Path, also: &[String]) -> Result<Export, ExportError> {
        let fit = Posterior::read(folder)?;
        fit.check_config_unchanged()?;
        fit.check_data_unchanged()?;
        let kept = || ExportError::LinksKept {
            folder: folder.to_path_buf(),
        };
        if fit.config.permutation.update == Update::None {
            return Err(kept());
        }
        if fit.config.permutation.outside.is_some() {
            return Err(ExportError::Outside {
                folder: folder.to_path_buf(),
            });
        }
        let relinkable = Relinkable::read(&fit.config.data, also)?;
        let rows = RowNumbers::new(&relinkable.row_numbers());
        let summary = LinksSummary::read(folder, &fit.chains, rows.clone())?;
        let summary = summary.ok_or_else(kept)?;
        let chains = fit.chains.iter();
        let chains = chains.map(|chain| ChainLinks::read(&fit.folder, chain.chain));
        Ok(Export {
            chains: chains.collect::<Result<_, _>>()?,
            fit,
            rows,
            relinkable,
            summary,
        })
    }

    /// The fit whose links are exported.
    pub fn fit(&self) -> &Posterior {
        &self.fit
    }

    /// Columns of the file that look like another form of the response, but stay where they are.
    pub fn beside_response(&self) -> &[String] {
        self.relinkable.beside_response()
    }

    /// The columns of a survey, and what they stayed with.
    pub fn survey_columns(&self) -> Option<(Vec<String>, WeightSide)> {
        self.relinkable.survey_columns()
    }

    pub fn num_rows(&self) -> usize {
        self.rows.num_rows()
    }

    /// Writes relinked_mode.csv, relinked_best.csv and completed_<k>.csv; says of each, and of the links as they were, what it is.
    pub fn write(&self, to: &Path, settings: &Settings) -> Result<Vec<Linking>, ExportError> {
        let draws = self.spread(settings)?;
        start(to, settings.num_sets, settings.force)?;
        let mut linkings = vec![self.judged(None, &Permutation::identity(self.num_rows()))];
        let mut write = |name: String, pi: &Permutation| {
            let response_of: Vec<usize> = (0..pi.len()).map(|j| pi.row_of(j)).collect();
            let path = to.join(&name);
            write_whole(&path, self.relinkable.csv(&response_of))?;
            linkings.push(self.judged(Some(name), pi));
            Ok::<_, ExportError>(())
        };
        write(ExportFolder::MODE.into(), &self.draw(self.mode())?)?;
        write(ExportFolder::BEST.into(), &self.best())?;
        for (k, draw) in draws.into_iter().enumerate() {
            write(ExportFolder::completed(k + 1), &self.draw(draw)?)?;
        }
        Ok(linkings)
    }

    /// All draws and all links of the fit as draws.parquet and links.parquet.
    #[cfg(feature = "parquet")]
    pub fn write_parquet(&self, to: &Path) -> Result<(), ExportError> {
        let links: Vec<_> = self.chains.iter().map(ChainLinks::all).collect();
        parquet::write(to, &self.fit.chains, &links)
    }

    /// Evenly spaced over all draws, from a random start.
    fn spread(&self, settings: &Settings) -> Result<Vec<usize>, ExportError> {
        let (asked, num_draws) = (settings.num_sets, self.fit.num_draws());
        if asked > num_draws {
            return Err(ExportError::TooManySets { asked, num_draws });
        }
        let start: f64 = rng::stream(settings.seed, STREAM).random();
        let step = num_draws as f64 / asked as f64;
        let index = |k: usize| ((k as f64 + start) * step) as usize;
        Ok((0..asked).map(|k| index(k).min(num_draws - 1)).collect())
    }

    fn draw(&self, index: usize) -> Result<Permutation, ExportError> {
        let (chain, draw) = self.fit.place(index);
        Ok(self.chains[chain].draw(draw, &self.rows)?)
    }

    /// The saved draw of the highest posterior density, of parameters and links together.
    /// It is the best draw that was seen, not the top of the posterior.
    fn mode(&self) -> usize {
        let densities = self.fit.chains.iter().flat_map(|chain| {
            let column = |name: &str| chain.column(name).unwrap_or_default();
            let pairs = column("lp__").iter().zip(column("log_prior_pi__"));
            pairs.map(|(log_density, log_prior)| log_density + log_prior)
        });
        let best = densities.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        best.expect("a saved chain has draws").0
    }

    /// The links whose expected number of right ones is largest, among links that some draw has: another would add nothing,
    /// and it might leave a block, move a safe row or be no candidate.
    fn best(&self) -> Permutation {
        let rows: Vec<Vec<(usize, f64)>> = (0..self.num_rows())
            .map(|row| self.summary.row(row).partners)
            .collect();
        let best = best_assignment(&rows, self.num_rows());
        Permutation::from_vec(best).expect("an assignment is one to one")
    }

    fn judged(&self, file: Option<String>, pi: &Permutation) -> Linking {
        let probability = |row: usize| {
            let partners = self.summary.row(row).partners;
            let own = partners
                .iter()
                .find(|(column, _)| *column == pi.column_of(row));
            own.map_or(0.0, |(_, probability)| *probability)
        };
        Linking {
            file,
            num_moved: pi.num_moved(),
            expected_right: (0..pi.len()).map(probability).sum(),
        }
    }
}

/// Makes the folder, without the files of an earlier export.
fn start(folder: &Path, num_sets: usize, force: bool) -> Result<(), ExportError> {
    let folder = ExportFolder::new(folder);
    let mut earlier = folder.files()?.into_iter();
    if let (Some(path), false) = (earlier.next(), force) {
        return Err(ExportError::Exists { path });
    }
    let mut files: Vec<String> = (1..=num_sets).map(ExportFolder::completed).collect();
    let others = [
        ExportFolder::MODE,
        ExportFolder::BEST,
        ExportFolder::DRAWS,
        ExportFolder::LINKS,
    ];
    files.extend(others.map(String::from));
    Ok(folder.start(&files)?)
}
