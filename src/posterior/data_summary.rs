//! data.json: what was done to the user's file, and what was known of its links before the fit.

use serde::{Deserialize, Serialize};

use super::links::PlaceNames;
use crate::data::{Dataset, Notes};
use crate::model::LogSpread;
use crate::priors::PriorsUsed;
use crate::sampler::links::{LinkSpace, SurveyWeights};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataSummary {
    /// The columns of X, in the order of the coefficients.
    pub predictor_names: Vec<String>,
    /// The names of a list of responses, in the order of the columns of `beta`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_names: Option<Vec<String>>,
    pub notes: Notes,
    pub num_rows: usize,
    /// Rows that can be linked elsewhere at all.
    pub num_movable: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_blocks: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_safe: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_candidate_pairs: Option<usize>,
    /// What the survey weights of the rows amount to; None where every row counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survey: Option<SurveySummary>,
    /// The linkage covariates that the rates of wrong links depend on, in the order of `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_names: Option<Vec<String>>,
    /// Unlinked rows that are places where a response may belong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<PlaceNames>,
    /// The priors of the parameters; None for fits of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priors: Option<PriorsUsed>,
    /// How the spread of the family `robust` depends on the predictors: predictions need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<LogSpread>,
}

/// The survey weights of the rows that are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SurveySummary {
    pub sum: f64,
    /// That of Kish, (sum of w)^2 / sum of w^2.
    pub effective_sample_size: f64,
}

impl SurveySummary {
    pub fn new(weights: &SurveyWeights) -> SurveySummary {
        SurveySummary {
            sum: weights.sum(),
            effective_sample_size: weights.effective_sample_size(),
        }
    }
}

impl DataSummary {
    pub fn new(data: &Dataset, space: &LinkSpace) -> DataSummary {
        let safe = data.safe.as_ref();
        DataSummary {
            predictor_names: data.predictor_names.clone(),
            response_names: data.response_names.clone(),
            notes: data.notes.clone(),
            num_rows: data.num_rows(),
            num_movable: space.num_movable(),
            num_blocks: data.blocks.as_ref().map(|blocks| blocks.labels.len()),
            num_safe: safe.map(|safe| safe.iter().filter(|safe| **safe).count()),
            num_candidate_pairs: data.candidates.as_ref().map(Vec::len),
            survey: data.weights.as_ref().map(SurveySummary::new),
            rate_names: data.rates.as_ref().map(|rates| rates.names.clone()),
            places: data.places.as_ref().map(|_| PlaceNames::of(data)),
            priors: None,
            spread: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use serde_json::json;

    use super::*;
    use crate::data::link_space;
    use crate::data::{Blocks, Candidate, Reference};

    fn data() -> Dataset {
        Dataset::new(vec!["x".into()], Array2::zeros((5, 1)), vec![0.0; 5])
    }

    fn summary(data: &Dataset) -> DataSummary {
        DataSummary::new(data, &link_space(data))
    }

    #[test]
    fn what_does_not_apply_is_left_out() {
        let summary = DataSummary::new(&data(), &LinkSpace::free(5));
        let value = serde_json::to_value(&summary).unwrap();
        let expected = json!({
            "predictor_names": ["x"],
            "notes": {"references": [], "num_dropped": 0, "missing": [], "num_unlinked": 0},
            "num_rows": 5,
            "num_movable": 5,
        });
        assert_eq!(value, expected);
        assert_eq!(
            serde_json::from_value::<DataSummary>(value).unwrap(),
            summary
        );
    }

    #[test]
    fn restrictions_are_counted_together() {
        let mut data = data();
        data.blocks = Some(Blocks {
            of_row: vec![0, 0, 1, 0, 0],
            labels: vec!["a".into(), "b".into()],
        });
        assert_eq!(summary(&data).num_movable, 4);
        data.safe = Some(vec![true, false, false, false, false]);
        assert_eq!(summary(&data).num_movable, 3);
        let candidate = |row, partner| Candidate {
            row,
            partner,
            weight: 1.0,
        };
        data.candidates = Some(vec![candidate(1, 3), candidate(3, 1), candidate(2, 1)]);
        data.notes.references = vec![Reference {
            column: "sector".into(),
            level: "other".into(),
        }];
        let value = serde_json::to_value(summary(&data)).unwrap();
        let expected = json!({"num_rows": 5, "num_movable": 2, "num_blocks": 2, "num_safe": 1, "num_candidate_pairs": 3});
        for (key, number) in expected.as_object().unwrap() {
            assert_eq!(&value[key], number, "{key}");
        }
        assert_eq!(value["notes"]["references"][0]["level"], "other");
        data.response_names = Some(vec!["food".into(), "rent".into()]);
        let value = serde_json::to_value(summary(&data)).unwrap();
        assert_eq!(value["response_names"], json!(["food", "rent"]));
    }
}
