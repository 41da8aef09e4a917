//! What can be wrong with the data, each as one sentence that names the place and the fix.

use thiserror::Error;

#[derive(Debug, Error)]
pub enum DataError {
    #[error("cannot find the data file {file}; check {key}, which is relative to the config file")]
    NotFound { file: String, key: &'static str },
    #[error("cannot read {file} ({source}); {key} must be a CSV file that you may read")]
    Unreadable {
        file: String,
        key: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "{file} takes more memory than {free}, which is all that is free; {key} must be a file that has an end and fits into memory, so leave out rows and columns that are not needed, or use a machine with more memory"
    )]
    TooLarge {
        file: String,
        key: &'static str,
        free: String,
    },
    #[error(
        "the data are arrays of a program and in no file; to read them from one, name it in data.file"
    )]
    Arrays,
    #[error("{file} is {what}; {fix}")]
    NotCsv {
        file: String,
        what: &'static str,
        fix: &'static str,
    },
    #[error("{file} {problem}")]
    Parquet { file: String, problem: String },
    #[error("{file}, line {line}: not UTF-8 text; save the file again as \"CSV UTF-8\"")]
    NotText { file: String, line: usize },
    #[error(
        "{file} is empty; it needs a header line with the column names and then one line for each row"
    )]
    Empty { file: String },
    #[error("{file} has a header line but no rows; add the data below it")]
    NoRows { file: String },
    #[error(
        "{file} has a header line but no labels; add the pairs that were checked below it, or leave the labels out"
    )]
    NoLabels { file: String },
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
    #[error(
        "{file}: missing values in {columns}; fill them in, or leave such rows out with \"missing\": \"drop\" in \
         the config's data"
    )]
    MissingValues { file: String, columns: String },
    #[error(
        "{file}: fewer than two rows have a weight above 0 in `{column}` (data.weights), or the weights are too large to add; correct the weights, or remove data.weights"
    )]
    NoWeights { file: String, column: String },
    #[error(
        "`{column}` of {file} belongs to the survey, whose weights stay with the {side}, but it stands in the file of the {other}; set \"with\": \"{other}\" in data.weights, or name a column of the other file"
    )]
    SurveySide {
        file: String,
        column: String,
        side: &'static str,
        other: &'static str,
    },
    #[error(
        "--also names `{column}`, which belongs to the survey and stays with the predictors; leave it out, or fit with \"with\": \"response\" in data.weights"
    )]
    SurveyMoves { column: String },
    #[error("`{column}` is the response and also {key}; name another column there")]
    SurveyIsResponse { column: String, key: &'static str },
    #[error("{file}, line {line}: `{column}` is {value}; {fix}")]
    BadValue {
        file: String,
        line: usize,
        column: String,
        value: String,
        fix: String,
    },
    #[error(
        "{file}: every row has a missing value, in {columns}; fill them in, or choose other columns"
    )]
    NothingLeft { file: String, columns: String },
    #[error(
        "{file}, row {row}: `{column}` is {value}, but for the model {model} it must be {rule}; correct it, or choose another model.stan"
    )]
    Response {
        file: String,
        row: usize,
        column: String,
        value: f64,
        model: String,
        rule: &'static str,
    },
    #[error(
        "{file} has {num_rows} row{} for {num_coefficients} coefficients{counting}; add rows or remove predictors \
         until there are more rows than coefficients",
        if *num_rows == 1 { "" } else { "s" }
    )]
    TooFewRows {
        file: String,
        num_rows: usize,
        num_coefficients: usize,
        counting: &'static str,
    },
    #[error(
        "{file}: the largest value of `{column}` ({key}) is {value:e}; choose a unit in which it is between 1e-100 and 1e100"
    )]
    Scale {
        file: String,
        column: String,
        key: &'static str,
        value: f64,
    },
    #[error(
        "permutation.audit_by_block has an audit of `{label}`, which is no block of this file; {advice}"
    )]
    NoBlock { label: String, advice: String },
    #[error(
        "permutation.audit_by_block does not go with the candidates of data.links, by which the rows of a block fall into several groups; write \"candidates\": false in data.links, or remove the audits"
    )]
    BlocksWithCandidates,
    #[error(
        "the offset stands in {key} as offset(...) and in data.offset, and there is one; remove one of them"
    )]
    OffsetTwice { key: &'static str },
    #[error("{file}: `{column}` ({key}) is {value} in every row; {fix}")]
    Constant {
        file: String,
        column: String,
        key: &'static str,
        value: String,
        fix: &'static str,
    },
    #[error(
        "{file}: `{column}` is a linear combination of {others}, so their coefficients cannot be told apart; remove \
         one of these columns from {key}"
    )]
    Collinear {
        file: String,
        key: &'static str,
        column: String,
        others: String,
    },
    #[error(
        "{key} has the response `{found}`, but a model of times needs two: the time, and 1 where the event was seen then or 0 where the \
         time is censored, such as Surv(months, died) ~ age"
    )]
    NotTimes { key: &'static str, found: String },
    #[error(
        "{file}, row {row}: `{column}` is {value}; write 1 where the event was seen at the time, and 0 where the time is censored"
    )]
    Event {
        file: String,
        row: usize,
        column: String,
        value: f64,
    },
    #[error(
        "{key} has several terms such as (1 | g), but one column of groups is taken; keep one, or write a program of your own \
         with columns in model.data"
    )]
    SeveralGroups { key: &'static str },
    #[error(
        "{key} has nothing before `| {column}`, so no coefficient differs between the groups; write 1 or a column there, such as (1 | {column})"
    )]
    NoGroupTerms { key: &'static str, column: String },
    #[error(
        "{file}: `{column}` has {num_levels} groups in {num_rows} rows; terms by group need at least two groups, and fewer groups than rows"
    )]
    NumGroups {
        file: String,
        column: String,
        num_levels: usize,
        num_rows: usize,
    },
    #[error(
        "{file}: no pair has a probability above {threshold}, so there is no link; lower `threshold` in data.links"
    )]
    NoLinks { file: String, threshold: f64 },
    #[error("data.predictors names `{column}` twice; remove one of the two")]
    PredictorTwice { column: String },
    #[error("{key} has the response `{text}` twice; remove one of the two")]
    ResponseTwice { key: &'static str, text: String },
    #[error("`{column}` is data.response and also in data.predictors; remove it from one of them")]
    ResponseAmongPredictors { column: String },
    #[error(
        "permutation.rate_formula has `{column}`, which is the response: it moves when a link changes, so remove it from one of them"
    )]
    ResponseInRates { column: String },
    #[error(
        "--also names `{column}`, which is a predictor; predictors stay where they are, so leave it out"
    )]
    PredictorMoves { column: String },
    #[error("`{column}` stands on both sides of data.formula; remove it from one of them")]
    OnBothSides { column: String },
    #[error("{key} is `{text}`; at character {at} {problem}")]
    Formula {
        key: &'static str,
        text: String,
        at: usize,
        problem: String,
    },
    #[error("{key} has no predictor; add a column")]
    NoPredictors { key: &'static str },
    #[error(
        "{key} has the response `{text}`, in which there is no column; name the column of the response"
    )]
    NoResponse { key: &'static str, text: String },
    #[error(
        "{file}, line {line}: `{label}` needs {part}, which is not a finite number; correct the row or leave it out"
    )]
    Undefined {
        file: String,
        line: usize,
        label: String,
        part: String,
    },
    #[error(
        "{file}: `{column}` is a category of {num_levels} levels, and more than {most} are not taken; {advice}"
    )]
    TooManyLevels {
        file: String,
        column: String,
        num_levels: usize,
        most: usize,
        advice: String,
    },
    #[error("{file}: `{column}` has no level `{level}` (data.reference); its levels are {levels}")]
    NoLevel {
        file: String,
        column: String,
        level: String,
        levels: String,
    },
    #[error(
        "data.reference names `{column}`, which is not a category among the predictors; remove it{advice}"
    )]
    NoCategory { column: String, advice: String },
    #[error("{file}, lines {first} and {second}: `{column}` is {value} in both; {fix}")]
    Twice {
        file: String,
        first: usize,
        second: usize,
        column: String,
        value: String,
        fix: String,
    },
    #[error("`{column}` ({key}) is in both {left} and {right}; rename or remove it in one of them")]
    InBothFiles {
        column: String,
        key: &'static str,
        left: String,
        right: String,
    },
    #[error(
        "{file}: the predictor `{column}` stands in the file of the response, so it would move with the response when \
         a link is wrong; leave it out, or move it to the other file if it was measured there"
    )]
    BesideResponse { file: String, column: String },
    #[error(
        "the response `{label}` uses columns of both {left} and {right}; it must come from one of the two files"
    )]
    ResponseInTwoFiles {
        label: String,
        left: String,
        right: String,
    },
    #[error(
        "permutation.outside.response is the law of one response, and the data have a list of {num_responses}; remove it, and their \
         own joint law is used"
    )]
    OutsideResponses { num_responses: usize },
    #[error(
        "data.unlinked is \"places\", but the response `{response}` stands in {file}: an unlinked row is a place by its predictors, so \
         exchange data.left and data.right, or remove data.unlinked"
    )]
    PlacesOfResponse { response: String, file: String },
    #[error(
        "data.unlinked is \"places\", but data.block names `{column}` of {file}, so unlinked rows of the other file have no block: name a \
         column of data.right, or remove data.unlinked"
    )]
    PlacesWithoutBlock { column: String, file: String },
    #[error(
        "data.unlinked is \"places\", which goes neither with terms by group such as (1 | g) nor with columns in model.data; remove it, or \
         remove them"
    )]
    PlacesWithEntries,
    #[error(
        "model.data has an entry `{key}`, which unshuffle fills in itself; remove or rename it"
    )]
    ReservedEntry { key: String },
}
