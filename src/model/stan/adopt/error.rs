//! What `adopt` cannot do, each in one sentence with the way out.

use thiserror::Error;

use super::distribution::known_names;
use crate::model::stan::StanError;

/// A sentence about one place of the program.
#[derive(Debug, Error)]
#[error("{place}: {problem}")]
pub struct AdoptError {
    /// The file, and the line where there is one.
    place: String,
    problem: Problem,
}

impl AdoptError {
    pub(super) fn new(label: &str, line: Option<usize>, problem: Problem) -> AdoptError {
        let place = match line {
            Some(line) => format!("{label}, line {line}"),
            None => label.to_string(),
        };
        AdoptError { place, problem }
    }
}

#[derive(Debug, Error)]
pub(super) enum Problem {
    #[error("`data` has no `{response}`; name the response with --response, one of {names}")]
    NoResponse { response: String, names: String },
    #[error(
        "`{response}` stands in `parameters` already, so there is nothing to adopt; name it in model.response of a config and run `unshuffle check`"
    )]
    Adopted { response: String },
    #[error("the program has no `{block}` block, so there is no regression to adopt")]
    NoBlock { block: &'static str },
    #[error(
        "`{response}` is declared as `{found}`, but adopt takes one response a row: vector[N], array[N] real or array[N] int, where N is an int of `data`"
    )]
    Shape { response: String, found: String },
    #[error("`{response}` shares its declaration with other names; give it a line of its own")]
    NotAlone { response: String },
    #[error(
        "an #include outside of the functions block hides a part of the program from adopt; put the included text in its place"
    )]
    Include,
    #[error(
        "`{response}` is used in `transformed data`, which is computed once, before any link moves; transform the column in the config instead, for example \"response\": \"log({response})\""
    )]
    TransformedData { response: String },
    #[error(
        "`{response}` is used in `transformed parameters`, where adopt cannot tell what of it is likelihood; use it in one statement of the model block only"
    )]
    TransformedParameters { response: String },
    #[error("the model block does not use `{response}`, so there is no likelihood to adopt")]
    NoLikelihood { response: String },
    #[error(
        "`{response}` is used {count} times in the model block, but adopt takes one statement for all rows, such as `{response} ~ normal(mu, sigma);`"
    )]
    UsedAgain { response: String, count: usize },
    #[error(
        "`{function}` makes a mixture of the likelihood, which adopt does not take apart; put the likelihood of one row into a function of your own, as docs/models.md shows"
    )]
    Mixture { function: String },
    #[error(
        "`{function}` censors the response, so which formula a row has depends on the response that moves; unshuffle cannot relink censored responses"
    )]
    Censored { function: String },
    #[error(
        "the truncation `T[...]` is not adopted, since every row's log_lik must have its normalisation too; put the likelihood of one row into a function of your own, as docs/models.md shows"
    )]
    Truncated,
    #[error(
        "the likelihood stands under `if` or `while`, so rows have different likelihoods; adopt takes one statement for all rows"
    )]
    Conditional,
    #[error(
        "the likelihood does not run once over all rows; write it for `{response}` as a whole, or in one loop `for (n in 1:{length})` with `{response}[n]`"
    )]
    PartOfRows { response: String, length: String },
    #[error(
        "the likelihood is of `{found}`, not of `{response}` itself; transform the column in the config instead, for example \"response\": \"log({response})\", and write `{response}` here"
    )]
    TransformedResponse { response: String, found: String },
    #[error(
        "`{response}` is used as an argument, not as the outcome; a prior that looks at the response would move with the links"
    )]
    AsArgument { response: String },
    #[error(
        "adopt does not see a likelihood of `{response}` in this statement; write it as `{response} ~ normal(mu, sigma);` or as `target += normal_lpdf({response} | mu, sigma);` on its own"
    )]
    Unread { response: String },
    #[error(
        "`{name}` is not among the distributions that adopt knows ({}); put the likelihood of one row into a function of your own, as docs/models.md shows",
        known_names()
    )]
    Unknown { name: String },
    #[error(
        "`{name}` is your own function of all rows at once, of which adopt cannot make a log_lik for each row; write the likelihood in a loop `for (n in 1:{length})` with `{response}[n]`"
    )]
    OwnFunction {
        name: String,
        response: String,
        length: String,
    },
}

/// Why a program was not adopted: a sentence of ours, or the toolchain's.
#[derive(Debug, Error)]
pub enum AdoptFailure {
    #[error(transparent)]
    Refused(#[from] AdoptError),
    #[error(transparent)]
    Stan(#[from] StanError),
}
