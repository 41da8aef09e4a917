//! The Stan programs of a study, each compiled once and shared by all tasks.

use super::StudyError;
use super::config::{Estimator, Study};
use crate::config::ModelSource;
use crate::fit::{FitError, Program};
use crate::model::stan::{Compiler, StanError};

pub struct Programs {
    compiled: Vec<(ModelSource, Program)>,
}

impl Programs {
    /// Those that `cells` need; none for baselines.
    pub fn compile<'a>(
        study: &Study,
        cells: impl IntoIterator<Item = usize>,
        compiler: &dyn Fn() -> Result<Compiler<'a>, StanError>,
    ) -> Result<Programs, StudyError> {
        let mut compiled: Vec<(ModelSource, Program)> = Vec::new();
        let mut toolchain = None;
        for cell in cells {
            let Estimator::Fit(config) = &study.cells[cell].estimator else {
                continue;
            };
            let stan = &config.model.stan;
            if compiled.iter().any(|(known, _)| known == stan) {
                continue;
            }
            if toolchain.is_none() {
                toolchain = Some(compiler().map_err(FitError::from)?);
            }
            let compiler = toolchain.as_ref().expect("made above");
            compiled.push((stan.clone(), Program::compile(&config.model, compiler)?));
        }
        Ok(Programs { compiled })
    }

    pub fn of(&self, stan: &ModelSource) -> &Program {
        let found = self.compiled.iter().find(|(known, _)| known == stan);
        &found.expect("compiled before any task ran").1
    }
}
