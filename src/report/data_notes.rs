//! What was done to the user's file on the way to the fit, in sentences.

use super::format::{count, significant};
use crate::config::Weights;
use crate::data::Notes;
use crate::posterior::{Posterior, SurveySummary};

pub fn sentences(fit: &Posterior) -> Vec<String> {
    let Some(data) = &fit.data else {
        return Vec::new();
    };
    let weights = fit.config.data.weights.as_ref();
    let mut sentences = of_notes(&data.notes);
    sentences.extend(weights.map(|weights| of_survey(weights, data.num_rows, data.survey)));
    sentences
}

/// The survey weights: their column, what they belong to, what they amount to, and what they do not do.
fn of_survey(weights: &Weights, num_rows: usize, survey: Option<SurveySummary>) -> String {
    let Weights { column, with, .. } = weights;
    let rows = count(num_rows, "row");
    let counted = match survey {
        None => {
            format!("Every row has the same survey weight in {column}, so that each counts once.")
        }
        Some(survey) => format!(
            "The likelihood of each row is raised to its survey weight in {column}; when a link changes, the weights {with}. The weights \
             of the {rows} sum to {}, with an effective sample size of {}.",
            significant(survey.sum, 4),
            significant(survey.effective_sample_size, 3)
        ),
    };
    format!("{counted} Intervals do not know the design of the survey, its strata and clusters.")
}

fn of_notes(notes: &Notes) -> Vec<String> {
    let mut sentences = Vec::new();
    if notes.num_dropped > 0 {
        let columns = notes.missing.iter().map(|(column, rows)| {
            let rows = count(*rows, "row");
            format!("{column} ({rows})")
        });
        let verb = if notes.num_dropped == 1 {
            "was"
        } else {
            "were"
        };
        sentences.push(format!(
            "{} of the file {verb} left out because a value is missing: {}.",
            count(notes.num_dropped, "row"),
            columns.collect::<Vec<_>>().join(", ")
        ));
    }
    for reference in &notes.references {
        sentences.push(format!(
            "Coefficients of {} are differences to `{}`.",
            reference.column, reference.level
        ));
    }
    match notes.num_unlinked {
        0 => {}
        1 => sentences.push("1 row of the right file has no row that links to it.".into()),
        many => sentences.push(format!(
            "{many} rows of the right file have no row that links to them."
        )),
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Reference;
    use crate::sampler::links::{SurveyWeights, WeightSide};

    #[test]
    fn a_survey_is_told_with_what_its_weights_amount_to() {
        let mut fit = Posterior::example(&[4], 2).with_links(10).with_known();
        let plain = sentences(&fit);
        fit.config.data.weights = Some(Weights {
            column: "w".into(),
            with: WeightSide::Response,
            scale: Default::default(),
        });
        let design = "Intervals do not know the design of the survey, its strata and clusters.";
        let told = |fit: &Posterior| {
            let all = sentences(fit);
            assert_eq!(all[..plain.len()], plain);
            assert_eq!(all.len(), plain.len() + 1);
            all[plain.len()].clone()
        };
        let same = "Every row has the same survey weight in w, so that each counts once.";
        assert_eq!(told(&fit), format!("{same} {design}"));
        let weights = vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.5];
        let weights = SurveyWeights::new(weights, WeightSide::Response);
        let data = fit.data.as_mut().unwrap();
        data.survey = Some(SurveySummary::new(&weights));
        // 12.5^2 / (9 + 3.5^2)
        let words = "The likelihood of each row is raised to its survey weight in w; when a link changes, the weights move with the \
                     response. The weights of the 10 rows sum to 12.50, with an effective sample size of 7.35.";
        assert_eq!(told(&fit), format!("{words} {design}"));
    }

    #[test]
    fn each_thing_done_is_one_sentence() {
        assert!(of_notes(&Notes::default()).is_empty());
        let notes = Notes {
            references: vec![Reference {
                column: "sector".into(),
                level: "other".into(),
            }],
            num_dropped: 12,
            missing: vec![("income".into(), 11), ("age".into(), 1)],
            num_unlinked: 3,
            linkage: None,
            codes: Vec::new(),
        };
        assert_eq!(
            of_notes(&notes),
            [
                "12 rows of the file were left out because a value is missing: income (11 rows), age (1 row).",
                "Coefficients of sector are differences to `other`.",
                "3 rows of the right file have no row that links to them.",
            ]
        );
    }
}
