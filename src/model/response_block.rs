//! Finds the latent response of a Stan program, and says what to change when it is not as it must be.

use std::ops::Range;

use thiserror::Error;

use crate::stan::ProgramInfo;

#[derive(Debug, Error)]
pub enum ModelError {
    #[error(
        "{label} declares `{response}` in `data`: move `vector[N] {response};` to `parameters`, where unshuffle sets it to the response in the order of the links"
    )]
    InData { label: String, response: String },
    #[error(
        "{label} has no parameter `{response}`: declare `vector[N] {response};` in `parameters`, or name your own block in the config's model.response{hint}"
    )]
    Missing {
        label: String,
        response: String,
        hint: String,
    },
    #[error(
        "{label} declares `{response}` with {found} values, but the data have {rows} rows: declare it as `vector[N] {response};`"
    )]
    Shape {
        label: String,
        response: String,
        found: usize,
        rows: usize,
    },
    #[error(
        "{label} declares `{response}` with a constraint (bounds, offset or multiplier): declare it as plain `vector[N] {response};`, since it holds the observed responses as they are"
    )]
    Constrained { label: String, response: String },
    #[error(
        "{label} does not have {what}, which the config's model.family reads: add it to the program, or set another family (\"stan\" takes any likelihood)"
    )]
    Family { label: String, what: String },
    #[error(
        "{label} has no unconstrained `vector[D] beta` with {num_columns} values, one for each column of X, which the config's sampler.standardise needs: declare `vector[D] beta;` in `parameters`, or remove sampler.standardise"
    )]
    NotStandardised { label: String, num_columns: usize },
    #[error("{label} cannot be built with these data: {message}")]
    Construct { label: String, message: String },
    #[error(
        "no starting point with a finite log density was found for chain {chain}: {message}; give starting values in the config's sampler.init"
    )]
    Initial { chain: usize, message: String },
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
    if info.inputs.contains_key(&response) {
        return Err(ModelError::InData { label, response });
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

/// The positions of `response.1`, `response.2`, ... among `names`; Stan keeps a block together.
pub(super) fn find(
    names: &[&str],
    label: &str,
    response: &str,
    rows: usize,
) -> Result<Range<usize>, ModelError> {
    let belongs = |name: &&str| name.split('.').next() == Some(response);
    let count = names.iter().filter(|name| belongs(name)).count();
    let (label, response) = (label.to_string(), response.to_string());
    let Some(start) = names
        .iter()
        .position(|name| name.split('.').next() == Some(response.as_str()))
    else {
        let mut blocks: Vec<&str> = names.iter().filter_map(|n| n.split('.').next()).collect();
        blocks.dedup();
        let hint = nearest_hint(&response, &blocks);
        return Err(ModelError::Missing {
            label,
            response,
            hint,
        });
    };
    if count != rows {
        return Err(ModelError::Shape {
            label,
            response,
            found: count,
            rows,
        });
    }
    Ok(start..start + rows)
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

    #[test]
    fn finds_the_block_wherever_it_stands() {
        let names = ["beta.1", "y.1", "y.2", "y.3", "sigma2", "yy"];
        assert_eq!(find(&names, "m.stan", "y", 3).unwrap(), 1..4);
    }

    #[test]
    fn a_missing_block_suggests_the_nearest_name() {
        let error = find(&["beta.1", "y_lat.1"], "m.stan", "y_latent", 1).unwrap_err();
        assert!(
            error.to_string().contains("did you mean `y_lat`"),
            "{error}"
        );
    }

    #[test]
    fn a_block_of_another_length_is_refused() {
        let error = find(&["y.1", "y.2"], "m.stan", "y", 3).unwrap_err();
        assert!(error.to_string().contains("with 2 values"), "{error}");
    }
}
