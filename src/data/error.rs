//! What can be wrong with the data, each as one sentence that names the place and the fix.

use thiserror::Error;

#[derive(Debug, Error)]
pub enum DataError {
    #[error(
        "cannot find the data file {file}; check data.file, which is relative to the config file"
    )]
    NotFound { file: String },
    #[error("cannot read {file} ({source}); data.file must be a CSV file that you may read")]
    Unreadable {
        file: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{file}, line {line}: not UTF-8 text; save the file again as \"CSV UTF-8\"")]
    NotText { file: String, line: usize },
    #[error(
        "{file} is empty; it needs a header line with the column names and then one line for each row"
    )]
    Empty { file: String },
    #[error("{file} has a header line but no rows; add the data below it")]
    NoRows { file: String },
    #[error("{file}, line {line}: {problem}; {fix}")]
    BadLine {
        file: String,
        line: usize,
        problem: String,
        fix: String,
    },
    #[error("{file}: no column `{column}` ({key}); {advice}")]
    NoColumn {
        file: String,
        column: String,
        key: &'static str,
        advice: String,
    },
    #[error("{file}: missing values in {columns}; remove these rows or fill them in")]
    MissingValues { file: String, columns: String },
    #[error("{file}, line {line}: `{column}` is {value}; {fix}")]
    BadValue {
        file: String,
        line: usize,
        column: String,
        value: String,
        fix: &'static str,
    },
    #[error(
        "{file} has {num_rows} rows for {num_coefficients} coefficients{counting}; add rows or remove predictors \
         until there are more rows than coefficients"
    )]
    TooFewRows {
        file: String,
        num_rows: usize,
        num_coefficients: usize,
        counting: &'static str,
    },
    #[error("{file}: `{column}` ({key}) is {value} in every row; {fix}")]
    Constant {
        file: String,
        column: String,
        key: &'static str,
        value: f64,
        fix: &'static str,
    },
    #[error(
        "{file}: `{column}` is a linear combination of {others}, so their coefficients cannot be told apart; remove \
         one of these columns from data.predictors"
    )]
    Collinear {
        file: String,
        column: String,
        others: String,
    },
    #[error("data.predictors names `{column}` twice; remove one of the two")]
    PredictorTwice { column: String },
    #[error("`{column}` is data.response and also in data.predictors; remove it from one of them")]
    ResponseAmongPredictors { column: String },
    #[error(
        "model.data has an entry `{key}`, which unshuffle fills in itself; remove or rename it"
    )]
    ReservedEntry { key: String },
}
