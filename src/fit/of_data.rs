//! What the data decide of a fit: the offset that its program is given, and whether responses may come from outside.

use serde_json::{Map, Value, json};

use super::FitError;
use super::prepare::Program;
use crate::config::{Config, Family};
use crate::data::{DataError, Dataset};

impl Program {
    /// The offset of each row, empty where there is none.
    pub(super) fn add_offset(
        &self,
        entries: &mut Map<String, Value>,
        data: &Dataset,
    ) -> Result<(), FitError> {
        if !self.takes_offset {
            return match data.offset {
                Some(_) => Err(FitError::NoOffset {
                    label: self.label.clone(),
                }),
                None => Ok(()),
            };
        }
        let given = u8::from(data.offset.is_some());
        let offsets = data.offset.as_deref().unwrap_or_default();
        for (key, value) in [("has_offset", json!(given)), ("offsets", json!(offsets))] {
            if entries.insert(key.into(), value).is_some() {
                return Err(DataError::ReservedEntry { key: key.into() }.into());
            }
        }
        Ok(())
    }

    /// Two files with rows that are linked to nobody show that records may lack their partner: a response may then belong to
    /// nobody, unless the config says otherwise or the program has no weights of its rows. Of a likelihood that only a
    /// program of the user's own knows it is not known whether it is complete, so that it could be compared with the law of
    /// such responses.
    pub(super) fn with_outside_by_default(&self, mut config: Config, data: &Dataset) -> Config {
        let has_unlinked = data.notes.linked_to_nobody() != (0, 0);
        let is_shipped = config.model.stan.shipped().is_some();
        let is_known = is_shipped || config.model.family() != Family::Stan;
        let may_be = has_unlinked && is_known && self.takes_weights;
        let permutation = &mut config.permutation;
        if let Some(by_default) = permutation.outside_for_unlinked.filter(|_| may_be) {
            permutation.outside = Some(by_default);
        }
        config
    }
}
