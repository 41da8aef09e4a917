//! Posterior predictive draws of the responses of new rows, from a finished fit.

mod generated;
mod hierarchical;
mod multivariate;
mod table;
mod times;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::config::{Family, ModelSource};
use crate::data::{DataError, NewRows, read_new};
use crate::fit::FitError;
use crate::model::ModelError;
use crate::model::stan::{Compiler, StanError};
use crate::numerics::rng;
use crate::posterior::{LawDraws, Posterior, PosteriorError};

/// Chains count from 1, and the last streams are taken by checks of a fit and by exports.
const STREAM: usize = usize::MAX - 3;

#[derive(Debug, Error)]
pub enum PredictError {
    #[error(transparent)]
    Posterior(#[from] PosteriorError),
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Fit(#[from] FitError),
    #[error("cannot find {}; give a CSV file with the columns of the predictors", path.display())]
    NotFound { path: PathBuf },
    #[error(
        "config.json in {} says the columns {now}, but {fitted} were fitted; put its data part back as it was, or fit again",
        folder.display()
    )]
    OtherColumns {
        folder: PathBuf,
        now: String,
        fitted: String,
    },
    #[error("--draws is {asked}, but the fit has {num_draws} draws; ask for 1 to {num_draws}")]
    NumDraws { asked: usize, num_draws: usize },
    #[error(
        "the program of the fit in {} says of no family that unshuffle knows how it draws responses; add `int<lower=0> N_new; \
         matrix[N_new, D] X_new;` to its data and draw `vector[N_new] y_new` in generated quantities, then fit again", folder.display()
    )]
    NoFamily { folder: PathBuf },
    #[error("the program of the fit in {} {problem}", folder.display())]
    Program {
        folder: PathBuf,
        problem: &'static str,
    },
}

impl From<ModelError> for PredictError {
    fn from(error: ModelError) -> PredictError {
        PredictError::Fit(error.into())
    }
}

impl From<StanError> for PredictError {
    fn from(error: StanError) -> PredictError {
        PredictError::Fit(error.into())
    }
}

/// One draw of the responses of all new rows for each draw of the fit that is used.
pub struct Predictions {
    row_ids: Option<Vec<String>>,
    /// The names of a list of responses: each row has one of each.
    response_names: Option<Vec<String>>,
    /// Number of the chain and of the draw in it, from 1.
    draws: Vec<(usize, usize)>,
    /// For each of them the responses of each row, row by row.
    responses: Vec<Vec<f64>>,
    /// The expected responses in the same order, of a quantile regression the quantiles; None where only the program knows them.
    means: Option<Vec<Vec<f64>>>,
}

/// A finished fit and the rows to predict.
pub struct Prediction {
    fit: Posterior,
    rows: NewRows,
    /// Draws of the fit that are used.
    draws: Vec<usize>,
}

/// Coefficients go by position, so the columns must be those of the fit.
fn check_columns(fit: &Posterior, rows: &NewRows) -> Result<(), PredictError> {
    match &fit.data {
        Some(data) if data.predictor_names != rows.predictor_names => {
            Err(PredictError::OtherColumns {
                folder: fit.folder.path().to_path_buf(),
                now: rows.predictor_names.join(", "),
                fitted: data.predictor_names.join(", "),
            })
        }
        _ => Ok(()),
    }
}

impl Prediction {
    /// `num_draws` are spread evenly over all draws of the fit; without it all are used.
    pub fn read(
        folder: &Path,
        file: &Path,
        num_draws: Option<usize>,
    ) -> Result<Prediction, PredictError> {
        let fit = Posterior::read(folder)?;
        fit.check_data_unchanged()?;
        if !file.exists() {
            return Err(PredictError::NotFound {
                path: file.to_path_buf(),
            });
        }
        let rows = read_new(&fit.config.data, file)?;
        check_columns(&fit, &rows)?;
        fit.check_config_unchanged()?;
        let all = fit.num_draws();
        let asked = num_draws.unwrap_or(all);
        if asked == 0 || asked > all {
            return Err(PredictError::NumDraws {
                asked,
                num_draws: all,
            });
        }
        let draws = (0..asked).map(|k| k * all / asked).collect();
        Ok(Prediction { fit, rows, draws })
    }

