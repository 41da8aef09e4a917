//! Checks of the responses: whether the model can have them.

use crate::config::{Config, ModelSource};
use crate::data::{DataError, Dataset};
use crate::text::{nearest, quoted_list};

/// Every response must be one that the model can have.
pub(super) fn check_response(config: &Config, data: &Dataset) -> Result<(), DataError> {
    if config
        .model
        .stan
        .shipped()
        .is_some_and(|model| model.has_times)
    {
        check_times(config, data)?;
    }
    let kind = config.model.response_kind();
    let Some(place) = data.response.iter().position(|&y| !kind.allows(y)) else {
        return Ok(());
    };
    let files = config.data.files();
    Err(DataError::Response {
        file: files
            .first()
            .map_or_else(String::new, |file| file.display().to_string()),
        row: data.row_numbers[place],
        column: config.data.response_label(),
        value: data.response[place],
        model: match &config.model.stan {
            ModelSource::Shipped(name) => name.clone(),
            ModelSource::File(path) => path.display().to_string(),
        },
        rule: kind.rule(),
    })
}

/// Audits of blocks are of blocks that the file has, and whose rows can move anywhere inside.
pub(super) fn check_audits(config: &Config, data: &Dataset) -> Result<(), DataError> {
    let audits = &config.permutation.audit_by_block;
    if audits.is_empty() {
        return Ok(());
    }
    if data.candidates.is_some() {
        return Err(DataError::BlocksWithCandidates);
    }
    let labels = data.blocks.iter().flat_map(|blocks| &blocks.labels);
    let labels: Vec<&str> = labels.map(String::as_str).collect();
    match audits
        .keys()
        .find(|label| !labels.contains(&label.as_str()))
    {
        None => Ok(()),
        Some(label) => Err(DataError::NoBlock {
            label: label.clone(),
            advice: match nearest(label, labels.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("it has {}", quoted_list(&labels)),
            },
        }),
    }
}

/// The law of responses from outside, where it is given, is of one response.
pub(super) fn check_outside(config: &Config, data: &Dataset) -> Result<(), DataError> {
    let given = config
        .permutation
        .outside
        .and_then(|outside| outside.response);
    match (given, &data.response_names) {
        (Some(_), Some(names)) => Err(DataError::OutsideResponses {
            num_responses: names.len(),
        }),
        _ => Ok(()),
    }
}

/// A time, and whether the event was seen then.
fn check_times(config: &Config, data: &Dataset) -> Result<(), DataError> {
    let names = data.response_names.as_deref().unwrap_or_default();
    let ([event], [_, name]) = (data.further_responses.as_slice(), names) else {
        return Err(DataError::NotTimes {
            key: config.data.response_key(),
            found: config.data.response_label(),
        });
    };
    match event.iter().position(|value| ![0.0, 1.0].contains(value)) {
        None => Ok(()),
        Some(row) => Err(DataError::Event {
            file: config.data.label(),
            row: data.row_numbers[row],
            column: name.clone(),
            value: event[row],
        }),
    }
}
