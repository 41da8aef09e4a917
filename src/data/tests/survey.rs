//! Columns of a survey: weights, strata and clusters.

use super::*;
use crate::config::{DataSource, LinkColumns, Missing, WeightScale, Weights};
use crate::data::Relinkable;
use crate::sampler::links::WeightSide;

const ROWS: &str =
    "y,x,w,ones,stratum,psu\n1,0.1,2,1,n,1\n3,1.2,0.5,1,s,2\n2,2.8,0,1,n,3\n4,0.3,1.5,1,s,4\n";

fn weights(column: &str, with: WeightSide, scale: WeightScale) -> Option<Weights> {
    Some(Weights {
        column: column.into(),
        with,
        scale,
    })
}

fn by(column: &'static str) -> impl Fn(&mut Data) {
    move |data| data.weights = weights(column, WeightSide::Predictors, WeightScale::AsGiven)
}

#[test]
fn weights_are_read_as_they_are_or_with_mean_one() {
    let folder = Folder::new(&[("f.csv", ROWS)]);
    let read = folder.read("y ~ x", by("w")).unwrap().weights.unwrap();
    assert_eq!(read.values(), [2.0, 0.5, 0.0, 1.5]);
    assert_eq!(read.side(), WeightSide::Predictors);
    let scaled = folder.read("y ~ x", |data| {
        data.weights = weights("x", WeightSide::Response, WeightScale::MeanOne);
    });
    let scaled = scaled.unwrap().weights.unwrap();
    let mean = 1.1;
    let expected = [0.1, 1.2, 2.8, 0.3].map(|w| w / mean);
    for (found, expected) in scaled.values().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
    assert_eq!(scaled.side(), WeightSide::Response);
    // Rows that count once have no weights.
    let ones = folder.read("y ~ x", by("ones")).unwrap();
    assert_eq!(ones, folder.read("y ~ x", |_| {}).unwrap());
}

#[test]
fn a_row_without_a_weight_is_missing() {
    let text = ROWS.replace("1.2,0.5", "1.2,NA");
    let folder = Folder::new(&[("f.csv", &text)]);
    assert_eq!(
        folder.refused("y ~ x", by("w")),
        "f.csv: missing values in `w` (1, first on line 3); fill them in, or leave such rows out with \"missing\": \"drop\" in the config's data"
    );
    let dropped = folder.read("y ~ x", |data| {
        by("w")(data);
        data.missing = Missing::Drop;
    });
    assert_eq!(dropped.unwrap().weights.unwrap().values(), [2.0, 0.0, 1.5]);
}

#[test]
fn what_is_no_weight_is_refused() {
    for (cell, sentence) in [
        (
            "-0.5",
            "f.csv, line 3: `w` is \"-0.5\"; write a weight, 0 or more and below 1e100, or leave the row out",
        ),
        (
            "1e200",
            "f.csv, line 3: `w` is \"1e200\"; write a weight, 0 or more and below 1e100, or leave the row out",
        ),
    ] {
        let text = ROWS.replace("1.2,0.5", &format!("1.2,{cell}"));
        let folder = Folder::new(&[("f.csv", &text)]);
        assert_eq!(folder.refused("y ~ x", by("w")), sentence);
    }
    let text = ROWS.replace("1.2,0.5", "1.2,inf");
    let sentence = Folder::new(&[("f.csv", &text)]).refused("y ~ x", by("w"));
    assert!(sentence.starts_with("f.csv, line 3: `w` is"), "{sentence}");
    let folder = Folder::new(&[("f.csv", "y,x,w\n1,2,0\n3,1,0\n2,7,5\n8,2,0\n")]);
    assert_eq!(
        folder.refused("y ~ x", by("w")),
        "f.csv: fewer than two rows have a weight above 0 in `w` (data.weights), or the weights are too large to add; correct the weights, or remove data.weights"
    );
    let folder = Folder::new(&[("f.csv", ROWS)]);
    assert_eq!(
        folder.refused("y ~ x", by("y")),
        "`y` is the response and also data.weights; name another column there"
    );
    let sentence = folder.refused("y ~ x", by("wieght"));
    assert!(
        sentence.contains("`wieght`") && sentence.contains("data.weights"),
        "{sentence}"
    );
}

/// In two files the columns of a survey stand in the file that its weights stay with.
#[test]
fn the_columns_of_a_survey_stand_in_one_of_two_files() {
    let folder = Folder::new(&[
        ("left.csv", "id,y,w_left\n1,2,1\n2,3,2\n3,5,1\n4,1,3\n"),
        (
            "right.csv",
            "id,x,w_right,psu\n1,2,1,a\n2,4,2,a\n3,1,1,b\n4,9,3,b\n",
        ),
    ]);
    let with = |column: &'static str, side: WeightSide, clusters: Option<&'static str>| {
        move |data: &mut Data| {
            data.source = DataSource::Two {
                left: "left.csv".into(),
                right: "right.csv".into(),
                links: LinkColumns {
                    left: "id".into(),
                    right: "id".into(),
                },
            };
            data.weights = weights(column, side, WeightScale::AsGiven);
            data.clusters = clusters.map(String::from);
        }
    };
    let (predictors, response) = (WeightSide::Predictors, WeightSide::Response);
    for right in [
        with("w_right", predictors, Some("psu")),
        with("w_left", response, None),
    ] {
        assert!(folder.read("y ~ x", right).is_ok());
    }
    assert_eq!(
        folder.refused("y ~ x", with("w_left", predictors, None)),
        "`w_left` of left.csv belongs to the survey, whose weights stay with the predictors, but it stands in the file of the response; set \"with\": \"response\" in data.weights, or name a column of the other file"
    );
    let sentence = folder.refused("y ~ x", with("w_left", response, Some("psu")));
    assert!(
        sentence.starts_with("`psu` of right.csv belongs to the survey"),
        "{sentence}"
    );
}

#[test]
fn relinked_rows_keep_the_columns_of_the_survey_together() {
    let folder = Folder::new(&[("f.csv", ROWS)]);
    let csv = |side: WeightSide, also: &[&str]| {
        let data = folder.data("y ~ x", |data| {
            data.weights = weights("w", side, WeightScale::AsGiven);
            data.strata = Some("stratum".into());
            data.clusters = Some("psu".into());
        });
        let also: Vec<String> = also.iter().map(|name| name.to_string()).collect();
        let relinkable = Relinkable::read(&data, &also)?;
        Ok::<_, DataError>((relinkable.csv(&[1, 0, 2, 3]), relinkable.survey_columns()))
    };
    let (stays, said) = csv(WeightSide::Predictors, &[]).unwrap();
    assert_eq!(stays.lines().nth(1), Some("3,0.1,2,1,n,1,2,1"));
    let names = ["w", "stratum", "psu"].map(String::from).to_vec();
    assert_eq!(said, Some((names.clone(), WeightSide::Predictors)));
    let (moves, said) = csv(WeightSide::Response, &[]).unwrap();
    assert_eq!(moves.lines().nth(1), Some("3,0.1,0.5,1,s,2,2,1"));
    assert_eq!(said, Some((names, WeightSide::Response)));
    let refused = csv(WeightSide::Predictors, &["psu"]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "--also names `psu`, which belongs to the survey and stays with the predictors; leave it out, or fit with \"with\": \"response\" in data.weights"
    );
}
