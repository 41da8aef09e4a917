//! Finds the latent response of a Stan program, and says what to change when it is not as it must be.

use std::ops::Range;

use thiserror::Error;

use crate::model::stan::ProgramInfo;

/// How the latent response is declared: `vector[N] y`, or `matrix[N, K] y` where the config has a list of K responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseShape {
    pub rows: usize,
    /// None for a vector.
    pub columns: Option<usize>,
}

impl ResponseShape {
    pub fn num_responses(self) -> usize {
        self.columns.unwrap_or(1)
    }

    fn declaration(self, response: &str) -> String {
        match self.columns {
            Some(_) => format!("matrix[N, K] {response};"),
            None => format!("vector[N] {response};"),
        }
    }

    /// The rows and responses, for people to read.
    fn words(self) -> String {
        match self.columns {
            Some(1) => format!("{} rows and a list of 1 response", self.rows),
            Some(columns) => format!("{} rows and {columns} responses", self.rows),
            None => format!("{} rows", self.rows),
        }
    }
}

impl From<usize> for ResponseShape {
    fn from(rows: usize) -> Self {
        ResponseShape {
            rows,
            columns: None,
        }
    }
}

#[derive(Debug, Error)]
pub enum ModelError {
    #[error(
        "{label} declares `{response}` in `data`: move `{declaration}` to `parameters`, where unshuffle sets it to the response in the order of the links"
    )]
    InData {
        label: String,
        response: String,
        declaration: String,
    },
    #[error(
        "{label} has no parameter `{response}`: declare `vector[N] {response};` (for a list of responses `matrix[N, K] {response};`) in `parameters`, or name your own block in the config's model.response{hint}"
    )]
    Missing {
        label: String,
        response: String,
        hint: String,
    },
    #[error(
        "{label} declares `{response}` with {found} values, but the data have {}: declare it as `{}`",
        shape.words(),
        shape.declaration(response)
    )]
    Shape {
        label: String,
        response: String,
        found: String,
        shape: ResponseShape,
    },
    #[error(
        "{label} declares `{response}` as a vector, but the config has a list of responses: declare it as `matrix[N, K] {response};` with `int<lower=1> K;` in `data`, or name one response that is no list"
    )]
    Vector { label: String, response: String },
    #[error(
        "{label} declares `{response}` as a matrix, but the config has one response that is no list: declare it as `vector[N] {response};`, or make data.response a list such as [\"food\", \"rent\"]"
    )]
    Matrix { label: String, response: String },
    #[error(
        "{label} declares `{response}` with a constraint (bounds, offset or multiplier){}: declare it as plain `{}`, since it holds the observed responses as they are",
        if shape.columns.is_some() { ", or as an array" } else { "" },
        shape.declaration(response)
    )]
    Constrained {
        label: String,
        response: String,
        shape: ResponseShape,
    },
    #[error(
        "{label} does not have {what}, which the config's model.family reads: add it to the program, or set another family (\"stan\" takes any likelihood)"
    )]
    Family { label: String, what: String },
    #[error(
        "the family `{family}` is of one response, and the config has {num_responses}: set model.family to {{\"name\": \"stan\"}}, for which {label} needs `vector[N] log_lik` in `generated quantities`"
    )]
    OneResponse {
        label: String,
        family: String,
        num_responses: usize,
    },
    #[error(
        "{label} has no unconstrained `vector[D] beta` with {num_columns} values, one for each column of X, which the config's sampler.standardise needs: declare `vector[D] beta;` in `parameters`, or remove sampler.standardise"
    )]
    NotStandardised { label: String, num_columns: usize },
    #[error(
        "{label} {problem}, which permutation.feedback \"none\", permutation.outside and data.weights need: declare `int<lower=0, upper=1> weighted;` in `data` and plain `vector[weighted * N] weight;` in `parameters`, and multiply the log likelihood of each row by its weight where `weighted` is 1 (`unshuffle init` writes programs that do); or set permutation.feedback to \"full\" and permutation.outside to false, and remove data.weights"
    )]
    Weights {
        label: String,
        problem: &'static str,
    },
    #[error("{label} cannot be built with these data: {message}")]
    Construct { label: String, message: String },
    #[error(
        "no starting point with a finite log density was found for chain {chain}: {message}; {advice}"
    )]
    Initial {
        chain: usize,
        message: String,
        advice: &'static str,
    },
    #[error("cannot evaluate {label}: {message}")]
    Evaluate { label: String, message: String },
}

/// Checks what can be known from the program's text, before the minute that compiling takes.
pub(super) fn check_declaration(
    info: &ProgramInfo,
    label: &str,
    response: &str,
) -> Result<(), ModelError> {
    let (label, response) = (label.to_string(), response.to_string());
    if let Some(declared) = info.inputs.get(&response) {
        let shape = ResponseShape {
            rows: 0,
            columns: (declared.dimensions == 2).then_some(0),
        };
        return Err(ModelError::InData {
            declaration: shape.declaration(&response),
            label,
            response,
        });
    }
    if !info.parameters.contains_key(&response) {
        let names: Vec<&str> = info.parameters.keys().map(String::as_str).collect();
        let hint = nearest_hint(&response, &names);
        return Err(ModelError::Missing {
            label,
            response,
            hint,
        });
    }
    Ok(())
}

