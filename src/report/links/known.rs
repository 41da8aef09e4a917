//! What was known of the links before the fit: blocks, safe rows, candidates and match probabilities, in sentences.

use crate::numerics::quantile;
use crate::posterior::{Posterior, Row};
use crate::report::format::{count, significant};

/// One sentence for each thing that was known; none where every row could be linked anywhere.
pub fn sentences(fit: &Posterior) -> Vec<String> {
    let data = &fit.config.data;
    let of_column = |name: &Option<String>| match name {
        Some(name) => format!("the column `{name}`"),
        None => "the data".into(),
    };
    let may_be_outside = fit.config.permutation.outside.is_some();
    let mut sentences = Vec::new();
    sentences.extend(blocks(&fit.rows, &of_column(&data.block), may_be_outside));
    sentences.extend(safe(&fit.rows, &of_column(&data.safe)));
    sentences.extend(candidates(&fit.rows, may_be_outside));
    sentences.extend(probabilities(
        &fit.rows,
        &of_column(&data.match_probability),
    ));
    let movable = fit.data.as_ref().map(|data| data.num_movable);
    if let Some(movable) = movable.filter(|_| !sentences.is_empty()) {
        let rows = count(fit.rows.len(), "row");
        sentences.push(match may_be_outside {
            false => format!("Of {rows} {movable} could be linked elsewhere at all."),
            true => format!("Of {rows} {movable} could be linked wrongly at all."),
        });
    }
    let places = fit.data.as_ref().and_then(|data| data.places.as_ref());
    if let Some(places) = places {
        sentences.push(match places.numbers.len() {
            1 => "1 unlinked row of the right file was a place where a response could belong; its number counts on from the last row of the left file.".into(),
            many => format!("{many} unlinked rows of the right file were places where a response could belong; their numbers count on from the last row of the left file."),
        });
    }
    if let Some(outside) = fit.config.permutation.outside {
        let law = match outside.response {
            None => "the distribution of all responses",
            Some(_) => "the distribution that the config gives",
        };
        sentences.push(format!(
            "A response could also belong to no row of the file; it then has {law}."
        ));
    }
    sentences
}

fn blocks(rows: &[Row], column: &str, may_be_outside: bool) -> Vec<String> {
    let labels: Option<Vec<&str>> = rows.iter().map(|row| row.block.as_deref()).collect();
    let Some(mut labels) = labels.filter(|labels| !labels.is_empty()) else {
        return Vec::new();
    };
    labels.sort_unstable();
    let sizes = labels
        .chunk_by(|a, b| a == b)
        .map(|block| block.len() as f64);
    let sizes: Vec<f64> = sizes.collect();
    let alone = sizes.iter().filter(|size| **size == 1.0).count();
    let at = |probability: f64| quantile(&sizes, probability).unwrap_or(f64::NAN);
    let mut sentences = vec![
        format!(
            "By {column} the rows stand in {}, and a row could only be linked inside its own.",
            count(sizes.len(), "block")
        ),
        format!(
            "The smallest block has {}, the largest {}, and the median is {}.",
            count(at(0.0) as usize, "row"),
            at(1.0),
            at(0.5)
        ),
    ];
    match alone {
        0 => {}
        1 if may_be_outside => sentences.push(
            "1 row is alone in its block, so its response could only come from outside.".into(),
        ),
        many if may_be_outside => sentences.push(format!(
            "{many} rows are alone in their block, so their responses could only come from outside."
        )),
        1 => sentences.push("1 row is alone in its block, so its link stayed as it is.".into()),
        many => sentences.push(format!(
            "{many} rows are alone in their block, so their links stayed as they are."
        )),
    }
    sentences
}

fn safe(rows: &[Row], column: &str) -> Option<String> {
    let safe: Vec<bool> = rows.iter().filter_map(|row| row.safe).collect();
    let number = safe.iter().filter(|safe| **safe).count();
    (!safe.is_empty()).then(|| match number {
        0 => format!("No row is marked as safe by {column}."),
        1 => format!("1 row is marked as safe by {column}, so its link stayed as it is."),
        many => format!(
            "{many} rows are marked as safe by {column}, so their links stayed as they are."
        ),
    })
}

fn candidates(rows: &[Row], may_be_outside: bool) -> Option<String> {
    let numbers: Option<Vec<usize>> = rows.iter().map(|row| row.num_candidates).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty())?;
    let (sum, most): (usize, usize) = (numbers.iter().sum(), *numbers.iter().max()?);
    let none = numbers.iter().filter(|number| **number == 0).count();
    Some(format!(
        "There are {}, on average {} a row and at most {most}{}.",
        count(sum, "candidate pair"),
        significant(sum as f64 / numbers.len() as f64, 2),
        match none {
            0 => String::new(),
            1 if may_be_outside => {
                "; 1 row has none, so its response could only come from outside".into()
            }
            many if may_be_outside => {
                format!("; {many} rows have none, so their responses could only come from outside")
            }
            1 => "; 1 row has none, so its link stayed as it is".into(),
            many => format!("; {many} rows have none, so their links stayed as they are"),
        }
    ))
}

fn probabilities(rows: &[Row], column: &str) -> Option<String> {
    let given: Option<Vec<f64>> = rows.iter().map(|row| row.match_probability).collect();
    let given = given.filter(|given| !given.is_empty())?;
    let wrong: f64 = given.iter().map(|p| 1.0 - p).sum();
    let end = |pick: fn(f64, f64) -> f64| given.iter().copied().reduce(pick);
    Some(format!(
        "By {column} each link is right with a probability between {} and {}, so that {wrong:.1} of {} were expected to be wrong.",
        significant(end(f64::min)?, 3),
        significant(end(f64::max)?, 3),
        count(given.len(), "link"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_restrictions_has_nothing_to_say() {
        let fit = Posterior::example(&[20, 20], 2).with_links(10);
        assert!(sentences(&fit).is_empty());
    }

    #[test]
    fn rows_without_another_place_may_have_responses_from_outside() {
        let mut fit = Posterior::example(&[20, 20], 2).with_links(10).with_known();
        fit.config.permutation.outside = Some(crate::config::Outside {
            a: 1.0,
            b: 1.0,
            no_error: 0.5,
            response: None,
        });
        let told = sentences(&fit).join(" ");
        assert!(told.contains("1 row is alone in its block, so its response could only come"));
        assert!(told.contains("2 rows have none, so their responses could only come"));
        assert!(
            told.contains("could be linked wrongly at all. A response could also belong to no")
        );
    }

    #[test]
    fn each_restriction_is_told() {
        let mut fit = Posterior::example(&[20, 20], 2).with_links(10).with_known();
        fit.config.data.block = Some("region".into());
        assert_eq!(
            sentences(&fit),
            [
                "By the column `region` the rows stand in 4 blocks, and a row could only be linked inside its own.",
                "The smallest block has 1 row, the largest 4, and the median is 2.5.",
                "1 row is alone in its block, so its link stayed as it is.",
                "2 rows are marked as safe by the data, so their links stayed as they are.",
                "There are 16 candidate pairs, on average 1.6 a row and at most 2; 2 rows have none, so their links stayed as they are.",
                "By the data each link is right with a probability between 0.600 and 0.960, so that 2.2 of 10 links were expected to be wrong.",
                "Of 10 rows 7 could be linked elsewhere at all.",
            ]
        );
    }
}
