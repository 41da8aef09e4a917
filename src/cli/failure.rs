//! From an error to one clear sentence and an exit code.

use std::error::Error;

use super::json;
use crate::after::export::ExportError;
use crate::after::pool::PoolError;
use crate::after::predict::PredictError;
use crate::baseline::compare::CompareError;
use crate::config::ConfigError;
use crate::data::DataError;
use crate::fit::FitError;
use crate::model::stan::StanError;
use crate::model::stan::adopt::AdoptFailure;
use crate::posterior::PosteriorError;
use crate::posterior::draws::DrawsError;
use crate::report::ReportError;
use crate::sampler::chain::ChainError;
use crate::study::simulate::SimulateError;
use crate::text::{FileError, full_sentence};

/// Why the program ends with something else than 0.
#[derive(Debug)]
pub(super) struct Failure {
    code: u8,
    /// None when everything has been said already.
    error: Option<anyhow::Error>,
}

impl Failure {
    pub fn diagnostics() -> Failure {
        Failure {
            code: 1,
            error: None,
        }
    }

    pub fn toolchain() -> Failure {
        Failure {
            code: 3,
            error: None,
        }
    }

    pub fn tasks_failed() -> Failure {
        Failure {
            code: 4,
            error: None,
        }
    }

    pub fn interrupted() -> Failure {
        Failure {
            code: 130,
            error: None,
        }
    }

    pub fn user(message: String) -> Failure {
        Failure {
            code: 2,
            error: Some(anyhow::anyhow!(message)),
        }
    }

    /// Prints the sentence, and behind it the causes it does not tell itself.
    pub fn report(self) -> u8 {
        let sentence = self
            .error
            .as_ref()
            .map(|error| full_sentence(error.as_ref()));
        if json::is_on() {
            json::end_badly(self.code, sentence.as_deref());
        } else if let Some(sentence) = sentence {
            note!("error: {sentence}");
        }
        self.code
    }

    pub fn new(code: u8, error: impl Error + Send + Sync + 'static) -> Failure {
        Failure {
            code,
            error: Some(error.into()),
        }
    }
}

impl From<StanError> for Failure {
    fn from(error: StanError) -> Failure {
        Failure::new(if error.is_users() { 2 } else { 3 }, error)
    }
}

impl From<AdoptFailure> for Failure {
    fn from(error: AdoptFailure) -> Failure {
        match error {
            AdoptFailure::Refused(error) => Failure::new(2, error),
            AdoptFailure::Stan(error) => error.into(),
        }
    }
}

/// Errors that always end with code 2: the user can mend the config, the data or the file that they name.
macro_rules! end_with_2 {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::new(2, error)
            }
        }
    )*};
}

end_with_2!(
    ConfigError,
    DataError,
    DrawsError,
    FileError,
    CompareError,
    PosteriorError,
    ReportError,
    ExportError,
    PoolError,
    SimulateError
);

impl From<PredictError> for Failure {
    fn from(error: PredictError) -> Failure {
        match error {
            PredictError::Fit(error) => error.into(),
            other => Failure::new(2, other),
        }
    }
}

impl From<FitError> for Failure {
    fn from(error: FitError) -> Failure {
        match error {
            FitError::Stan(error) => error.into(),
            FitError::Chain(ChainError::Model(error)) => Failure::new(2, error),
            FitError::Chain(error @ ChainError::Write { .. }) => Failure::new(2, error),
            FitError::Chain(error) => Failure::new(4, error),
            FitError::Config(_)
            | FitError::Data(_)
            | FitError::Model(_)
            | FitError::Agreement(_)
            | FitError::Weights(_)
            | FitError::NoAlpha { .. }
            | FitError::NoOffset { .. }
            | FitError::NoGroups { .. }
            | FitError::GroupsMissing { .. }
            | FitError::UnknownInit { .. }
            | FitError::UnknownEntry { .. }
            | FitError::ReservedName { .. }
            | FitError::Draws(_)
            | FitError::Posterior(_)
            | FitError::Compare(_)
            | FitError::Report(_)
            | FitError::NotWritable { .. }
            | FitError::OutputExists { .. }
            | FitError::NoCheckpoints { .. }
            | FitError::Differs { .. }
            | FitError::NotPlanned { .. }
            | FitError::PlanChanged { .. }
            | FitError::TooLarge { .. }
            | FitError::File(_) => Failure::new(2, error),
        }
    }
}