/// Whether a block that takes `dimensions` indices can be what the data ask for.
pub(super) fn check_dimensions(
    dimensions: usize,
    label: &str,
    response: &str,
    shape: ResponseShape,
) -> Result<(), ModelError> {
    let (label, response) = (label.to_string(), response.to_string());
    match (dimensions, shape.columns) {
        (1, Some(_)) => Err(ModelError::Vector { label, response }),
        (2, None) => Err(ModelError::Matrix { label, response }),
        _ => Ok(()),
    }
}

/// The positions of `response.1`, `response.2`, ... or `response.1.1`, `response.2.1`, ... among `names`; Stan keeps a
/// block together.
pub(super) fn find(
    names: &[&str],
    label: &str,
    response: &str,
    shape: ResponseShape,
) -> Result<Range<usize>, ModelError> {
    let belongs = |name: &&str| name.split('.').next() == Some(response);
    let count = names.iter().filter(|name| belongs(name)).count();
    let Some(start) = names.iter().position(belongs) else {
        let mut blocks: Vec<&str> = names.iter().filter_map(|n| n.split('.').next()).collect();
        blocks.dedup();
        return Err(ModelError::Missing {
            label: label.to_string(),
            response: response.to_string(),
            hint: nearest_hint(response, &blocks),
        });
    };
    let block = start..start + count;
    let differs = |found: String| ModelError::Shape {
        label: label.to_string(),
        response: response.to_string(),
        found,
        shape,
    };
    let last: Vec<&str> = names[block.end - 1].split('.').skip(1).collect();
    if count != shape.rows * shape.num_responses() {
        return Err(differs(count.to_string()));
    }
    check_dimensions(last.len(), label, response, shape)?;
    // A matrix of the right size may still be the wrong way round.
    let wanted = [Some(shape.rows), shape.columns].into_iter().flatten();
    if !wanted.map(|n| n.to_string()).eq(last.iter().copied()) {
        return Err(differs(last.join(" x ")));
    }
    Ok(block)
}

fn nearest_hint(wanted: &str, names: &[&str]) -> String {
    names
        .iter()
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|(similarity, _)| *similarity > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| format!(" (did you mean `{name}`?)"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_OF_THREE: ResponseShape = ResponseShape {
        rows: 3,
        columns: Some(2),
    };

    fn refused(names: &[&str], shape: impl Into<ResponseShape>) -> String {
        find(names, "m.stan", "y", shape.into())
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn finds_the_block_wherever_it_stands() {
        let names = ["beta.1", "y.1", "y.2", "y.3", "sigma2", "yy"];
        assert_eq!(find(&names, "m.stan", "y", 3.into()).unwrap(), 1..4);
        let names = [
            "y.1.1", "y.2.1", "y.3.1", "y.1.2", "y.2.2", "y.3.2", "beta.1.1",
        ];
        assert_eq!(find(&names, "m.stan", "y", TWO_OF_THREE).unwrap(), 0..6);
    }

    #[test]
    fn a_missing_block_suggests_the_nearest_name() {
        let error = find(&["beta.1", "y_lat.1"], "m.stan", "y_latent", 1.into()).unwrap_err();
        assert!(
            error.to_string().contains("did you mean `y_lat`"),
            "{error}"
        );
    }

    #[test]
    fn a_block_of_another_size_is_refused() {
        assert_eq!(
            refused(&["y.1", "y.2"], 3),
            "m.stan declares `y` with 2 values, but the data have 3 rows: declare it as `vector[N] y;`"
        );
        assert_eq!(
            refused(&["y.1", "y.2", "y.3"], TWO_OF_THREE),
            "m.stan declares `y` with 3 values, but the data have 3 rows and 2 responses: declare it as `matrix[N, K] y;`"
        );
        let across = ["y.1.1", "y.2.1", "y.1.2", "y.2.2", "y.1.3", "y.2.3"];
        assert_eq!(
            refused(&across, TWO_OF_THREE),
            "m.stan declares `y` with 2 x 3 values, but the data have 3 rows and 2 responses: declare it as `matrix[N, K] y;`"
        );
    }

    #[test]
    fn a_list_of_one_needs_a_matrix_and_a_text_a_vector() {
        let list = ResponseShape {
            rows: 2,
            columns: Some(1),
        };
        assert_eq!(
            refused(&["y.1", "y.2"], list),
            "m.stan declares `y` as a vector, but the config has a list of responses: declare it as `matrix[N, K] y;` with \
             `int<lower=1> K;` in `data`, or name one response that is no list"
        );
        assert_eq!(
            refused(&["y.1.1", "y.2.1"], 2),
            "m.stan declares `y` as a matrix, but the config has one response that is no list: declare it as `vector[N] y;`, \
             or make data.response a list such as [\"food\", \"rent\"]"
        );
    }
}
