//! What was done to the user's file on the way to the fit, in sentences.

use super::format::count;
use crate::data::Notes;

pub fn sentences(notes: &Notes) -> Vec<String> {
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

    #[test]
    fn each_thing_done_is_one_sentence() {
        assert!(sentences(&Notes::default()).is_empty());
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
            sentences(&notes),
            [
                "12 rows of the file were left out because a value is missing: income (11 rows), age (1 row).",
                "Coefficients of sector are differences to `other`.",
                "3 rows of the right file have no row that links to them.",
            ]
        );
    }
}
