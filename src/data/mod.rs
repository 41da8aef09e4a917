//! The user's CSV files as a design matrix and a response, and as JSON data for Stan.

mod beside;
mod candidates;
mod cell;
mod checks;
mod collinear;
mod convert;
mod delimiter;
mod design;
mod error;
mod formula;
mod groups;
mod link_space;
mod linkage;
mod linked;
mod new_rows;
#[cfg(feature = "parquet")]
mod parquet;
mod places;
mod read;
mod relinkable;
mod sha256;
mod stan_columns;
mod stan_json;
mod table;
mod truth;
mod values;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::sampler::links::SurveyWeights;

pub(crate) use cell::is_missing;
pub use convert::{CANDIDATES, Conversion, LINKED, convert, probability_column};
pub use error::DataError;
pub(crate) use formula::Formula;
pub use groups::{Groups, NewGroups};
pub use link_space::{link_space, outside_prior, whole_prior};
pub use linkage::{LabelNotes, LinkageNotes};
pub use new_rows::{NewRows, read_new};
pub use places::Places;
pub use read::read;
pub use relinkable::Relinkable;
pub(crate) use sha256::{files_sha256, text_sha256};
pub use stan_json::stan_json;
pub(crate) use table::Table;
pub use truth::Truth;

/// The name of the first column of `x` when there is an intercept.
pub const INTERCEPT: &str = "(Intercept)";

/// The rows of the user's file, in her order.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Names of the columns of `x`.
    pub predictor_names: Vec<String>,
    /// Rows by predictors, in row-major order.
    pub x: Array2<f64>,
    /// The response, or the first of a list.
    pub response: Vec<f64>,
    /// The others of a list.
    pub further_responses: Vec<Vec<f64>>,
    /// The names of a list of responses, even of one; None where the response is no list.
    pub response_names: Option<Vec<String>>,
    /// Which data row of her file each row is, counted from 1; rows that were dropped are left out.
    pub row_numbers: Vec<usize>,
    /// Her names of the rows.
    pub row_ids: Option<Vec<String>>,
    pub blocks: Option<Blocks>,
    /// Rows whose link is known to be right.
    pub safe: Option<Vec<bool>>,
    /// For each row the probability, before any fit, that its link is right: above 0, at most 1.
    pub match_probability: Option<Vec<f64>>,
    /// The only places where a row may belong besides its own.
    pub candidates: Option<Vec<Candidate>>,
    /// Terms whose coefficients differ between groups.
    pub groups: Option<Groups>,
    /// Entries of the program's data block that are columns of the file.
    pub stan_entries: Map<String, Value>,
    /// What the rates of wrong links depend on.
    pub rates: Option<RateCovariates>,
    /// Unlinked rows that are places where a response may belong.
    pub places: Option<Places>,
    /// What is added to the linear predictor of each row of X.
    pub offset: Option<Vec<f64>>,
    /// Powers of the likelihoods of the rows; None where every row counts once.
    pub weights: Option<SurveyWeights>,
    pub notes: Notes,
}

/// Linkage covariates by row, an intercept first.
#[derive(Debug, Clone, PartialEq)]
pub struct RateCovariates {
    pub names: Vec<String>,
    pub values: Array2<f64>,
}

/// Groups of rows; a row can only be relinked inside its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks {
    /// For each row the index of its block, numbered in the order of first appearance.
    pub of_row: Vec<usize>,
    pub labels: Vec<String>,
}

/// The response of `row` may belong to the predictors of `partner`; both count from 0 in the order of the data set, behind
/// whose rows come the places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    pub row: usize,
    pub partner: usize,
    /// Above 0; only the ratios between the candidates of one row matter.
    pub weight: f64,
}

/// What was done to her file on the way here, for people to read.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Notes {
    /// Categorical columns and the level that the others are compared with.
    pub references: Vec<Reference>,
    /// Rows left out because a value was missing.
    pub num_dropped: usize,
    /// Where the values were missing: column and number of rows.
    pub missing: Vec<(String, usize)>,
    /// Rows of the right file that no row of the left one is linked to.
    pub num_unlinked: usize,
    /// How the links were picked from pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linkage: Option<LinkageNotes>,
    /// Categories that the program reads as codes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<Codes>,
}

impl Notes {
    /// Records of the left and of the right file that are linked to nobody.
    pub fn linked_to_nobody(&self) -> (usize, usize) {
        let linkage = self.linkage.as_ref();
        let num_left = linkage.map_or(0, |linkage| linkage.num_left_out);
        (num_left, self.num_unlinked)
    }
}

/// A category as a program reads it: the code of a level is its place, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Codes {
    /// The entry of the program's data block.
    pub entry: String,
    pub levels: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    pub column: String,
    pub level: String,
}

impl Dataset {
    /// Rows that may be linked in any way.
    pub fn new(predictor_names: Vec<String>, x: Array2<f64>, response: Vec<f64>) -> Dataset {
        assert_eq!(x.dim(), (response.len(), predictor_names.len()));
        Dataset {
            row_numbers: (1..=response.len()).collect(),
            predictor_names,
            x,
            response,
            further_responses: Vec::new(),
            response_names: None,
            row_ids: None,
            blocks: None,
            safe: None,
            match_probability: None,
            candidates: None,
            groups: None,
            stan_entries: Map::new(),
            rates: None,
            places: None,
            offset: None,
            weights: None,
            notes: Notes::default(),
        }
    }

    pub fn num_rows(&self) -> usize {
        self.response.len()
    }

    /// Whether the first column of X is the intercept.
    pub fn has_intercept(&self) -> bool {
        self.predictor_names.first().map(String::as_str) == Some(INTERCEPT)
    }

    /// The first response less the offset: what x'beta alone explains where it is added to an error.
    pub fn response_less_offset(&self) -> Cow<'_, [f64]> {
        match &self.offset {
            None => Cow::Borrowed(&self.response),
            Some(offset) => {
                let rows = self.response.iter().zip(offset);
                rows.map(|(response, offset)| response - offset).collect()
            }
        }
    }

    /// The responses one behind the other, each in the order of the rows: a matrix as Stan stores it.
    pub fn responses(&self) -> Cow<'_, [f64]> {
        if self.further_responses.is_empty() {
            return Cow::Borrowed(&self.response);
        }
        let mut all = self.response.clone();
        all.extend(self.further_responses.iter().flatten());
        Cow::Owned(all)
    }
}
