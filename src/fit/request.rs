//! A fit as a program asks for it: from a config file, or of arrays.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use ndarray::Array2;
use serde_json::Value;

use super::{CHECKPOINT_EVERY, Existing, FitError, FitOptions, Prepared, prepare};
use crate::config::{self, Config};
use crate::data::{Dataset, INTERCEPT};
use crate::model::stan::{Compiler, SilentBuild};
use crate::posterior::Posterior;
use crate::sampler::chain::{Observer, Silent};

/// One fit: what to fit, and how to run it.
///
/// A config file names data files and an output folder; [`Fit::of_arrays`] needs neither. Draws depend on the config and
/// the data alone, not on the number of threads.
pub struct Fit {
    config: Config,
    data: Option<Dataset>,
    options: FitOptions,
}

impl Fit {
    /// The fit that a JSON config file describes.
    pub fn from_file(config: impl AsRef<Path>) -> Result<Fit, FitError> {
        Ok(Fit::new(config::load(config.as_ref(), &[])?, None))
    }

    /// A fit of `y` on the columns of `x`, which `names` names; an intercept is added.
    ///
    /// `spec` has the entries of a config but `data`, such as `json!({"model": {"stan": "linear"}, "sampler": {"seed": 1}})`;
    /// its paths are relative to the current folder, and `output` matters to [`Fit::run`] alone.
    pub fn of_arrays(
        spec: &Value,
        x: &Array2<f64>,
        y: &[f64],
        names: &[&str],
    ) -> Result<Fit, FitError> {
        let (num_rows, num_columns) = x.dim();
        assert_eq!(num_rows, y.len(), "one response for each row of x");
        assert_eq!(num_columns, names.len(), "one name for each column of x");
        let config = config::of_arrays(spec, Path::new("arrays.json"))?;
        let design = Array2::from_shape_fn((num_rows, num_columns + 1), |(row, k)| match k {
            0 => 1.0,
            _ => x[[row, k - 1]],
        });
        let names = [INTERCEPT].iter().chain(names).map(|name| name.to_string());
        let data = Dataset::new(names.collect(), design, y.to_vec());
        Ok(Fit::new(config, Some(data)))
    }

    fn new(config: Config, data: Option<Dataset>) -> Fit {
        let options = FitOptions {
            num_threads: 2,
            compare: false,
            existing: Existing::Replace,
            checkpoint_every: CHECKPOINT_EVERY,
        };
        Fit {
            config,
            data,
            options,
        }
    }

    /// Runs so many chains at once.
    pub fn threads(mut self, num_threads: usize) -> Fit {
        self.options.num_threads = num_threads.max(1);
        self
    }

    /// Samples, checks the model behind the links, and writes all files and the report to the output folder of the config.
    pub fn run(self) -> Result<Posterior, FitError> {
        self.run_with(&AtomicBool::new(false), &Silent)
    }

    /// As [`Fit::run`]; `stop` ends the chains after their current iteration, and `observer` is told of each.
    pub fn run_with(
        self,
        stop: &AtomicBool,
        observer: &dyn Observer,
    ) -> Result<Posterior, FitError> {
        let options = self.options.clone();
        self.prepared()?.fit(&options, stop, observer)
    }

    /// Samples and checks the model behind the links, without any file.
    pub fn in_memory(self) -> Result<Posterior, FitError> {
        let num_threads = self.options.num_threads;
        let stop = AtomicBool::new(false);
        self.prepared()?.in_memory(num_threads, &stop, &Silent)
    }

    fn prepared(self) -> Result<Prepared, FitError> {
        let compiler = Compiler::find(None, &SilentBuild, 2)?;
        match self.data {
            Some(data) => {
                super::Program::compile(&self.config.model, &compiler)?.with_data(self.config, data)
            }
            None => prepare(self.config, &compiler),
        }
    }
}
