//! Why data cannot be simulated, each as one sentence that says what to change.

use std::path::PathBuf;

use thiserror::Error;

use crate::data::DataError;
use crate::text::FileError;

#[derive(Debug, Error)]
pub enum SimulateError {
    #[error("{option} does not apply to --design {design}; remove it")]
    DoesNotApply {
        option: &'static str,
        design: &'static str,
    },
    #[error("{option} does not apply to --times {times}; remove it")]
    BesideTimes {
        option: &'static str,
        times: &'static str,
    },
    #[error("{option} needs {other}; add it or remove {option}")]
    NeedsOther { option: String, other: String },
    #[error("this design needs {what}")]
    Needs { what: &'static str },
    #[error("--r2 and --sigma both set the scale of the errors; remove one of them")]
    SigmaTwice,
    #[error(
        "these predictors make means as large as exp({largest:.0}); choose a smaller --x-scale, --beta or --intercept"
    )]
    LargeMeans { largest: f64 },
    #[error(
        "these settings make responses that are too large for a number; choose a smaller --x-scale, --beta, --intercept or --sigma"
    )]
    NotFinite,
    #[error("{option} is {value}; {rule}")]
    OutOfRange {
        option: String,
        value: f64,
        rule: &'static str,
    },
    #[error("--n is {num_rows}, which is too small: this design needs at least {least} rows")]
    TooFewRows { num_rows: usize, least: usize },
    #[error(
        "--mislinked {fraction} of {num_rows} rows is one row, and one row alone cannot be mislinked; ask for 0 or for \
         at least 2 rows"
    )]
    OneRow { fraction: f64, num_rows: usize },
    #[error(
        "{count} rows cannot be mislinked within blocks, since only {most} are in a block with another row; ask for a \
         smaller --mislinked or for larger blocks"
    )]
    TooManyInBlocks { count: usize, most: usize },
    #[error(
        "{count} rows cannot be spread over the blocks so that no block has just one; ask for one row more or fewer"
    )]
    LoneInBlock { count: usize },
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("rows are mislinked in one file; join the files of these data into one first")]
    NotOneFile,
    #[error("--drop names `{column}`, which {problem}")]
    Drop {
        column: String,
        problem: &'static str,
    },
    #[error("{} is already there: choose another folder, or overwrite it with --force", .path.display())]
    Exists { path: PathBuf },
    #[error(transparent)]
    File(#[from] FileError),
}