    /// The fit that predicts.
    pub fn fit(&self) -> &Posterior {
        &self.fit
    }

    /// Whether the program draws `y_new` itself, for which it must be compiled.
    pub fn needs_compiler(&self) -> bool {
        matches!(self.fit.config.model.stan, ModelSource::File(_))
            && generated::draws_new(&self.fit)
    }

    /// Predictions from the coefficients and the scale of the saved draws.
    pub fn from_family(&self, seed: u64) -> Result<Predictions, PredictError> {
        let no_family = || PredictError::NoFamily {
            folder: self.fit.folder.path().to_path_buf(),
        };
        let mut rng = rng::stream(seed, STREAM);
        if let Some(names) = multivariate::response_names(&self.fit) {
            let (responses, means) =
                multivariate::draw(self, names.len(), &mut rng).ok_or_else(no_family)?;
            return Ok(self.predictions(responses, Some(means), Some(names)));
        }
        if let Some(groups) = &self.rows.groups {
            let is_shipped = self.fit.config.model.stan.shipped().is_some();
            let found = hierarchical::draw(self, groups, &mut rng).filter(|_| is_shipped);
            let (responses, means) = found.ok_or_else(no_family)?;
            return Ok(self.predictions(responses, Some(means), None));
        }
        let shipped = self.fit.config.model.stan.shipped();
        if shipped.is_some_and(|model| model.has_times) {
            let (responses, means) = times::draw(self, &mut rng).ok_or_else(no_family)?;
            return Ok(self.predictions(responses, Some(means), None));
        }
        let spread = self.fit.data.as_ref().and_then(|data| data.spread.as_ref());
        let family = self.family().ok_or_else(no_family)?;
        let laws = LawDraws::new(
            family,
            self.rows.x.view(),
            self.rows.offset.as_deref(),
            &self.fit.chains,
            spread,
        );
        let laws = laws.ok_or_else(no_family)?;
        let (mut responses, mut means) = (Vec::new(), Vec::new());
        for &index in &self.draws {
            let (chain, draw) = laws.place(index);
            let at_rows = laws.at(chain, draw).ok_or_else(no_family)?;
            responses.push(at_rows.draw(&mut rng));
            means.push(at_rows.laws.iter().map(|law| law.mean()).collect());
        }
        Ok(self.predictions(responses, Some(means), None))
    }

    /// The law of a new response whose link is right. The program `mean_shift` shifts only rows that it was fitted to.
    fn family(&self) -> Option<Family> {
        let config = &self.fit.config;
        let shipped = config.model.stan.shipped().map(|model| model.family);
        let known = config.known_family().or(shipped);
        known.filter(|family| *family != Family::Stan)
    }

    /// Predictions from the program's own generated quantities.
    pub fn from_program(
        &self,
        compiler: &Compiler,
        seed: u64,
    ) -> Result<Predictions, PredictError> {
        let responses = generated::responses(self, compiler, seed)?;
        Ok(self.predictions(responses, None, None))
    }

    fn predictions(
        &self,
        responses: Vec<Vec<f64>>,
        means: Option<Vec<Vec<f64>>>,
        response_names: Option<Vec<String>>,
    ) -> Predictions {
        let place = |index: &usize| {
            let (chain, draw) = self.fit.place(*index);
            (self.fit.chains[chain].chain, draw + 1)
        };
        Predictions {
            row_ids: self.rows.row_ids.clone(),
            response_names,
            draws: self.draws.iter().map(place).collect(),
            responses,
            means,
        }
    }
}
